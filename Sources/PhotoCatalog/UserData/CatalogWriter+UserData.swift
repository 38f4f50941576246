import GRDB
import PhotoModel

extension CatalogWriter {
  /// The ids among these that belong to no asset.
  package func missingAssets(_ ids: [AssetID]) throws -> [AssetID] {
    let select = try RawStatement(database, "SELECT 1 FROM asset WHERE id = ?")
    return try ids.filter { id in
      select.bind(1, id)
      return try select.firstRow { true } == nil
    }
  }

  /// Makes an edit of an asset. A missing asset stays missing.
  package func edit(_ id: AssetID, _ edit: AssetEdit) throws {
    guard let held = try userData(of: id) else { return }
    var data = held
    try data.apply(edit, to: try fileFields(of: id))
    try replace(held, by: data, of: id)
  }

  /// Replaces all user data of an asset, except its albums.
  func setUserData(_ data: AssetUserData, of id: AssetID) throws {
    guard let held = try userData(of: id) else { return }
    try replace(held, by: data, of: id)
  }

  private func replace(_ held: AssetUserData, by data: AssetUserData, of id: AssetID) throws {
    let fields = data.changedFields(since: held)
    guard !fields.isEmpty else { return }
    var collections = Set(try self.collections(holding: id))
    if (held.isFavorite, held.isHidden) != (data.isFavorite, data.isHidden) { try writeFlags(data, of: id) }
    if held.edits != data.edits {
      let file = try fileFields(of: id)
      try keepingWords(of: id) { try writeFields(file.edited(by: data.edits), of: id) }
      try writeEdits(data.edits, of: id, file: file)
    }
    if !data.isEmpty { try wantHash(of: id) }
    collections.formUnion(try self.collections(holding: id))
    recording?.note(id, held, data)
    record.update(asset: id, fields)
    for collection in collections { record.update(collection: collection) }
    editedAssets.insert(id)
  }

  /// Writes the flags of an asset that comes back. Its insertion records them.
  func setFlags(_ data: AssetUserData, ofRestored id: AssetID) throws {
    if data.isFavorite || data.isHidden { try writeFlags(data, of: id) }
    if !data.isEmpty { try wantHash(of: id) }
  }

  private func writeFlags(_ data: AssetUserData, of id: AssetID) throws {
    let update = try RawStatement(database, "UPDATE asset SET is_favorite = ?, is_hidden = ? WHERE id = ?")
    update.bind(1, data.isFavorite)
    update.bind(2, data.isHidden)
    update.bind(3, id)
    try update.run()
  }

  private func writeFields(_ fields: EditableFields, of id: AssetID) throws {
    let update = try RawStatement(
      database,
      """
      UPDATE asset SET title = ?, caption = ?, rating = ?, latitude = ?, longitude = ?, altitude = ?, creation_date = ?,
        creation_offset = ?, creation_source = ?
      WHERE id = ?
      """)
    update.bind(1, fields.title)
    update.bind(2, fields.caption)
    update.bind(3, fields.rating)
    update.bind(4, fields.location?.latitude)
    update.bind(5, fields.location?.longitude)
    update.bind(6, fields.location?.altitude)
    fields.created.bind(to: update, from: 7)
    update.bind(10, id)
    try update.run()
    try updateKeywords(fields.keywords, of: id)
  }

  /// Records the collections that show this asset. A write that may move the asset to other collections records them
  /// before and after.
  func recordCollections(holding id: AssetID) throws {
    for collection in try collections(holding: id) { record.update(collection: collection) }
  }

  /// The collections that show this asset: its folder album, and the smart albums and user albums that contain it.
  /// Their counts and covers may change with the asset.
  func collections(holding assetID: AssetID) throws -> [CollectionID] {
    let select = try RawStatement(
      database,
      """
      SELECT c.id FROM asset a JOIN collection c ON c.directory_id = a.directory_id WHERE a.id = ?1
      UNION ALL SELECT collection_id FROM album_asset WHERE asset_id = ?1
      UNION ALL SELECT c.id FROM asset JOIN collection c ON c.subtype IN (\(Self.smartAlbums)) WHERE asset.id = ?1
      """)
    select.bind(1, assetID)
    var ids: [CollectionID] = []
    try select.forEachRow { ids.append(select.collectionID(0)) }
    return ids
  }

  /// The subtypes of the smart albums that show the row `asset`.
  private static let smartAlbums = SmartAlbum.allCases.map { album in
    album.definition.sql.map { "CASE WHEN \($0) THEN '\(album.rawValue)' END" } ?? "'\(album.rawValue)'"
  }.joined(separator: ", ")
}
