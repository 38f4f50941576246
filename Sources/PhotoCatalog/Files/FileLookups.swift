import GRDB
import PhotoModel

/// Lookups of files. They work both in a snapshot and in a write transaction.
package protocol FileLookups {
  var database: Database { get throws }
  /// The same for tables in which new assets have no rows. A writer goes on gathering them.
  var databaseBesideNewAssets: Database { get }
}

extension CatalogReader: FileLookups {
  package var databaseBesideNewAssets: Database { database }
}
extension CatalogWriter: FileLookups {}

extension FileLookups {
  static var fileColumns: String {
    "asset_id, directory_id, name, byte_count, modification_time, change_time, inode, birth_time, read_time, "
      + "fingerprint, sample, hash, reader_version, is_in_doubt"
  }

  func file(_ select: RawStatement) -> FileRow {
    FileRow(
      assetID: select.assetID(0), directoryID: select.directoryID(1), name: select.bytes(2), byteCount: select.int64(3),
      modificationTime: select.time(4), changeTime: select.time(5), inode: UInt64(bitPattern: select.int64(6)),
      birthTime: select.time(7), readTime: select.time(8),
      marks: select.marks(9), readerVersion: select.int64(12), isInDoubt: select.bool(13))
  }

  /// The files directly in a directory, in the order of their names' bytes, which is that of the primary key.
  package func files(in directoryID: DirectoryID, limit: Int = Int.max) throws -> [FileRow] {
    try files(in: directoryID, limit: limit, of: database)
  }

  func files(in directoryID: DirectoryID, limit: Int, of database: Database) throws -> [FileRow] {
    let select = try RawStatement(
      database, "SELECT \(Self.fileColumns) FROM resource WHERE directory_id = ? LIMIT ?")
    select.bind(1, directoryID)
    select.bind(2, limit)
    var rows: [FileRow] = []
    try select.forEachRow { rows.append(file(select)) }
    return rows
  }

  package func file(_ directoryID: DirectoryID, _ name: [UInt8]) throws -> FileRow? {
    try file(directoryID, name, in: database)
  }

  func file(_ directoryID: DirectoryID, _ name: [UInt8], in database: Database) throws -> FileRow? {
    let select = try RawStatement(
      database, "SELECT \(Self.fileColumns) FROM resource WHERE directory_id = ? AND name = ?")
    select.bind(1, directoryID)
    select.bind(2, text: name)
    return try select.firstRow { file(select) }
  }

  /// The version of a file's content for the tombstone of its asset (see ``ContentVersion``). It is a new one if the
  /// content is in doubt, as in ``CatalogWriter/removeWithTombstone(_:directoryPath:date:)``.
  package func versionForTombstone(of row: FileRow) throws -> Int64 {
    let select = try RawStatement(
      database, "SELECT iif(is_in_doubt, ?3, content_version) FROM resource WHERE directory_id = ?1 AND name = ?2")
    select.bind(1, row.directoryID)
    select.bind(2, text: row.name)
    select.bind(3, ContentVersion.new())
    return try select.firstRow { select.int64(0) } ?? 0
  }

  /// The first file of an asset.
  package func file(ofAsset id: AssetID) throws -> FileRow? {
    let select = try RawStatement(
      database,
      """
      SELECT r.asset_id, r.directory_id, r.name, r.byte_count, r.modification_time, r.change_time, r.inode, r.birth_time,
        r.read_time, r.fingerprint, r.sample, r.hash, r.reader_version, r.is_in_doubt
      FROM asset a JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name WHERE a.id = ?
      """)
    select.bind(1, id)
    return try select.firstRow { file(select) }
  }

  /// How many assets are in a directory and below it.
  package func assetCount(below directoryID: DirectoryID) throws -> Int {
    let count = try RawStatement(
      database,
      """
      WITH RECURSIVE below(id) AS (
        SELECT ?1 UNION ALL SELECT d.id FROM below b JOIN directory d ON d.parent_id = b.id)
      SELECT count(*) FROM below b JOIN asset a ON a.directory_id = b.id
      """)
    count.bind(1, directoryID)
    return Int(try count.firstRow { count.int64(0) } ?? 0)
  }

  /// The files that had this inode when they were last seen, on any volume.
  ///
  /// - Parameter limit: The most files that are returned. If there are more, it is undefined which of them.
  package func files(inode: UInt64, limit: Int = Int.max) throws -> [FileRow] {
    let select = try RawStatement(database, "SELECT \(Self.fileColumns) FROM resource WHERE inode = ? LIMIT ?")
    select.bind(1, Int64(bitPattern: inode))
    select.bind(2, limit)
    var rows: [FileRow] = []
    try select.forEachRow { rows.append(file(select)) }
    return rows
  }

  /// The number of files of all assets.
  package func fileCount() throws -> Int {
    let count = try RawStatement(database, "SELECT count(*) FROM resource")
    return Int(try count.firstRow { count.int64(0) } ?? 0)
  }

  package func hasNoFiles() throws -> Bool {
    let select = try RawStatement(database, "SELECT 1 FROM resource LIMIT 1")
    return try select.firstRow { true } == nil
  }

  /// The first files of the newest assets whose content is known, newest first.
  ///
  /// - Parameters:
  ///   - date: The list ends at the first asset that was added before this date.
  ///   - body: Receives the file and the date when its asset was added.
  package func forEachNewFile(
    addedSince date: WallTime, limit: Int,
    _ body: (_ row: FileRow, _ addedDate: WallTime) -> Void
  ) throws {
    let select = try RawStatement(
      database,
      """
      SELECT r.asset_id, r.directory_id, r.name, r.byte_count, r.modification_time, r.change_time, r.inode, r.birth_time,
        r.read_time, r.fingerprint, r.sample, r.hash, r.reader_version, r.is_in_doubt, a.added_date
      FROM asset a CROSS JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name ORDER BY a.id DESC LIMIT ?
      """)
    select.bind(1, limit)
    while try select.step() {
      guard select.int64(14) >= date.microseconds else { break }
      if !select.isNull(9) { body(file(select), select.date(14)) }
    }
    select.reset()
  }

  /// Whether the user has given an asset anything. If so, it is not a copy that may become another asset.
  package func hasUserData(_ assetID: AssetID) throws -> Bool {
    let select = try RawStatement(
      database,
      """
      SELECT 1 FROM asset a
      WHERE a.id = ?1 AND (a.is_favorite OR a.is_hidden OR EXISTS (SELECT 1 FROM album_asset m WHERE m.asset_id = ?1)
        OR EXISTS (SELECT 1 FROM asset_edit e WHERE e.asset_id = ?1))
      """)
    select.bind(1, assetID)
    return try select.firstRow { true } ?? false
  }

  /// Passes the inode of every file on any volume. It reads only the index.
  package func forEachInode(_ body: (UInt64) -> Void) throws {
    let select = try RawStatement(database, "SELECT inode FROM resource INDEXED BY resource_inode")
    try select.forEachRow { body(UInt64(bitPattern: select.int64(0))) }
  }

  package func addedDate(of assetID: AssetID) throws -> WallTime? {
    let select = try RawStatement(database, "SELECT added_date FROM asset WHERE id = ?")
    select.bind(1, assetID)
    return try select.firstRow { select.date(0) }
  }

  /// The content of an asset as its file has it, without a person's edits.
  package func content(of assetID: AssetID) throws -> AssetContent? {
    guard var content = try shownContent(of: assetID) else { return nil }
    guard let file = try edited(assetID)?.file else { return content }
    content = content.with(file)
    content.creationDate = file.created.source == .metadata ? file.created.date : nil
    return content
  }

  /// The content of an asset as clients see it, with a person's edits.
  func shownContent(of assetID: AssetID) throws -> AssetContent? {
    let row = try RawStatement(
      database,
      """
      SELECT media_type, media_subtypes, content_type, pixel_width, pixel_height, orientation, duration, latitude,
        longitude, altitude, camera_make, camera_model, camera_lens, exposure, f_number, iso, focal_length, flash_fired,
        title, caption, rating, failure, creation_date, creation_offset, creation_source, burst_identifier
      FROM asset WHERE id = ?
      """)
    row.bind(1, assetID)
    let keywords = try keywords(of: assetID)
    return try row.firstRow {
      var content = AssetContent(
        mediaType: MediaType(code: row.int64(0)), mediaSubtypes: MediaSubtypes(rawValue: row.int64(1)),
        contentType: row.text(2))
      content.pixelWidth = row.optionalInt(3)
      content.pixelHeight = row.optionalInt(4)
      content.orientation = row.optionalInt(5)
      content.durationSeconds = row.optionalDouble(6)
      if let latitude = row.optionalDouble(7), let longitude = row.optionalDouble(8) {
        content.location = Location(latitude: latitude, longitude: longitude, altitude: row.optionalDouble(9))
      }
      let camera = Camera(
        make: row.optionalText(10), model: row.optionalText(11), lens: row.optionalText(12),
        exposureSeconds: row.optionalDouble(13), fNumber: row.optionalDouble(14), iso: row.optionalInt(15),
        focalLengthMillimeters: row.optionalDouble(16), flashFired: row.optionalInt64(17).map { $0 != 0 })
      content.camera = camera.isEmpty ? nil : camera
      content.title = row.optionalText(18)
      content.caption = row.optionalText(19)
      content.keywords = keywords
      content.rating = row.optionalInt(20)
      content.failure = row.optionalText(21)
      content.burstIdentifier = row.optionalText(25)
      let created = CreationDate(row, from: 22)
      content.creationDate = created.source == .metadata ? created.date : nil
      return content
    }
  }

  /// The recorded stats of the files with an inode. This reads less than ``files(inode:)``.
  package func recordedStats(inode: UInt64) throws -> [RecordedStat] {
    let select = try RawStatement(
      database, "SELECT byte_count, modification_time, read_time FROM resource WHERE inode = ?")
    select.bind(1, Int64(bitPattern: inode))
    var stats: [RecordedStat] = []
    try select.forEachRow {
      stats.append(
        RecordedStat(byteCount: select.int64(0), modificationTime: select.time(1), readTime: select.time(2)))
    }
    return stats
  }

  /// The number of assets whose content could not be read.
  ///
  /// - Complexity: O(n) for n such assets.
  package func failedCount() throws -> Int {
    let statement = try RawStatement(database, "SELECT count(*) FROM asset WHERE failure IS NOT NULL")
    return try statement.firstRow { Int(statement.int64(0)) } ?? 0
  }
}
