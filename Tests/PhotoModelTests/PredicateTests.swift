import Testing

@testable import PhotoModel

@Suite struct PredicateTests {
  private let asset = Asset(
    id: 42, mediaType: .image, creationDate: PhotoDate("2024-07-21T10:00:00+02:00"),
    modificationDate: PhotoDate(microseconds: 0), addedDate: PhotoDate(microseconds: 1), pixelWidth: 6000,
    pixelHeight: 4000,
    camera: Camera(make: "FUJIFILM", model: "X-T5", exposureSeconds: 0.004, iso: 160, flashFired: false),
    title: "Straße am Meer", isFavorite: true,
    resources: [
      Resource(
        kind: .photo, path: "/p/DSCF1.RAF", filename: "DSCF1.RAF", byteCount: 9_007_199_254_740_993,
        contentType: "image/x-raf")
    ])

  @Test(arguments: [
    "isFavorite == true AND camera.model CONTAINS 'X-T' AND creationDate >= '2024-01-01'",
    "isFavorite=true", "isFavorite <> false", "ISFAVORITE == 1 || id == 42".replacing("ISFAVORITE == 1", with: "id=1"),
    "id == 42", "id != 41", "id < 42.5", "id > 4.15e1", "id <= 42", "id >= +42", "id IN {1, 42, 3}", "NOT id IN {}",
    "mediaType == 'image'", "mediaType IN {'video', \"image\"}", "mediaType != 'video'",
    "creationDate == '2024-07-21T08:00:00Z'", "creationDate == '2024-07-21T08:00:00'",
    "creationDate < '2024-07-21T08:00:01'",
    "title BEGINSWITH 'Straß'", "title contains 'am'", "title == 'Stra\\u{DF}e am Meer'", "title CONTAINS ''",
    "filename == 'DSCF1.RAF'", "path beginswith '/p/'", "contentType == 'image/x-raf'", "byteCount > 9007199254740992",
    "byteCount != 9007199254740992.0", "camera.exposureSeconds < 1", "camera.exposureSeconds == .004",
    "camera.flashFired == false", "rating == nil", "rating == NULL", "camera.model != nil", "location.latitude == nil",
    "!(rating == 3)", "NOT rating != 3", "not not isFavorite == TRUE", "((((id == 42))))",
    "id==1||id==42&&isHidden==false",
    "title < 'a'", "title >= 'Stra'", "isTrashed IN {false}", "available == true", "\tid\n==\r42 ",
  ])
  func holds(text: String) throws {
    let predicate = try Predicate(parsing: text)
    #expect(predicate.matches(asset))
    #expect(!Predicate.not(predicate).matches(asset))
  }

  @Test(arguments: [
    "rating != 3", "rating == 3", "rating < 3", "rating IN {1,2,3}", "rating != nil", "caption CONTAINS ''",
    "location.altitude != 0", "title CONTAINS 'STRASSE'", "title == 'straße am meer'", "id IN {}",
    "mediaType == 'video'",
    "isFavorite == false", "camera.lens BEGINSWITH ''", "creationDate > '2024-07-21T08:00:00'", "mediaType == nil",
    "byteCount == 9007199254740992.0", "id == 42.5",
  ])
  func doesNotHold(text: String) throws { #expect(!(try Predicate(parsing: text).matches(asset))) }

  @Test func aComparisonWithAnAbsentValueIsFalseAndItsNegationTrue() throws {
    for key in PredicateKey.allCases where asset.value(of: key) == .null {
      for literal in ["1", "true", "'x'", "'2024-01-01'"] {
        for op in ["==", "!=", "<", "CONTAINS"] {
          guard let predicate = try? Predicate(parsing: "\(key.rawValue) \(op) \(literal)") else { continue }
          #expect(!predicate.matches(asset))
          #expect(try Predicate(parsing: "NOT (\(key.rawValue) \(op) \(literal))").matches(asset))
        }
      }
    }
  }

  @Test func andBindsTighterThanOrAndNotTightest() throws {
    #expect(
      try Predicate(parsing: "id==1 OR id==2 AND NOT id==3 AND id==4")
        == .or([
          .comparison(key: .id, operator: .equal, value: .integer(1)),
          .and([
            .comparison(key: .id, operator: .equal, value: .integer(2)),
            .not(.comparison(key: .id, operator: .equal, value: .integer(3))),
            .comparison(key: .id, operator: .equal, value: .integer(4)),
          ]),
        ]))
  }

  /// Swift takes these two for equal, SQLite does not: no list may be shared between them.
  @Test func textsThatDifferInTheirScalarsOnlyAreDifferentPredicates() throws {
    let composed = try Predicate(parsing: "title == 'caf\u{E9}'")
    let decomposed = try Predicate(parsing: "title == 'cafe\u{301}'")
    #expect(composed != decomposed)
    #expect(composed.description != decomposed.description)
    #expect(composed.description == "title == 'caf\\u{e9}'")
  }

  @Test(arguments: [
    ("id = 1", "id == 1.0"), ("id==1&&rating>2", "rating > 2 AND (id == 1)"), ("id IN {3,1,1}", "id in { 1 , 3 }"),
    ("NOT NOT id == 1", "id == 1"), ("id==1 OR (id==2 OR id==3)", "id==3 || id==2 || id==1"),
    ("(id==1 AND id==1) OR id==2", "id==1 OR id==2"), ("title == \"it's\"", "title == 'it\\'s'"),
    ("creationDate > '2024-07-21T10:00:00+02:00'", "creationDate > '2024-07-21 08:00Z'"),
    ("rating == NULL", "rating == nil"),
    ("!(id==1 AND id==1)", "NOT id == 1"), ("title == 'a'", "title == '\\u{61}'"),
  ])
  func theSameInOtherWordsHasTheSameCanonicalText(one: String, other: String) throws {
    #expect(try Predicate(parsing: one).description == Predicate(parsing: other).description)
  }

  @Test func canonicalTextIsReadable() throws {
    #expect(
      try Predicate(parsing: "(rating>=3||rating=nil)&&!(mediaType in {'video',\"image\"})").description
        == "(rating == nil OR rating >= 3) AND NOT mediaType IN {'image', 'video'}")
  }

  /// Random predicates and random assets: the canonical text parses, is its own canonical text, and means the same.
  @Test func canonicalTextMeansTheSame() throws {
    var generator = SeededGenerator(seed: 21)
    for _ in 0..<1_000 {
      let predicate = randomPredicate(depth: 4, &generator)
      let text = predicate.description
      let again = try Predicate(parsing: text)
      #expect(again.description == text)
      for _ in 0..<4 {
        var asset = asset
        asset.id = Int64.random(in: 0...3, using: &generator)
        asset.rating = [nil, 0, 1, 2, 3].randomElement(using: &generator) ?? nil
        asset.title = [nil, "", "a", "a'b", "\u{301}"].randomElement(using: &generator) ?? nil
        #expect(again.matches(asset) == predicate.matches(asset), "\(text)")
      }
    }
  }

  private func randomPredicate(depth: Int, _ generator: inout SeededGenerator) -> Predicate {
    func several() -> [Predicate] {
      (0..<Int.random(in: 2...3, using: &generator)).map { _ in randomPredicate(depth: depth - 1, &generator) }
    }
    switch Int.random(in: depth > 0 ? 0..<6 : 3..<6, using: &generator) {
    case 0:
      return .and(several().flatMap { if case .and(let parts) = $0 { parts } else { [$0] } })
    case 1:
      return .or(several().flatMap { if case .or(let parts) = $0 { parts } else { [$0] } })
    case 2: return .not(randomPredicate(depth: depth - 1, &generator))
    case 3:
      return .in(key: .id, values: (0..<Int64.random(in: 0...3, using: &generator)).map { .integer($0) })
    case 4:
      let values: [Predicate.Literal] = [.null, .integer(0), .real(1.5), .integer(2)]
      return .comparison(key: .rating, operator: .notEqual, value: values.randomElement(using: &generator) ?? .null)
    default:
      let values: [Predicate.Literal] = [.string(""), .string("a"), .string("a'b"), .string("\u{301}")]
      return .comparison(
        key: .title, operator: Predicate.Operator.allCases.randomElement(using: &generator) ?? .equal,
        value: values.randomElement(using: &generator) ?? .string(""))
    }
  }
}
