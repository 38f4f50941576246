import PhotoModel

extension CatalogWriter {
  /// Replaces the keywords of an asset. If they are the same, nothing is written.
  func updateKeywords(_ keywords: [String], of assetID: AssetID) throws {
    guard try self.keywords(of: assetID) != keywords else { return }
    try deleteKeywords(of: assetID)
    try KeywordRows.insert(keywords, of: assetID, in: database)
  }

  /// Removes the keywords of an asset, and deletes the words that no other asset has.
  ///
  /// - Complexity: One lookup if the asset has no keywords, otherwise one or two for each keyword.
  func deleteKeywords(of assetID: AssetID) throws {
    let select = try RawStatement(database, "SELECT keyword_id FROM asset_keyword WHERE asset_id = ?")
    select.bind(1, assetID)
    var ids: [Int64] = []
    try select.forEachRow { ids.append(select.int64(0)) }
    guard !ids.isEmpty else { return }
    let delete = try RawStatement(database, "DELETE FROM asset_keyword WHERE asset_id = ?")
    delete.bind(1, assetID)
    try delete.run()
    let deleteWord = try RawStatement(
      database,
      "DELETE FROM keyword WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM asset_keyword WHERE keyword_id = ?1)")
    for id in ids {
      deleteWord.bind(1, id)
      try deleteWord.run()
    }
  }
}

extension FileLookups {
  /// The keywords of an asset, in the order of its file.
  func keywords(of assetID: AssetID) throws -> [String] {
    let select = try RawStatement(
      database,
      "SELECT w.name FROM asset_keyword k CROSS JOIN keyword w ON w.id = k.keyword_id WHERE k.asset_id = ? "
        + "ORDER BY k.position")
    select.bind(1, assetID)
    var keywords: [String] = []
    try select.forEachRow { keywords.append(select.text(0)) }
    return keywords
  }
}
