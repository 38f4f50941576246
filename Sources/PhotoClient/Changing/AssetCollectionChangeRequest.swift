import PhotoContract
import PhotoModel

/// An edit of an album that a person made, as PhotoKit's `PHAssetCollectionChangeRequest`. Its steps are done in their order.
///
/// Assets are named by id and places by the asset that follows, not by index: the album may have changed since it was
/// fetched.
public struct AssetCollectionChangeRequest: Hashable, Sendable {
  /// The album.
  public let id: CollectionID
  /// The new title; nil if it stays.
  public var title: String?
  /// The new cover, which must be in the album; nil if it stays.
  public var keyAsset: AssetID?

  private var steps: [ChangeRequest.EditAlbum] = []

  /// - Parameter id: that of an album of the user, or of a ``CollectionPlaceholder``.
  public init(for id: CollectionID) { self.id = id }

  /// An edit of an album of the user.
  public init(for album: AssetCollection) { self.init(for: album.id) }

  /// Adds assets at the end. If the album has one of them already, it moves there.
  ///
  /// - Complexity: amortized O(1). The ids are not copied.
  public mutating func addAssets(_ ids: [AssetID]) { insertAssets(ids, before: nil) }

  /// Adds assets before another one, in this order. If the album has one of them already, it moves there.
  ///
  /// - Parameter other: an asset of the album; nil for the end.
  /// - Complexity: amortized O(1). The ids are not copied.
  public mutating func insertAssets(_ ids: [AssetID], before other: AssetID?) {
    guard !ids.isEmpty else { return }
    steps.append(ChangeRequest.EditAlbum(id: id, placeAssetIDs: ids, beforeAssetID: other))
  }

  /// Moves assets before another one, in this order. It is the same as ``insertAssets(_:before:)``.
  ///
  /// - Complexity: amortized O(1). The ids are not copied.
  public mutating func moveAssets(_ ids: [AssetID], before other: AssetID?) { insertAssets(ids, before: other) }

  /// Removes assets. If the album does not have one of them, nothing happens to it.
  ///
  /// - Complexity: amortized O(1). The ids are not copied.
  public mutating func removeAssets(_ ids: [AssetID]) {
    guard !ids.isEmpty else { return }
    steps.append(ChangeRequest.EditAlbum(id: id, removeAssetIDs: ids))
  }

  /// The requests in the form of the contract. The cover is set last, when its asset is in the album.
  var requests: [ChangeRequest] {
    var edits = steps
    if title != nil || keyAsset != nil {
      edits.append(ChangeRequest.EditAlbum(id: id, title: title, keyAssetID: keyAsset))
    }
    return edits.map { ChangeRequest(editAlbum: $0) }
  }
}

/// An edit of a folder of albums, or of the top level, as PhotoKit's `PHCollectionListChangeRequest`. Its steps are done in
/// their order.
public struct CollectionListChangeRequest: Hashable, Sendable {
  /// The folder; nil for the top level.
  public let id: CollectionID?
  /// The new title of the folder; nil if it stays. The top level has none.
  public var title: String?

  private var steps: [ChangeRequest.EditCollection] = []

  /// - Parameter id: that of a folder of albums or of a ``CollectionPlaceholder``; nil for the top level.
  public init(for id: CollectionID?) { self.id = id }

  /// An edit of a folder of albums.
  public init(for folder: AssetCollection) { self.init(for: folder.id) }

  /// Moves albums, smart albums or folders into this folder, or to another place in it.
  ///
  /// - Parameters:
  ///   - ids: in the order in which they will be.
  ///   - other: a collection of this folder, before which they are placed; nil for the end.
  /// - Complexity: O(n) for n collections.
  public mutating func insert(_ ids: [CollectionID], before other: CollectionID? = nil) {
    steps += ids.map { ChangeRequest.EditCollection(id: $0, parentID: id ?? 0, beforeID: other ?? 0) }
  }

  /// Moves collections of this folder to the top level.
  ///
  /// - Complexity: O(n) for n collections.
  public mutating func remove(_ ids: [CollectionID]) {
    steps += ids.map { ChangeRequest.EditCollection(id: $0, parentID: 0, beforeID: 0) }
  }

  /// The requests in the form of the contract.
  var requests: [ChangeRequest] {
    var edits = steps
    if let id, let title { edits.append(ChangeRequest.EditCollection(id: id, title: title)) }
    return edits.map { ChangeRequest(editCollection: $0) }
  }
}
