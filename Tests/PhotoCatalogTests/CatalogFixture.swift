import Foundation
import PhotoModel
import PhotoTestSupport
import PredicateLanguage

@testable import PhotoCatalog

/// A catalog in a folder of its own, which is removed with the test. Rows are inserted as SQL, because these tests
/// check reading.
final class CatalogFixture {
  var catalog: Catalog { environment.catalog }
  private let environment: TestCatalog

  init() throws {
    environment = try TestCatalog("catalog")
    try execute("INSERT INTO volume (id, identity) VALUES (1, 'test')")
  }

  deinit {
    do { try catalog.close() } catch { print("the catalog in \(environment.folder) is not closed: \(error)") }
  }

  func execute(_ sql: String, _ values: [SQLValue?] = []) throws {
    try catalog.write { writer in
      let statement = try RawStatement(writer.database, sql)
      Self.bind(values, to: statement)
      try statement.run()
    }
  }

  private static func bind(_ values: [SQLValue?], to statement: RawStatement) {
    for (index, value) in values.enumerated() {
      switch value {
      case .integer(let integer): statement.bind(Int32(index + 1), integer)
      case .real(let real): statement.bind(Int32(index + 1), real)
      case .text(let bytes): statement.bind(Int32(index + 1), text: bytes)
      case .test(let test): statement.bind(Int32(index + 1), test: test)
      case .textTest(let test): statement.bind(Int32(index + 1), text: test)
      case nil: statement.bind(Int32(index + 1), Int64?.none)
      }
    }
  }

  // MARK: - Directories and collections

  /// - Returns: the id of its top directory. The id of the root is the same number.
  @discardableResult
  func addRoot(_ path: String, isAvailable: Bool = true) throws -> DirectoryID {
    let id = try nextID("directory")
    try execute(
      "INSERT INTO root (id, path, is_available) VALUES (?, ?, ?)",
      [.integer(id), .text(path), .integer(isAvailable ? 1 : 0)])
    try execute(
      "INSERT INTO directory (id, root_id, name, volume_id, inode, birth_time) VALUES (?, ?, '', 1, ?, 0)",
      [.integer(id), .integer(id), .integer(id)])
    try addFolderAlbum(id)
    return DirectoryID(rawValue: id)
  }

  @discardableResult
  func addDirectory(_ name: [UInt8], in parent: DirectoryID) throws -> DirectoryID {
    let id = try nextID("directory")
    try execute(
      "INSERT INTO directory (id, parent_id, name, volume_id, inode, birth_time) VALUES (?, ?, ?, 1, ?, 0)",
      [.integer(id), .id(parent), .text(name), .integer(id)])
    try addFolderAlbum(id)
    return DirectoryID(rawValue: id)
  }

  @discardableResult
  func addDirectory(_ name: String, in parent: DirectoryID) throws -> DirectoryID {
    try addDirectory(Array(name.utf8), in: parent)
  }

  private func addFolderAlbum(_ directory: Int64) throws {
    try execute("INSERT INTO collection (kind, directory_id) VALUES (2, ?)", [.integer(directory)])
  }

  @discardableResult
  func addAlbum(_ title: String, _ members: [AssetID] = [], keyAssetID: AssetID? = nil) throws -> CollectionID {
    let id = CollectionID(rawValue: try nextID("collection"))
    try execute(
      "INSERT INTO collection (id, kind, title, key_asset_id) VALUES (?, 1, ?, ?)",
      [.id(id), .text(title), keyAssetID.map { .id($0) }])
    for (rank, asset) in members.enumerated() {
      try execute(
        "INSERT INTO album_asset (collection_id, asset_id, rank) VALUES (?, ?, ?)",
        [.id(id), .id(asset), .real(Double(rank))])
    }
    return id
  }

  private func nextID(_ table: String) throws -> Int64 {
    try catalog.read { reader in
      let statement = try RawStatement(reader.database, "SELECT ifnull(max(id), 0) + 1 FROM \(table)")
      return try statement.firstRow { statement.int64(0) } ?? 1
    }
  }

  // MARK: - Assets

  /// Inserts the rows of an asset. Only the first of its `resources` is written, and the path of that one is ignored.
  func insert(_ asset: Asset, directory: DirectoryID, name: [UInt8], failure: String? = nil) throws {
    try insert([(asset, directory, name, failure)])
  }

  func insert(_ rows: [(asset: Asset, directory: DirectoryID, name: [UInt8], failure: String?)]) throws {
    try catalog.write { writer in
      let statement = try RawStatement(writer.database, Self.insertAsset)
      let resource = try RawStatement(writer.database, Self.insertResource)
      for (asset, directory, name, failure) in rows {
        let camera = asset.camera
        let integer = { (value: Int?) -> SQLValue? in value.map { .integer(Int64($0)) } }
        let text = { (value: String?) -> SQLValue? in value.map { .text($0) } }
        let real = { (value: Double?) -> SQLValue? in value.map { .real($0) } }
        let flag = { (value: Bool) -> SQLValue in .integer(value ? 1 : 0) }
        let first = asset.resources.first
        Self.bind(
          [
            .id(asset.id), .integer(asset.mediaType.code),
            .integer(MediaSubtypes(names: asset.mediaSubtypes).rawValue),
            .integer(asset.creationDate.microseconds), integer(asset.creationDate.offsetMinutes),
            .integer(asset.creationDateSource.code),
            .integer(asset.modificationDate.microseconds), .integer(asset.addedDate.microseconds),
            integer(asset.pixelWidth), integer(asset.pixelHeight), integer(asset.orientation),
            real(asset.durationSeconds), real(asset.location?.latitude), real(asset.location?.longitude),
            real(asset.location?.altitude), text(camera?.make), text(camera?.model), text(camera?.lens),
            real(camera?.exposureSeconds), real(camera?.fNumber), integer(camera?.iso),
            real(camera?.focalLengthMillimeters), camera?.flashFired.map(flag), text(asset.title),
            text(asset.caption), integer(asset.rating), text(asset.burstIdentifier), flag(asset.isFavorite),
            flag(asset.isHidden), flag(asset.isTrashed), text(failure), .id(directory), .text(name),
            .text(CaseFolding.fold(FilePath.nameText(name))), .integer(first?.byteCount ?? 0),
            .text(first?.contentType ?? "image/jpeg"),
          ], to: statement)
        try statement.run()
        Self.bind(
          [
            .id(directory), .text(name), .id(asset.id), .integer(0), .integer(first?.kind.code ?? 0),
            .text(first?.contentType ?? "image/jpeg"), .integer(first?.byteCount ?? 0),
          ], to: resource)
        try resource.run()
      }
    }
  }

  func insertCompanion(
    of asset: AssetID, position: Int64, kind: Resource.Kind, directory: DirectoryID, name: [UInt8], contentType: String
  ) throws {
    try execute(
      Self.insertResource,
      [
        .id(directory), .text(name), .id(asset), .integer(position), .integer(kind.code),
        .text(contentType), .integer(99),
      ])
  }

  private static let insertAsset = """
    INSERT INTO asset (id, media_type, media_subtypes, creation_date, creation_offset, creation_source, \
    modification_date, added_date, pixel_width, pixel_height, orientation, duration, latitude, longitude, altitude, camera_make, \
    camera_model, camera_lens, exposure, f_number, iso, focal_length, flash_fired, title, caption, rating, \
    burst_identifier, is_favorite, is_hidden, is_trashed, failure, directory_id, name, name_key, byte_count, \
    content_type) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
    ?, ?, ?, ?, ?, ?)
    """

  private static let insertResource = """
    INSERT INTO resource (directory_id, name, asset_id, position, kind, content_type, byte_count, modification_time, \
    change_time, inode, birth_time, read_time) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0)
    """

  // MARK: - History

  @discardableResult
  func commit(
    _ origin: String = "watcher", inserted: [AssetID] = [], updated: [AssetID: ChangedFields] = [:],
    deleted: [AssetID] = [], updatedCollections: [CollectionID] = [],
    renamed: [(id: DirectoryID, from: [UInt8], to: [UInt8])] = [],
    roots: [(id: RootID, path: String, isAvailable: Bool)] = []
  ) throws -> Int64 {
    try catalog.write { writer in
      let history = try RawStatement(
        writer.database,
        "INSERT INTO history (date, origin, inserted_assets, updated_assets, deleted_assets, updated_collections) "
          + "VALUES (1700000000000000, ?, ?, ?, ?, ?)")
      history.bind(1, origin)
      history.bind(2, blob: PackedIDs.pack(inserted))
      history.bind(3, blob: PackedIDs.pack(updated))
      history.bind(4, blob: PackedIDs.pack(deleted))
      history.bind(5, blob: PackedIDs.pack(updatedCollections))
      try history.run()
      let sequence = try writer.database.lastInsertedRowID
      for (id, from, to) in renamed {
        let row = try RawStatement(writer.database, "INSERT INTO history_directory VALUES (?, ?, ?, ?)")
        Self.bind([.integer(sequence), .id(id), .text(from), .text(to)], to: row)
        try row.run()
      }
      for (id, path, isAvailable) in roots {
        let row = try RawStatement(
          writer.database, "INSERT INTO history_root (sequence, root_id, path, is_available) VALUES (?, ?, ?, ?)")
        Self.bind([.integer(sequence), .id(id), .text(path), .integer(isAvailable ? 1 : 0)], to: row)
        try row.run()
      }
      return sequence
    }
  }

  // MARK: - Reading

  func ids(_ options: FetchOptions = FetchOptions()) throws -> [AssetID] {
    try catalog.read { try $0.ids($0.plan(options)) }
  }

  func key(_ options: FetchOptions) throws -> String { try catalog.read { try $0.plan(options).key } }
}

extension Asset {
  /// Makes an asset. Values that do not matter to a test have defaults. `taken` and `added` are in seconds since 1970.
  static func sample(
    _ id: AssetID, _ mediaType: MediaType = .image, taken: Int64? = nil, added: Int64 = 1_000,
    subtypes: [String] = [], isFavorite: Bool = false, isHidden: Bool = false, isTrashed: Bool = false
  ) -> Asset {
    Asset(
      id: id, mediaType: mediaType, mediaSubtypes: subtypes,
      creationDate: PhotoDate(microseconds: (taken ?? added) * 1_000_000, offsetMinutes: nil),
      creationDateSource: taken == nil ? .file : .metadata,
      modificationDate: PhotoDate(microseconds: 0), addedDate: PhotoDate(microseconds: added * 1_000_000),
      isFavorite: isFavorite, isHidden: isHidden, isTrashed: isTrashed)
  }
}
