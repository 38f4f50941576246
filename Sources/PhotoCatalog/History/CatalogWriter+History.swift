import GRDB
import PhotoModel

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
