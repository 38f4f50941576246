import PhotoModel
import PhotoTestSupport
import PredicateLanguage
import TestFetches
import Testing

@testable import PhotoCatalog

@Suite struct PredicateTests {
  private let library: PredicateLibrary

  init() throws { library = try PredicateLibrary(seed: 51) }

  private func options(_ predicate: String) -> FetchOptions {
    FetchOptions(
      predicate: predicate, sortDescriptors: [SortDescriptor(key: "id", ascending: true)], includeHidden: true,
      includeTrashed: true)
  }

  private func ids(_ predicate: String) throws -> [AssetID] { try library.fixture.ids(options(predicate)) }

  private func check(_ predicate: Predicate) throws {
    let expected = library.assets.filter(predicate.prepared()).map(\.id)
    let found = try ids(predicate.description)
    #expect(found == expected, "\(predicate)")
  }

  // MARK: - Comparison with the evaluator

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func everyComparisonInSQLEqualsTheEvaluator() throws {
    for key in PredicateKey.allCases { try checkComparisons(key) }
  }

  /// Checks every comparison of a key with one value. From the many comparisons for texts, it takes every 23rd, so that
  /// all keys together cover all of them.
  private func checkComparisons(_ key: PredicateKey) throws {
    var comparisons: [Predicate.Comparison] = []
    for quantifier in library.predicates.quantifiers(for: key) {
      for question in library.predicates.questions(for: key) {
        for modifiers in PredicateSamples.modifiers(for: question) {
          comparisons.append(Predicate.Comparison(quantifier, key, question, modifiers))
        }
      }
    }
    let step = comparisons.count > 200 ? 23 : 1
    let first = (PredicateKey.allCases.firstIndex(of: key) ?? 0) % step
    for index in stride(from: first, to: comparisons.count, by: step) {
      try check(.comparison(comparisons[index]))
      try check(.not(.comparison(comparisons[index])))
    }
    for question in [Predicate.Question.isAbsent, .isPresent] {
      try check(.comparison(.init(key, question)))
      try check(.not(.comparison(.init(key, question))))
    }
  }

  @Test func randomPredicatesInSQLEqualTheEvaluator() throws {
    var random = SeededGenerator(seed: 52)
    for _ in 0..<TestTier.count(1_000, quick: 200) { try check(library.randomPredicate(4, using: &random)) }
  }

  @Test func aPredicateIsOneConditionBesideTheOthers() throws {
    var random = SeededGenerator(seed: 53)
    for _ in 0..<100 {
      let predicate = library.randomPredicate(3, using: &random)
      let members = library.assets.filter {
        predicate.matches($0) && library.random.albumOrder.contains($0.id) && !$0.isHidden && !$0.isTrashed
          && $0.available
          && $0.mediaType == .image
      }
      let found = try library.fixture.ids(
        FetchOptions(
          collection: "id:\(library.random.albumID)", mediaTypes: ["image"], predicate: predicate.description,
          excludeUnavailable: true))
      let expected = members.map(\.id)
      #expect(found == library.random.albumOrder.filter(expected.contains), "\(predicate)")
    }
  }

  // MARK: - Hand-written cases

  @Test func anAbsentValueComparesFalseAndNOTOfItIsTrue() throws {
    let rated = library.assets.filter { $0.rating != nil }.count
    let all = library.assets.count
    #expect(rated < all)
    #expect(try ids("rating > -100").count == rated)
    #expect(try ids("rating != 100").count == rated)
    #expect(try ids("NOT rating > 100").count == all)
    #expect(try ids("NOT (rating > -100)").count == all - rated)
    #expect(try ids("NOT (rating == 100 OR title == 'none has it')").count == all)
    #expect(try ids("NOT NOT rating > -100").count == rated)
    #expect(try ids("rating == nil").count == all - rated)
    #expect(try ids("rating == nil OR NOT rating == nil").count == all)
  }

  @Test func aDateWithoutOffsetIsTheLocalTimeOfEachPhotoAndOneWithAnOffsetTheInstant() throws {
    let all = library.assets
    #expect(try ids("creationDate >= '1960-01-01'") == all.map(\.id))
    #expect(try ids("creationDate < '1960-01-01' OR creationDate == nil") == [])
    let hour: Int64 = 3_600_000_000
    let late = all.filter { $0.creationDate.microseconds >= hour }.map(\.id)
    let locallyLate = all.filter { $0.creationDate.localMicroseconds >= hour }.map(\.id)
    #expect(late != locallyLate)
    #expect(try ids("creationDate >= '1970-01-01T01:00:00'") == locallyLate)
    #expect(try ids("creationDate >= '1970-01-01T03:00:00+02:00'") == late)
    #expect(try ids("creationDate >= '1970-01-01T01:00Z'") == late)
    for day in ["1969-12-31", "1970-01-01", "1970-01-02"] {
      let ofDay = all.filter { $0.creationDate.description.hasPrefix(day) }.map(\.id)
      #expect(!ofDay.isEmpty)
      #expect(try ids("creationDate == '\(day)'") == ofDay)
      #expect(try ids("creationDate IN {'1990', '\(day)'}") == ofDay)
      #expect(try ids("creationDate BETWEEN {'\(day)T00:00', '\(day)T23:59'}") == ofDay)
      #expect(try ids("NOT creationDate != '\(day)'") == ofDay)
    }
    let mixed = all.filter { $0.creationDate.localMicroseconds >= hour && $0.creationDate.microseconds <= hour }
    #expect(try ids("creationDate BETWEEN {'1970-01-01T01:00:00', '1970-01-01T01:00:00Z'}") == mixed.map(\.id))
  }

  @Test func photosAreFoundByTheSourceOfTheirDate() throws {
    for source in CreationDateSource.allCases {
      let expected = library.assets.filter { $0.creationDateSource == source }.map(\.id)
      #expect(try ids("creationDateSource == '\(source.rawValue)'") == expected)
      #expect(
        try ids("NOT creationDateSource IN {'\(source.rawValue)'}").count == library.assets.count - expected.count)
    }
  }

  @Test func textOfACallerIsNeverSQL() throws {
    for attack in [
      "' OR 1=1 --", "'; DROP TABLE asset; --", "\\'; DELETE FROM asset; --", "?", "%", "\"", "/*", "asset.id",
    ] {
      let title = attack.unicodeScalars.map { "\\u{\(String($0.value, radix: 16))}" }.joined()
      let expected = library.assets.filter { $0.title == attack }.map(\.id)
      #expect(try ids("title == '\(title)'") == expected)
      #expect(
        try ids("title IN {'\(title)'} OR filename == '\(title)' OR path CONTAINS '\(title)\(title)'") == expected)
      #expect(throws: FetchError.self) { try ids("title == \(attack)") }
      #expect(throws: FetchError.self) { try library.fixture.ids(FetchOptions(mediaTypes: [attack])) }
      #expect(throws: FetchError.self) {
        try library.fixture.ids(FetchOptions(sortDescriptors: [SortDescriptor(key: attack, ascending: true)]))
      }
    }
    #expect(try ids("id > 0").count == library.assets.count)
  }

  @Test func errorOfAPredicateHasItsPosition() throws {
    #expect(throws: FetchError.self) { try ids("") }
    do {
      _ = try ids("isFavorite == true AND colour == 'red'")
      Issue.record("an unknown key was taken")
    } catch FetchError.invalidPredicate(_, let position) {
      #expect(position == 23)
    }
  }

  @Test func spellingsOfOnePredicateShareAKey() throws {
    let key = { (predicate: String) in try library.fixture.key(options(predicate)) }
    #expect(try key("rating>3 && isFavorite = TRUE") == key("(isFavorite == true) AND rating > 3"))
    #expect(try key("rating > 3") != key("rating >= 3"))
    #expect(try key("title == 'é'") != key("title == 'e\\u{301}'"))
    #expect(
      try key("title == ';limit=3'") != library.fixture.key(FetchOptions(predicate: "title == ''", fetchLimit: 3)))
  }

  @Test func aPredicateHasTheFieldsThatItDependsOn() throws {
    let dependsOn = { (predicate: String) in
      try library.fixture.catalog.read { try $0.plan(options(predicate)).dependsOn }
    }
    #expect(try dependsOn("isFavorite == true") == .favorite)
    #expect(try dependsOn("path BEGINSWITH '/a'").contains(.path))
    #expect(try dependsOn("available == true").contains(.availability))
    #expect(try dependsOn("camera.model == 'X'").contains(.metadata))
    #expect(try dependsOn("NONE keywords LIKE[cd] 'x*'").contains(.keywords))
    #expect(try dependsOn("keywords.@count > 1").contains(.keywords))
    #expect(try dependsOn("resources.path ENDSWITH 'x'") == [.path, .resources])
    #expect(try dependsOn("resources.@count > 1") == .resources)
    #expect(try dependsOn("TRUEPREDICATE") == [])
  }

  // MARK: - Bounds

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func aPredicateAtEveryLimitIsEvaluated() throws {
    let many = Array(repeating: "NOT creationDate > '2024-01-01'", count: Predicate.maximumComparisons)
    #expect(try ids(many.joined(separator: " OR ")).count == library.assets.count)
    #expect(try ids(many.joined(separator: " AND ")).count == library.assets.count)
    for question in ["ANY keywords ==[cd] 'e'", "ALL resources.path ENDSWITH '/'", "keywords.@count > 9"] {
      let many = Array(repeating: question, count: Predicate.maximumComparisons).enumerated().map {
        $1.hasPrefix("k") ? $1 : $1.replacing("'", with: "'\($0)", maxReplacements: 1)
      }
      #expect(try ids(many.joined(separator: " OR ")) == [])
    }
    let dates = (1...Predicate.maximumListCount).map { "'\(2000 + $0 % 99)-\(10 + $0 % 3)'" }
    #expect(try ids("creationDate IN {\(dates.joined(separator: ", "))}") == [])
    let texts = (1...Predicate.maximumListCount).map { "'\($0)'" }
    #expect(try ids("ANY keywords IN[d] {\(texts.joined(separator: ", "))}") == [])
    let values = (1...Predicate.maximumListCount).map(String.init).joined(separator: ", ")
    #expect(try ids("id IN {\(values)}").count == library.assets.count)
  }

  /// Chains, in which each level contains one deep part, and trees, in which each level contains two.
  private func nested(_ depth: Int, isTree: Bool) -> String {
    let leaf = "NOT creationDate > '1970-01-01T02:00:00'"
    guard depth > 0 else { return leaf }
    let inner = nested(depth - 1, isTree: isTree)
    let other =
      isTree ? nested(depth - 2, isTree: isTree) : "ANY resources.path ENDSWITH[cd] 'x' AND NOT available == true"
    return depth.isMultiple(of: 2) ? "(\(other) OR \(inner))" : "NOT (id > \(depth) AND (\(other)) AND \(inner))"
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds"), arguments: [true, false])
  func nestingRunsAsDeepAsItIsAllowedAndIsRefusedBeyond(isTree: Bool) throws {
    var deepest = 0
    for depth in 1...(isTree ? 11 : 100) {
      var options = options(nested(depth, isTree: isTree))
      // The other options make the query as deep as possible.
      options.excludeUnavailable = true
      options.collection = "id:\(library.random.albumID)"
      options.fetchLimit = 10_000
      do {
        let predicate = try Predicate(parsing: nested(depth, isTree: isTree))
        let holds = predicate.prepared()
        let expected = library.assets.filter {
          holds($0) && $0.available && library.random.albumOrder.contains($0.id)
        }
        let (found, count) = try library.fixture.catalog.read { reader in
          let plan = try reader.plan(options)
          return (try reader.ids(plan), try reader.count(plan))
        }
        #expect(found == expected.map(\.id))
        #expect(count == expected.count)
        deepest = depth
      } catch FetchError.invalidPredicate { break }
    }
    #expect(deepest >= (isTree ? 10 : 30), "\(deepest)")
    let nots = String(repeating: "NOT ", count: Predicate.maximumDepth - 2)
    #expect(try ids(nots + "rating == nil") == ids("rating == nil"))
  }
}
