import GRDB
import PhotoModel
import PredicateLanguage

/// New assets of a transaction, gathered so that one statement writes several of them.
///
/// A statement opens and closes each of the eleven trees to which it may have to write. With one row at a time, that
/// would be a third of the cost of an insertion.
struct AssetInsertions {
  /// This is a class, so that several hundred bytes and a dozen texts are not copied.
  fileprivate final class Insertion {
    let id: AssetID
    let content: AssetContent
    let row: FileRow
    let created: CreationDate
    let addedDate: WallTime
    /// The version of the content of an asset that had this id before; nil for a new asset.
    let formerVersion: Int64?

    init(
      id: AssetID, content: AssetContent, row: FileRow, created: CreationDate, addedDate: WallTime,
      formerVersion: Int64?
    ) {
      self.id = id
      self.content = content
      self.row = row
      self.created = created
      self.addedDate = addedDate
      self.formerVersion = formerVersion
    }
  }

  /// The numbers of rows that one statement may write. With these four, 63 rows take nine statements, and only four
  /// texts for each table stay prepared.
  ///
  /// A statement with several rows keeps each page as it was before the statement, in case that a row fails. With 64 rows,
  /// it keeps fewer pages than with 16: an insertion takes a tenth less.
  private static let sizes = [64, 16, 4, 1]

  private var pending: [Insertion] = []
  private var arena: TextArena?
  /// The largest id that was assigned; nil before the first.
  private var lastID: AssetID?

  /// - Parameter former: the former id of an asset that comes back, and the version of its content; nil for a new
  ///   asset.
  /// - Returns: the id of the asset.
  mutating func add(
    _ content: AssetContent, _ row: FileRow, created: CreationDate, addedDate: WallTime,
    former: (id: AssetID, contentVersion: Int64)? = nil, to database: Database
  ) throws -> AssetID {
    let last = try lastID ?? Self.lastID(database)
    let id = former?.id ?? last.advanced(by: 1)
    lastID = max(last, id)
    pending.append(
      Insertion(
        id: id, content: content, row: row, created: created, addedDate: addedDate,
        formerVersion: former?.contentVersion))
    if pending.count == Self.sizes[0] { try flush(into: database) }
    return id
  }

  /// Ensures that new assets get larger ids than this one.
  mutating func reserve(through id: AssetID, in database: Database) throws {
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

  /// The row of a file whose asset is gathered but not written yet; nil if there is none with this name.
  func file(_ directoryID: DirectoryID, _ name: [UInt8]) -> FileRow? {
    guard let insertion = pending.last(where: { $0.row.directoryID == directoryID && $0.row.name == name }) else {
      return nil
    }
    return insertion.row.of(asset: insertion.id)
  }

  /// Whether an asset is gathered whose file is in this directory.
  func hasFile(in directoryID: DirectoryID) -> Bool { pending.contains { $0.row.directoryID == directoryID } }

  mutating func flush(into database: Database) throws {
    guard !pending.isEmpty else { return }
    let rows = pending
    pending.removeAll(keepingCapacity: true)
    let arena = arena ?? TextArena()
    self.arena = arena
    var start = 0
    for (size, statements) in zip(Self.sizes, Self.statements) {
      while rows.count - start >= size {
        arena.removeAll()
        try Self.insert(rows[start..<start + size], statements, arena, database)
        start += size
      }
    }
  }

  /// The largest id that was ever assigned. AUTOINCREMENT keeps it.
  private static func lastID(_ database: Database) throws -> AssetID {
    let last = try RawStatement(database, "SELECT seq FROM sqlite_sequence WHERE name = 'asset'")
    return try last.firstRow { last.assetID(0) } ?? 0
  }

  // MARK: - Statements

  private static let assetColumns = """
    media_type, media_subtypes, pixel_width, pixel_height, orientation, duration, latitude, longitude, altitude,
    camera_make, camera_model, camera_lens, exposure, f_number, iso, focal_length, flash_fired, title, caption, rating,
    failure, content_type, creation_date, creation_offset, creation_source, id, modification_date, added_date,
    directory_id, name, name_key, byte_count, burst_identifier
    """
  private static let assetWidth: Int32 = 33
  private static let resourceColumns = """
    directory_id, name, asset_id, position, kind, content_type, byte_count, modification_time, change_time, inode,
    birth_time, read_time, fingerprint, sample, hash, reader_version
    """
  private static let resourceWidth: Int32 = 16

  /// The statements, parallel to ``sizes``.
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
    _ rows: ArraySlice<Insertion>, _ statements: (assets: String, resources: String), _ arena: TextArena,
    _ database: Database
  ) throws {
    let asset = try RawStatement(database, statements.assets, arena: arena)
    var first: Int32 = 1
    for insertion in rows {
      insertion.bindAsset(to: asset, from: first)
      first += assetWidth
    }
    try asset.run()
    let resource = try RawStatement(database, statements.resources, arena: arena)
    first = 1
    for insertion in rows {
      insertion.bindResource(to: resource, from: first)
      first += resourceWidth
    }
    try resource.run()
    for insertion in rows {
      try KeywordRows.insert(insertion.content.keywords, of: insertion.id, in: database)
      guard let version = insertion.formerVersion else { continue }
      try wantSample(of: insertion.row, database)
      if version != 0 || insertion.row.isInDoubt { try keep(version, of: insertion.row, database) }
    }
  }
}

extension AssetInsertions {
  /// Requests a sample of the file of an asset that is back. Files of new assets are found by their ids, which are the
  /// highest (``CatalogWriter/wantProofsOfNewFiles(limit:)``), but this asset has an older id.
  private static func wantSample(of row: FileRow, _ database: Database) throws {
    let want = try RawStatement(
      database, "UPDATE resource SET proof_state = 1 WHERE directory_id = ? AND name = ? AND proof_state = 0")
    want.bind(1, row.directoryID)
    want.bind(2, text: row.name)
    try want.run()
  }
}

extension AssetInsertions {
  /// Writes what the statement of new files leaves out, because their columns have the default values.
  private static func keep(_ contentVersion: Int64, of row: FileRow, _ database: Database) throws {
    let update = try RawStatement(
      database, "UPDATE resource SET content_version = ?, is_in_doubt = ? WHERE directory_id = ? AND name = ?")
    update.bind(1, contentVersion)
    update.bind(2, row.isInDoubt)
    update.bind(3, row.directoryID)
    update.bind(4, text: row.name)
    try update.run()
  }
}

extension AssetInsertions.Insertion {
  fileprivate func bindAsset(to statement: RawStatement, from first: Int32) {
    content.bind(to: statement, from: first)
    created.bind(to: statement, from: first + 22)
    statement.bind(first + 25, id)
    statement.bind(first + 26, date: row.modificationTime)
    statement.bind(first + 27, date: addedDate)
    statement.bind(first + 28, row.directoryID)
    statement.bind(first + 29, text: row.name)
    statement.bind(first + 30, CaseFolding.fold(FilePath.nameText(row.name)))
    statement.bind(first + 31, row.byteCount)
    statement.bind(first + 32, content.burstIdentifier)
  }

  fileprivate func bindResource(to statement: RawStatement, from first: Int32) {
    statement.bind(first, row.directoryID)
    statement.bind(first + 1, text: row.name)
    statement.bind(first + 2, id)
    statement.bind(first + 3, Int64(0))
    statement.bind(first + 4, content.mediaType.resourceKind)
    statement.bind(first + 5, content.contentType)
    statement.bind(first + 6, row.byteCount)
    statement.bind(first + 7, time: row.modificationTime)
    statement.bind(first + 8, time: row.changeTime)
    statement.bind(first + 9, Int64(bitPattern: row.inode))
    statement.bind(first + 10, time: row.birthTime)
    statement.bind(first + 11, time: row.readTime)
    statement.bind(first + 12, row.marks.fingerprint.map(Int64.init(bitPattern:)))
    statement.bind(first + 13, proofOf: row.marks)
    statement.bind(first + 15, row.readerVersion)
  }
}

extension AssetContent {
  /// Binds the 22 columns from `media_type` to `content_type`. Each statement that writes them names them in this
  /// order.
  func bind(to statement: RawStatement, from first: Int32) {
    statement.bind(first, mediaType.code)
    statement.bind(first + 1, mediaSubtypes.rawValue)
    statement.bind(first + 2, pixelWidth)
    statement.bind(first + 3, pixelHeight)
    statement.bind(first + 4, orientation)
    statement.bind(first + 5, durationSeconds)
    statement.bind(first + 6, location?.latitude)
    statement.bind(first + 7, location?.longitude)
    statement.bind(first + 8, location?.altitude)
    statement.bind(first + 9, camera?.make)
    statement.bind(first + 10, camera?.model)
    statement.bind(first + 11, camera?.lens)
    statement.bind(first + 12, camera?.exposureSeconds)
    statement.bind(first + 13, camera?.fNumber)
    statement.bind(first + 14, camera?.iso)
    statement.bind(first + 15, camera?.focalLengthMillimeters)
    statement.bind(first + 16, camera?.flashFired.map { $0 ? 1 : 0 })
    statement.bind(first + 17, title)
    statement.bind(first + 18, caption)
    statement.bind(first + 19, rating)
    statement.bind(first + 20, failure)
    statement.bind(first + 21, contentType)
  }
}
