import PhotoModel
import PredicateLanguage

/// Keys and values from which tests make predicates.
package enum PredicateSamples {
  package static let texts = [
    "", "a", "A", "ab", "B", "é", "e\u{301}", "É", "ſ", "ß", "日本", "🦊", "\u{ffff}", "%", "_", "'", "\\", "a b",
    "' OR 1=1 --", "\n",
  ]

  package static func values(_ type: PredicateKey.ValueType) -> [Predicate.Literal] {
    switch type {
    case .boolean: [.boolean(true), .boolean(false)]
    case .mediaType: MediaType.allCases.map { .mediaType($0) }
    case .mediaSubtype: MediaSubtypes.each.map { .mediaSubtype($0) }
    case .dateSource: CreationDateSource.allCases.map { .dateSource($0) }
    case .place: []
    case .integer, .real:
      [
        .integer(-1), .integer(0), .integer(2), .integer(120), .integer(.max), .integer(1 << 53 + 1), .real(0.1),
        .real(2.5), .real(-1e300), .real(1e300),
      ]
    case .date: dates.compactMap { written("creationDate == '\($0)'") }
    case .string: (texts + ["image/jpeg"]).map { .string($0) }
    }
  }

  /// Some contain a pole, or lie on both sides of the 180th meridian.
  private static let circles: [PlaceCircle] = [
    (0, 1, 12), (0.05, 1.05, 10), (0, 180, 15), (0, -179.9, 6), (1, 179.99, 400), (89.99, 40, 12), (-90, 0, 2),
    (-89.95, -100, 30), (0, 0, 20_020), (52.52, 13.4, 1e-9), (-33.86, 151.21, 19_000),
  ].map { PlaceCircle(latitude: $0.0, longitude: $0.1, kilometers: $0.2) }

  private static let dates = [
    "1969", "1970", "1970-01", "1969-12-31", "1970-01-01", "1970-01-01T01:00", "1970-01-01T03:00:00+02:00",
    "1970-01-01T01:00:00.000001", "1969-12-31T22:00:00", "2024-07-21T10:00",
    "1970-01-01T01:00Z", "1969-12-31T20:00:00-05:30",
  ]

  private static let likes = [
    "*", "?", "??*", "a*", "*A*", "?\u{301}", "\\\\", "\\*", "*é*", "*1?", "IMG_*", "/photos/*",
  ]
  private static let expressions = [
    ".*", "", "[a-z]+", "\\w*", "(a|é|ſ)b?", "[^\\s]{1,3}", "\\\\", "É|[\u{1F98A}%_]", "(IMG_|Été)\\d+.*",
    "/.*(/.*){2,}", "e\u{301}?",
  ]

  package static func questions(_ type: PredicateKey.ValueType, _ values: [Predicate.Literal]) -> [Predicate.Question] {
    if type == .place { return circles.map { .isNear($0) } }
    var questions: [Predicate.Question] = [.isIn([]), .isIn(values)]
    for (index, value) in values.enumerated() {
      questions.append(.isIn([value, values[index / 2]]))
      for op in Predicate.Operator.allCases where op.isForTextsOnly ? type == .string : true {
        guard op == .equal || op == .notEqual || type.isOrdered, op != .like, op != .matches else { continue }
        questions.append(.compares(op, value))
      }
      if type.isNumber || type == .date { questions.append(.isBetween(value, values[(index * 7 + 3) % values.count])) }
    }
    if type == .string {
      questions += likes.map { .compares(.like, .string($0)) }
      questions += expressions.map { .compares(.matches, .string($0)) }
    }
    return questions
  }

  package static func modifiers(for question: Predicate.Question) -> [TextModifiers] {
    switch question {
    case .compares(let op, .string) where op.takesModifiers: break
    case .isIn(let values):
      guard case .string = values.first else { return [[]] }
    default: return [[]]
    }
    return [[], .ignoringCase, .ignoringDiacritics, [.ignoringCase, .ignoringDiacritics]]
  }

  /// The literal of a comparison, given as the text of a predicate.
  private static func written(_ text: String) -> Predicate.Literal? {
    guard case .success(.comparison(let comparison)) = Result(catching: { try Predicate(parsing: text) }),
      case .compares(_, let literal) = comparison.question
    else { return nil }
    return literal
  }
}
