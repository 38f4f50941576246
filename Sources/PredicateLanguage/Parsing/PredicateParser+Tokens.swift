/// Handles tokens, and the errors about wrong ones.
extension PredicateParser {
  mutating func advance() throws(PredicateError) { token = try lexer.next() }

  mutating func accept(word: String? = nil, sign: String? = nil) throws(PredicateError) -> Bool {
    switch token.kind {
    case .word(let found) where word.map { $0 == found.uppercased() } ?? false: break
    case .sign(let found) where found == sign: break
    default: return false
    }
    try advance()
    return true
  }

  mutating func acceptNil() throws(PredicateError) -> Bool {
    guard isNil else { return false }
    try advance()
    return true
  }

  var isNil: Bool {
    guard case .word(let word) = token.kind else { return false }
    return ["NIL", "NULL"].contains(word.uppercased())
  }

  func unexpected(_ expected: String) -> PredicateError {
    if case .number = token.kind, let sign = lexer.writtenDate(at: token.position).first, sign == "+" || sign == "-",
      expected.hasPrefix("AND") || expected.hasPrefix("an operator") || expected.hasPrefix(",")
    {
      return PredicateError(PredicateLexer.arithmetic(String(sign)), at: token.position)
    }
    return PredicateError("expected \(expected), found \(found)", at: token.position)
  }

  private var found: String {
    switch token.kind {
    case .word(let word):
      Self.unsupported.contains(word.uppercased())
        ? "\(word), which is not supported" : "'\(word.prefix(40))'"
    case .string(let text): "the text \(Self.shown(text))"
    case .number(let text): "the number \(text.prefix(40))"
    case .sign(let sign): sign
    case .end: "the end"
    }
  }

  static func shown(_ text: String) -> String {
    "'\(String(String.UnicodeScalarView(text.unicodeScalars.prefix(40).map { $0.value < 32 ? " " : $0 })))'"
  }

  /// The error for a token that is often tried as a literal but can't be one, with the text to write instead.
  func refusal(for key: PredicateKey) -> PredicateError? {
    switch token.kind {
    case .word(let word):
      if lexer.isBefore("(") || Self.clock.contains(word.lowercased()) { return call(word) }
      if PredicateKey(rawValue: word) != nil {
        return PredicateError("a key is compared with a value, not with another key; found \(word)", at: token.position)
      }
      guard key.valueType.isWrittenInQuotes, word.first?.isLetter == true,
        !Self.reserved.union(Self.unsupported).contains(word.uppercased())
      else { return nil }
      return PredicateError(
        "a value of \(key.rawValue) must be in quotes: \(Self.shown(lexer.writtenText(at: token.position)))",
        at: token.position)
    case .number where key.valueType == .date:
      let written = lexer.writtenDate(at: token.position)
      guard DateSpan(written) != nil else { return nil }
      return PredicateError("a date must be in quotes: '\(written)'", at: token.position)
    default: return nil
    }
  }

  /// The error for a function. A list is updated when something changes in the library, and nothing changes there at
  /// midnight.
  func call(_ word: String) -> PredicateError {
    guard Self.clock.contains(word.lowercased()) else {
      return PredicateError(
        "\(word.prefix(40))() is not possible: a predicate has no functions; "
          + "write the value itself", at: token.position)
    }
    return PredicateError(
      "\(word)\(lexer.isBefore("(") ? "()" : "") is not possible: a list changes only with the library, and not with the clock; "
        + "write a date such as '2024-07-21'", at: token.position)
  }

  private static let clock: Set<String> = [
    "now", "date", "today", "yesterday", "tomorrow", "current_date", "current_time", "current_timestamp", "datetime",
  ]

  /// Words of NSPredicate that people may try.
  private static let unsupported: Set<String> = ["SUBQUERY", "SELF", "FUNCTION", "CAST", "TERNARY"]

  static func isReserved(_ word: String) -> Bool {
    reserved.contains(word.uppercased())
  }

  static let operatorWords = [
    "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "IN", "BETWEEN", "NEAR",
  ]

  private static let reserved: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "NEAR", "ANY", "SOME",
    "ALL",
    "NONE", "TRUE", "FALSE", "NIL", "NULL", "TRUEPREDICATE", "FALSEPREDICATE",
  ]
}
