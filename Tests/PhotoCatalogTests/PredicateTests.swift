import PhotoModel
import Testing

@testable import PhotoCatalog

@Suite struct PredicateTests {
  private let library: RandomLibrary

  init() throws { library = try RandomLibrary(seed: 51) }

  private func options(_ predicate: String) -> FetchOptions {
    FetchOptions(
      predicate: predicate, sortDescriptors: [SortDescriptor(key: "id", ascending: true)], includeHidden: true,
      includeTrashed: true)
  }

  private func ids(_ predicate: String) throws -> [Int64] { try library.fixture.ids(options(predicate)) }

  private func check(_ predicate: Predicate) throws {
    let expected = library.assets.filter { predicate.matches($0) }.map(\.id)
    let found = try ids(predicate.description)
    #expect(found == expected, "\(predicate)")
  }

  // MARK: - As the evaluator

  @Test func everyComparisonMeansWhatTheEvaluatorSays() throws {
    for key in PredicateKey.allCases { try checkComparisons(key) }
  }

  private func checkComparisons(_ key: PredicateKey) throws {
    for value in values(of: key) {
      for op in operators(for: key) {
        try check(.comparison(key: key, operator: op, value: value))
        try check(.not(.comparison(key: key, operator: op, value: value)))
      }
      try check(.in(key: key, values: [value]))
      try check(.not(.in(key: key, values: [value])))
    }
    for op in [Predicate.Operator.equal, .notEqual] {
      try check(.comparison(key: key, operator: op, value: .null))
      try check(.not(.comparison(key: key, operator: op, value: .null)))
    }
    try check(.in(key: key, values: []))
    try check(.not(.in(key: key, values: [])))
    try check(.in(key: key, values: values(of: key)))
  }

  @Test func randomPredicatesMeanWhatTheEvaluatorSays() throws {
    var random = SplitMix(seed: 52)
    for _ in 0..<1_500 { try check(randomPredicate(4, using: &random)) }
  }

  @Test func aPredicateIsOneConditionBesideTheOthers() throws {
    var random = SplitMix(seed: 53)
    for _ in 0..<100 {
      let predicate = randomPredicate(3, using: &random)
      let members = library.assets.filter {
        predicate.matches($0) && library.albumOrder.contains($0.id) && !$0.isHidden && !$0.isTrashed && $0.available
          && $0.mediaType == .image
      }
      let found = try library.fixture.ids(
        FetchOptions(
          collection: "id:\(library.albumID)", mediaTypes: ["image"], predicate: predicate.description,
          excludeUnavailable: true))
      let expected = members.map(\.id)
      #expect(found == library.albumOrder.filter(expected.contains), "\(predicate)")
    }
  }

  // MARK: - By hand

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

  @Test func creationDateIsThatOfTheCameraNotTheSortDate() throws {
    let dated = library.assets.filter { $0.creationDate != nil }
    #expect(try ids("creationDate >= '1960-01-01'") == dated.map(\.id))
    #expect(try ids("creationDate < '1960-01-01'") == [])
    let late = dated.filter { ($0.creationDate?.microseconds ?? 0) >= 3_600_000_000 }.map(\.id)
    #expect(try ids("creationDate >= '1970-01-01T01:00:00'") == late)
    #expect(try ids("creationDate >= '1970-01-01T03:00:00+02:00'") == late)
  }

  @Test func whatACallerWritesIsNeverSQL() throws {
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

  @Test func whatIsWrongIsSaidWithItsPosition() throws {
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

  @Test func aPredicateSaysWhatItDependsOn() throws {
    let dependsOn = { (predicate: String) in
      try library.fixture.catalog.read { try $0.plan(options(predicate)).dependsOn }
    }
    #expect(try dependsOn("isFavorite == true") == .favorite)
    #expect(try dependsOn("path BEGINSWITH '/a'").contains(.path))
    #expect(try dependsOn("available == true").contains(.availability))
    #expect(try dependsOn("camera.model == 'X'").contains(.metadata))
  }

  // MARK: - Bounds

  @Test func asMuchAsAPredicateMayHoldRuns() throws {
    let many = Array(repeating: "NOT creationDate > '2024-01-01'", count: Predicate.maximumComparisons)
    #expect(try ids(many.joined(separator: " OR ")).count == library.assets.count)
    #expect(try ids(many.joined(separator: " AND ")).count == library.assets.count)
    let values = (1...Predicate.maximumListCount).map(String.init).joined(separator: ", ")
    #expect(try ids("id IN {\(values)}").count == library.assets.count)
  }

  /// Chains, where one deep part lies in each; and trees, where two do.
  private func nested(_ depth: Int, isTree: Bool) -> String {
    let leaf = "NOT creationDate > '1970-01-01T02:00:00'"
    guard depth > 0 else { return leaf }
    let inner = nested(depth - 1, isTree: isTree)
    let other = isTree ? nested(depth - 2, isTree: isTree) : "path CONTAINS 'x' AND NOT available == true"
    return depth.isMultiple(of: 2) ? "(\(other) OR \(inner))" : "NOT (id > \(depth) AND (\(other)) AND \(inner))"
  }

  @Test(arguments: [true, false])
  func nestingRunsAsDeepAsItIsAllowedAndIsRefusedBeyond(isTree: Bool) throws {
    var deepest = 0
    for depth in 1...(isTree ? 11 : 100) {
      var options = options(nested(depth, isTree: isTree))
      // With as much around it as there can be.
      options.excludeUnavailable = true
      options.collection = "id:\(library.albumID)"
      options.fetchLimit = 10_000
      do {
        let predicate = try Predicate(parsing: nested(depth, isTree: isTree))
        let expected = library.assets.filter {
          predicate.matches($0) && $0.available && library.albumOrder.contains($0.id)
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

  // MARK: - Random predicates

  private func randomPredicate(_ depth: Int, using random: inout SplitMix) -> Predicate {
    guard depth > 0, Int.random(in: 0..<4, using: &random) > 0 else { return randomComparison(using: &random) }
    let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in randomPredicate(depth - 1, using: &random) }
    return switch Int.random(in: 0..<3, using: &random) {
    case 0: .and(parts)
    case 1: .or(parts)
    default: .not(parts[0])
    }
  }

  private func randomComparison(using random: inout SplitMix) -> Predicate {
    let key = PredicateKey.allCases.randomElement(using: &random) ?? .id
    let known = values(of: key)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return .comparison(key: key, operator: .random(using: &random) ? .equal : .notEqual, value: .null)
    case 1: return .in(key: key, values: known.filter { _ in .random(using: &random) })
    default:
      let op = operators(for: key).randomElement(using: &random) ?? .equal
      return .comparison(key: key, operator: op, value: known.randomElement(using: &random) ?? .null)
    }
  }

  private func operators(for key: PredicateKey) -> [Predicate.Operator] {
    switch key.valueType {
    case .boolean, .mediaType: [.equal, .notEqual]
    case .string: Predicate.Operator.allCases
    case .integer, .real, .date: [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
    }
  }

  /// Some that assets have, and some that none has.
  private func values(of key: PredicateKey) -> [Predicate.Literal] {
    switch key.valueType {
    case .boolean: [.boolean(true), .boolean(false)]
    case .mediaType: MediaType.allCases.map { .mediaType($0) }
    case .integer, .real:
      [
        .integer(-1), .integer(0), .integer(2), .integer(120), .integer(.max), .integer(1 << 53 + 1), .real(0.1),
        .real(2.5), .real(-1e300), .real(1e300),
      ]
    case .date:
      [-7_200, 0, 3_600, 10_800, 1_000_000].map { .date(PhotoDate(microseconds: $0 * 1_000_000, offsetMinutes: nil)) }
    case .string:
      switch key {
      case .filename, .path:
        ["", "/", "/photos/a", "img_", "IMG_", "%FF", "file:///", "É", "E\u{301}", "1", "日"].map { .string($0) }
          + library.assets.prefix(6).map { $0.value(of: key) }
      default: RandomLibrary.texts.map { .string($0) } + [.string("image/jpeg")]
      }
    }
  }
}
