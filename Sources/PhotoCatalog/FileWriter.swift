import GRDB
import PhotoModel

/// A file as the catalog last saw it. Times are nanoseconds since 1970.
package struct FileRow: Hashable, Sendable {
  package let assetID: Int64
  package var directoryID: Int64
  package var name: [UInt8]
  package var byteCount: Int64
  package var modificationTime: Int64
  package var changeTime: Int64
  package var inode: UInt64
  package var birthTime: Int64
  /// When its content was read; 0: it could not be yet.
  package var readTime: Int64
  /// Of its beginning and its size, as it was when it was read; nil: not known.
  package var fingerprint: UInt64?

  package init(
    assetID: Int64, directoryID: Int64, name: [UInt8], byteCount: Int64, modificationTime: Int64, changeTime: Int64,
    inode: UInt64, birthTime: Int64, readTime: Int64, fingerprint: UInt64? = nil
  ) {
    self.assetID = assetID
    self.directoryID = directoryID
    self.name = name
    self.byteCount = byteCount
    self.modificationTime = modificationTime
    self.changeTime = changeTime
    self.inode = inode
    self.birthTime = birthTime
    self.readTime = readTime
    self.fingerprint = fingerprint
  }

  package func of(asset id: Int64) -> FileRow {
    FileRow(
      assetID: id, directoryID: directoryID, name: name, byteCount: byteCount, modificationTime: modificationTime,
      changeTime: changeTime, inode: inode, birthTime: birthTime, readTime: readTime, fingerprint: fingerprint)
  }
}

/// What the content of a file says, in the catalog's form.
package struct AssetContent: Hashable, Sendable {
  package var mediaType: MediaType
  package var mediaSubtypes: MediaSubtypes
  package var contentType: String
  package var creationDate: PhotoDate?
  package var pixelWidth: Int?
  package var pixelHeight: Int?
  package var orientation: Int?
  package var durationSeconds: Double?
  package var location: Location?
  package var camera: Camera?
  package var title: String?
  package var caption: String?
  package var keywords: [String]
  package var rating: Int?
  package var failure: String?

  package init(
    mediaType: MediaType, mediaSubtypes: MediaSubtypes, contentType: String, creationDate: PhotoDate? = nil,
    pixelWidth: Int? = nil, pixelHeight: Int? = nil, orientation: Int? = nil, durationSeconds: Double? = nil,
    location: Location? = nil, camera: Camera? = nil, title: String? = nil, caption: String? = nil,
    keywords: [String] = [],
    rating: Int? = nil, failure: String? = nil
  ) {
    self.mediaType = mediaType
    self.mediaSubtypes = mediaSubtypes
    self.contentType = contentType
    self.creationDate = creationDate
    self.pixelWidth = pixelWidth
    self.pixelHeight = pixelHeight
    self.orientation = orientation
    self.durationSeconds = durationSeconds
    self.location = location
    self.camera = camera
    self.title = title
    self.caption = caption
    self.keywords = keywords
    self.rating = rating
    self.failure = failure
  }

  /// What of an asset differs from what the catalog holds, besides its bytes.
  package func changedFields(since held: AssetContent?) -> ChangedFields {
    var fields: ChangedFields = []
    if held?.keywords != keywords { fields.insert(.keywords) }
    var rest = held
    rest?.keywords = keywords
    if rest != self { fields.insert(.metadata) }
    return fields
  }
}

extension CatalogWriter {
  /// Writes what the content of an asset's file says now. What the user typed stays.
  package func updateContent(_ content: AssetContent, file row: FileRow) throws {
    try keepingWords(of: row.assetID) { try writeContent(content, file: row) }
    try updateStat(row)
  }

  private func writeContent(_ content: AssetContent, file row: FileRow) throws {
    let asset = try RawStatement(
      database,
      """
      UPDATE asset SET media_type = ?1, media_subtypes = ?2, creation_date = ?3, creation_offset = ?4,
        sort_date = ifnull(?3, added_date), pixel_width = ?5, pixel_height = ?6, orientation = ?7, duration = ?8,
        latitude = ?9, longitude = ?10, altitude = ?11, camera_make = ?12, camera_model = ?13, camera_lens = ?14,
        exposure = ?15, f_number = ?16, iso = ?17, focal_length = ?18, flash_fired = ?19, title = ?20, caption = ?21,
        rating = ?22, failure = ?23, content_type = ?24, byte_count = ?26, modification_date = ?27
      WHERE id = ?25
      """)
    content.bind(to: asset, from: 1)
    asset.bind(25, row.assetID)
    asset.bind(26, row.byteCount)
    asset.bind(27, row.modificationTime / 1000)
    try asset.run()
    let resource = try RawStatement(
      database, "UPDATE resource SET kind = ?, content_type = ? WHERE directory_id = ? AND name = ?")
    resource.bind(1, content.mediaType.resourceKind)
    resource.bind(2, content.contentType)
    resource.bind(3, row.directoryID)
    resource.bind(4, text: row.name)
    try resource.run()
    try updateKeywords(content.keywords, of: row.assetID)
  }

  /// Writes size, times and identity of a file; its asset's fields stay.
  package func updateStat(_ row: FileRow) throws {
    let update = try RawStatement(
      database,
      """
      UPDATE resource SET byte_count = ?, modification_time = ?, change_time = ?, inode = ?, birth_time = ?, read_time = ?,
        fingerprint = ?
      WHERE directory_id = ? AND name = ?
      """)
    update.bind(1, row.byteCount)
    update.bind(2, row.modificationTime)
    update.bind(3, row.changeTime)
    update.bind(4, Int64(bitPattern: row.inode))
    update.bind(5, row.birthTime)
    update.bind(6, row.readTime)
    update.bind(7, row.fingerprint.map(Int64.init(bitPattern:)))
    update.bind(8, row.directoryID)
    update.bind(9, text: row.name)
    try update.run()
  }

  /// Gives a file another place; nothing may stand there.
  package func moveFile(_ row: FileRow, to directoryID: Int64, name: [UInt8]) throws {
    let resource = try RawStatement(
      database, "UPDATE resource SET directory_id = ?, name = ? WHERE directory_id = ? AND name = ?")
    resource.bind(1, directoryID)
    resource.bind(2, text: name)
    resource.bind(3, row.directoryID)
    resource.bind(4, text: row.name)
    try resource.run()
    let asset = try RawStatement(
      database, "UPDATE asset SET directory_id = ?, name = ?, name_key = ? WHERE id = ?")
    asset.bind(1, directoryID)
    asset.bind(2, text: name)
    asset.bind(3, CaseFolding.fold(FilePath.nameText(name)))
    asset.bind(4, row.assetID)
    if name == row.name { return try asset.run() }
    try keepingWords(of: row.assetID) { try asset.run() }
  }

  /// Removes an asset with its files from the catalog, without a trace (see ``bury(_:directoryPath:date:)``).
  package func deleteAsset(_ id: Int64) throws {
    let place = try RawStatement(database, "SELECT directory_id, name FROM asset WHERE id = ?")
    place.bind(1, id)
    guard let (directory, name) = try place.firstRow({ (place.int64(0), place.bytes(1)) }) else { return }
    let first = try RawStatement(database, "DELETE FROM resource WHERE directory_id = ? AND name = ?")
    first.bind(1, directory)
    first.bind(2, text: name)
    try first.run()
    try keepingWords(of: id) {
      try deleteKeywords(of: id)
      for sql in ["DELETE FROM resource WHERE asset_id = ? AND position > 0", "DELETE FROM asset WHERE id = ?"] {
        let delete = try RawStatement(database, sql)
        delete.bind(1, id)
        try delete.run()
      }
    }
  }
}
