import PhotoModel

/// One step that changes a list in place, as for an array, a terminal or a document tree. Each index is one of the list
/// at that moment.
///
/// ```swift
/// for update in try details.sequentialUpdates() {
///   switch update {
///   case .remove(let index): rows.remove(at: index)
///   case .takeOut(let index): aside[index] = rows.remove(at: index)
///   case .insert(let id, let index): rows.insert(makeRow(id), at: index)
///   case .putBack(let origin, let index): rows.insert(aside[origin]!, at: index)
///   case .refresh(let index): rows[index].reload()
///   }
/// }
/// ```
public enum SequentialUpdate: Hashable, Sendable {
  /// The item leaves the list. The index is also the one that it had in the list before.
  case remove(at: Int)
  /// The item leaves its place, and a later ``putBack(_:at:)`` inserts it again. Keep it by this index, which is also
  /// the one that it had in the list before.
  case takeOut(at: Int)
  /// A new item comes. The index is also the one that it has in the list after.
  case insert(AssetID, at: Int)
  /// The item that ``takeOut(at:)`` took from the first index comes back at the second.
  case putBack(Int, at: Int)
  /// The item at this index of the list after must be shown again.
  case refresh(at: Int)
}

extension FetchResultChangeDetails {
  /// The steps that turn the list before into the list after: items leave from right to left, then arrive from left to
  /// right, then are refreshed. Every index is valid when its step is made in this order.
  ///
  /// - Throws: ``Mismatch`` if the details contradict themselves.
  /// - Complexity: O(k log k) for k removed, inserted, moved and changed assets.
  public func sequentialUpdates() throws(Mismatch) -> [SequentialUpdate] {
    let steps = try steps(for: countBefore)
    let moved = Set(moves.map(\.fromBefore))
    var arrivals = Arrivals(self)
    return steps.leaving.positions.reversed().map { moved.contains($0) ? .takeOut(at: $0) : .remove(at: $0) }
      + steps.filled.positions.map { position in
        switch arrivals.next(at: position) {
        case .moved(let from): .putBack(from, at: position)
        case .inserted(let id): .insert(id, at: position)
        }
      }
      + changedAfter.positions.map { .refresh(at: $0) }
  }

  /// Turns the list into the one after, one run of removals or insertions at a time. Ids leave from right to left, then
  /// arrive from left to right. The caller refreshes the positions in ``changedAfter`` afterwards.
  ///
  /// - Throws: ``Mismatch``. Then the list is unchanged.
  /// - Complexity: O(n · k) for k runs of removed, inserted and moved ids; ``applied(to:)`` is O(n).
  public func applySequentially(to list: inout [AssetID]) throws(Mismatch) {
    try applySequentially(to: &list) { $0 }
  }

  /// The same for a list of anything that belongs to assets, such as the rows of a view. Items that move are kept.
  ///
  /// - Parameter makeItem: returns the item of an asset that is new in the list.
  /// - Throws: ``Mismatch``. Then the list is unchanged, and no item was made.
  /// - Complexity: O(n · k) for k runs of removed, inserted and moved items.
  public func applySequentially<Item>(
    to list: inout [Item], inserting makeItem: (AssetID) -> Item
  ) throws(Mismatch) {
    let steps = try steps(for: list.count)
    var aside = Dictionary(uniqueKeysWithValues: moves.map { ($0.fromBefore, list[$0.fromBefore]) })
    for range in steps.leaving.reversed() { list.removeSubrange(range.start..<range.start + range.count) }
    var arrivals = Arrivals(self)
    for range in steps.filled {
      let items = (range.start..<range.start + range.count).compactMap { position in
        switch arrivals.next(at: position) {
        // Every move has its item aside, because `steps(for:)` has checked the moves.
        case .moved(let from): aside.removeValue(forKey: from)
        case .inserted(let id): makeItem(id)
        }
      }
      list.insert(contentsOf: items, at: range.start)
    }
  }
}
