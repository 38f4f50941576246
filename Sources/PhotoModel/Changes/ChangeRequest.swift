/// One request of `PerformChanges`. Exactly one field is set.
///
/// The rules of each field are in org.photod.library.varlink. photod answers a request that breaks one of them with
/// `ChangeRejected`.
public struct ChangeRequest: Codable, Hashable, Sendable {
  /// Edits assets. A nil field stays as it is.
  public struct EditAsset: Codable, Hashable, Sendable {
    public var ids: [AssetID]
    public var isFavorite: Bool?
    public var isHidden: Bool?
    /// 0...5
    public var rating: Int?
    /// An empty title means that the asset has none, whatever its file says.
    public var title: String?
    public var caption: String?
    public var addKeywords: [String]?
    public var removeKeywords: [String]?
    /// RFC 3339. Without an offset it is local time.
    public var creationDate: String?
    /// Seconds to add to the date of each asset.
    public var shiftCreationDate: Double?
    public var location: Location?
    public var removeLocation: Bool?
    /// The names of the fields that get the values of the file again (``ClearableField``).
    public var clear: [String]?

    public init(ids: [AssetID], isFavorite: Bool? = nil, isHidden: Bool? = nil) {
      self.ids = ids
      self.isFavorite = isFavorite
      self.isHidden = isHidden
    }
  }

  public struct CreateAlbum: Codable, Hashable, Sendable {
    public var title: String
    public var assetIDs: [AssetID]?
    /// The folder of albums that gets it; nil for the top level.
    public var parentID: CollectionID?

    public init(title: String, assetIDs: [AssetID]? = nil, parentID: CollectionID? = nil) {
      self.title = title
      self.assetIDs = assetIDs
      self.parentID = parentID
    }
  }

  public struct CreateFolder: Codable, Hashable, Sendable {
    public var title: String
    public var parentID: CollectionID?

    public init(title: String, parentID: CollectionID? = nil) {
      self.title = title
      self.parentID = parentID
    }
  }

  public struct CreateSmartAlbum: Codable, Hashable, Sendable {
    public var title: String
    public var predicate: String?
    public var text: String?
    public var sortDescriptors: [SortDescriptor]?
    public var fetchLimit: Int?
    public var parentID: CollectionID?

    public init(
      title: String, predicate: String? = nil, text: String? = nil, sortDescriptors: [SortDescriptor]? = nil,
      fetchLimit: Int? = nil, parentID: CollectionID? = nil
    ) {
      self.title = title
      self.predicate = predicate
      self.text = text
      self.sortDescriptors = sortDescriptors
      self.fetchLimit = fetchLimit
      self.parentID = parentID
    }

    public init(title: String, _ query: SmartAlbumQuery, parentID: CollectionID? = nil) {
      self.init(
        title: title, predicate: query.predicate, text: query.text, sortDescriptors: query.sortDescriptors,
        fetchLimit: query.fetchLimit, parentID: parentID)
    }
  }

  /// Replaces the whole query of a smart album.
  public struct EditSmartAlbum: Codable, Hashable, Sendable {
    public var id: CollectionID
    public var predicate: String?
    public var text: String?
    public var sortDescriptors: [SortDescriptor]?
    public var fetchLimit: Int?

    public init(
      id: CollectionID, predicate: String? = nil, text: String? = nil, sortDescriptors: [SortDescriptor]? = nil,
      fetchLimit: Int? = nil
    ) {
      self.id = id
      self.predicate = predicate
      self.text = text
      self.sortDescriptors = sortDescriptors
      self.fetchLimit = fetchLimit
    }

    public init(id: CollectionID, _ query: SmartAlbumQuery) {
      self.init(
        id: id, predicate: query.predicate, text: query.text, sortDescriptors: query.sortDescriptors,
        fetchLimit: query.fetchLimit)
    }
  }

  /// Edits the title, the assets or the cover of an album. A nil field stays as it is.
  public struct EditAlbum: Codable, Hashable, Sendable {
    public var id: CollectionID
    public var title: String?
    /// The assets to add, or to move if the album has them, in this order.
    public var placeAssetIDs: [AssetID]?
    /// The asset before which they are placed; nil for the end.
    public var beforeAssetID: AssetID?
    public var removeAssetIDs: [AssetID]?
    public var keyAssetID: AssetID?

    public init(
      id: CollectionID, title: String? = nil, placeAssetIDs: [AssetID]? = nil, beforeAssetID: AssetID? = nil,
      removeAssetIDs: [AssetID]? = nil, keyAssetID: AssetID? = nil
    ) {
      self.id = id
      self.title = title
      self.placeAssetIDs = placeAssetIDs
      self.beforeAssetID = beforeAssetID
      self.removeAssetIDs = removeAssetIDs
      self.keyAssetID = keyAssetID
    }
  }

  /// Edits the title or the place of an album, a user's smart album or a folder of albums. A nil field stays as it is.
  public struct EditCollection: Codable, Hashable, Sendable {
    public var id: CollectionID
    public var title: String?
    /// The folder to which it moves; 0 is the top level.
    public var parentID: CollectionID?
    /// The collection before which it is placed; 0 is the end.
    public var beforeID: CollectionID?

    public init(
      id: CollectionID, title: String? = nil, parentID: CollectionID? = nil, beforeID: CollectionID? = nil
    ) {
      self.id = id
      self.title = title
      self.parentID = parentID
      self.beforeID = beforeID
    }
  }

  public var editAsset: EditAsset?
  public var trashAssets: [AssetID]?
  public var restoreAssets: [AssetID]?
  public var createAlbum: CreateAlbum?
  public var createFolder: CreateFolder?
  public var createSmartAlbum: CreateSmartAlbum?
  public var editAlbum: EditAlbum?
  public var editSmartAlbum: EditSmartAlbum?
  public var editCollection: EditCollection?
  /// An album, a user's smart album, or a folder of albums with all that is in it. No photo is deleted.
  public var deleteAlbum: CollectionID?

  public init(editAsset: EditAsset) { self.editAsset = editAsset }
  public init(trashAssets: [AssetID]) { self.trashAssets = trashAssets }
  public init(restoreAssets: [AssetID]) { self.restoreAssets = restoreAssets }
  public init(createAlbum: CreateAlbum) { self.createAlbum = createAlbum }
  public init(createFolder: CreateFolder) { self.createFolder = createFolder }
  public init(createSmartAlbum: CreateSmartAlbum) { self.createSmartAlbum = createSmartAlbum }
  public init(editAlbum: EditAlbum) { self.editAlbum = editAlbum }
  public init(editSmartAlbum: EditSmartAlbum) { self.editSmartAlbum = editSmartAlbum }
  public init(editCollection: EditCollection) { self.editCollection = editCollection }
  public init(deleteAlbum: CollectionID) { self.deleteAlbum = deleteAlbum }
}
