/// One request of `PerformChanges`. Exactly one field is set.
///
/// The rules of each field are in org.photod.library.varlink. photod answers a request that breaks one of them with
/// `ChangeRejected`.
public struct ChangeRequest: Codable, Hashable, Sendable {
  /// Edits assets. A nil field stays as it is.
  public struct EditAsset: Codable, Hashable, Sendable {
    /// The assets to edit.
    public var ids: [AssetID]
    /// Whether they are favorites.
    public var isFavorite: Bool?
    /// Whether they are hidden.
    public var isHidden: Bool?
    /// 0...5
    public var rating: Int?
    /// An empty title means that the asset has none, whatever its file says.
    public var title: String?
    /// The caption. An empty one means that the asset has none, whatever its file says.
    public var caption: String?
    /// The keywords to add.
    public var addKeywords: [String]?
    /// The keywords to remove, whether from a person or from the file.
    public var removeKeywords: [String]?
    /// RFC 3339. Without an offset it is local time.
    public var creationDate: String?
    /// Seconds to add to the date of each asset.
    public var shiftCreationDate: Double?
    /// The place.
    public var location: Location?
    /// True if the assets have no location, whatever their files say.
    public var removeLocation: Bool?
    /// The names of the fields that get the values of the file again (``ClearableField``).
    public var clear: [String]?

    /// An edit of these fields. The others stay as they are.
    public init(ids: [AssetID], isFavorite: Bool? = nil, isHidden: Bool? = nil) {
      self.ids = ids
      self.isFavorite = isFavorite
      self.isHidden = isHidden
    }
  }

  /// Creates an album.
  public struct CreateAlbum: Codable, Hashable, Sendable {
    /// The title.
    public var title: String
    /// The assets of the album, in their order.
    public var assetIDs: [AssetID]?
    /// The folder of albums that gets it; nil for the top level.
    public var parentID: CollectionID?

    /// Creates the request. Without `assetIDs`, the album is empty; without `parentID`, it is in no folder.
    public init(title: String, assetIDs: [AssetID]? = nil, parentID: CollectionID? = nil) {
      self.title = title
      self.assetIDs = assetIDs
      self.parentID = parentID
    }
  }

  /// Creates a folder of albums.
  public struct CreateFolder: Codable, Hashable, Sendable {
    /// The title.
    public var title: String
    /// The folder of albums that gets it; nil for the top level.
    public var parentID: CollectionID?

    /// Creates the request. Without `parentID`, the folder is in no other folder.
    public init(title: String, parentID: CollectionID? = nil) {
      self.title = title
      self.parentID = parentID
    }
  }

  /// Creates a smart album, whose assets are those that its query finds.
  public struct CreateSmartAlbum: Codable, Hashable, Sendable {
    /// The title.
    public var title: String
    /// The condition on its assets, as in `FetchOptions`.
    public var predicate: String?
    /// Words that its assets have, as in `FetchOptions`.
    public var text: String?
    /// Its order, as in `FetchOptions`.
    public var sortDescriptors: [SortDescriptor]?
    /// The most assets that it has, as in `FetchOptions`.
    public var fetchLimit: Int?
    /// The folder of albums that gets it; nil for the top level.
    public var parentID: CollectionID?

    /// Creates the request. The album needs a predicate, words, or both. Without `sortDescriptors`, it shows the newest
    /// first.
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

    /// Creates a value with this query.
    public init(title: String, _ query: SmartAlbumQuery, parentID: CollectionID? = nil) {
      self.init(
        title: title, predicate: query.predicate, text: query.text, sortDescriptors: query.sortDescriptors,
        fetchLimit: query.fetchLimit, parentID: parentID)
    }
  }

  /// Replaces the whole query of a smart album.
  public struct EditSmartAlbum: Codable, Hashable, Sendable {
    /// The collection to edit.
    public var id: CollectionID
    /// The condition on its assets, as in `FetchOptions`.
    public var predicate: String?
    /// Words that its assets have, as in `FetchOptions`.
    public var text: String?
    /// Its order, as in `FetchOptions`.
    public var sortDescriptors: [SortDescriptor]?
    /// The most assets that it has, as in `FetchOptions`.
    public var fetchLimit: Int?

    /// Creates the request. The given query replaces the whole query of the album, and its title stays.
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

    /// Creates a value with this query.
    public init(id: CollectionID, _ query: SmartAlbumQuery) {
      self.init(
        id: id, predicate: query.predicate, text: query.text, sortDescriptors: query.sortDescriptors,
        fetchLimit: query.fetchLimit)
    }
  }

  /// Edits the title, the assets or the cover of an album. A nil field stays as it is.
  public struct EditAlbum: Codable, Hashable, Sendable {
    /// The collection to edit.
    public var id: CollectionID
    /// The title.
    public var title: String?
    /// The assets to add, or to move if the album has them, in this order.
    public var placeAssetIDs: [AssetID]?
    /// The asset before which they are placed; nil for the end.
    public var beforeAssetID: AssetID?
    /// The assets to take out. They stay in the library.
    public var removeAssetIDs: [AssetID]?
    /// The cover.
    public var keyAssetID: AssetID?

    /// Creates the request. A member that is nil changes nothing.
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
    /// The collection to edit.
    public var id: CollectionID
    /// The title.
    public var title: String?
    /// The folder to which it moves; 0 is the top level.
    public var parentID: CollectionID?
    /// The collection before which it is placed; 0 is the end.
    public var beforeID: CollectionID?

    /// Creates the request. A member that is nil changes nothing.
    public init(
      id: CollectionID, title: String? = nil, parentID: CollectionID? = nil, beforeID: CollectionID? = nil
    ) {
      self.id = id
      self.title = title
      self.parentID = parentID
      self.beforeID = beforeID
    }
  }

  /// Edits assets.
  public var editAsset: EditAsset?
  /// Moves assets to the trash.
  public var trashAssets: [AssetID]?
  /// Takes assets out of the trash.
  public var restoreAssets: [AssetID]?
  /// Creates an album.
  public var createAlbum: CreateAlbum?
  /// Creates a folder of albums.
  public var createFolder: CreateFolder?
  /// Creates a smart album.
  public var createSmartAlbum: CreateSmartAlbum?
  /// Edits the title, the assets or the cover of an album.
  public var editAlbum: EditAlbum?
  /// Replaces the query of a smart album.
  public var editSmartAlbum: EditSmartAlbum?
  /// Edits the title or the place of a collection.
  public var editCollection: EditCollection?
  /// An album, a user's smart album, or a folder of albums with all that is in it. No photo is deleted.
  public var deleteAlbum: CollectionID?

  /// A request with this one field.
  public init(editAsset: EditAsset) { self.editAsset = editAsset }
  /// A request with this one field.
  public init(trashAssets: [AssetID]) { self.trashAssets = trashAssets }
  /// A request with this one field.
  public init(restoreAssets: [AssetID]) { self.restoreAssets = restoreAssets }
  /// A request with this one field.
  public init(createAlbum: CreateAlbum) { self.createAlbum = createAlbum }
  /// A request with this one field.
  public init(createFolder: CreateFolder) { self.createFolder = createFolder }
  /// A request with this one field.
  public init(createSmartAlbum: CreateSmartAlbum) { self.createSmartAlbum = createSmartAlbum }
  /// A request with this one field.
  public init(editAlbum: EditAlbum) { self.editAlbum = editAlbum }
  /// A request with this one field.
  public init(editSmartAlbum: EditSmartAlbum) { self.editSmartAlbum = editSmartAlbum }
  /// A request with this one field.
  public init(editCollection: EditCollection) { self.editCollection = editCollection }
  /// A request with this one field.
  public init(deleteAlbum: CollectionID) { self.deleteAlbum = deleteAlbum }
}
