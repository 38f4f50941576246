/// The indexes of one batch update, as `performBatchUpdates` of UICollectionView, NSCollectionView and UITableView takes
/// them: deletions and the origins of moves are indexes of the list before, insertions and the targets of moves are
/// indexes of the list after.
///
/// ```swift
/// let batch = try details.batchUpdate()
/// collectionView.performBatchUpdates {
///   assets = after
///   collectionView.deleteItems(at: batch.deletedBefore.map { IndexPath(item: $0, section: 0) })
///   collectionView.insertItems(at: batch.insertedAfter.map { IndexPath(item: $0, section: 0) })
///   for move in batch.moves {
///     collectionView.moveItem(
///       at: IndexPath(item: move.fromBefore, section: 0), to: IndexPath(item: move.toAfter, section: 0))
///   }
/// }
/// collectionView.reconfigureItems(at: batch.reconfiguredAfter.map { IndexPath(item: $0, section: 0) })
/// ```
///
/// No index is in two of `deletedBefore` and the origins, or of `insertedAfter` and the targets. Such views crash on
/// that. They also crash if items are reconfigured inside the batch, so that comes after it.
public struct BatchUpdate: Hashable, Sendable {
  /// The number of items before.
  public let countBefore: Int
  /// The number of items after. It is `countBefore` without the deleted and with the inserted items.
  public let countAfter: Int
  /// The indexes of the list before whose items leave, ascending. Their assets may still be in the library, in contrast to
  /// ``FetchResultChangeDetails/deletedBefore``.
  public let deletedBefore: [Int]
  /// The indexes of the list after whose items are new, ascending.
  public let insertedAfter: [Int]
  /// The items that changed their place relative to the others, ascending by `toAfter`.
  public let moves: [Move]
  /// The indexes of the list after whose items must be shown again when the batch is done, ascending. An item that moved
  /// may be among them.
  public let reconfiguredAfter: [Int]
}

extension FetchResultChangeDetails {
  /// The indexes for one batch update.
  ///
  /// - Throws: ``Mismatch`` if the details contradict themselves.
  /// - Complexity: O(k log k) for k removed, inserted, moved and changed assets.
  public func batchUpdate() throws(Mismatch) -> BatchUpdate {
    _ = try steps(for: countBefore)
    return BatchUpdate(
      countBefore: countBefore, countAfter: countAfter, deletedBefore: removedBefore.positions,
      insertedAfter: insertedAfter.positions, moves: moves, reconfiguredAfter: changedAfter.positions)
  }
}
