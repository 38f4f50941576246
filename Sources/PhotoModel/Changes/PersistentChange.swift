/// A directory whose path changed. The files and directories in it also have new paths, but they are not listed.
public struct RenamedDirectory: Codable, Hashable, Sendable {
  public var fromPath: String
  public var toPath: String

  public init(fromPath: String, toPath: String) {
    self.fromPath = fromPath
    self.toPath = toPath
  }
}

/// A root that went online or offline.
public struct RootAvailability: Codable, Hashable, Sendable {
  public var path: String
  public var available: Bool

  public init(path: String, available: Bool) {
    self.path = path
    self.available = available
  }
}

/// One committed change of the library.
public struct PersistentChange: Codable, Hashable, Sendable {
  public var token: String
  public var date: PhotoDate
  /// `watcher`, `rescan`, `mount`, `migration` (a newer photod upgraded the catalog) or `client:<name>`.
  public var origin: String
  public var insertedAssets: [AssetID]
  public var updatedAssets: [AssetID]
  public var deletedAssets: [AssetID]
  /// The names of the fields that changed in the updated assets. An older daemon does not send them.
  public var changedFields: [String]?
  public var insertedCollections: [CollectionID]
  public var updatedCollections: [CollectionID]
  public var deletedCollections: [CollectionID]
  public var renamedDirectories: [RenamedDirectory]
  public var rootAvailability: [RootAvailability]

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
