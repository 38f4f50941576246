import PhotoModel

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
  /// The details contradict themselves, or they do not fit the list that they are applied to. The remedy is to fetch or
  /// observe again.
  public struct Mismatch: Error, Hashable, Sendable, CustomStringConvertible {
    /// Says which part does not fit.
    public let message: String

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
        after.append(arrivals.next(at: position, movedFrom: { before[$0] }))
      }
    }
    keep(until: countAfter)
    return after
  }

  /// Turns the list into the one after, one removal or insertion at a time, as for a terminal or a document tree. Ids
  /// leave from right to left, then arrive from left to right. The caller refreshes the positions in ``changedAfter``
  /// afterwards.
  ///
  /// - Throws: ``Mismatch``. Then the list is unchanged.
  /// - Complexity: O(n · k) for k runs of removed, inserted and moved ids; ``applied(to:)`` is O(n).
  public func applySequentially(to list: inout [AssetID]) throws(Mismatch) {
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

  /// The `items-changed` signals that take a `GListModel` from the list before to the one after. Each is valid when it
  /// is emitted in this order, and the list never contains an item twice. A change of an asset that keeps its place is
  /// a `notify` on the item, so it has no edit here.
  ///
  /// An edit adds the ids that the list after has at its positions.
  /// - Throws: ``Mismatch`` if the details contradict themselves.
  public func listModelEdits() throws(Mismatch) -> [ListModelEdit] {
    let steps = try steps(for: countBefore)
    return steps.leaving.reversed().map { ListModelEdit(position: $0.start, removed: $0.count, added: 0) }
      + steps.filled.map { ListModelEdit(position: $0.start, removed: 0, added: $0.count) }
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
  private struct Steps {
    let leaving: [IndexRange]
    let filled: [IndexRange]
  }

  /// Checks everything that applying relies on, because the numbers may come from anywhere.
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

  /// Returns the ids that fill the slots of the list after, in ascending order.
  private struct Arrivals {
    private var moves: ArraySlice<Move>
    private var insertedIDs: ArraySlice<AssetID>

    init(_ details: FetchResultChangeDetails) {
      moves = details.moves[...]
      insertedIDs = details.insertedIDs[...]
    }

    mutating func next(at position: Int, movedFrom: (Int) -> AssetID) -> AssetID {
      if let move = moves.first, move.toAfter == position {
        moves.removeFirst()
        return movedFrom(move.fromBefore)
      }
      return insertedIDs.removeFirst()
    }
  }
}
