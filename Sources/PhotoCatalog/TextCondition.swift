import PhotoModel

/// That an asset has the words that somebody looks for.
struct TextCondition: Sendable {
  let query: TextQuery
  let test: TextTest
  /// Finds them all: by the index, and those that are not in it yet one by one.
  ///
  /// - Complexity: O(m) for m assets with such words, and a look at each asset that is not in the index.
  let ofAll: SQLCondition
  /// Of an asset that is at hand: by its own words, without the index.
  let ofOne: SQLCondition

  /// What words are made of.
  static let dependsOn: ChangedFields = [.content, .metadata, .keywords, .path, .resources]

  /// The ids of all of them; its arguments are those of ``ofAll``.
  static let idStatement =
    "SELECT rowid FROM asset_text WHERE asset_text MATCH ? UNION ALL SELECT id FROM asset_words "
    + "WHERE id > (SELECT indexed_through FROM text_index) AND photod_finds(words, ?)"

  init(_ query: TextQuery) {
    self.query = query
    test = TextTest(query)
    ofAll = SQLCondition(sql: "asset.id IN (\(Self.idStatement))", arguments: [.text(query.fts5), .textTest(test)])
    ofOne = SQLCondition(
      sql: "photod_finds((SELECT words FROM asset_words WHERE asset_words.id = asset.id), ?)",
      arguments: [.textTest(test)])
  }
}
