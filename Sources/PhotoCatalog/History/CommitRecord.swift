import ChangeDetails
import PhotoModel

/// Everything that one commit touches. Only ``CatalogWriter`` adds to it.
package struct CommitRecord: Sendable {
  package internal(set) var insertedAssets: Set<AssetID> = []
  /// The changed fields of each updated asset.
  package internal(set) var updatedAssets: [AssetID: ChangedFields] = [:]
  package internal(set) var deletedAssets: Set<AssetID> = []
  /// The fields that this commit changed before it deleted the asset. If the asset returns, they count as changed too.
  private var updatedBeforeDeletion: [AssetID: ChangedFields] = [:]
  package internal(set) var insertedCollections: Set<CollectionID> = []
  package internal(set) var updatedCollections: Set<CollectionID> = []
  package internal(set) var deletedCollections: Set<CollectionID> = []
  /// For each album whose members or order were edited, the assets that were added, removed or moved in it. The history
  /// records only that the album was updated.
  package private(set) var editedAlbums: [CollectionID: Set<AssetID>] = [:]
  package internal(set) var renamedDirectories: [Renamed] = []
  /// The directories that this commit parked and did not move since. Their new place is named by a later commit.
  private(set) var parkedDirectories: Set<DirectoryID> = []
  /// Whether this commit deleted directories.
  private(set) var hasDeletedDirectories = false
  package internal(set) var rootAvailability: [Availability] = []
  /// The roots in ``rootAvailability`` whose own availability is that before the commit.
  private var repeatedRoots: Set<RootID> = []

  /// A directory with a new path. Everything below it moves with it.
  package struct Renamed: Hashable, Sendable {
    package let directoryID: DirectoryID
    package let fromPath: [UInt8]
    package let toPath: [UInt8]
  }

  /// A root, or a mount in a folder below one, that went online or offline.
  package struct Availability: Hashable, Sendable {
    package let rootID: RootID
    package let path: [UInt8]
    package let isAvailable: Bool
    /// The folder below the root on which the other file system is mounted. nil for the root itself.
    package let directoryID: DirectoryID?

    init(rootID: RootID, path: [UInt8], isAvailable: Bool, directoryID: DirectoryID? = nil) {
      self.rootID = rootID
      self.path = path
      self.isAvailable = isAvailable
      self.directoryID = directoryID
    }
  }

  init() {}

  /// The number of assets that are named, with those that were placed in albums.
  package var assetCount: Int {
    insertedAssets.count + updatedAssets.count + deletedAssets.count
      + editedAlbums.values.reduce(0) { $0 + $1.count }
  }

  /// The number of updated assets in the changes that clients receive.
  package var shownUpdateCount: Int { updatedAssets.count { TouchedAssets.isChange($0.value) } }

  package var isEmpty: Bool {
    insertedAssets.isEmpty && updatedAssets.isEmpty && deletedAssets.isEmpty && insertedCollections.isEmpty
      && updatedCollections.isEmpty && deletedCollections.isEmpty && renamedDirectories.isEmpty
      && rootAvailability.isEmpty
  }

  /// - Parameter fields: The fields that may differ if this commit deleted the asset before. Clients see only whole
  ///   commits, so for them the asset was updated.
  mutating func insert(
    asset id: AssetID, orUpdate fields: ChangedFields = [.content, .metadata, .keywords, .path]
  ) {
    if deletedAssets.remove(id) == nil {
      insertedAssets.insert(id)
    } else {
      let fields = fields.union(updatedBeforeDeletion[id] ?? [])
      if !fields.isEmpty { updatedAssets[id, default: []].formUnion(fields) }
    }
  }

  /// Records an update. An asset that this commit inserted counts only as inserted.
  mutating func update(asset id: AssetID, _ fields: ChangedFields) {
    if insertedAssets.contains(id) { return }
    updatedAssets[id, default: []].formUnion(fields)
  }

  /// Records a deletion. An asset that this commit inserted is dropped from the record. One that this commit deleted
  /// and inserted again counts as deleted.
  mutating func delete(asset id: AssetID) {
    updatedBeforeDeletion[id] = updatedAssets.removeValue(forKey: id)
    if insertedAssets.remove(id) == nil { deletedAssets.insert(id) }
  }

  /// Records a change of availability. A root that goes offline and returns in one commit is dropped from the record.
  mutating func update(_ availability: Availability) {
    let known = rootAvailability.firstIndex {
      $0.rootID == availability.rootID && $0.directoryID == availability.directoryID
    }
    guard let known else { return rootAvailability.append(availability) }
    guard rootAvailability[known].isAvailable != availability.isAvailable else { return }
    if availability.directoryID == nil, repeatedRoots.remove(availability.rootID) != nil {
      rootAvailability[known] = availability
    } else {
      rootAvailability.remove(at: known)
    }
  }

  /// Records the availability of a root that got a directory from another one. The availability of the root itself has
  /// not changed.
  mutating func `repeat`(_ availability: Availability) {
    guard !rootAvailability.contains(where: { $0.rootID == availability.rootID }) else { return }
    repeatedRoots.insert(availability.rootID)
    rootAvailability.append(availability)
  }

  /// Records the new path of a directory. A directory that moves several times in one commit has one entry, from its
  /// path before the commit to its last one. It has none if both are equal.
  ///
  /// - Parameter isParked: Whether the directory is in no place now.
  /// - Returns: The entry.
  mutating func rename(
    directory id: DirectoryID, from path: [UInt8], to newPath: [UInt8], isParked: Bool = false
  ) -> Renamed? {
    if isParked { parkedDirectories.insert(id) } else { parkedDirectories.remove(id) }
    let earlier = renamedDirectories.firstIndex { $0.directoryID == id }
    let from = earlier.map { renamedDirectories.remove(at: $0).fromPath } ?? path
    guard from != newPath else { return nil }
    let renamed = Renamed(directoryID: id, fromPath: from, toPath: newPath)
    renamedDirectories.append(renamed)
    return renamed
  }

  mutating func noteDeletedDirectory() { hasDeletedDirectories = true }

  mutating func insert(collection id: CollectionID) { insertedCollections.insert(id) }

  /// Records a change of a collection's title, count or cover. For the members of an album, see
  /// ``edit(album:placing:)``.
  mutating func update(collection id: CollectionID) {
    if !insertedCollections.contains(id) && !deletedCollections.contains(id) { updatedCollections.insert(id) }
  }

  /// Records an edit of an album's members or order. Lists of the album are updated from these assets alone.
  ///
  /// - Parameter assets: The assets that this commit adds to the album, removes from it or moves in it. Assets that
  ///   leave the library, or return to it with their position, are not among them.
  mutating func edit(album id: CollectionID, placing assets: some Sequence<AssetID>) {
    update(collection: id)
    editedAlbums[id, default: []].formUnion(assets)
  }

  mutating func delete(collection id: CollectionID) {
    updatedCollections.remove(id)
    if insertedCollections.remove(id) == nil { deletedCollections.insert(id) }
  }
}
