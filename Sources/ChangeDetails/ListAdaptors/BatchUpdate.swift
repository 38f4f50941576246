/// The indexes of one batch update, as `performBatchUpdates` of UICollectionView, NSCollectionView and UITableView takes
/// them. Deletions and the origins of moves are indexes of the list before. Insertions and the targets of moves are
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
/// `deletedBefore` and the origins of moves have no index in common, and neither have `insertedAfter` and the targets. A
/// common index would crash such a view. So would reconfiguring items inside the batch, which is why that comes after it.
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
