import GRDB
import PhotoContract
import PhotoModel

extension CatalogReader {
  /// Whole assets in the order of the ids, and the ids without an asset. An id that is given twice is returned twice.
  ///
  /// - Complexity: four lookups by key for each asset, and one for each of its keywords and for each directory.
  package func assets(_ ids: [AssetID]) throws -> (assets: [Asset], missing: [AssetID]) {
    var rows = try AssetRows(database)
    var assets: [Asset] = []
    assets.reserveCapacity(ids.count)
    var missing: [AssetID] = []
    for id in ids {
      if let asset = try rows.asset(id) { assets.append(asset) } else { missing.append(id) }
    }
    return (assets, missing)
  }

  /// An asset, and the modification times of its files in the order of its resources; nil if there is no such asset.
  package func assetWithFileTimes(_ id: AssetID) throws -> (Asset, times: [WallTime])? {
    var rows = try AssetRows(database)
    guard let asset = try rows.asset(id) else { return nil }
    let first = try RawStatement(
      database,
      "SELECT modification_time FROM resource WHERE (directory_id, name) = (SELECT directory_id, name FROM asset WHERE id = ?)"
    )
    first.bind(1, id)
    var times = [try first.firstRow { first.time(0) } ?? .unknown]
    let companions = try RawStatement(
      database,
      "SELECT modification_time FROM resource WHERE asset_id = ? AND position > 0 ORDER BY position, directory_id, name"
    )
    companions.bind(1, id)
    try companions.forEachRow { times.append(companions.time(0)) }
    return (asset, times)
  }

  /// The ids among these that belong to no asset.
  package func missingAssets(_ ids: some Collection<AssetID>) throws -> [AssetID] {
    try ids.withoutAssets(in: database)
  }

  /// Writes whole assets as elements of an array, in the order of the ids, until there is no room for the next. The
  /// first one is written even if it is too large. Only one asset is in memory at a time.
  ///
  /// - Parameter maximumBytes: the size of the writer that must not be exceeded.
  /// - Returns: how many of the ids were handled, and those of them without an asset.
  package func write(_ ids: some Collection<AssetID>, to writer: inout JSONWriter, upTo maximumBytes: Int) throws
    -> (taken: Int, missing: [AssetID])
  {
    var rows = try AssetRows(database)
    var (taken, missing): (Int, [AssetID]) = (0, [])
    for id in ids {
      if let asset = try rows.asset(id) {
        let mark = writer.mark
        asset.write(to: &writer)
        if writer.bytes.count > maximumBytes, taken > missing.count {
          writer.goBack(to: mark)
          break
        }
      } else {
        missing.append(id)
      }
      taken += 1
    }
    return (taken, missing)
  }
}

extension Collection<AssetID> {
  /// The ids that belong to no asset.
  func withoutAssets(in database: Database) throws -> [AssetID] {
    let select = try RawStatement(database, "SELECT 1 FROM asset WHERE id = ?")
    return try filter { id in
      select.bind(1, id)
      return try select.firstRow { true } == nil
    }
  }
}

/// Looks up whole assets, one after another, in one snapshot.
private struct AssetRows {
  private let asset: RawStatement
  private let companions: RawStatement
  private let keywords: RawStatement
  private var tree: DirectoryPaths

  init(_ database: Database) throws {
    asset = try RawStatement(database, AssetColumns.select + " WHERE asset.id = ?")
    companions = try RawStatement(
      database,
      "SELECT directory_id, name, kind, content_type, byte_count, modification_time, fingerprint, content_version "
        + "FROM resource WHERE asset_id = ? AND position > 0 ORDER BY position, directory_id, name")
    keywords = try RawStatement(
      database,
      "SELECT keyword.name FROM asset_keyword CROSS JOIN keyword ON keyword.id = asset_keyword.keyword_id "
        + "WHERE asset_keyword.asset_id = ? ORDER BY asset_keyword.position")
    tree = try DirectoryPaths(database)
  }

  mutating func asset(_ id: AssetID) throws -> Asset? {
    asset.bind(1, id)
    var revision = AssetRevision()
    guard var found = try asset.firstRow({ try AssetColumns.asset(asset, &tree, &revision) }) else { return nil }
    keywords.bind(1, id)
    try keywords.forEachRow { found.keywords.append(keywords.text(0)) }
    companions.bind(1, id)
    try companions.forEachRow {
      revision.add(companions, from: 4)
      let place = try tree.place(companions.directoryID(0))
      let name = companions.bytes(1)
      found.resources.append(
        Resource(
          kind: Resource.Kind(code: companions.int64(2)), path: FilePath.text(place.path(of: name)),
          filename: FilePath.nameText(name), byteCount: companions.int64(4), contentType: companions.text(3)))
    }
    found.revision = revision.text
    return found
  }
}

/// The columns of an asset with its first resource, in the order in which they are read.
private enum AssetColumns {
  static let select = """
    SELECT asset.id, media_type, media_subtypes, creation_date, creation_offset, creation_source, modification_date, \
    added_date, \
    pixel_width, pixel_height, orientation, duration, latitude, longitude, altitude, camera_make, camera_model, \
    camera_lens, exposure, f_number, iso, focal_length, flash_fired, title, caption, rating, burst_identifier, \
    is_favorite, is_hidden, is_trashed, asset.directory_id, asset.name, asset.byte_count, asset.content_type, \
    resource.kind, resource.byte_count, resource.modification_time, resource.fingerprint, resource.content_version \
    FROM asset LEFT JOIN resource ON resource.directory_id = asset.directory_id AND resource.name = asset.name
    """

  /// The asset of the statement's row, with its first resource only and without its revision.
  static func asset(
    _ row: RawStatement, _ tree: inout DirectoryPaths, _ revision: inout AssetRevision
  ) throws -> Asset {
    revision.add(orientation: row.int64(10))
    revision.add(row, from: 35)
    let mediaType = MediaType(code: row.int64(1))
    let created = CreationDate(row, from: 3)
    var location: Location?
    if let latitude = row.optionalDouble(12), let longitude = row.optionalDouble(13) {
      location = Location(latitude: latitude, longitude: longitude, altitude: row.optionalDouble(14))
    }
    let camera = Camera(
      make: row.optionalText(15), model: row.optionalText(16), lens: row.optionalText(17),
      exposureSeconds: row.optionalDouble(18), fNumber: row.optionalDouble(19), iso: row.optionalInt(20),
      focalLengthMillimeters: row.optionalDouble(21), flashFired: row.isNull(22) ? nil : row.bool(22))
    let place = try tree.place(row.directoryID(30))
    let name = row.bytes(31)
    return Asset(
      id: row.assetID(0), mediaType: mediaType, mediaSubtypes: MediaSubtypes(rawValue: row.int64(2)).names,
      creationDate: created.date, creationDateSource: created.source,
      modificationDate: PhotoDate(microseconds: row.int64(6)),
      addedDate: PhotoDate(microseconds: row.int64(7)), pixelWidth: row.optionalInt(8),
      pixelHeight: row.optionalInt(9), orientation: row.optionalInt(10), durationSeconds: row.optionalDouble(11),
      location: location, camera: camera.isEmpty ? nil : camera, title: row.optionalText(23),
      caption: row.optionalText(24), rating: row.optionalInt(25), isFavorite: row.bool(27), isHidden: row.bool(28),
      isTrashed: row.bool(29), burstIdentifier: row.optionalText(26), available: place.isAvailable,
      resources: [
        Resource(
          kind: row.optionalInt64(34).map(Resource.Kind.init(code:)) ?? kind(mediaType),
          path: FilePath.text(place.path(of: name)), filename: FilePath.nameText(name), byteCount: row.int64(32),
          contentType: row.text(33))
      ])
  }

  private static func kind(_ mediaType: MediaType) -> Resource.Kind {
    switch mediaType {
    case .image, .unknown: .photo
    case .video: .video
    case .audio: .audio
    }
  }
}
