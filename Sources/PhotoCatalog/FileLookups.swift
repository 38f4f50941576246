import GRDB
import PhotoModel

/// What is known of files; the same for who reads a snapshot and for who writes a transaction.
package protocol FileLookups {
  var database: Database { get throws }
}

extension CatalogReader: FileLookups {}
extension CatalogWriter: FileLookups {}

extension FileLookups {
  private static var columns: String {
    "asset_id, directory_id, name, byte_count, modification_time, change_time, inode, birth_time, read_time, "
      + "fingerprint"
  }

  private func file(_ select: RawStatement) -> FileRow {
    FileRow(
      assetID: select.int64(0), directoryID: select.int64(1), name: select.bytes(2), byteCount: select.int64(3),
      modificationTime: select.int64(4), changeTime: select.int64(5), inode: UInt64(bitPattern: select.int64(6)),
      birthTime: select.int64(7), readTime: select.int64(8),
      fingerprint: select.optionalInt64(9).map(UInt64.init(bitPattern:)))
  }

  /// The files directly in a directory, by name.
  package func files(in directoryID: Int64) throws -> [FileRow] {
    let select = try RawStatement(database, "SELECT \(Self.columns) FROM resource WHERE directory_id = ?")
    select.bind(1, directoryID)
    var rows: [FileRow] = []
    try select.forEachRow { rows.append(file(select)) }
    return rows
  }

  package func file(_ directoryID: Int64, _ name: [UInt8]) throws -> FileRow? {
    try file(directoryID, name, in: database)
  }

  func file(_ directoryID: Int64, _ name: [UInt8], in database: Database) throws -> FileRow? {
    let select = try RawStatement(
      database, "SELECT \(Self.columns) FROM resource WHERE directory_id = ? AND name = ?")
    select.bind(1, directoryID)
    select.bind(2, text: name)
    return try select.firstRow { file(select) }
  }

  /// The first file of an asset.
  package func file(ofAsset id: Int64) throws -> FileRow? {
    let select = try RawStatement(
      database,
      """
      SELECT r.asset_id, r.directory_id, r.name, r.byte_count, r.modification_time, r.change_time, r.inode, r.birth_time,
        r.read_time, r.fingerprint
      FROM asset a JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name WHERE a.id = ?
      """)
    select.bind(1, id)
    return try select.firstRow { file(select) }
  }

  /// How many assets are in a directory and below it.
  package func assetCount(below directoryID: Int64) throws -> Int {
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

  /// The files that had this inode when they were last seen, on whichever volume.
  package func files(inode: UInt64) throws -> [FileRow] {
    let select = try RawStatement(database, "SELECT \(Self.columns) FROM resource WHERE inode = ?")
    select.bind(1, Int64(bitPattern: inode))
    var rows: [FileRow] = []
    try select.forEachRow { rows.append(file(select)) }
    return rows
  }

  /// How many files there are, of all assets.
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
  ///   - date: the first that was added before it ends the list; microseconds since 1970.
  ///   - body: gets the asset, when its file was made or changed last (nanoseconds since 1970), and when it was added.
  package func forEachNewFile(
    addedSince date: Int64, limit: Int,
    _ body: (_ assetID: Int64, _ fingerprint: UInt64, _ fileTime: Int64, _ addedDate: Int64) -> Void
  ) throws {
    let select = try RawStatement(
      database,
      """
      SELECT a.id, a.added_date, r.fingerprint, max(r.change_time, r.birth_time)
      FROM asset a CROSS JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name ORDER BY a.id DESC LIMIT ?
      """)
    select.bind(1, limit)
    while try select.step() {
      guard select.int64(1) >= date else { break }
      if let fingerprint = select.optionalInt64(2) {
        body(select.int64(0), UInt64(bitPattern: fingerprint), select.int64(3), select.int64(1))
      }
    }
    select.reset()
  }

  /// Whether a person has given something to an asset: then it is no copy that may become another asset.
  package func hasUserData(_ assetID: Int64) throws -> Bool {
    let select = try RawStatement(
      database,
      """
      SELECT 1 FROM asset a
      WHERE a.id = ?1 AND (a.is_favorite OR a.is_hidden OR EXISTS (SELECT 1 FROM album_asset m WHERE m.asset_id = ?1))
      """)
    select.bind(1, assetID)
    return try select.firstRow { true } ?? false
  }

  /// The inode of every file, on whichever volume, from the index alone.
  package func forEachInode(_ body: (UInt64) -> Void) throws {
    let select = try RawStatement(database, "SELECT inode FROM resource INDEXED BY resource_inode")
    try select.forEachRow { body(UInt64(bitPattern: select.int64(0))) }
  }

  /// When an asset was added, in microseconds since 1970.
  package func addedDate(of assetID: Int64) throws -> Int64? {
    let select = try RawStatement(database, "SELECT added_date FROM asset WHERE id = ?")
    select.bind(1, assetID)
    return try select.firstRow { select.int64(0) }
  }

  /// What the catalog holds of the content of an asset.
  package func content(of assetID: Int64) throws -> AssetContent? {
    let row = try RawStatement(
      database,
      """
      SELECT media_type, media_subtypes, content_type, creation_date, creation_offset, pixel_width, pixel_height,
        orientation, duration, latitude, longitude, altitude, camera_make, camera_model, camera_lens, exposure, f_number,
        iso, focal_length, flash_fired, title, caption, rating, failure
      FROM asset WHERE id = ?
      """)
    row.bind(1, assetID)
    let keywords = try keywords(of: assetID)
    return try row.firstRow {
      var content = AssetContent(
        mediaType: MediaType(code: row.int64(0)), mediaSubtypes: MediaSubtypes(rawValue: row.int64(1)),
        contentType: row.text(2))
      content.creationDate = row.optionalInt64(3).map {
        PhotoDate(microseconds: $0, offsetMinutes: row.optionalInt(4))
      }
      content.pixelWidth = row.optionalInt(5)
      content.pixelHeight = row.optionalInt(6)
      content.orientation = row.optionalInt(7)
      content.durationSeconds = row.optionalDouble(8)
      if let latitude = row.optionalDouble(9), let longitude = row.optionalDouble(10) {
        content.location = Location(latitude: latitude, longitude: longitude, altitude: row.optionalDouble(11))
      }
      let camera = Camera(
        make: row.optionalText(12), model: row.optionalText(13), lens: row.optionalText(14),
        exposureSeconds: row.optionalDouble(15), fNumber: row.optionalDouble(16), iso: row.optionalInt(17),
        focalLengthMillimeters: row.optionalDouble(18), flashFired: row.optionalInt64(19).map { $0 != 0 })
      content.camera = camera.isEmpty ? nil : camera
      content.title = row.optionalText(20)
      content.caption = row.optionalText(21)
      content.keywords = keywords
      content.rating = row.optionalInt(22)
      content.failure = row.optionalText(23)
      return content
    }
  }

  /// Whether a file with this stat is in the catalog and was read; a cheap hint for what need not be read ahead.
  package func isKnown(inode: UInt64, byteCount: Int64, modificationTime: Int64) throws -> Bool {
    let select = try RawStatement(
      database,
      """
      SELECT 1 FROM resource WHERE inode = ? AND byte_count = ? AND modification_time = ? AND read_time <> 0
      """)
    select.bind(1, Int64(bitPattern: inode))
    select.bind(2, byteCount)
    select.bind(3, modificationTime)
    return try select.firstRow { true } ?? false
  }

  /// Those whose content could not be read.
  ///
  /// - Complexity: O(their number).
  package func failedCount() throws -> Int {
    let statement = try RawStatement(database, "SELECT count(*) FROM asset WHERE failure IS NOT NULL")
    return try statement.firstRow { Int(statement.int64(0)) } ?? 0
  }
}
