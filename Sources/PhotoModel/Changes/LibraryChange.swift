/// One change of the library that a client requests, checked as far as that is possible without the library.
///
/// In all of these, a collection may be named by a negative id: -1 is the first collection that the same call creates,
/// -2 the second, and so on. Only collections of earlier changes of the call may be named.
public enum LibraryChange: Hashable, Sendable {
  case editAssets([AssetID], AssetEdit)
  /// Creates an album with these assets, in this order. A nil parent is the top level.
  case createAlbum(title: String, assets: [AssetID], parent: CollectionID?)
  /// Creates a folder of albums.
  case createFolder(title: String, parent: CollectionID?)
  case createSmartAlbum(title: String, SmartAlbumQuery, parent: CollectionID?)
  case editAlbum(CollectionID, AlbumEdit)
  case editSmartAlbum(CollectionID, SmartAlbumQuery)
  case editCollection(CollectionID, CollectionEdit)
  /// Deletes an album, a user's smart album, or a folder with all collections in it. No asset is deleted.
  case deleteCollection(CollectionID)
}

/// An edit of some assets by a person. A nil field stays as it is.
public struct AssetEdit: Hashable, Sendable {
  public var isFavorite: Bool?
  public var isHidden: Bool?
  /// 0...5
  public var rating: Int?
  /// An empty title means that the asset has none, whatever its file says.
  public var title: String?
  /// As ``title``.
  public var caption: String?
  public var addedKeywords: [String] = []
  public var removedKeywords: [String] = []
  public var creationDate: CreationDateEdit?
  public var location: LocationEdit?
  /// The fields that get the values of the file again. They are cleared before the other fields are set.
  public var cleared: Set<ClearableField> = []

  public init(isFavorite: Bool? = nil, isHidden: Bool? = nil) {
    self.isFavorite = isFavorite
    self.isHidden = isHidden
  }
}

public enum CreationDateEdit: Hashable, Sendable {
  case set(PhotoDate)
  /// Adds seconds to the date of each asset, because the clock of its camera was wrong. The offset stays.
  case shift(seconds: Double)
}

public enum LocationEdit: Hashable, Sendable {
  case set(Location)
  /// The asset has no location, whatever its file says.
  case remove
}

/// The fields of an asset that a person can edit, by their names in the contract.
public enum ClearableField: String, CaseIterable, Hashable, Sendable {
  case isFavorite, isHidden, rating, title, caption, keywords, creationDate, location
}

/// An edit of an album's title, assets and cover. A nil field stays as it is.
public struct AlbumEdit: Hashable, Sendable {
  public var title: String?
  /// The assets to add, or to move if the album has them, in this order. They are removed first and placed after.
  public var placed: [AssetID] = []
  /// The asset before which they are placed. If it is nil, they are placed at the end.
  public var before: AssetID?
  public var removed: [AssetID] = []
  /// The cover.
  public var keyAsset: AssetID?

  public init() {}
}

/// An edit of the title or the place of an album, a user's smart album or a folder. A nil field stays as it is.
public struct CollectionEdit: Hashable, Sendable {
  public var title: String?
  public var place: CollectionPlacement?

  public init() {}
}

/// A place among the collections.
public struct CollectionPlacement: Hashable, Sendable {
  public var parent: Parent
  public var position: Position

  public enum Parent: Hashable, Sendable {
    /// The folder that has it.
    case same
    case top
    case folder(CollectionID)
  }

  public enum Position: Hashable, Sendable {
    /// Before this collection of the same folder.
    case before(CollectionID)
    case end
  }

  public init(parent: Parent, position: Position) {
    self.parent = parent
    self.position = position
  }
}

/// The definition of a user's smart album, as in `FetchOptions`.
public struct SmartAlbumQuery: Codable, Hashable, Sendable {
  public var predicate: String?
  public var text: String?
  public var sortDescriptors: [SortDescriptor]
  public var fetchLimit: Int?

  public init(
    predicate: String? = nil, text: String? = nil, sortDescriptors: [SortDescriptor] = [], fetchLimit: Int? = nil
  ) {
    self.predicate = predicate
    self.text = text
    self.sortDescriptors = sortDescriptors
    self.fetchLimit = fetchLimit
  }
}
