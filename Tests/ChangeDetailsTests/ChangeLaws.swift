import Foundation

@testable import ChangeDetails
@testable import PhotoModel

/// One difference to check: two lists, the touched assets, and the details from the full form.
struct ChangeCase {
  let before: [AssetID]
  let after: [AssetID]
  let touched: TouchedAssets
  let details: FetchResultChangeDetails?

  init(before: [AssetID], after: [AssetID], touched: TouchedAssets) {
    self.before = before
    self.after = after
    self.touched = touched
    details = .full(from: before, to: after, touched: touched)
  }

  /// The number of the first law of change details that does not hold, or `nil` if all hold.
  func brokenLaw() throws -> String? { try brokenLaw(of: details) }

  /// The same for details from another form.
  func brokenLaw(of details: FetchResultChangeDetails?) throws -> String? {
    let survivors = Set(before).intersection(after)
    let changed = survivors.intersection(touched.fields.keys)
    guard let details else { return before == after && changed.isEmpty ? nil : "no details, but something changed" }
    if before == after, changed.isEmpty { return "details, but nothing changed" }

    let removed = details.removedBefore.positions
    let inserted = details.insertedAfter.positions
    let from = details.moves.map(\.fromBefore)
    let to = details.moves.map(\.toAfter)
    if before.count - removed.count + inserted.count != after.count { return "1" }
    if details.countBefore != before.count || details.countAfter != after.count { return "counts" }
    let changedBefore = details.changedBefore.positions
    let changedAfter = details.changedAfter.positions
    if !Set(removed).isDisjoint(with: from) || !Set(inserted).isDisjoint(with: to)
      || !Set(changedBefore).isDisjoint(with: removed) || !Set(changedAfter).isDisjoint(with: inserted)
    {
      return "2"
    }
    if let broken = try brokenProcedure(details) { return broken }
    if let broken = brokenSet(details, survivors: survivors, changed: changed) { return broken }
    return try brokenWire(details) ?? (details == self.details ? brokenReverse(details) : nil)
  }

  /// Checks laws 3 and 6.
  private func brokenProcedure(_ details: FetchResultChangeDetails) throws -> String? {
    if try details.applied(to: before) != after { return "3 batch" }
    var list = before
    try details.applySequentially(to: &list)
    if list != after { return "3 sequential" }
    if let broken = try brokenRows(details) ?? brokenListModel(details) ?? brokenBatch(details) { return broken }
    let snapshot = try details.snapshot(from: before)
    let changed = Set(details.changedBefore.positions.map { before[$0] })
    if snapshot.before != before || snapshot.after != after { return "3 snapshot" }
    if snapshot.reconfigured != after.filter(changed.contains) { return "3 snapshot: reconfigured" }
    if before.applying(try details.collectionDifference(from: before)) != after { return "6" }
    return nil
  }

  /// A row of a view, which must be the same object when its asset has moved.
  private final class Row {
    let id: AssetID
    var refreshes = 0
    init(_ id: AssetID) { self.id = id }
  }

  /// Checks the sequential form of law 3 with rows that are made once: by the steps, and by the generic function.
  private func brokenRows(_ details: FetchResultChangeDetails) throws -> String? {
    let old = before.map(Row.init)
    var rows = old
    var aside: [Int: Row] = [:]
    for update in try details.sequentialUpdates() {
      switch update {
      case .remove(let index): rows.remove(at: index)
      case .takeOut(let index): aside[index] = rows.remove(at: index)
      case .insert(let id, let index): rows.insert(Row(id), at: index)
      case .putBack(let origin, let index):
        guard let row = aside.removeValue(forKey: origin) else { return "3 sequential: nothing to put back" }
        rows.insert(row, at: index)
      case .refresh(let index): rows[index].refreshes += 1
      }
      if Set(rows.map(\.id)).count != rows.count { return "3 sequential: an id twice" }
    }
    if rows.map(\.id) != after || !aside.isEmpty { return "3 sequential steps" }
    let survivors = Set(old.map(ObjectIdentifier.init)).intersection(rows.map(ObjectIdentifier.init))
    if survivors.count != Set(before).intersection(after).count { return "3 sequential: a row was made again" }
    let changed = Set(details.changedAfter.positions)
    if rows.enumerated().contains(where: { $1.refreshes != (changed.contains($0) ? 1 : 0) }) { return "3 refresh" }

    var others = old
    var made = 0
    try details.applySequentially(to: &others) { id in
      made += 1
      return Row(id)
    }
    if others.map(\.id) != after || made != details.insertedIDs.count { return "3 sequential rows" }
    return nil
  }

  /// Checks the form of `GListModel` of law 3. A model is asked for its items inside of each signal.
  private func brokenListModel(_ details: FetchResultChangeDetails) throws -> String? {
    var list = before
    for edit in try details.listModelEdits() {
      guard edit.position >= 0, edit.position + edit.removed <= list.count else { return "3 list model: bounds" }
      // A removal may be beyond the end of the list after. It adds nothing from that list.
      let added = edit.added == 0 ? [] : after[edit.position..<edit.position + edit.added]
      list.replaceSubrange(edit.position..<edit.position + edit.removed, with: added)
      if Set(list).count != list.count { return "3 list model: an id twice" }
    }
    return list == after ? nil : "3 list model"
  }

  /// Checks the batch form of law 3 as a collection view applies it: what leaves, then what fills the slots.
  private func brokenBatch(_ details: FetchResultChangeDetails) throws -> String? {
    let batch = try details.batchUpdate()
    if batch.countBefore != before.count || batch.countAfter != after.count
      || batch.countBefore - batch.deletedBefore.count + batch.insertedAfter.count != batch.countAfter
    {
      return "3 batch update: counts"
    }
    let leaving = batch.deletedBefore + batch.moves.map(\.fromBefore)
    let filled = batch.insertedAfter + batch.moves.map(\.toAfter)
    if Set(leaving).count != leaving.count || Set(filled).count != filled.count {
      return "3 batch update: an index twice"
    }
    var slots = [AssetID?](repeating: nil, count: batch.countAfter)
    for position in batch.insertedAfter { slots[position] = after[position] }
    for move in batch.moves { slots[move.toAfter] = before[move.fromBefore] }
    var staying = before.indices.filter { !Set(leaving).contains($0) }[...]
    for position in slots.indices where slots[position] == nil {
      slots[position] = staying.popFirst().map { before[$0] }
    }
    if slots != after.map(Optional.some) || !staying.isEmpty { return "3 batch update" }
    if batch.reconfiguredAfter != details.changedAfter.positions { return "3 batch update: reconfigured" }
    return nil
  }

  /// Checks the sets as they are defined. This is law 4 without the length of the longest subsequence.
  private func brokenSet(
    _ details: FetchResultChangeDetails, survivors: Set<AssetID>, changed: Set<AssetID>
  ) -> String? {
    let removed = before.indices.filter { !survivors.contains(before[$0]) }
    let inserted = after.indices.filter { !survivors.contains(after[$0]) }
    if details.removedBefore.positions != removed { return "R" }
    if details.insertedAfter.positions != inserted { return "I" }
    if details.insertedIDs != inserted.map({ after[$0] }) { return "insertedIDs" }
    if details.deletedBefore.positions != removed.filter({ touched.deleted.contains(before[$0]) }) { return "deleted" }
    if details.changedBefore.positions != before.indices.filter({ changed.contains(before[$0]) }) {
      return "changedBefore"
    }
    if details.changedAfter.positions != after.indices.filter({ changed.contains(after[$0]) }) { return "changedAfter" }
    let fields = changed.reduce(into: ChangedFields()) { $0.formUnion(touched.fields[$1] ?? []) }
    if details.changedFields != fields.names { return "changedFields" }
    for (ranges, count) in [
      (details.removedBefore, before.count), (details.deletedBefore, before.count),
      (details.insertedAfter, after.count), (details.changedBefore, before.count), (details.changedAfter, after.count),
    ] where !ranges.isWellFormed(within: count) {
      return "ranges"
    }
    for move in details.moves where before[move.fromBefore] != after[move.toAfter] { return "moves" }
    if details.moves.map(\.toAfter) != details.moves.map(\.toAfter).sorted() { return "order of moves" }
    return nil
  }

  /// Checks law 5.
  private func brokenReverse(_ details: FetchResultChangeDetails) -> String? {
    let back = FetchResultChangeDetails.full(from: after, to: before, touched: touched)
    if back?.removedBefore != details.insertedAfter || back?.insertedAfter != details.removedBefore
      || back?.moves.count != details.moves.count
    {
      return "5"
    }
    return nil
  }

  /// Checks law 8.
  private func brokenWire(_ details: FetchResultChangeDetails) throws -> String? {
    let wire = try JSONEncoder().encode(details)
    return try JSONDecoder().decode(FetchResultChangeDetails.self, from: wire) == details ? nil : "8"
  }

  /// The survivors' positions before, in the order after.
  var survivorOrder: [Int] {
    let positions = Dictionary(uniqueKeysWithValues: before.enumerated().map { ($1, $0) })
    return after.compactMap { positions[$0] }
  }

  /// How many survivors are in no move, and how many of those are untouched.
  var stayed: (count: Int, untouched: Int) {
    let moved = Set(details?.moves.map(\.fromBefore) ?? [])
    let stayed = survivorOrder.filter { !moved.contains($0) }
    return (stayed.count, stayed.count { touched.fields[before[$0]] == nil })
  }

  /// Tries every subset. Returns the length of the longest increasing subsequence, and the most untouched ids that a
  /// subsequence of that length can have.
  var bestPossible: (count: Int, untouched: Int) {
    let order = survivorOrder
    var best = (count: 0, untouched: 0)
    subsets: for subset in 0..<1 << order.count {
      var (last, count, untouched) = (-1, 0, 0)
      for index in order.indices where subset >> index & 1 == 1 {
        guard order[index] > last else { continue subsets }
        last = order[index]
        count += 1
        if touched.fields[before[order[index]]] == nil { untouched += 1 }
      }
      if (count, untouched) > best { best = (count, untouched) }
    }
    return best
  }

  /// The same by dynamic programming in O(n²), for longer lists.
  var bestPossibleSlowly: (count: Int, untouched: Int) {
    let order = survivorOrder
    var best: [(Int, Int)] = []
    for index in order.indices {
      var before = (0, 0)
      for earlier in 0..<index where order[earlier] < order[index] && best[earlier] > before { before = best[earlier] }
      best.append((before.0 + 1, before.1 + (touched.fields[self.before[order[index]]] == nil ? 1 : 0)))
    }
    let top = best.max { $0 < $1 } ?? (0, 0)
    return (top.0, top.1)
  }
}
