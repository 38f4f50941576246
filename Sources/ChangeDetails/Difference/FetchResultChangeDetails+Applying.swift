/// One `items-changed` of a `GListModel`, or one splice of an array.
public struct ListModelEdit: Hashable, Sendable {
  public var position: Int
  public var removed: Int
  public var added: Int

  public init(position: Int, removed: Int, added: Int) {
    self.position = position
    self.removed = removed
    self.added = added
  }
}

extension FetchResultChangeDetails {
  /// Details that contradict themselves, or the list that they are applied to. The remedy is to fetch or observe anew.
  public struct Mismatch: Error, Hashable, Sendable, CustomStringConvertible {
    /// What does not fit.
    public let message: String

    public var description: String { "the change details do not fit: \(message)" }
  }

  /// The list after, as a batch update makes it: removed and moved ids leave, the slots of inserted and moved ones are
  /// filled, and the rest keeps its order.
  ///
  /// - Parameter before: the list that the details start from.
  /// - Throws: ``Mismatch``; nothing is trusted, so details from a socket can't crash their reader.
  /// - Complexity: O(n)
  public func applied(to before: [Int64]) throws(Mismatch) -> [Int64] {
    let steps = try steps(for: before.count)
    var after: [Int64] = []
    after.reserveCapacity(countAfter)
    var stay = before.indices.startIndex
    var leaving = steps.leaving[...]
    var arrivals = Arrivals(self)
    /// Copies those that stay, up to a length of the list after.
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
        after.append(arrivals.next(at: position, movedFrom: { before[$0] }))
      }
    }
    keep(until: countAfter)
    return after
  }

  /// Turns the list into the one after, one removal or insertion at a time, as for a terminal or a document tree:
  /// out from right to left, then in from left to right. What is in ``changedAfter`` is to be refreshed afterwards.
  ///
  /// - Throws: ``Mismatch``; then the list is as it was.
  /// - Complexity: O(n · k) for k runs of removed, inserted and moved ids; ``applied(to:)`` is O(n).
  public func applySequentially(to list: inout [Int64]) throws(Mismatch) {
    let steps = try steps(for: list.count)
    let aside = Dictionary(uniqueKeysWithValues: moves.map { ($0.fromBefore, list[$0.fromBefore]) })
    for range in steps.leaving.reversed() { list.removeSubrange(range.start..<range.start + range.count) }
    var arrivals = Arrivals(self)
    for range in steps.filled {
      let ids = (range.start..<range.start + range.count).map { position in
        arrivals.next(at: position, movedFrom: { aside[$0, default: 0] })
      }
      list.insert(contentsOf: ids, at: range.start)
    }
  }

  /// The `items-changed` signals that take a `GListModel` from the list before to the one after: each is valid when it is
  /// emitted in this order, and no item is there twice at any moment. A change alone is a `notify` on the item, and not here.
  ///
  /// What an edit adds at a position is what the list after has at that position.
  /// - Throws: ``Mismatch`` if the details contradict themselves.
  public func listModelEdits() throws(Mismatch) -> [ListModelEdit] {
    let steps = try steps(for: countBefore)
    return steps.leaving.reversed().map { ListModelEdit(position: $0.start, removed: $0.count, added: 0) }
      + steps.filled.map { ListModelEdit(position: $0.start, removed: 0, added: $0.count) }
  }

  /// As Swift's `CollectionDifference`, the moves as associated removals and insertions:
  /// `before.applying(try details.collectionDifference(from: before))` is the list after.
  ///
  /// - Throws: ``Mismatch``
  /// - Complexity: O(k log k) in the number of removed, inserted and moved ids.
  public func collectionDifference(from before: [Int64]) throws(Mismatch) -> CollectionDifference<Int64> {
    _ = try steps(for: before.count)
    var changes: [CollectionDifference<Int64>.Change] = []
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

  /// What leaves the list before, and what is filled in the one after: R and from(M), I and to(M).
  private struct Steps {
    let leaving: [IndexRange]
    let filled: [IndexRange]
  }

  /// Checks everything that applying relies on. Numbers may be anything.
  private func steps(for count: Int) throws(Mismatch) -> Steps {
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

  /// Hands out what fills the slots of the list after, in ascending order.
  private struct Arrivals {
    private var moves: ArraySlice<Move>
    private var insertedIDs: ArraySlice<Int64>

    init(_ details: FetchResultChangeDetails) {
      moves = details.moves[...]
      insertedIDs = details.insertedIDs[...]
    }

    mutating func next(at position: Int, movedFrom: (Int) -> Int64) -> Int64 {
      if let move = moves.first, move.toAfter == position {
        moves.removeFirst()
        return movedFrom(move.fromBefore)
      }
      return insertedIDs.removeFirst()
    }
  }
}
