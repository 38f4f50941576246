import PhotoModel

/// The ids of a list before and after a change. It is for a view that finds out by itself which ids came, left and moved.
/// Examples are a diffable data source, SwiftUI's `ForEach`, and a keyed list of a web framework.
///
/// ```swift
/// let snapshot = try details.snapshot(from: ids)
/// var shown = NSDiffableDataSourceSnapshot<Int, AssetID>()
/// shown.appendSections([0])
/// shown.appendItems(snapshot.after)
/// shown.reconfigureItems(snapshot.reconfigured)
/// dataSource.apply(shown)
/// ```
public struct ListSnapshot: Hashable, Sendable {
  /// The ids of the list before, in its order. No id is in it twice.
  public let before: [AssetID]
  /// The ids of the list after, in its order. No id is in it twice.
  public let after: [AssetID]
  /// The ids whose items must be shown again, in the order of `after`. Each is in both lists.
  public let reconfigured: [AssetID]
}

extension FetchResultChangeDetails {
  /// The snapshot of the list after.
  ///
  /// - Parameter before: the list that the details start from.
  /// - Throws: ``Mismatch``
  /// - Complexity: O(n)
  public func snapshot(from before: [AssetID]) throws(Mismatch) -> ListSnapshot {
    let after = try applied(to: before)
    return ListSnapshot(before: before, after: after, reconfigured: changedAfter.positions.map { after[$0] })
  }
}
