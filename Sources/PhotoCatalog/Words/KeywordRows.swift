import GRDB
import PhotoModel

enum KeywordRows {
  /// Writes the keywords of an asset that has none yet.
  static func insert(_ keywords: [String], of assetID: AssetID, in database: Database) throws {
    guard !keywords.isEmpty else { return }
    let select = try RawStatement(database, "SELECT id FROM keyword WHERE name = ?")
    let insertWord = try RawStatement(database, "INSERT INTO keyword (name) VALUES (?)")
    // A repeated keyword keeps its first position.
    let insert = try RawStatement(
      database,
      "INSERT INTO asset_keyword (asset_id, position, keyword_id) VALUES (?, ?, ?) "
        + "ON CONFLICT (keyword_id, asset_id) DO NOTHING")
    for (position, keyword) in keywords.enumerated() {
      select.bind(1, keyword)
      var id = try select.firstRow { select.int64(0) }
      if id == nil {
        insertWord.bind(1, keyword)
        try insertWord.run()
        id = database.lastInsertedRowID
      }
      insert.bind(1, assetID)
      insert.bind(2, position)
      insert.bind(3, id)
      try insert.run()
    }
  }
}
