import GRDB
import PhotoModel

/// Everything that one commit touches.
package struct CommitRecord: Sendable {
  package var insertedAssets: Set<Int64> = []
  /// With what kind of fields.
  package var updatedAssets: [Int64: ChangedFields] = [:]
  package var deletedAssets: Set<Int64> = []
  /// What this commit had changed of an asset before it deleted it: should it come back, that is to be told as well.
  private var updatedBeforeDeletion: [Int64: ChangedFields] = [:]
  package var insertedCollections: Set<Int64> = []
  package var updatedCollections: Set<Int64> = []
  package var deletedCollections: Set<Int64> = []
  /// Of albums whose members or order were edited, the assets that came, went or moved in them. History has only that
  /// the album was updated.
  package private(set) var editedAlbums: [Int64: Set<Int64>] = [:]
  package var renamedDirectories: [Renamed] = []
  package var rootAvailability: [Availability] = []

  /// A directory whose path is another now, with the path of everything below it.
  package struct Renamed: Hashable, Sendable {
    package let directoryID: Int64
    package let fromPath: [UInt8]
    package let toPath: [UInt8]

    package init(directoryID: Int64, fromPath: [UInt8], toPath: [UInt8]) {
      self.directoryID = directoryID
      self.fromPath = fromPath
      self.toPath = toPath
    }
  }

  /// A root, or what is mounted in a folder below it, that came or went.
  package struct Availability: Hashable, Sendable {
    package let rootID: Int64
    package let path: [UInt8]
    package let isAvailable: Bool
    /// Of a folder below it, on which another file system was mounted; nil: the root itself.
    package let directoryID: Int64?

    package init(rootID: Int64, path: [UInt8], isAvailable: Bool, directoryID: Int64? = nil) {
      self.rootID = rootID
      self.path = path
      self.isAvailable = isAvailable
      self.directoryID = directoryID
    }
  }

  package init() {}

  package var isEmpty: Bool {
    insertedAssets.isEmpty && updatedAssets.isEmpty && deletedAssets.isEmpty && insertedCollections.isEmpty
      && updatedCollections.isEmpty && deletedCollections.isEmpty && renamedDirectories.isEmpty
      && rootAvailability.isEmpty
  }

  /// - Parameter fields: what may differ of an asset that this same commit deleted, which is back with this: for who looks
  ///   at commits it never left.
  package mutating func insert(
    asset id: Int64, orUpdate fields: ChangedFields = [.content, .metadata, .keywords, .path]
  ) {
    if deletedAssets.remove(id) == nil {
      insertedAssets.insert(id)
    } else {
      let fields = fields.union(updatedBeforeDeletion[id] ?? [])
      if !fields.isEmpty { updatedAssets[id, default: []].formUnion(fields) }
    }
  }

  /// An asset that this same commit inserted is only inserted.
  package mutating func update(asset id: Int64, _ fields: ChangedFields) {
    if insertedAssets.contains(id) { return }
    updatedAssets[id, default: []].formUnion(fields)
  }

  /// An asset that this same commit inserted never was; one that came back with it is gone again.
  package mutating func delete(asset id: Int64) {
    updatedBeforeDeletion[id] = updatedAssets.removeValue(forKey: id)
    if insertedAssets.remove(id) == nil { deletedAssets.insert(id) }
  }

  /// A root that went and is back in one commit is not told.
  package mutating func update(_ availability: Availability) {
    let known = rootAvailability.firstIndex {
      $0.rootID == availability.rootID && $0.directoryID == availability.directoryID
    }
    guard let known else { return rootAvailability.append(availability) }
    if rootAvailability[known].isAvailable != availability.isAvailable { rootAvailability.remove(at: known) }
  }

  package mutating func insert(collection id: Int64) { insertedCollections.insert(id) }

  /// It shows something else: its title, its count, its cover. For what is in an album, see ``edit(album:placing:)``.
  package mutating func update(collection id: Int64) {
    if !insertedCollections.contains(id) && !deletedCollections.contains(id) { updatedCollections.insert(id) }
  }

  /// Lists of the album are brought up to date by what is named here, and by nothing else.
  ///
  /// - Parameter assets: those that this commit adds to it, takes out of it or gives another place in it. Not those that
  ///   leave the library, nor those that come back to it with their place.
  package mutating func edit(album id: Int64, placing assets: some Sequence<Int64>) {
    update(collection: id)
    editedAlbums[id, default: []].formUnion(assets)
  }

  package mutating func delete(collection id: Int64) {
    updatedCollections.remove(id)
    if insertedCollections.remove(id) == nil { deletedCollections.insert(id) }
  }
}

extension CatalogWriter {
  /// Writes the history entry of this transaction.
  ///
  /// - Parameter date: microseconds since 1970.
  /// - Returns: its sequence, the new token's.
  package func append(_ record: CommitRecord, origin: String, date: Int64) throws -> Int64 {
    try noteUserData(record)
    let insert = try RawStatement(
      database,
      """
      INSERT INTO history (date, origin, inserted_assets, updated_assets, deleted_assets, inserted_collections,
        updated_collections, deleted_collections) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """)
    insert.bind(1, date)
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
    historyBytes += CatalogReader.historyRowBytes
    try insert.run()
    let sequence = try database.lastInsertedRowID
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

  /// Forgets the history before a sequence; tokens older than it expire.
  package func pruneHistory(before sequence: Int64) throws {
    let delete = try RawStatement(database, "DELETE FROM history WHERE sequence < ?")
    delete.bind(1, sequence)
    try delete.run()
  }
}

extension CatalogReader {
  /// Of the oldest commit that stays, with all newer ones, where history may take so many bytes; nil: there is none.
  ///
  /// - Complexity: O(n) in the commits that stay; the lists of ids are not read.
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

  /// About what a row takes beside its lists and paths, with its place in an index.
  fileprivate static let historyRowBytes = 48
}

extension Catalog {
  /// About the bytes that came to history since it was last pruned, or the catalog was opened: to know when to look again.
  package var historyGrowthBytes: Int { historyGrowth.load(ordering: .relaxed) }

  /// Forgets the commits before a date, but not the newest; tokens older than what is left expire.
  ///
  /// - Parameters:
  ///   - date: microseconds since 1970.
  ///   - newest: so many commits stay however old they are.
  ///   - maximumBytes: what the history may take; the oldest above it go, however new they are, but for the last.
  package func pruneHistory(olderThan date: Int64, keeping newest: Int64, maximumBytes: Int64 = .max) throws {
    let growth = historyGrowthBytes
    let (first, end) = try read { reader -> (Int64, Int64) in
      let select = try RawStatement(
        reader.database,
        "SELECT (SELECT min(sequence) FROM history), (SELECT max(sequence) FROM history), "
          + "(SELECT min(sequence) FROM history WHERE date >= ?)")
      select.bind(1, date)
      let (first, end) =
        try select.firstRow { () -> (Int64, Int64) in
          let last = select.int64(1)
          return (select.int64(0), min(last - newest + 1, select.optionalInt64(2) ?? last + 1))
        } ?? (0, 0)
      return (first, max(end, try reader.oldestSequence(within: maximumBytes) ?? 0))
    }
    // In pieces: nobody waits long for the writer.
    for sequence in stride(from: first + 1_000, to: end, by: 1_000) {
      try write { try $0.pruneHistory(before: sequence) }
    }
    if first < end { try write { try $0.pruneHistory(before: end) } }
    historyGrowth.subtract(growth, ordering: .relaxed)
  }
}
