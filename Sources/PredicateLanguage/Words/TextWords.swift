/// The words of a text, for searching. Case and diacritics are folded as by `[cd]`. Letters, digits and their marks
/// form words, and everything else separates them. In scripts without spaces between words, each character is a word,
/// and so is each emoji. A search for several of them is then a search for a row of words.
package enum TextWords {
  /// Must be raised with every change that gives some text other words. Texts indexed by other rules would not be
  /// found.
  package static let version = 1

  /// Separates texts that must not be read as one. No word contains this character.
  package static let boundary: Unicode.Scalar = "\u{E000}"

  /// A text with the same words, in which only ASCII punctuation and spaces are between words, as FTS5's `ascii`
  /// tokenizer requires. An ASCII text is returned unchanged, because the tokenizer folds its case.
  package static func spaced(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var spaced = String.UnicodeScalarView()
    var isInWord = false
    for scalar in TextModifiers([.ignoringCase, .ignoringDiacritics]).folded(text).unicodeScalars {
      let kind = kind(scalar)
      if kind != .part || !isInWord { spaced.append(" ") }
      if kind != .none { spaced.append(scalar) }
      isInWord = kind == .part
    }
    return String(spaced)
  }

  /// Like ``spaced(_:)``, and adds the number that a camera writes after letters as a word. So a search for 1234 also
  /// finds `DSCF1234.JPG`.
  package static func spaced(filename: String) -> String {
    let spaced = spaced(filename)
    var numbers = ""
    forEach(in: Array(spaced.utf8)) { word in
      let digits = word.reversed().prefix { $0 &- 48 < 10 }.count
      guard digits > 0, digits < word.count else { return }
      numbers += " " + String(decoding: word.suffix(digits), as: UTF8.self)
    }
    return numbers.isEmpty ? spaced : "\(spaced) \(boundary)\(numbers)"
  }

  /// The folded words of a text, in order.
  package static func words(of text: String) -> [String] {
    var words: [String] = []
    forEach(in: Array(spaced(text).utf8)) { words.append(CaseFolding.fold(String(decoding: $0, as: UTF8.self))) }
    return words
  }

  /// Calls `body` with the words of a spaced text as FTS5's `ascii` tokenizer finds them, without folding their case
  /// (https://www.sqlite.org/fts5.html#ascii_tokenizer).
  static func forEach(in spaced: [UInt8], _ body: (ArraySlice<UInt8>) -> Void) {
    var start: Int?
    for (index, byte) in spaced.enumerated() {
      if isPart(byte) {
        if start == nil { start = index }
      } else if let first = start {
        body(spaced[first..<index])
        start = nil
      }
    }
    if let start { body(spaced[start...]) }
  }

  /// Whether the byte is part of a word for `ascii`: letters, digits, and all bytes outside ASCII.
  @inline(__always)
  static func isPart(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte &- 48 < 10 || (byte | 0x20) &- 97 < 26
  }

  private enum Kind { case none, part, whole }

  private static func kind(_ scalar: Unicode.Scalar) -> Kind {
    if scalar.isASCII { return isPart(UInt8(scalar.value)) ? .part : .none }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
      // A variation selector changes how a character looks, not which character it is.
      if properties.isVariationSelector { return .none }
      return properties.isIdeographic || hasNoSpaces(scalar.value) ? .whole : .part
    default: return properties.isEmojiPresentation ? .whole : .none
    }
  }

  /// Thai, Lao, Myanmar, Khmer, Kana (https://www.unicode.org/reports/tr14/#SA).
  private static func hasNoSpaces(_ value: UInt32) -> Bool {
    switch value {
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9F: true
    default: false
    }
  }
}
