/// One change of the library that a client requests, checked as far as that is possible without the library.
///
/// In all of these, a collection may be named by a negative id: -1 is the first collection that the same call creates,
/// -2 the second, and so on. Only collections of earlier changes of the call may be named.
public enum LibraryChange: Hashable, Sendable {
  /// Edits assets.
  case editAssets([AssetID], AssetEdit)
  /// Creates an album with these assets, in this order. A nil parent is the top level.
  case createAlbum(title: String, assets: [AssetID], parent: CollectionID?)
  /// Creates a folder of albums.
  case createFolder(title: String, parent: CollectionID?)
  /// Creates a smart album with this query. A nil parent is the top level.
  case createSmartAlbum(title: String, SmartAlbumQuery, parent: CollectionID?)
  /// Edits the title, the assets or the cover of an album.
  case editAlbum(CollectionID, AlbumEdit)
  /// Replaces the query of a smart album.
  case editSmartAlbum(CollectionID, SmartAlbumQuery)
  /// Edits the title or the place of a collection.
  case editCollection(CollectionID, CollectionEdit)
  /// Deletes an album, a user's smart album, or a folder with all collections in it. No asset is deleted.
  case deleteCollection(CollectionID)
}

/// An edit of some assets by a person. A nil field stays as it is.
public struct AssetEdit: Hashable, Sendable {
  /// Whether the assets are favorites.
  public var isFavorite: Bool?
  /// Whether the assets are hidden.
  public var isHidden: Bool?
  /// 0...5
  public var rating: Int?
  /// An empty title means that the asset has none, whatever its file says.
  public var title: String?
  /// As ``title``.
  public var caption: String?
  /// The keywords to add.
  public var addedKeywords: [String] = []
  /// The keywords to remove, whether from a person or from the file.
  public var removedKeywords: [String] = []
  /// The edit of the date.
  public var creationDate: CreationDateEdit?
  /// The edit of the place.
  public var location: LocationEdit?
  /// The fields that get the values of the file again. They are cleared before the other fields are set.
  public var cleared: Set<ClearableField> = []

  /// An edit of these fields. The others stay as they are.
  public init(isFavorite: Bool? = nil, isHidden: Bool? = nil) {
    self.isFavorite = isFavorite
    self.isHidden = isHidden
  }
}

/// An edit of the date when a photo was taken.
public enum CreationDateEdit: Hashable, Sendable {
  /// Each asset gets this date.
  case set(PhotoDate)
  /// Adds seconds to the date of each asset, because the clock of its camera was wrong. The offset stays.
  case shift(seconds: Double)
}

/// An edit of the place where a photo was taken.
public enum LocationEdit: Hashable, Sendable {
  /// Each asset gets this place.
  case set(Location)
  /// The asset has no location, whatever its file says.
  case remove
}

/// The fields of an asset that a person can edit, by their names in the contract.
public enum ClearableField: String, CaseIterable, Hashable, Sendable {
  /// The field of ``Asset`` with this name.
  case isFavorite, isHidden, rating, title, caption, keywords, creationDate, location
}

/// An edit of an album's title, assets and cover. A nil field stays as it is.
public struct AlbumEdit: Hashable, Sendable {
  /// The title.
  public var title: String?
  /// The assets to add, or to move if the album has them, in this order. They are removed first and placed after.
  public var placed: [AssetID] = []
  /// The asset before which they are placed. If it is nil, they are placed at the end.
  public var before: AssetID?
  /// The assets to take out. They stay in the library.
  public var removed: [AssetID] = []
  /// The cover.
  public var keyAsset: AssetID?

  /// An edit that changes nothing yet.
  public init() {}
}

/// An edit of the title or the place of an album, a user's smart album or a folder. A nil field stays as it is.
public struct CollectionEdit: Hashable, Sendable {
  /// The title.
  public var title: String?
  /// The place to which it moves.
  public var place: CollectionPlacement?

  /// An edit that changes nothing yet.
  public init() {}
}

/// A place among the collections.
public struct CollectionPlacement: Hashable, Sendable {
  /// The folder that gets the collection.
  public var parent: Parent
  /// The place inside of that folder.
  public var position: Position

  /// The folder of a place.
  public enum Parent: Hashable, Sendable {
    /// The folder in which the collection is now.
    case same
    /// The top level.
    case top
    /// This folder of albums.
    case folder(CollectionID)
  }

  /// A place inside of a folder.
  public enum Position: Hashable, Sendable {
    /// Before this collection of the same folder.
    case before(CollectionID)
    /// After all others.
    case end
  }

  /// Creates a place. With the parent `.same`, only the position changes.
  public init(parent: Parent, position: Position) {
    self.parent = parent
    self.position = position
  }
}

/// The definition of a user's smart album, as in `FetchOptions`.
public struct SmartAlbumQuery: Codable, Hashable, Sendable {
  /// The condition on its assets, as in `FetchOptions`.
  public var predicate: String?
  /// Words that its assets have, as in `FetchOptions`.
  public var text: String?
  /// Its order. If it is empty, the newest asset is first.
  public var sortDescriptors: [SortDescriptor]
  /// The most assets that it has, as in `FetchOptions`.
  public var fetchLimit: Int?

  /// Creates a query. It needs a predicate, words, or both. Without `sortDescriptors`, it shows the newest first.
  public init(
    predicate: String? = nil, text: String? = nil, sortDescriptors: [SortDescriptor] = [], fetchLimit: Int? = nil
  ) {
    self.predicate = predicate
    self.text = text
    self.sortDescriptors = sortDescriptors
    self.fetchLimit = fetchLimit
  }
}
