import PhotoModel
import PredicateLanguage
import Testing

@testable import PhotoCatalog

/// The plans by which SQLite evaluates predicates.
@Suite struct PredicatePlanTests {
  private let fixture: CatalogFixture

  init() throws { fixture = try CatalogFixture() }

  private func steps(_ predicate: String, limit: Int? = nil) throws -> [String] {
    try fixture.catalog.read { reader in
      let plan = try reader.plan(FetchOptions(predicate: predicate, fetchLimit: limit))
      let statement = try RawStatement(reader.database, uncached: "EXPLAIN QUERY PLAN " + plan.idStatement)
      var steps: [String] = []
      try statement.forEachRow { steps.append(statement.text(3)) }
      return steps
    }
  }

  @Test(arguments: [nil, 100]) func aKeywordLeadsToItsAssetsByIndex(limit: Int?) throws {
    for predicate in ["ANY keywords == 'x'", "ANY keywords IN {'x', 'y'}", "rating > 3 AND ANY keywords == 'x'"] {
      let steps = try steps(predicate, limit: limit)
      #expect(steps.first == "SEARCH asset USING INTEGER PRIMARY KEY (rowid=?)", "\(steps)")
      #expect(
        steps.contains { $0.hasPrefix("SEARCH keyword USING COVERING INDEX") && $0.hasSuffix("(name=?)") }, "\(steps)")
      #expect(steps.contains("SEARCH link USING COVERING INDEX asset_of_keyword (keyword_id=?)"), "\(steps)")
    }
  }

  @Test func otherQuestionsOfKeywordsAreAskedOnceOfEachWord() throws {
    for predicate in ["ANY keywords CONTAINS[cd] 'x'", "NONE keywords LIKE 'x*'", "ALL keywords != 'x'"] {
      let steps = try steps(predicate)
      #expect(steps.contains("LIST SUBQUERY 1"), "\(steps)")
      #expect(steps.contains { $0.hasPrefix("SCAN keyword") }, "\(steps)")
      #expect(steps.contains("SEARCH link USING COVERING INDEX asset_of_keyword (keyword_id=?)"), "\(steps)")
    }
    #expect(try steps("keywords == nil").contains { $0.hasPrefix("SEARCH link USING PRIMARY KEY (asset_id=?)") })
  }

  @Test func furtherResourcesAreScannedOnceByTheirIndex() throws {
    for predicate in ["resources.filename ENDSWITH[c] '.raf'", "ALL resources.path BEGINSWITH '/a'"] {
      let steps = try steps(predicate)
      #expect(steps.contains("SCAN companion USING COVERING INDEX resource_companion"), "\(steps)")
    }
  }

  @Test(arguments: [
    "== '2024-07'", "== '2024-07-21T10:00:00'", "== '2024-07-21T10:00:00Z'", "BETWEEN {'2024', '2024-07'}",
    "< '2024'", ">= '2024-07-21'",
  ])
  func aSpanOfCreationDatesIsASearch(question: String) throws {
    let steps = try steps("creationDate \(question)")
    #expect(
      steps.first?.hasPrefix("SEARCH asset USING COVERING INDEX asset_by_date (creation_date") == true, "\(steps)")
  }

  @Test func aStatementReleasesItsTestAndRejectsOtherValues() throws {
    weak var forgotten: PredicateTest?
    try fixture.catalog.read { reader in
      do {
        let test = try #require(Predicate.Comparison(.title, .isIn([.string("A")]), .ignoringCase).test?.test)
        forgotten = test
        let statement = try RawStatement(
          reader.database, uncached: "SELECT photod_test('a', ?1), photod_test(NULL, ?1)")
        statement.bind(1, test: test)
        #expect(try statement.step() && statement.bool(0) && statement.isNull(1))
      }
      for other in ["1", "NULL", "'x'", "x'00'"] {
        let statement = try RawStatement(reader.database, uncached: "SELECT photod_test('a', \(other))")
        #expect(throws: (any Error).self) { try statement.step() }
      }
    }
    #expect(forgotten == nil)
  }
}
