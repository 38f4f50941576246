import GRDB
import PhotoModel

extension CatalogWriter {
  /// Of these ids, those that are no assets.
  package func missingAssets(_ ids: [Int64]) throws -> [Int64] {
    let select = try RawStatement(database, "SELECT 1 FROM asset WHERE id = ?")
    return try ids.filter { id in
      select.bind(1, id)
      return try select.firstRow { true } == nil
    }
  }

  /// - Returns: whether it was otherwise before.
  package func setFavorite(_ id: Int64, _ isFavorite: Bool) throws -> Bool {
    try set("UPDATE asset SET is_favorite = ?1 WHERE id = ?2 AND is_favorite <> ?1", id, isFavorite)
  }

  /// - Returns: whether it was otherwise before.
  package func setHidden(_ id: Int64, _ isHidden: Bool) throws -> Bool {
    try set("UPDATE asset SET is_hidden = ?1 WHERE id = ?2 AND is_hidden <> ?1", id, isHidden)
  }

  private func set(_ sql: String, _ id: Int64, _ value: Bool) throws -> Bool {
    let update = try RawStatement(database, sql)
    update.bind(1, value)
    update.bind(2, id)
    try update.run()
    return try database.changesCount > 0
  }

  /// The collections that show this asset, so that their counts and covers are announced: its folder album, and the smart
  /// and user's albums that hold it.
  package func collections(holding assetID: Int64) throws -> [Int64] {
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
    var ids: [Int64] = []
    try select.forEachRow { ids.append(select.int64(0)) }
    return ids
  }
}
