import PhotoModel

/// The sets of the definition, as a difference finds them. Both forms of a difference fill it. The full form is in this
/// file. The incremental form works from an ordered list kept in blocks (each with its ``ListDigest``) and the ids that
/// commits touched.
package struct ChangePositions {
  package var removedBefore = IndexRangeBuilder()
  package var deletedBefore = IndexRangeBuilder()
  package var insertedAfter = IndexRangeBuilder()
  package var insertedIDs: [AssetID] = []
  package var changedBefore = IndexRangeBuilder()
  package var changedAfter = IndexRangeBuilder()
  /// The fields that changed, of all changed assets together.
  package var changedFields: ChangedFields = []
  /// Ascending by `toAfter`.
  package var moves: [Move] = []

  package init() {}

  /// Returns `nil` when nothing changed: then there is no event.
  package func details(countBefore: Int, countAfter: Int) -> FetchResultChangeDetails? {
    if removedBefore.ranges.isEmpty, insertedAfter.ranges.isEmpty, changedBefore.ranges.isEmpty, moves.isEmpty {
      return nil
    }
    return FetchResultChangeDetails(
      countBefore: countBefore, countAfter: countAfter, removedBefore: removedBefore.ranges,
      deletedBefore: deletedBefore.ranges, insertedAfter: insertedAfter.ranges, insertedIDs: insertedIDs,
      changedBefore: changedBefore.ranges, changedAfter: changedAfter.ranges, changedFields: changedFields.names,
      moves: moves)
  }
}

extension FetchResultChangeDetails {
  /// The difference between two lists of one fetch, with as few moves as possible.
  ///
  /// The result depends on the arguments alone. Differences that a client received in between do not affect it.
  /// - Parameters:
  ///   - before: B, without an id twice.
  ///   - after: A, likewise.
  ///   - touched: C: the assets that any commit after B's token, up to and including A's, touched. An asset counts even
  ///     if a later commit undid its change.
  /// - Returns: `nil` when nothing changed.
  /// - Complexity: O(n log n), or O(n) if nothing moves.
  package static func full(
    from before: [AssetID], to after: [AssetID], touched: TouchedAssets
  ) -> FetchResultChangeDetails? {
    var difference = FullDifference(before: before, after: after, touched: touched)
    // After the budget is spent, the result is discarded.
    difference.findRemovedAndInserted()
    guard WorkBudget.mayGoOn else { return nil }
    difference.findMoves()
    guard WorkBudget.mayGoOn else { return nil }
    difference.findChanged()
    return difference.positions.details(countBefore: before.count, countAfter: after.count)
  }
}

/// Computes the full form once, from the equal ends inwards.
private struct FullDifference {
  private let before: [AssetID]
  private let after: [AssetID]
  private let touched: TouchedAssets
  /// How many ids at the start, and at the end, are equal. They survive and do not move, and no id moves past them.
  private let head: Int
  private let tail: Int
  /// The survivors between head and tail, in the order of the list after, with their positions in both lists.
  private var survivors: [(before: Int32, after: Int32)] = []
  /// Whether an id survives, by its position before less `head`.
  private var survives: [Bool] = []
  /// Whether a commit touched an id, by its position before. Empty if none was touched.
  private var isTouched: [Bool] = []
  private(set) var positions = ChangePositions()

  init(before: [AssetID], after: [AssetID], touched: TouchedAssets) {
    self.before = before
    self.after = after
    self.touched = touched
    let shorter = min(before.count, after.count)
    var head = 0
    while head < shorter, before[head] == after[head] { head += 1 }
    var tail = 0
    while tail < shorter - head, before[before.count - 1 - tail] == after[after.count - 1 - tail] { tail += 1 }
    self.head = head
    self.tail = tail
  }

  mutating func findRemovedAndInserted() {
    let inner = Array(before[head..<before.count - tail])
    let table = PositionTable(of: inner)
    survives = [Bool](repeating: false, count: inner.count)
    survivors.reserveCapacity(min(inner.count, after.count - head - tail))
    for position in head..<after.count - tail {
      if let inside = table.position(of: after[position]) {
        precondition(!survives[inside], "id \(after[position]) is in a list twice")
        survives[inside] = true
        survivors.append((Int32(inside + head), Int32(position)))
      } else {
        positions.insertedAfter.append(position)
        positions.insertedIDs.append(after[position])
      }
    }
    for inside in inner.indices where !survives[inside] {
      positions.removedBefore.append(inside + head)
      if touched.deleted.contains(inner[inside]) { positions.deletedBefore.append(inside + head) }
    }
  }

  /// Needs the survivors. It also marks the touched ids, because the untouched ones should stay.
  mutating func findMoves() {
    markTouched()
    var isInOrder = true
    for index in survivors.indices.dropFirst() where survivors[index - 1].before > survivors[index].before {
      isInOrder = false
      break
    }
    guard !isInOrder else { return }

    var rankOf = [Int32](repeating: 0, count: survives.count)
    var rank: Int32 = 0
    for inside in survives.indices where survives[inside] {
      rankOf[inside] = rank
      rank += 1
    }
    let kept = LongestKeptOrder.kept(
      ranks: survivors.map { rankOf[Int($0.before) - head] },
      prefers: isTouched.isEmpty
        ? [Bool](repeating: true, count: survivors.count) : survivors.map { !isTouched[Int($0.before)] })
    for (index, survivor) in survivors.enumerated() where !kept[index] {
      positions.moves.append(Move(fromBefore: Int(survivor.before), toAfter: Int(survivor.after)))
    }
  }

  /// Looks up every id of the list in a table of the few touched ids, not the reverse. That small table stays in the
  /// processor's cache, and the equal ends need no table at all.
  private mutating func markTouched() {
    guard !touched.fields.isEmpty || !touched.groups.isEmpty else { return }
    let table = PositionTable(
      of: touched.fields.lazy.filter { TouchedAssets.isChange($0.value) }.map(\.key))
    let groups = touched.groups
    isTouched = before.map { id in
      table.position(of: id) != nil || groups.contains { $0.ids.contains(id) }
    }
  }

  mutating func findChanged() {
    guard !isTouched.isEmpty else { return }
    for position in before.indices where isTouched[position] {
      let inside = position - head
      if survives.indices.contains(inside), !survives[inside] { continue }
      positions.changedBefore.append(position)
      positions.changedFields.formUnion(touched.fields(of: before[position]) ?? [])
    }
    for position in 0..<head where isTouched[position] { positions.changedAfter.append(position) }
    for survivor in survivors where isTouched[Int(survivor.before)] {
      positions.changedAfter.append(Int(survivor.after))
    }
    let shift = after.count - before.count
    for position in before.count - tail..<before.count where isTouched[position] {
      positions.changedAfter.append(position + shift)
    }
  }
}
