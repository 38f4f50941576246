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
  public var insertedAssets: [Int64]
  public var updatedAssets: [Int64]
  public var deletedAssets: [Int64]
  public var insertedCollections: [Int64]
  public var updatedCollections: [Int64]
  public var deletedCollections: [Int64]
  public var renamedDirectories: [RenamedDirectory]
  public var rootAvailability: [RootAvailability]

  public init(
    token: String, date: PhotoDate, origin: String, insertedAssets: [Int64] = [], updatedAssets: [Int64] = [],
    deletedAssets: [Int64] = [], insertedCollections: [Int64] = [], updatedCollections: [Int64] = [],
    deletedCollections: [Int64] = [], renamedDirectories: [RenamedDirectory] = [],
    rootAvailability: [RootAvailability] = []
  ) {
    self.token = token
    self.date = date
    self.origin = origin
    self.insertedAssets = insertedAssets
    self.updatedAssets = updatedAssets
    self.deletedAssets = deletedAssets
    self.insertedCollections = insertedCollections
    self.updatedCollections = updatedCollections
    self.deletedCollections = deletedCollections
    self.renamedDirectories = renamedDirectories
    self.rootAvailability = rootAvailability
  }
}
