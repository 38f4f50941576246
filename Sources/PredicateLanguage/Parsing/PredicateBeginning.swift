/// The beginning of a predicate, up to the cursor of a person who types it, and the words that can follow there.
///
/// ```swift
/// let beginning = PredicateBeginning("rating > 3 AND camera.model == 'NI")
/// beginning.continuation  // .value(of: .cameraModel, operator: "==")
/// beginning.begun         // NI
/// ```
///
/// - Complexity: O(n) in the length of the text.
package struct PredicateBeginning: Sendable {
  package enum Continuation: Hashable, Sendable {
    /// A key. After ANY, ALL, NONE and SOME, it is the key of a list.
    case key(isQuantified: Bool)
    case comparisonOperator(of: PredicateKey, isQuantified: Bool)
    /// A value, also one of several in braces. The operator is a sign or a word in upper case.
    case value(of: PredicateKey, operator: String, isQuantified: Bool)
    /// AND or OR.
    case connective
    /// Nothing that is known: the text is no predicate, or the cursor is in a part with too many possibilities.
    case none
  }

  package private(set) var continuation = Continuation.key(isQuantified: false)
  /// The text before the word at the cursor.
  package private(set) var before: String
  /// The word at the cursor, without the quote that begins it and without escapes. It is empty between two words.
  package private(set) var begun = ""
  /// The quote that is open at the cursor.
  package private(set) var quote: Unicode.Scalar?

  package init(_ text: String) {
    before = text
    var lexer: PredicateLexer
    do {
      lexer = try PredicateLexer(text)
    } catch {
      continuation = .none  // It is too long.
      return
    }
    let scalars = Array(text.unicodeScalars)
    var state = State.key(isQuantified: false)
    while true {
      let token: PredicateLexer.Token
      do {
        token = try lexer.next()
      } catch {
        continuation = state.isBeforeValue && openText(from: error.position, scalars) ? state.continuation : .none
        return
      }
      if token.kind == .end { break }
      if lexer.isAtEnd, state.canContinue(token.kind) {
        before = String(String.UnicodeScalarView(scalars[..<token.position]))
        begun = String(String.UnicodeScalarView(scalars[token.position...]))
        break
      }
      state = state.next(token.kind)
    }
    continuation = state.continuation
  }

  /// Takes the text of a literal without its closing quote.
  ///
  /// - Returns: whether such a text begins at the position.
  private mutating func openText(from position: Int, _ scalars: [Unicode.Scalar]) -> Bool {
    guard position < scalars.count, scalars[position] == "'" || scalars[position] == "\"" else { return false }
    before = String(String.UnicodeScalarView(scalars[..<position]))
    quote = scalars[position]
    var text = String.UnicodeScalarView()
    var isEscaped = false
    for scalar in scalars[(position + 1)...] {
      if scalar == "\\", !isEscaped {
        isEscaped = true
        continue
      }
      // Other escapes are rare in a text that is being typed, and no value begins with them.
      if isEscaped, !"\\'\"".unicodeScalars.contains(scalar) { return false }
      isEscaped = false
      text.append(scalar)
    }
    begun = String(text)
    return true
  }

  /// The part of the grammar that comes next.
  private enum State {
    case key(isQuantified: Bool)
    case afterKey(PredicateKey, isQuantified: Bool)
    case value(PredicateKey, operator: String, isQuantified: Bool)
    /// Before the brace of a list.
    case brace(PredicateKey, operator: String, isQuantified: Bool)
    case listedValue(PredicateKey, operator: String, isQuantified: Bool)
    case afterListedValue(PredicateKey, operator: String, isQuantified: Bool)
    /// Within `[cd]`.
    indirect case modifiers(then: State)
    case afterComparison
    case unknown

    var isBeforeValue: Bool {
      switch self {
      case .value, .listedValue: true
      default: false
      }
    }

    var continuation: Continuation {
      switch self {
      case .key(let isQuantified): .key(isQuantified: isQuantified)
      case .afterKey(let key, let isQuantified): .comparisonOperator(of: key, isQuantified: isQuantified)
      case .value(let key, let name, let isQuantified), .listedValue(let key, let name, let isQuantified):
        .value(of: key, operator: name, isQuantified: isQuantified)
      case .afterComparison: .connective
      case .brace, .afterListedValue, .modifiers, .unknown: .none
      }
    }

    /// Whether more characters can follow this token at the cursor, so that it is not yet complete.
    func canContinue(_ token: PredicateLexer.Token.Kind) -> Bool {
      switch token {
      case .word, .number: true
      case .sign(let sign): if case .afterKey = self { !"[](){},".contains(sign) } else { false }
      case .string, .end: false
      }
    }

    func next(_ token: PredicateLexer.Token.Kind) -> State {
      switch (self, token) {
      case (.key(false), .sign("(")), (.key(false), .sign("!")): return self
      case (.key(let isQuantified), .word(let word)): return Self.after(word, isQuantified)
      case (.afterKey(let key, let isQuantified), .word(let name)):
        let name = name.uppercased()
        guard PredicateParser.operatorWords.contains(name) else { return .unknown }
        return ["IN", "BETWEEN", "NEAR"].contains(name)
          ? .brace(key, operator: name, isQuantified: isQuantified)
          : .value(key, operator: name, isQuantified: isQuantified)
      case (.afterKey(let key, let isQuantified), .sign(let sign)):
        return Predicate.Operator(rawValue: sign) == nil
          ? .unknown : .value(key, operator: sign, isQuantified: isQuantified)
      case (.value, .sign("[")), (.brace, .sign("[")): return .modifiers(then: self)
      case (.modifiers, .word): return self
      case (.modifiers(let state), .sign("]")): return state
      case (.brace(let key, let name, let isQuantified), .sign("{")):
        return .listedValue(key, operator: name, isQuantified: isQuantified)
      case (.value, .word), (.value, .string), (.value, .number): return .afterComparison
      case (.listedValue(let key, let name, let isQuantified), .word),
        (.listedValue(let key, let name, let isQuantified), .string),
        (.listedValue(let key, let name, let isQuantified), .number):
        return .afterListedValue(key, operator: name, isQuantified: isQuantified)
      case (.afterListedValue(let key, let name, let isQuantified), .sign(",")):
        return .listedValue(key, operator: name, isQuantified: isQuantified)
      case (.afterListedValue, .sign("}")), (.listedValue, .sign("}")): return .afterComparison
      case (.afterComparison, .sign(")")): return self
      case (.afterComparison, .sign("&&")), (.afterComparison, .sign("||")): return .key(isQuantified: false)
      case (.afterComparison, .word(let word)):
        return ["AND", "OR"].contains(word.uppercased()) ? .key(isQuantified: false) : .unknown
      default: return .unknown
      }
    }

    /// The state after a word at the place of a key.
    private static func after(_ word: String, _ isQuantified: Bool) -> State {
      if let key = PredicateKey(rawValue: word) { return .afterKey(key, isQuantified: isQuantified) }
      guard !isQuantified else { return .unknown }
      switch word.uppercased() {
      case "ANY", "SOME", "ALL", "NONE": return .key(isQuantified: true)
      case "NOT": return .key(isQuantified: false)
      case "TRUEPREDICATE", "FALSEPREDICATE": return .afterComparison
      default: return .unknown
      }
    }
  }
}
