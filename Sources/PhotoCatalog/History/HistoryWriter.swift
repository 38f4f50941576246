import ChangeDetails
import GRDB
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

extension PersistentChange {
  /// A commit as the history has it.
  package init(_ record: CommitRecord, token: ChangeToken, date: WallTime, origin: String) {
    self.init(
      token: token.description, date: PhotoDate(date), origin: origin,
      insertedAssets: record.insertedAssets.sorted(),
      updatedAssets: record.updatedAssets.filter { TouchedAssets.isChange($0.value) }.keys.sorted(),
      deletedAssets: record.deletedAssets.sorted(),
      changedFields: record.updatedAssets.values.reduce(into: ChangedFields()) { $0.formUnion($1) }.names,
      insertedCollections: record.insertedCollections.sorted(),
      updatedCollections: record.updatedCollections.sorted(), deletedCollections: record.deletedCollections.sorted(),
      renamedDirectories: record.renamedDirectories.map {
        RenamedDirectory(fromPath: FilePath.text($0.fromPath), toPath: FilePath.text($0.toPath))
      },
      rootAvailability: record.rootAvailability.map {
        RootAvailability(path: FilePath.text($0.path), available: $0.isAvailable)
      })
  }
}

extension CatalogWriter {
  /// Writes the history entry of this transaction, from its ``record``.
  ///
  /// - Parameter date: The time of the commit.
  /// - Returns: The sequence of the entry, which is also that of the new token.
  @discardableResult
  package func append(origin: String, date: WallTime) throws -> Int64 {
    try recordMovedFolders()
    try noteUserData()
    try compareContents()
    let age = try libraryAge(at: date)
    let insert = try RawStatement(
      database,
      """
      INSERT INTO history (date, origin, inserted_assets, updated_assets, deleted_assets, inserted_collections,
        updated_collections, deleted_collections, age) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    insert.bind(1, date: date)
    insert.bind(2, origin)
    let lists = [
      PackedIDs.pack(Array(record.insertedAssets)), PackedIDs.pack(record.updatedAssets),
      PackedIDs.pack(Array(record.deletedAssets)), PackedIDs.pack(Array(record.insertedCollections)),
      PackedIDs.pack(Array(record.updatedCollections)), PackedIDs.pack(Array(record.deletedCollections)),
    ]
    for (index, list) in lists.enumerated() {
      insert.bind(Int32(index + 3), blob: list)
      historyBytes += list?.count ?? 0
    }
    insert.bind(9, age: age)
    historyBytes += CatalogReader.historyRowBytes
    try insert.run()
    let sequence = try database.lastInsertedRowID
    lastSequence = sequence
    for renamed in record.renamedDirectories {
      let insert = try RawStatement(
        database,
        "INSERT INTO history_directory (sequence, directory_id, from_path, to_path) VALUES (?, ?, ?, ?)")
      insert.bind(1, sequence)
      insert.bind(2, renamed.directoryID)
      insert.bind(3, text: renamed.fromPath)
      insert.bind(4, text: renamed.toPath)
      historyBytes += CatalogReader.historyRowBytes + renamed.fromPath.count + renamed.toPath.count
      try insert.run()
    }
    for root in record.rootAvailability {
      let insert = try RawStatement(
        database,
        "INSERT INTO history_root (sequence, root_id, path, is_available, directory_id) VALUES (?, ?, ?, ?, ?)")
      insert.bind(1, sequence)
      insert.bind(2, root.rootID)
      insert.bind(3, text: root.path)
      insert.bind(4, root.isAvailable)
      insert.bind(5, root.directoryID)
      historyBytes += CatalogReader.historyRowBytes + root.path.count
      try insert.run()
    }
    return sequence
  }

  /// Deletes the history before a sequence. Older tokens expire.
  package func pruneHistory(before sequence: Int64) throws {
    let delete = try RawStatement(database, "DELETE FROM history WHERE sequence < ?")
    delete.bind(1, sequence)
    try delete.run()
  }
}

extension CatalogReader {
  /// The sequence of the oldest commit that stays if the history may take this many bytes. The newest commit always
  /// stays. nil if there is no limit or no history.
  ///
  /// - Complexity: O(n) for n commits that stay. The lists of ids are not read.
  func oldestSequence(within maximumBytes: Int64) throws -> Int64? {
    guard maximumBytes < .max else { return nil }
    func length(_ columns: String...) -> String {
      columns.map { "coalesce(length(CAST(\($0) AS BLOB)), 0)" }.joined(separator: " + ")
    }
    let lists = [
      "inserted_assets", "updated_assets", "deleted_assets", "inserted_collections", "updated_collections",
      "deleted_collections",
    ]
    let statement = try RawStatement(
      database,
      """
      SELECT sequence, \(Self.historyRowBytes) + length(origin) + \(
        lists.map { "coalesce(length(\($0)), 0)" }.joined(separator: " + "))
        + (SELECT coalesce(sum(\(Self.historyRowBytes) + \(length("from_path", "to_path"))), 0)
           FROM history_directory WHERE history_directory.sequence = history.sequence)
        + (SELECT coalesce(sum(\(Self.historyRowBytes) + \(length("path"))), 0)
           FROM history_root WHERE history_root.sequence = history.sequence)
      FROM history ORDER BY sequence DESC
      """)
    defer { statement.reset() }
    var (total, oldest): (Int64, Int64?) = (0, nil)
    while try statement.step() {
      total += statement.int64(1)
      if oldest != nil && total > maximumBytes { break }
      oldest = statement.int64(0)
    }
    return oldest
  }

  /// About the size of a row without its lists and paths, but with its index entry.
  fileprivate static let historyRowBytes = 48
}

extension Catalog {
  /// About the bytes that were added to the history since the catalog was opened or the history was pruned. It tells
  /// when to prune again.
  package var historyGrowthBytes: Int { historyGrowth.load(ordering: .relaxed) }

  /// Deletes the commits before a date, but not the newest commits. Tokens older than the remaining history expire.
  ///
  /// - Parameters:
  ///   - newest: The number of commits that stay, however old they are.
  ///   - maximumBytes: The largest size of the history. The oldest commits above it are deleted, however new they are,
  ///     except the last commit.
  package func pruneHistory(olderThan date: WallTime, keeping newest: Int64, maximumBytes: Int64 = .max) throws {
    let growth = historyGrowthBytes
    let (first, end) = try read { reader -> (Int64, Int64) in
      let select = try RawStatement(
        reader.database,
        "SELECT (SELECT min(sequence) FROM history), (SELECT max(sequence) FROM history), "
          + "(SELECT min(sequence) FROM history WHERE date >= ?)")
      select.bind(1, date: date)
      let (first, end) =
        try select.firstRow { () -> (Int64, Int64) in
          let last = select.int64(1)
          return (select.int64(0), min(last - newest + 1, select.optionalInt64(2) ?? last + 1))
        } ?? (0, 0)
      return (first, max(end, try reader.oldestSequence(within: maximumBytes) ?? 0))
    }
    // Small transactions keep other writers from waiting long.
    for sequence in stride(from: first + 1_000, to: end, by: 1_000) {
      try write { try $0.pruneHistory(before: sequence) }
    }
    if first < end { try write { try $0.pruneHistory(before: end) } }
    historyGrowth.subtract(growth, ordering: .relaxed)
  }
}
