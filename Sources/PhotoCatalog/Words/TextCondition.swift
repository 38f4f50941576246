import PhotoModel
import PredicateLanguage

/// The condition that an asset contains the words of a query.
struct TextCondition: Sendable {
  let query: TextQuery
  let test: TextTest
  /// Finds all matching assets. It uses the index, and tests the assets that are not in the index yet one by one.
  ///
  /// - Complexity: O(m) for m matches in the index, and one test for each asset that is not in the index.
  let ofAll: SQLCondition
  /// Tests one asset by its words, without the index.
  let ofOne: SQLCondition

  /// The fields that the words come from.
  static let dependsOn: ChangedFields = [.content, .metadata, .keywords, .path, .resources]

  /// Selects the ids of all matching assets. Its arguments are those of ``ofAll``.
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
