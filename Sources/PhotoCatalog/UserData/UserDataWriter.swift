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

  /// Sets the given fields.
  package func setUserData(of id: AssetID, isFavorite: Bool?, isHidden: Bool?) throws {
    var collections = Set(try self.collections(holding: id))
    var fields: ChangedFields = []
    if let isFavorite, try setFavorite(id, isFavorite) { fields.insert(.favorite) }
    if let isHidden, try setHidden(id, isHidden) { fields.insert(.hidden) }
    guard !fields.isEmpty else { return }
    collections.formUnion(try self.collections(holding: id))
    record.update(asset: id, fields)
    for collection in collections { record.update(collection: collection) }
  }

  /// Writes the user data of an asset that comes back. Its insertion records the values.
  func setUserData(ofRestored id: AssetID, isFavorite: Bool, isHidden: Bool) throws {
    if isFavorite { _ = try setFavorite(id, true) }
    if isHidden { _ = try setHidden(id, true) }
  }

  /// - Returns: Whether the value changed.
  private func setFavorite(_ id: AssetID, _ isFavorite: Bool) throws -> Bool {
    if isFavorite { try wantHash(of: id) }
    return try set("UPDATE asset SET is_favorite = ?1 WHERE id = ?2 AND is_favorite <> ?1", id, isFavorite)
  }

  /// - Returns: Whether the value changed.
  private func setHidden(_ id: AssetID, _ isHidden: Bool) throws -> Bool {
    if isHidden { try wantHash(of: id) }
    return try set("UPDATE asset SET is_hidden = ?1 WHERE id = ?2 AND is_hidden <> ?1", id, isHidden)
  }

  private func set(_ sql: String, _ id: AssetID, _ value: Bool) throws -> Bool {
    let update = try RawStatement(database, sql)
    update.bind(1, value)
    update.bind(2, id)
    try update.run()
    return try database.changesCount > 0
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
      UNION ALL SELECT c.id FROM asset a JOIN collection c ON c.subtype IN ('recents',
          CASE WHEN a.is_favorite THEN 'favorites' END, CASE WHEN a.media_type = 2 THEN 'videos' END,
          CASE WHEN a.media_subtypes & 8 THEN 'screenshots' END)
        WHERE a.id = ?1
      """)
    select.bind(1, assetID)
    var ids: [CollectionID] = []
    try select.forEachRow { ids.append(select.collectionID(0)) }
    return ids
  }
}
