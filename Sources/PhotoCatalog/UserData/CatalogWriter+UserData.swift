import GRDB
import PhotoModel

extension CatalogWriter {
  /// The ids among these that belong to no asset.
  package func missingAssets(_ ids: [AssetID]) throws -> [AssetID] { try ids.withoutAssets(in: database) }

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
    try recordCollections(holding: id)
    if (held.isFavorite, held.isHidden) != (data.isFavorite, data.isHidden) { try writeFlags(data, of: id) }
    if held.edits != data.edits {
      let file = try fileFields(of: id)
      try keepingWords(of: id) { try writeFields(file.edited(by: data.edits), of: id) }
      try writeEdits(data.edits, of: id, file: file)
    }
    if !data.isEmpty { try wantHash(of: id) }
    // Other edits move the asset to no other collection.
    let hasMoved =
      (held.isFavorite, held.isHidden) != (data.isFavorite, data.isHidden) || held.edits.location != data.edits.location
    if hasMoved { try recordCollections(holding: id) }
    recording?.note(id, held, data)
    record.update(asset: id, fields)
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

  /// Writes the fields that differ. Most indexes have the creation date or the location. An update of such a column
  /// writes all of their entries, whether it differs or not.
  private func writeFields(_ fields: EditableFields, of id: AssetID) throws {
    let texts = try RawStatement(database, "UPDATE asset SET title = ?, caption = ?, rating = ? WHERE id = ?")
    texts.bind(1, fields.title)
    texts.bind(2, fields.caption)
    texts.bind(3, fields.rating)
    texts.bind(4, id)
    try texts.run()
    let location = try RawStatement(
      database,
      """
      UPDATE asset SET (latitude, longitude, altitude) = (?1, ?2, ?3)
      WHERE id = ?4 AND (latitude, longitude, altitude) IS NOT (?1, ?2, ?3)
      """)
    location.bind(1, fields.location?.latitude)
    location.bind(2, fields.location?.longitude)
    location.bind(3, fields.location?.altitude)
    location.bind(4, id)
    try location.run()
    let created = try RawStatement(
      database,
      """
      UPDATE asset SET (creation_date, creation_offset, creation_source) = (?1, ?2, ?3)
      WHERE id = ?4 AND (creation_date, creation_offset, creation_source) IS NOT (?1, ?2, ?3)
      """)
    fields.created.bind(to: created, from: 1)
    created.bind(4, id)
    try created.run()
    try updateKeywords(fields.keywords, of: id)
  }

  /// Records the collections that show this asset: its folder album, and the smart albums and user albums that contain it.
  /// Their counts and covers may change with the asset. A write that may move the asset to other collections records them
  /// before and after.
  func recordCollections(holding id: AssetID) throws {
    let select = try RawStatement(
      database,
      "SELECT \(AssetFacts.columns), (SELECT id FROM collection WHERE collection.directory_id = asset.directory_id) "
        + "FROM asset WHERE id = ?")
    select.bind(1, id)
    let found = try select.firstRow { (AssetFacts(select), select.optionalCollectionID(AssetFacts.columnCount)) }
    if let (facts, folderAlbum) = found {
      for album in try smartAlbums() where album.requirements.admit(facts) { record.update(collection: album.id) }
      if let folderAlbum { record.update(collection: folderAlbum) }
    }
    let albums = try RawStatement(database, "SELECT collection_id FROM album_asset WHERE asset_id = ?")
    albums.bind(1, id)
    try albums.forEachRow { record.update(collection: albums.collectionID(0)) }
  }
}
