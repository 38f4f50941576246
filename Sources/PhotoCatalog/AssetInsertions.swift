import GRDB
import PhotoModel

/// New assets of a transaction on their way to the database, several in one statement.
///
/// A statement opens each of the eleven trees that it may have to write to and closes them again: for one row at a time
/// that is a third of what an insertion costs.
struct AssetInsertions {
  /// A class: several hundred bytes and a dozen texts, of which no copy is wanted.
  fileprivate final class Insertion {
    let id: Int64
    let content: AssetContent
    let row: FileRow
    let addedDate: Int64

    init(id: Int64, content: AssetContent, row: FileRow, addedDate: Int64) {
      self.id = id
      self.content = content
      self.row = row
      self.addedDate = addedDate
    }
  }

  /// How many rows a statement may have: what is gathered is written by few of them, and few are kept prepared.
  private static let sizes = [16, 4, 1]

  private var pending: [Insertion] = []
  /// The largest id that was given away; nil before the first.
  private var lastID: Int64?

  /// - Parameter formerID: of an asset that comes back; nil for a new one.
  /// - Returns: the id of the asset.
  mutating func add(
    _ content: AssetContent, _ row: FileRow, addedDate: Int64, formerID: Int64? = nil, to database: Database
  ) throws -> Int64 {
    let last = try lastID ?? Self.lastID(database)
    let id = formerID ?? last + 1
    lastID = max(last, id)
    pending.append(Insertion(id: id, content: content, row: row, addedDate: addedDate))
    if pending.count == Self.sizes[0] { try flush(into: database) }
    return id
  }

  /// Ids up to this one are, or were, given to assets.
  mutating func reserve(through id: Int64, in database: Database) throws {
    try flush(into: database)
    guard try (lastID ?? Self.lastID(database)) < id else { return }
    lastID = id
    let raise = try RawStatement(database, "UPDATE sqlite_sequence SET seq = ? WHERE name = 'asset'")
    raise.bind(1, id)
    try raise.run()
    guard database.changesCount == 0 else { return }
    let insert = try RawStatement(database, "INSERT INTO sqlite_sequence (name, seq) VALUES ('asset', ?)")
    insert.bind(1, id)
    try insert.run()
  }

  /// A file that is among those on their way.
  func file(_ directoryID: Int64, _ name: [UInt8]) -> FileRow? {
    guard let insertion = pending.last(where: { $0.row.directoryID == directoryID && $0.row.name == name }) else {
      return nil
    }
    return insertion.row.of(asset: insertion.id)
  }

  mutating func flush(into database: Database) throws {
    guard !pending.isEmpty else { return }
    let rows = pending
    pending.removeAll(keepingCapacity: true)
    var start = 0
    for (size, statements) in zip(Self.sizes, Self.statements) {
      while rows.count - start >= size {
        try Self.insert(rows[start..<start + size], statements, database)
        start += size
      }
    }
  }

  /// Of all assets that there ever were: AUTOINCREMENT keeps it.
  private static func lastID(_ database: Database) throws -> Int64 {
    let last = try RawStatement(database, "SELECT seq FROM sqlite_sequence WHERE name = 'asset'")
    return try last.firstRow { last.int64(0) } ?? 0
  }

  // MARK: - Statements

  private static let assetColumns = """
    media_type, media_subtypes, creation_date, creation_offset, pixel_width, pixel_height, orientation, duration,
    latitude, longitude, altitude, camera_make, camera_model, camera_lens, exposure, f_number, iso, focal_length,
    flash_fired, title, caption, rating, failure, content_type, id, sort_date, modification_date, added_date,
    directory_id, name, name_key, byte_count
    """
  private static let assetWidth: Int32 = 32
  private static let resourceColumns = """
    directory_id, name, asset_id, position, kind, content_type, byte_count, modification_time, change_time, inode,
    birth_time, read_time, fingerprint
    """
  private static let resourceWidth: Int32 = 13

  /// Parallel to ``sizes``.
  private static let statements = sizes.map { size in
    (
      assets: insertion(into: "asset", assetColumns, width: assetWidth, rows: size),
      resources: insertion(into: "resource", resourceColumns, width: resourceWidth, rows: size)
    )
  }

  private static func insertion(into table: String, _ columns: String, width: Int32, rows: Int) -> String {
    let row = "(" + Array(repeating: "?", count: Int(width)).joined(separator: ", ") + ")"
    return "INSERT INTO \(table) (\(columns)) VALUES " + Array(repeating: row, count: rows).joined(separator: ", ")
  }

  private static func insert(
    _ rows: ArraySlice<Insertion>, _ statements: (assets: String, resources: String), _ database: Database
  ) throws {
    let asset = try RawStatement(database, statements.assets, clearing: false)
    var first: Int32 = 1
    for insertion in rows {
      insertion.bindAsset(to: asset, from: first)
      first += assetWidth
    }
    try asset.run()
    let resource = try RawStatement(database, statements.resources, clearing: false)
    first = 1
    for insertion in rows {
      insertion.bindResource(to: resource, from: first)
      first += resourceWidth
    }
    try resource.run()
    for insertion in rows { try KeywordRows.insert(insertion.content.keywords, of: insertion.id, in: database) }
  }
}

extension AssetInsertions.Insertion {
  fileprivate func bindAsset(to statement: RawStatement, from first: Int32) {
    content.bind(to: statement, from: first)
    statement.bind(first + 24, id)
    statement.bind(first + 25, content.creationDate?.microseconds ?? addedDate)
    statement.bind(first + 26, row.modificationTime / 1000)
    statement.bind(first + 27, addedDate)
    statement.bind(first + 28, row.directoryID)
    statement.bind(first + 29, text: row.name)
    statement.bind(first + 30, CaseFolding.fold(FilePath.nameText(row.name)))
    statement.bind(first + 31, row.byteCount)
  }

  fileprivate func bindResource(to statement: RawStatement, from first: Int32) {
    statement.bind(first, row.directoryID)
    statement.bind(first + 1, text: row.name)
    statement.bind(first + 2, id)
    statement.bind(first + 3, Int64(0))
    statement.bind(first + 4, content.mediaType.resourceKind)
    statement.bind(first + 5, content.contentType)
    statement.bind(first + 6, row.byteCount)
    statement.bind(first + 7, row.modificationTime)
    statement.bind(first + 8, row.changeTime)
    statement.bind(first + 9, Int64(bitPattern: row.inode))
    statement.bind(first + 10, row.birthTime)
    statement.bind(first + 11, row.readTime)
    statement.bind(first + 12, row.fingerprint.map(Int64.init(bitPattern:)))
  }
}

extension AssetContent {
  /// Its 24 columns, in the order that every statement that writes them keeps.
  func bind(to statement: RawStatement, from first: Int32) {
    statement.bind(first, mediaType.code)
    statement.bind(first + 1, mediaSubtypes.rawValue)
    statement.bind(first + 2, creationDate?.microseconds)
    statement.bind(first + 3, creationDate?.offsetMinutes)
    statement.bind(first + 4, pixelWidth)
    statement.bind(first + 5, pixelHeight)
    statement.bind(first + 6, orientation)
    statement.bind(first + 7, durationSeconds)
    statement.bind(first + 8, location?.latitude)
    statement.bind(first + 9, location?.longitude)
    statement.bind(first + 10, location?.altitude)
    statement.bind(first + 11, camera?.make)
    statement.bind(first + 12, camera?.model)
    statement.bind(first + 13, camera?.lens)
    statement.bind(first + 14, camera?.exposureSeconds)
    statement.bind(first + 15, camera?.fNumber)
    statement.bind(first + 16, camera?.iso)
    statement.bind(first + 17, camera?.focalLengthMillimeters)
    statement.bind(first + 18, camera?.flashFired.map { $0 ? 1 : 0 })
    statement.bind(first + 19, title)
    statement.bind(first + 20, caption)
    statement.bind(first + 21, rating)
    statement.bind(first + 22, failure)
    statement.bind(first + 23, contentType)
  }
}
