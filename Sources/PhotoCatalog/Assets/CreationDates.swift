import GRDB
import PhotoModel

// The creation date of an asset, from its file and from the date in the catalog.

extension CreationDate {
  /// The date of an asset with this file.
  ///
  /// - Parameters:
  ///   - held: the date that the asset had before.
  ///   - seenDate: when the file was first seen.
  init(_ content: AssetContent, _ row: FileRow, held: CreationDate?, seenDate: WallTime, now: WallTime) {
    let found = CreationDate(
      metadata: content.creationDate, filename: row.name, modificationTime: row.modificationTime, now: now)
    self = found?.replacing(held) ?? held ?? .firstSeen(seenDate)
  }

  /// Binds the columns `creation_date`, `creation_offset` and `creation_source`.
  func bind(to statement: RawStatement, from first: Int32) {
    statement.bind(first, date.microseconds)
    statement.bind(first + 1, date.offsetMinutes)
    statement.bind(first + 2, source.code)
  }

  /// Reads these columns.
  init(_ statement: RawStatement, from first: Int32) {
    self.init(
      date: PhotoDate(microseconds: statement.int64(first), offsetMinutes: statement.optionalInt(first + 1)),
      source: CreationDateSource(code: statement.int64(first + 2)))
  }
}

extension FileLookups {
  /// The creation date of an asset without a person's edit.
  package func creationDate(of assetID: AssetID) throws -> CreationDate? {
    try edited(assetID)?.file.created ?? shownCreationDate(of: assetID)
  }

  /// The creation date as clients see it.
  func shownCreationDate(of assetID: AssetID) throws -> CreationDate? {
    let select = try RawStatement(
      database, "SELECT creation_date, creation_offset, creation_source FROM asset WHERE id = ?")
    select.bind(1, assetID)
    return try select.firstRow { CreationDate(select, from: 0) }
  }
}

extension CatalogWriter {
  /// Updates the creation date of an asset whose file was renamed.
  ///
  /// - Returns: whether the creation date that clients see has changed.
  func updateCreationDate(of row: FileRow, name: [UInt8]) throws -> Bool {
    guard let named = CreationDate(metadata: nil, filename: name, modificationTime: nil, now: date),
      let held = try creationDate(of: row.assetID)
    else { return false }
    let created = named.replacing(held)
    guard created != held else { return false }
    if var edited = try edited(row.assetID) {
      edited.file.created = created
      try writeEdits(edited.edits, of: row.assetID, file: edited.file)
      if edited.edits.creationDate != nil { return false }
    }
    let update = try RawStatement(
      database,
      "UPDATE asset SET creation_date = ?, creation_offset = ?, creation_source = ? WHERE id = ?")
    created.bind(to: update, from: 1)
    update.bind(4, row.assetID)
    try update.run()
    return true
  }
}

// MARK: - Assets changed by a migration

extension CatalogWriter {
  /// Appends the assets that a migration changed to the history. Observers that resume from a token then get the
  /// difference.
  ///
  /// The migration lists them in the table `migrated_asset`. If photod ends in between, the next opening continues
  /// here.
  func recordMigratedAssets() throws {
    let next = try RawStatement(database, "SELECT id FROM migrated_asset ORDER BY id LIMIT ?")
    repeat {
      // Each round is a commit of its own, although all are one transaction.
      record = CommitRecord()
      next.bind(1, Self.migratedAssetsPerCommit)
      try next.forEachRow { record.update(asset: next.assetID(0), .metadata) }
      guard let last = record.updatedAssets.keys.max() else { return }
      for id in try collectionsOfMigratedAssets(through: last) { record.update(collection: id) }
      try append(origin: "migration", date: date)
      let delete = try RawStatement(database, "DELETE FROM migrated_asset WHERE id <= ?")
      delete.bind(1, last)
      try delete.run()
    } while true
  }

  /// A record of the history should fit into one reply.
  private static let migratedAssetsPerCommit: Int64 = 50_000

  private func collectionsOfMigratedAssets(through last: AssetID) throws -> [CollectionID] {
    let select = try RawStatement(
      database,
      """
      SELECT id FROM collection WHERE subtype IS NOT NULL
      UNION SELECT c.id FROM migrated_asset m CROSS JOIN asset a ON a.id = m.id
        CROSS JOIN collection c ON c.directory_id = a.directory_id WHERE m.id <= ?1
      UNION SELECT l.collection_id FROM migrated_asset m CROSS JOIN album_asset l ON l.asset_id = m.id WHERE m.id <= ?1
      """)
    select.bind(1, last)
    var ids: [CollectionID] = []
    try select.forEachRow { ids.append(select.collectionID(0)) }
    return ids
  }
}
