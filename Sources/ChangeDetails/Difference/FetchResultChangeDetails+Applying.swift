import PhotoModel

extension FetchResultChangeDetails {
  /// The details contradict themselves, or they do not fit the list that they are applied to. The remedy is to fetch or
  /// observe again.
  public struct Mismatch: Error, Hashable, Sendable, CustomStringConvertible {
    /// Says which part does not fit.
    public let message: String

    /// The message for a log.
    public var description: String { "the change details do not fit: \(message)" }
  }

  /// Returns the list after, computed like a batch update: removed and moved ids leave, inserted and moved ids fill
  /// their slots, and the rest keeps its order.
  ///
  /// - Parameter before: the list that the details start from.
  /// - Throws: ``Mismatch``. Every number is checked, so details from a socket cannot crash the program that reads
  ///   them.
  /// - Complexity: O(n)
  public func applied(to before: [AssetID]) throws(Mismatch) -> [AssetID] {
    let steps = try steps(for: before.count)
    var after: [AssetID] = []
    after.reserveCapacity(countAfter)
    var stay = before.indices.startIndex
    var leaving = steps.leaving[...]
    var arrivals = Arrivals(self)
    /// Copies ids that stay, until the list after has this length.
    func keep(until length: Int) {
      while after.count < length {
        if let gap = leaving.first, gap.start == stay {
          stay += gap.count
          leaving.removeFirst()
          continue
        }
        let run = min(length - after.count, (leaving.first?.start ?? before.count) - stay)
        after += before[stay..<stay + run]
        stay += run
      }
    }
    for range in steps.filled {
      keep(until: range.start)
      for position in range.start..<range.start + range.count {
        switch arrivals.next(at: position) {
        case .moved(let from): after.append(before[from])
        case .inserted(let id): after.append(id)
        }
      }
    }
    keep(until: countAfter)
    return after
  }

  /// Converts the details to Swift's `CollectionDifference`, with moves as associated removals and insertions:
  /// `before.applying(try details.collectionDifference(from: before))` is the list after.
  ///
  /// - Throws: ``Mismatch``
  /// - Complexity: O(k log k) in the number of removed, inserted and moved ids.
  public func collectionDifference(from before: [AssetID]) throws(Mismatch) -> CollectionDifference<AssetID> {
    _ = try steps(for: before.count)
    var changes: [CollectionDifference<AssetID>.Change] = []
    for position in removedBefore.positions {
      changes.append(.remove(offset: position, element: before[position], associatedWith: nil))
    }
    for (position, id) in zip(insertedAfter.positions, insertedIDs) {
      changes.append(.insert(offset: position, element: id, associatedWith: nil))
    }
    for move in moves {
      let id = before[move.fromBefore]
      changes.append(.remove(offset: move.fromBefore, element: id, associatedWith: move.toAfter))
      changes.append(.insert(offset: move.toAfter, element: id, associatedWith: move.fromBefore))
    }
    guard let difference = CollectionDifference(changes) else {
      throw Mismatch(message: "they are not one difference")
    }
    return difference
  }

  /// The runs that leave the list before (R and from(M)), and the slots to fill in the list after (I and to(M)).
  struct Steps {
    let leaving: [IndexRange]
    let filled: [IndexRange]
  }

  /// Checks everything that applying relies on, because the numbers may come from anywhere.
  func steps(for count: Int) throws(Mismatch) -> Steps {
    guard countBefore == count else {
      throw Mismatch(message: "they start from a list of \(countBefore), this one has \(count)")
    }
    guard countBefore >= 0, countAfter >= 0 else { throw Mismatch(message: "a count is negative") }
    for (name, ranges, count) in [
      ("removedBefore", removedBefore, countBefore), ("deletedBefore", deletedBefore, countBefore),
      ("insertedAfter", insertedAfter, countAfter), ("changedBefore", changedBefore, countBefore),
      ("changedAfter", changedAfter, countAfter),
    ] where !ranges.isWellFormed(within: count) {
      throw Mismatch(message: "\(name) is not ascending ranges within a list of \(count)")
    }
    guard insertedAfter.positionCount == insertedIDs.count else {
      throw Mismatch(message: "\(insertedIDs.count) insertedIDs for \(insertedAfter.positionCount) positions")
    }
    guard countBefore - removedBefore.positionCount == countAfter - insertedIDs.count else {
      throw Mismatch(message: "\(countBefore) less the removed and with the inserted are not \(countAfter)")
    }
    guard changedBefore.positionCount == changedAfter.positionCount,
      changedBefore.disjointUnion(with: removedBefore) != nil, changedAfter.disjointUnion(with: insertedAfter) != nil
    else { throw Mismatch(message: "changedBefore and changedAfter are not the same assets that stay") }
    let from = moves.map(\.fromBefore).sorted()
    let to = moves.map(\.toAfter)
    guard Self.isStrictlyAscending(from, within: countBefore), Self.isStrictlyAscending(to, within: countAfter),
      let leaving = removedBefore.disjointUnion(with: [IndexRange](ascending: from)),
      let filled = insertedAfter.disjointUnion(with: [IndexRange](ascending: to))
    else {
      throw Mismatch(message: "a move is of a removed or to an inserted position, or the moves are not ascending")
    }
    return Steps(leaving: leaving, filled: filled)
  }

  private static func isStrictlyAscending(_ positions: [Int], within count: Int) -> Bool {
    var last = -1
    for position in positions {
      guard position > last, position < count else { return false }
      last = position
    }
    return true
  }

  /// Says what fills the slots of the list after, in ascending order.
  struct Arrivals {
    enum Arrival {
      /// The item that was at this position of the list before.
      case moved(from: Int)
      case inserted(AssetID)
    }

    private var moves: ArraySlice<Move>
    private var insertedIDs: ArraySlice<AssetID>

    init(_ details: FetchResultChangeDetails) {
      moves = details.moves[...]
      insertedIDs = details.insertedIDs[...]
    }

    /// The item that fills this slot. It must be called once for each slot, in ascending order.
    mutating func next(at position: Int) -> Arrival {
      if let move = moves.first, move.toAfter == position {
        moves.removeFirst()
        return .moved(from: move.fromBefore)
      }
      return .inserted(insertedIDs.removeFirst())
    }
  }
}
