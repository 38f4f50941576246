import PhotoModel

/// A run of consecutive indexes.
public struct IndexRange: Codable, Hashable, Sendable {
  /// The first index.
  public var start: Int
  /// The number of indexes.
  public var count: Int

  /// Creates the range of `count` indexes from `start` on.
  public init(start: Int, count: Int) {
    self.start = start
    self.count = count
  }
}

/// One asset that changed its place relative to the assets that kept their order.
public struct Move: Codable, Hashable, Sendable {
  /// The asset's position in the list before.
  public var fromBefore: Int
  /// The asset's position in the list after.
  public var toAfter: Int

  /// Creates the move of one item, with its index in the list before and in the list after.
  public init(fromBefore: Int, toAfter: Int) {
    self.fromBefore = fromBefore
    self.toAfter = toAfter
  }
}

/// The changes that turn one list of assets into a later one. The name of a property says which list its positions
/// belong to.
public struct FetchResultChangeDetails: Codable, Hashable, Sendable {
  /// The number of assets in the list before.
  public var countBefore: Int
  /// The number of assets in the list after.
  public var countAfter: Int
  /// The positions in the list before whose assets are not in the list after.
  public var removedBefore: [IndexRange]
  /// The positions in `removedBefore` whose assets left the library, not only this list.
  public var deletedBefore: [IndexRange]
  /// The positions in the list after whose assets were not in the list before.
  public var insertedAfter: [IndexRange]
  /// The ids at the positions of `insertedAfter`, in the same order. In the details of a list of collections, they are the
  /// numbers of the collections.
  public var insertedIDs: [AssetID]
  /// The same assets as `changedAfter`, in the order of the list before.
  public var changedBefore: [IndexRange]
  /// The positions in the list after of the assets that are in both lists and have changed.
  public var changedAfter: [IndexRange]
  /// The changed fields of all changed assets together, named as in ``/PhotoModel/ChangedFields``.
  public var changedFields: [String]
  /// Ascending by `toAfter`.
  public var moves: [Move]

  /// Creates details. photod sends them; a program makes them for its own tests. Without arguments beside the counts,
  /// the lists are equal.
  public init(
    countBefore: Int, countAfter: Int, removedBefore: [IndexRange] = [], deletedBefore: [IndexRange] = [],
    insertedAfter: [IndexRange] = [], insertedIDs: [AssetID] = [], changedBefore: [IndexRange] = [],
    changedAfter: [IndexRange] = [], changedFields: [String] = [], moves: [Move] = []
  ) {
    self.countBefore = countBefore
    self.countAfter = countAfter
    self.removedBefore = removedBefore
    self.deletedBefore = deletedBefore
    self.insertedAfter = insertedAfter
    self.insertedIDs = insertedIDs
    self.changedBefore = changedBefore
    self.changedAfter = changedAfter
    self.changedFields = changedFields
    self.moves = moves
  }
}
