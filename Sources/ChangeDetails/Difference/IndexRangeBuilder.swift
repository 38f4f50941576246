/// Collects ascending positions into ranges in the form of the contract: they ascend, and no range begins where another
/// one ends.
package struct IndexRangeBuilder {
  package private(set) var ranges: [IndexRange] = []

  package init() {}

  /// Adds a position above all that were added before.
  package mutating func append(_ position: Int) { append(IndexRange(start: position, count: 1)) }

  /// Adds a range that starts at or after the end of all that were added before.
  package mutating func append(_ range: IndexRange) {
    if let last = ranges.indices.last, ranges[last].start + ranges[last].count == range.start {
      ranges[last].count += range.count
    } else {
      ranges.append(range)
    }
  }
}

extension [IndexRange] {
  package init(ascending positions: some Sequence<Int>) {
    var builder = IndexRangeBuilder()
    for position in positions { builder.append(position) }
    self = builder.ranges
  }

  /// The number of positions in all ranges.
  package var positionCount: Int { reduce(0) { $0 + $1.count } }

  /// Every position, ascending.
  package var positions: [Int] { flatMap { $0.start..<$0.start + $0.count } }

  /// Whether the ranges have the form of the contract, are not empty, and lie within a list of `count` elements. No
  /// numbers make it trap, so ranges that another program sent can be checked.
  package func isWellFormed(within count: Int) -> Bool {
    var end = -1
    for range in self {
      guard range.count > 0, range.start > end, range.start < count, range.count <= count - range.start
      else { return false }
      end = range.start + range.count
    }
    return true
  }

  /// The union of both, or `nil` if they share a position. Both must be well formed.
  /// - Complexity: O(n) in the number of ranges.
  package func disjointUnion(with other: [IndexRange]) -> [IndexRange]? {
    var builder = IndexRangeBuilder()
    var (mine, theirs, end) = (0, 0, 0)
    while mine < count || theirs < other.count {
      let takesMine = theirs == other.count || (mine < count && self[mine].start <= other[theirs].start)
      let range = takesMine ? self[mine] : other[theirs]
      guard range.start >= end else { return nil }
      if takesMine { mine += 1 } else { theirs += 1 }
      end = range.start + range.count
      builder.append(range)
    }
    return builder.ranges
  }
}
