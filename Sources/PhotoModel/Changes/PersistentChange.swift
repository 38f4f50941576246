/// A directory whose path changed. The files and directories in it also have new paths, but they are not listed.
public struct RenamedDirectory: Codable, Hashable, Sendable {
  /// The absolute path before.
  public var fromPath: String
  /// The absolute path after.
  public var toPath: String

  /// Creates a renamed directory with its absolute paths before and after the rename.
  public init(fromPath: String, toPath: String) {
    self.fromPath = fromPath
    self.toPath = toPath
  }
}

/// A root that went online or offline.
public struct RootAvailability: Codable, Hashable, Sendable {
  /// The absolute path of the root.
  public var path: String
  /// Whether it is online now.
  public var available: Bool

  /// Creates the new availability of a root or a mounted folder.
  public init(path: String, available: Bool) {
    self.path = path
    self.available = available
  }
}

/// One committed change of the library.
public struct PersistentChange: Codable, Hashable, Sendable {
  /// The token of the library with this change.
  public var token: String
  /// When the change was committed.
  public var date: PhotoDate
  /// `watcher`, `rescan`, `mount`, `migration` (a newer photod upgraded the catalog) or `client:<name>`.
  public var origin: String
  /// The assets that the library gained.
  public var insertedAssets: [AssetID]
  /// The assets that changed.
  public var updatedAssets: [AssetID]
  /// The assets that the library lost.
  public var deletedAssets: [AssetID]
  /// The names of the fields that changed in the updated assets. An older daemon does not send them.
  public var changedFields: [String]?
  /// The collections that the library gained.
  public var insertedCollections: [CollectionID]
  /// The collections whose title, place, assets, cover or query changed.
  public var updatedCollections: [CollectionID]
  /// The collections that the library lost.
  public var deletedCollections: [CollectionID]
  /// The directories whose path changed.
  public var renamedDirectories: [RenamedDirectory]
  /// The roots that went online or offline.
  public var rootAvailability: [RootAvailability]

  /// Creates a commit of the history. photod sends it; a program makes one for its own tests. Lists that are not given
  /// are empty.
  public init(
    token: String, date: PhotoDate, origin: String, insertedAssets: [AssetID] = [], updatedAssets: [AssetID] = [],
    deletedAssets: [AssetID] = [], changedFields: [String]? = nil, insertedCollections: [CollectionID] = [],
    updatedCollections: [CollectionID] = [],
    deletedCollections: [CollectionID] = [], renamedDirectories: [RenamedDirectory] = [],
    rootAvailability: [RootAvailability] = []
  ) {
    self.token = token
    self.date = date
    self.origin = origin
    self.insertedAssets = insertedAssets
    self.updatedAssets = updatedAssets
    self.deletedAssets = deletedAssets
    self.changedFields = changedFields
    self.insertedCollections = insertedCollections
    self.updatedCollections = updatedCollections
    self.deletedCollections = deletedCollections
    self.renamedDirectories = renamedDirectories
    self.rootAvailability = rootAvailability
  }
}
