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
  /// Selects the ids of all matching assets. Its arguments are those of ``ofAll``.
  let idStatement: String
  /// Tests one asset by its words, without the index.
  let ofOne: SQLCondition

  /// The fields that the words come from.
  static let dependsOn: ChangedFields = [.content, .metadata, .keywords, .path, .resources]

  /// The most prefixes for which the index is asked at a time. It prepares them without a break, at some 0.2 s for a
  /// letter and a million photos. The budget of a read is checked only afterwards.
  private static let maximumIndexedPrefixes = 4

  private static let unindexed =
    " UNION ALL SELECT id FROM asset_words "
    + "WHERE id > (SELECT indexed_through FROM text_index) AND photod_finds(words, ?)"

  init(_ query: TextQuery) {
    self.query = query
    test = TextTest(query)
    let indexed = query.indexed(prefixes: Self.maximumIndexedPrefixes)
    var (found, arguments) = ("SELECT rowid FROM asset_text WHERE asset_text MATCH ?", [SQLValue.text(indexed.fts5)])
    if indexed != query {
      found += " AND photod_finds((SELECT words FROM asset_words WHERE asset_words.id = asset_text.rowid), ?)"
      arguments.append(.textTest(test))
    }
    idStatement = found + Self.unindexed
    ofAll = SQLCondition(sql: "asset.id IN (\(idStatement))", arguments: arguments + [.textTest(test)])
    ofOne = SQLCondition(
      sql: "photod_finds((SELECT words FROM asset_words WHERE asset_words.id = asset.id), ?)",
      arguments: [.textTest(test)])
  }
}
