/// Splits the text of a predicate into words, literals and signs.
struct PredicateLexer {
  struct Token: Hashable {
    enum Kind: Hashable {
      /// A key or a word such as AND, in the original spelling.
      case word(String)
      case string(String)
      /// The number in the original spelling.
      case number(String)
      /// One of `== != < <= > >= && || ! ( ) { } , [ ]`. NSPredicate's alternative spellings are normalized.
      case sign(String)
      case end
    }

    let kind: Kind
    /// The number of Unicode scalars before it.
    let position: Int
  }

  private let scalars: [Unicode.Scalar]
  private var index = 0

  init(_ text: String) throws(PredicateError) {
    guard text.utf8.count <= Predicate.maximumBytes else {
      throw PredicateError(
        "the predicate has \(text.utf8.count) bytes, and the limit is \(Predicate.maximumBytes)", at: 0)
    }
    scalars = Array(text.unicodeScalars)
  }

  /// Whether the last token ends with the text.
  var isAtEnd: Bool { index == scalars.count }

  /// Whether this sign comes next, after any whitespace.
  func isBefore(_ sign: Unicode.Scalar) -> Bool { scalars[index...].first { !$0.properties.isWhitespace } == sign }

  /// The text at a position, up to a space, a parenthesis, a comma or the end of a list.
  func writtenText(at position: Int) -> String {
    let written = scalars[position...].prefix(40).prefix {
      !$0.properties.isWhitespace && !"(),{}".unicodeScalars.contains($0)
    }
    return String(String.UnicodeScalarView(written))
  }

  /// The text at a position, up to the first character that cannot be part of an unquoted date.
  func writtenDate(at position: Int) -> String {
    let written = scalars[position...].prefix(40).prefix { $0.isWordPart || "-:+.".unicodeScalars.contains($0) }
    return String(String.UnicodeScalarView(written))
  }

  /// The position of one scalar of a string literal's value. `position` is that of the literal.
  func position(ofScalar offset: Int, inTextAt position: Int) -> Int {
    var reader = self
    reader.index = position + 1
    do {
      for _ in 0..<offset {
        let start = reader.index
        guard reader.take("\\") else {
          reader.index += 1
          continue
        }
        _ = try reader.escaped(at: start)
      }
      return min(reader.index, scalars.count)
    } catch {
      return position  // The text was parsed before, so this cannot happen.
    }
  }

  /// The next token. After the last one, always `.end`.
  mutating func next() throws(PredicateError) -> Token {
    while let scalar = peek, scalar.properties.isWhitespace { index += 1 }
    let start = index
    guard let scalar = peek else { return Token(kind: .end, position: start) }
    switch scalar {
    case "'", "\"": return Token(kind: .string(try string(quote: scalar)), position: start)
    case "0"..."9", "-", "+", ".": return Token(kind: .number(try number()), position: start)
    case "a"..."z", "A"..."Z", "_", "@": return Token(kind: .word(word()), position: start)
    default: return Token(kind: .sign(try sign()), position: start)
    }
  }

  private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    index += 1
    return true
  }

  private mutating func word() -> String {
    var word = String.UnicodeScalarView()
    while let scalar = peek, scalar.isWordPart || scalar == "." || scalar == "@" {
      word.append(scalar)
      index += 1
    }
    return String(word)
  }

  private mutating func sign() throws(PredicateError) -> String {
    let start = index
    let pair = index + 1 < scalars.count ? String(scalars[index]) + String(scalars[index + 1]) : ""
    if ["==", "!=", "<=", ">=", "&&", "||"].contains(pair) {
      index += 2
      return pair
    }
    if let usual = ["<>": "!=", "=<": "<=", "=>": ">="][pair] {
      index += 2
      return usual
    }
    let one = String(scalars[index])
    index += 1
    if one == "=" { return "==" }
    if ["<", ">", "!", "(", ")", "{", "}", ",", "[", "]"].contains(one) { return one }
    switch one {
    case "*", "/": throw PredicateError(Self.arithmetic(one), at: start)
    case "%":
      throw PredicateError(
        "placeholders such as %@ are not possible; write the value itself, and a text in quotes", at: start)
    case "$": throw PredicateError("variables such as $NAME are not possible; write the value itself", at: start)
    default:
      throw PredicateError("'\(one)' has no meaning in a predicate; write a text in quotes", at: start)
    }
  }

  static func arithmetic(_ sign: String) -> String {
    "'\(sign)' is not possible: a predicate has no arithmetic; write the result itself"
  }

  /// Parses JSON's numbers, and also a sign `+` or a missing digit before the point.
  private mutating func number() throws(PredicateError) -> String {
    let start = index
    var text = ""
    func isDigit(_ scalar: Unicode.Scalar?) -> Bool { scalar.map { ("0"..."9").contains($0) } ?? false }
    func digits() -> Int {
      let first = index
      while let scalar = peek, isDigit(scalar) {
        text.unicodeScalars.append(scalar)
        index += 1
      }
      return index - first
    }
    if take("-") { text += "-" } else { _ = take("+") }
    var count = digits()
    if take(".") {
      text += count == 0 ? "0." : "."
      let fraction = digits()
      if fraction == 0 { throw PredicateError("a digit is missing after the decimal point", at: index) }
      count += fraction
    }
    if count == 0 { throw PredicateError(Self.arithmetic(String(scalars[start])), at: start) }
    if peek == "e" || peek == "E" {
      index += 1
      text += "e"
      if take("-") { text += "-" } else { _ = take("+") }
      if digits() == 0 { throw PredicateError("a digit is missing in the exponent", at: index) }
    }
    if let scalar = peek, scalar.isWordPart || scalar == "." {
      throw PredicateError("'\(scalar)' is no part of a number; write a text or a date in quotes", at: index)
    }
    return text
  }

  private mutating func string(quote: Unicode.Scalar) throws(PredicateError) -> String {
    let start = index
    index += 1
    var text = String.UnicodeScalarView()
    while let scalar = peek {
      let position = index
      index += 1
      if scalar == quote { return String(text) }
      let meant = scalar == "\\" ? try escaped(at: position) : scalar
      if meant == "\0" { throw PredicateError("a text can't contain the character NUL", at: position) }
      text.append(meant)
    }
    throw PredicateError("the text that begins here has no closing \(quote)", at: start)
  }

  private mutating func escaped(at position: Int) throws(PredicateError) -> Unicode.Scalar {
    let known = "; the escapes are \\\\ \\' \\\" \\n \\t \\r \\u{1F600}"
    guard let scalar = peek else { throw PredicateError("an escape is not complete\(known)", at: position) }
    index += 1
    switch scalar {
    case "\\", "'", "\"": return scalar
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "u":
      var digits = ""
      if take("{") {
        while let digit = peek, digit != "}", digits.utf8.count < 7 {
          digits.unicodeScalars.append(digit)
          index += 1
        }
        if take("}"), !digits.hasPrefix("+"), let value = UInt32(digits, radix: 16), let meant = Unicode.Scalar(value) {
          return meant
        }
      }
      throw PredicateError("\\u{…} takes the hexadecimal number of a Unicode scalar", at: position)
    case "d", "D", "w", "W", "s", "S", "b", "B", "*", "?", ".", "+", "(", ")", "[", "]", "{", "}", "|", "^", "$":
      throw PredicateError(
        "'\\\(scalar)' is no escape; for a backslash of a pattern, write \\\\, as in '\\\\\(scalar)'", at: position)
    default: throw PredicateError("'\\\(scalar)' is no escape\(known)", at: position)
    }
  }
}

extension Unicode.Scalar {
  var isWordPart: Bool {
    switch self {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: false
    }
  }
}
