/// Parses the grammar of ``Predicate`` (Documentation/predicates.md) by recursive descent, one token ahead. Types are
/// checked at each literal.
struct PredicateParser {
  typealias Token = PredicateLexer.Token

  var lexer: PredicateLexer
  var token: Token
  private var depth = 0
  private var comparisons = 0
  var listValues = 0
  /// The instructions of all patterns of MATCHES.
  var patternSteps = 0

  init(_ text: String) throws(PredicateError) {
    lexer = try PredicateLexer(text)
    token = try lexer.next()
  }

  mutating func parse() throws(PredicateError) -> Predicate {
    let predicate = try disjunction()
    switch token.kind {
    case .end: return predicate
    case .sign(")"): throw PredicateError("this ) has no (", at: token.position)
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
      throw PredicateError("there are more than \(Predicate.maximumDepth) nested parentheses and NOTs", at: start)
    }
    if try accept(word: "NOT", sign: "!") { return .not(try unit()) }
    guard try accept(sign: "(") else { return try statement() }
    let inner = try disjunction()
    guard try accept(sign: ")") else {
      throw unexpected("AND, OR, or ) for the ( at position \(start)")
    }
    return inner
  }

  private mutating func statement() throws(PredicateError) -> Predicate {
    comparisons += 1
    if comparisons > Predicate.maximumComparisons {
      throw PredicateError(
        "there are more than \(Predicate.maximumComparisons) comparisons; for many values of one key, write key IN {…}",
        at: token.position)
    }
    if try accept(word: "TRUEPREDICATE") { return .constant(true) }
    if try accept(word: "FALSEPREDICATE") { return .constant(false) }
    if try accept(word: "NONE") { return .not(try comparison(.any, word: "NONE")) }
    for word in ["ANY", "SOME"] where try accept(word: word) { return try comparison(.any, word: word) }
    if try accept(word: "ALL") { return try comparison(.all, word: "ALL") }
    return try comparison(nil, word: "")
  }

  // MARK: - Comparisons

  /// - Parameter word: the quantifier as written.
  private mutating func comparison(
    _ quantifier: Predicate.Quantifier?, word: String
  ) throws(PredicateError) -> Predicate {
    let start = token.position
    let key = try key(after: word)
    guard key.isList || quantifier == nil else {
      throw PredicateError("\(word) is for lists such as keywords; \(key.rawValue) has one value", at: start)
    }
    let place = token.position
    let comparison: Predicate.Comparison
    if key.valueType == .place {
      comparison =
        try accept(word: "NEAR")
        ? Predicate.Comparison(key, .isNear(try circle())) : try plainComparison(quantifier, key)
    } else if try accept(word: "IN") {
      let modifiers = try modifiers(of: "IN", for: key)
      comparison = Predicate.Comparison(quantifier, key, .isIn(try list(for: key)), modifiers)
    } else if try accept(word: "BETWEEN") {
      guard key.valueType.isNumber || key.valueType == .date else {
        throw PredicateError("BETWEEN is for numbers and dates; \(key.rawValue) is neither", at: place)
      }
      _ = try modifiers(of: "BETWEEN", for: key)
      let (low, high) = try range(for: key)
      comparison = Predicate.Comparison(quantifier, key, .isBetween(low, high))
    } else {
      comparison = try plainComparison(quantifier, key)
    }
    return try quantified(comparison, at: start).byClock
  }

  /// Determines the quantifier of a comparison with a list, or rejects the comparison if it has no meaning.
  private func quantified(
    _ comparison: Predicate.Comparison, at start: Int
  ) throws(PredicateError) -> Predicate.Comparison {
    var comparison = comparison
    let key = comparison.key
    switch comparison.question {
    case .isAbsent, .isPresent:
      guard comparison.quantifier == nil else {
        throw PredicateError(
          "no value of a list is nil; \(key.rawValue) == nil tests whether the list is empty", at: start)
      }
    default:
      guard key.isList, comparison.quantifier == nil else { break }
      guard key.isOfEveryResource else {
        throw PredicateError("\(key.rawValue) is a list; write ANY \(key.rawValue) …, or ALL or NONE", at: start)
      }
      comparison.quantifier = .any
    }
    return comparison
  }

  private mutating func plainComparison(
    _ quantifier: Predicate.Quantifier?, _ key: PredicateKey
  ) throws(PredicateError) -> Predicate.Comparison {
    let place = token.position
    let op = try comparisonOperator(for: key)
    guard !op.isForTextsOnly || key.valueType == .string else {
      throw PredicateError(
        "\(op.rawValue) is for texts; \(key.rawValue) is compared with \(key.valueType.expectation)", at: place)
    }
    guard op == .equal || op == .notEqual || key.valueType.isOrdered else {
      throw PredicateError("\(key.rawValue) has no order; expected \(key.valueType.operators)", at: place)
    }
    let modifiers = try modifiers(of: op.rawValue, for: key)
    let isEquality = op == .equal || op == .notEqual
    let literalPlace = token.position
    if try acceptNil() {
      guard isEquality else { throw PredicateError("nil can only be compared by == and !=", at: literalPlace) }
      return Predicate.Comparison(quantifier, key, op == .equal ? .isAbsent : .isPresent)
    }
    let value = try literal(for: key, orNil: isEquality)
    if case .string(let text) = value { try check(text, as: op, modifiers, at: literalPlace) }
    return Predicate.Comparison(quantifier, key, .compares(op, value), modifiers)
  }

  private mutating func key(after quantifier: String) throws(PredicateError) -> PredicateKey {
    let expected =
      quantifier.isEmpty ? "a key such as creationDate, NOT, or (" : "a list such as keywords after \(quantifier)"
    guard case .word(let name) = token.kind, !Self.isReserved(name) else {
      let isLiteral =
        switch token.kind {
        case .string, .number: true
        default: false
        }
      let hint = isLiteral ? "; the key comes first, as in title == 'x' or ANY keywords == 'x'" : ""
      throw PredicateError(unexpected(expected).message + hint, at: token.position)
    }
    guard let key = PredicateKey(rawValue: name) else {
      if lexer.isBefore("(") { throw call(name) }
      let similar = Spelling.nearest(to: name, among: PredicateKey.allCases.map(\.rawValue))
      throw PredicateError(
        "'\(name.prefix(40))' is no key\(similar.map { "; did you mean '\($0)'?" } ?? "") (`photoctl help query` lists the keys)",
        at: token.position)
    }
    try advance()
    return key
  }

  private mutating func comparisonOperator(for key: PredicateKey) throws(PredicateError) -> Predicate.Operator {
    let expected = "an operator after \(key.rawValue): \(key.valueType.operators)"
    switch token.kind {
    case .sign(let sign):
      guard let op = Predicate.Operator(rawValue: sign) else { throw unexpected(expected) }
      try advance()
      return op
    case .word(let word):
      guard let op = Predicate.Operator(rawValue: word.uppercased()) else {
        let similar = Spelling.nearest(to: word, among: Self.operatorWords).map { "; did you mean \($0)?" }
        throw PredicateError(unexpected(expected).message + (similar ?? ""), at: token.position)
      }
      try advance()
      return op
    default: throw unexpected(expected)
    }
  }

  /// Parses `[c]`, `[d]` or `[cd]` after an operator.
  private mutating func modifiers(of op: String, for key: PredicateKey) throws(PredicateError) -> TextModifiers {
    let start = token.position
    guard try accept(sign: "[") else { return [] }
    guard case .word(let letters) = token.kind, letters.utf8.count <= 2 else { throw unexpected("c, d or cd after [") }
    var modifiers: TextModifiers = []
    for letter in letters.lowercased() {
      switch letter {
      case "c": modifiers.insert(.ignoringCase)
      case "d": modifiers.insert(.ignoringDiacritics)
      default: throw PredicateError("[\(letters)] is not possible; write [c], [d] or [cd]", at: start)
      }
    }
    try advance()
    guard try accept(sign: "]") else { throw unexpected("] for the [ at position \(start)") }
    guard key.valueType == .string else {
      throw PredicateError(
        "[\(letters)] is for texts; \(key.rawValue) is compared with \(key.valueType.expectation)", at: start)
    }
    guard Predicate.Operator(rawValue: op)?.takesModifiers ?? true else {
      throw PredicateError(
        "\(op) compares texts by the numbers of their characters, and can't have [\(letters)]", at: start)
    }
    return modifiers
  }
}
