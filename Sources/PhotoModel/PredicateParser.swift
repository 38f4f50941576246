/// Reads the grammar of ``Predicate`` by recursive descent, one token ahead, and checks types at the literal.
struct PredicateParser {
  private typealias Token = PredicateLexer.Token

  private var lexer: PredicateLexer
  private var token: Token
  private var depth = 0
  private var comparisons = 0
  private var listValues = 0

  init(_ text: String) throws(PredicateError) {
    lexer = try PredicateLexer(text)
    token = try lexer.next()
  }

  mutating func parse() throws(PredicateError) -> Predicate {
    let predicate = try disjunction()
    switch token.kind {
    case .end: return predicate
    case .sign(")"): throw PredicateError("there is no ( for this )", at: token.position)
    default: throw unexpected("AND, OR, or the end")
    }
  }

  // MARK: - Logic

  private mutating func disjunction() throws(PredicateError) -> Predicate {
    var parts = [try conjunction()]
    while try accept(word: "OR", sign: "||") { parts.append(try conjunction()) }
    guard parts.count > 1 else { return parts[0] }
    return .or(parts.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } })
  }

  private mutating func conjunction() throws(PredicateError) -> Predicate {
    var parts = [try unit()]
    while try accept(word: "AND", sign: "&&") { parts.append(try unit()) }
    guard parts.count > 1 else { return parts[0] }
    return .and(parts.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } })
  }

  private mutating func unit() throws(PredicateError) -> Predicate {
    let start = token.position
    depth += 1
    defer { depth -= 1 }
    if depth > Predicate.maximumDepth {
      throw PredicateError("more than \(Predicate.maximumDepth) parentheses and NOTs within each other", at: start)
    }
    if try accept(word: "NOT", sign: "!") { return .not(try unit()) }
    guard try accept(sign: "(") else { return try comparison() }
    let inner = try disjunction()
    guard try accept(sign: ")") else {
      throw unexpected("AND, OR, or ) for the ( at position \(start)")
    }
    return inner
  }

  // MARK: - Comparisons

  private mutating func comparison() throws(PredicateError) -> Predicate {
    let start = token.position
    let key = try key()
    comparisons += 1
    if comparisons > Predicate.maximumComparisons {
      throw PredicateError(
        "more than \(Predicate.maximumComparisons) comparisons; many values of one key are written key IN {…}",
        at: start)
    }
    let place = token.position
    if try accept(word: "IN") {
      try refuseModifier()
      return .in(key: key, values: try list(for: key))
    }
    let op = try comparisonOperator(for: key)
    try refuse(op, for: key, at: place)
    let literalPosition = token.position
    if case .word(let word) = token.kind, ["nil", "null"].contains(word.lowercased()) {
      try advance()
      guard op == .equal || op == .notEqual else {
        throw PredicateError("nil can only be compared by == and !=", at: literalPosition)
      }
      return .comparison(key: key, operator: op, value: .null)
    }
    return .comparison(key: key, operator: op, value: try literal(for: key, orNil: op == .equal || op == .notEqual))
  }

  private mutating func key() throws(PredicateError) -> PredicateKey {
    guard case .word(let name) = token.kind, !Self.isReserved(name) else {
      throw unexpected("a key such as creationDate, NOT, or (")
    }
    guard let key = PredicateKey(rawValue: name) else {
      let known = PredicateKey.allCases.map(\.rawValue)
      let similar = Spelling.nearest(to: name, among: known).map { "; did you mean '\($0)'?" } ?? ";"
      throw PredicateError(
        "'\(name.prefix(60))' is no key\(similar) known are \(known.joined(separator: ", "))", at: token.position)
    }
    try advance()
    return key
  }

  private mutating func comparisonOperator(for key: PredicateKey) throws(PredicateError) -> Predicate.Operator {
    let expected = "an operator after \(key.rawValue): ==, !=, <, <=, >, >=, CONTAINS, BEGINSWITH or IN"
    switch token.kind {
    case .sign(let sign):
      guard let op = Predicate.Operator(rawValue: sign) else { throw unexpected(expected) }
      try advance()
      return op
    case .word(let word):
      guard let op = Predicate.Operator(rawValue: word.uppercased()) else { throw unexpected(expected) }
      try advance()
      try refuseModifier()
      return op
    default: throw unexpected(expected)
    }
  }

  /// `CONTAINS[c]`
  private func refuseModifier() throws(PredicateError) {
    if token.kind == .sign("[") {
      throw PredicateError(
        "modifiers such as [c] are not supported yet; texts are compared exactly", at: token.position)
    }
  }

  private func refuse(_ op: Predicate.Operator, for key: PredicateKey, at position: Int) throws(PredicateError) {
    let allowed: String
    switch (op, key.valueType) {
    case (.equal, _), (.notEqual, _), (_, .string): return
    case (.contains, _), (.beginsWith, _):
      throw PredicateError(
        "\(op.rawValue) is for texts; \(key.rawValue) is compared with \(key.valueType.expectation)", at: position)
    case (_, .boolean), (_, .mediaType): allowed = "==, != or IN"
    default: return
    }
    throw PredicateError("\(key.rawValue) has no order; expected \(allowed)", at: position)
  }

  private mutating func list(for key: PredicateKey) throws(PredicateError) -> [Predicate.Literal] {
    let start = token.position
    guard try accept(sign: "{") else { throw unexpected("{ and the values of the list") }
    var values: [Predicate.Literal] = []
    if try accept(sign: "}") { return values }
    repeat {
      listValues += 1
      if listValues > Predicate.maximumListCount {
        throw PredicateError("more than \(Predicate.maximumListCount) values in lists", at: token.position)
      }
      if case .word(let word) = token.kind, ["nil", "null"].contains(word.lowercased()) {
        throw PredicateError("nil can't be in a list; write \(key.rawValue) == nil OR …", at: token.position)
      }
      values.append(try literal(for: key, orNil: false))
    } while try accept(sign: ",")
    guard try accept(sign: "}") else { throw unexpected(", or } for the { at position \(start)") }
    return values
  }

  // MARK: - Literals

  private mutating func literal(for key: PredicateKey, orNil: Bool) throws(PredicateError) -> Predicate.Literal {
    let expected = "\(key.valueType.expectation)\(orNil ? ", or nil," : "") for \(key.rawValue)"
    guard let value = try value(for: key, expected: expected) else { throw unexpected(expected) }
    try advance()
    return value
  }

  /// `nil` if the token is of another type.
  private func value(for key: PredicateKey, expected: String) throws(PredicateError) -> Predicate.Literal? {
    switch (token.kind, key.valueType) {
    case (.string(let text), .string): return .string(text)
    case (.string(let text), .date):
      guard let date = PhotoDate(text) else {
        throw PredicateError("\(Self.shown(text)) is no date; expected \(expected)", at: token.position)
      }
      return .date(PhotoDate(microseconds: date.microseconds, offsetMinutes: nil))
    case (.string(let text), .mediaType):
      guard let type = MediaType(rawValue: text) else {
        throw PredicateError("\(Self.shown(text)) is no media type; expected \(expected)", at: token.position)
      }
      return .mediaType(type)
    case (.number(let text), .integer), (.number(let text), .real):
      if let integer = Int64(text) { return .integer(integer) }
      guard let real = Double(text), real.isFinite else {
        throw PredicateError("the number is too large", at: token.position)
      }
      return Int64(exactly: real).map { .integer($0) } ?? .real(real)
    case (.word(let word), .boolean):
      switch word.lowercased() {
      case "true": return .boolean(true)
      case "false": return .boolean(false)
      default: return nil
      }
    default: return nil
    }
  }

  // MARK: - Tokens

  private mutating func advance() throws(PredicateError) { token = try lexer.next() }

  private mutating func accept(word: String? = nil, sign: String? = nil) throws(PredicateError) -> Bool {
    switch token.kind {
    case .word(let found) where word.map { $0.uppercased() == found.uppercased() } ?? false: break
    case .sign(let found) where found == sign: break
    default: return false
    }
    try advance()
    return true
  }

  private func unexpected(_ expected: String) -> PredicateError {
    PredicateError("expected \(expected), found \(found)", at: token.position)
  }

  private var found: String {
    switch token.kind {
    case .word(let word):
      Self.unsupported.contains(word.uppercased())
        ? "\(word), which is not supported" : "'\(word.prefix(60))'"
    case .string(let text): "the text \(Self.shown(text))"
    case .number(let text): "the number \(text.prefix(40))"
    case .sign(let sign): sign
    case .end: "the end"
    }
  }

  private static func shown(_ text: String) -> String {
    "'\(String(String.UnicodeScalarView(text.unicodeScalars.prefix(40).map { $0.value < 32 ? " " : $0 })))'"
  }

  /// Words of NSPredicate that people will try.
  private static let unsupported: Set<String> = [
    "LIKE", "MATCHES", "ENDSWITH", "BETWEEN", "ANY", "ALL", "SOME", "NONE", "SUBQUERY", "TRUEPREDICATE",
    "FALSEPREDICATE", "SELF",
  ]

  private static func isReserved(_ word: String) -> Bool {
    ["AND", "OR", "NOT", "IN", "CONTAINS", "BEGINSWITH", "TRUE", "FALSE", "NIL", "NULL"].contains(word.uppercased())
      || unsupported.contains(word.uppercased())
  }
}
