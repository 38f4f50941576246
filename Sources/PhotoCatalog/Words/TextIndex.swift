import GRDB
import PhotoModel
import PredicateLanguage

// The index of the words of assets. A transaction that changes an indexed asset updates the index too. New assets are
// indexed later, when the library is idle, and are tested one by one until then. Triggers can't do this: the keywords
// are written after the asset's row, and FTS5 needs the former words to delete an entry.

extension CatalogWriter {
  /// Adds the next assets that are not in the index.
  ///
  /// - Returns: Whether more assets may remain.
  package func indexText(limit: Int) throws -> Bool {
    let through = try indexedThrough()
    let last = try RawStatement(
      database, "SELECT max(id), count(*) FROM (SELECT id FROM asset WHERE id > ? ORDER BY id LIMIT ?)")
    last.bind(1, through)
    last.bind(2, limit)
    guard let (next, count) = try last.firstRow({ (last.assetID(0), Int(last.int64(1))) }), count > 0 else {
      return false
    }
    let insert = try RawStatement(
      database, "INSERT INTO asset_text (rowid, words) SELECT id, words FROM asset_words WHERE id > ? AND id <= ?")
    insert.bind(1, through)
    insert.bind(2, next)
    try insert.run()
    let update = try RawStatement(database, "UPDATE text_index SET indexed_through = ?")
    update.bind(1, next)
    try update.run()
    return count == limit
  }

  /// Updates the index after `body` has changed or removed the words of an asset. Every such change must be made within
  /// it.
  func keepingWords<Value>(of assetID: AssetID, _ body: () throws -> Value) throws -> Value {
    guard assetID <= (try indexedThrough()) else { return try body() }
    let before = try words(of: assetID)
    let value = try body()
    let after = try words(of: assetID)
    guard before != after else { return value }
    if let before {
      let delete = try RawStatement(
        database, "INSERT INTO asset_text (asset_text, rowid, words) VALUES ('delete', ?, ?)")
      delete.bind(1, assetID)
      delete.bind(2, text: before)
      try delete.run()
    }
    if let after {
      let insert = try RawStatement(database, "INSERT INTO asset_text (rowid, words) VALUES (?, ?)")
      insert.bind(1, assetID)
      insert.bind(2, text: after)
      try insert.run()
    }
    return value
  }

  /// - Returns: The words, or nil if there is no such asset.
  private func words(of assetID: AssetID) throws -> [UInt8]? {
    let select = try RawStatement(database, "SELECT words FROM asset_words WHERE id = ?")
    select.bind(1, assetID)
    return try select.firstRow { select.bytes(0) }
  }

  private func indexedThrough() throws -> AssetID {
    let select = try RawStatement(databaseBesideNewAssets, "SELECT indexed_through FROM text_index")
    return try select.firstRow { select.assetID(0) } ?? 0
  }
}

extension Catalog {
  /// Adds the next assets that are not in the index of words. The results of searches stay the same.
  ///
  /// - Returns: Whether more assets may remain.
  /// - Complexity: O(limit), some 10 µs each.
  package func indexText(limit: Int) throws -> Bool { try write { try $0.indexText(limit: limit) } }
}

enum TextIndex {
  /// Whether the index was made with the current rules for splitting a text into words.
  static func isOfTheseRules(_ database: Database) throws -> Bool {
    try Int.fetchOne(database, sql: "SELECT version FROM text_index") == TextWords.version
  }

  /// Whether the index agrees with the words of all assets.
  ///
  /// - Complexity: O(n), with the words of every asset. A million assets take some seconds.
  static func isWhole(_ database: Database) throws -> Bool {
    do {
      guard try hasItsAssets(database) else { return false }
      // https://www.sqlite.org/fts5.html#the_integrity_check_command
      try database.execute(sql: "INSERT INTO asset_text (asset_text, rank) VALUES ('integrity-check', 1)")
      return true
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
      return false
    }
  }

  /// Whether the index has exactly the assets that it should have. It does not compare their words.
  ///
  /// - Complexity: O(n), over two lists of ids.
  static func hasItsAssets(_ database: Database) throws -> Bool {
    try Bool.fetchOne(
      database,
      sql: """
        SELECT NOT EXISTS (SELECT 1 FROM asset, text_index WHERE asset.id <= indexed_through
            AND asset.id NOT IN (SELECT id FROM asset_text_docsize))
          AND NOT EXISTS (SELECT 1 FROM asset_text_docsize WHERE id NOT IN (SELECT id FROM asset))
          AND NOT EXISTS (SELECT 1 FROM asset_text_docsize, text_index WHERE asset_text_docsize.id > indexed_through)
          AND (SELECT indexed_through FROM text_index)
            <= ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'asset'), 0)
        """) ?? false
  }

  /// Makes the index empty. Assets are then added to it like new ones.
  static func reset(_ database: Database) throws {
    let sql = try String.fetchOne(database, sql: "SELECT sql FROM sqlite_schema WHERE name = 'asset_text'")
    guard let sql else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "no such table: asset_text")
    }
    try database.execute(sql: "DROP TABLE asset_text")
    try database.execute(sql: sql)
    try database.execute(sql: "UPDATE text_index SET indexed_through = 0, version = ?", arguments: [TextWords.version])
  }
}
