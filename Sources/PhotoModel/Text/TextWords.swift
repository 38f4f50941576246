/// The words of a text, as they are looked for: case and diacritics folded as `[cd]` does it, letters, digits and their
/// marks together, everything else between. Of scripts that put nothing between words each character is a word of its own,
/// and so is each emoji; what is asked for then is a run of them.
package enum TextWords {
  /// To be raised with whatever gives any text other words than before: what was indexed by other rules is not found.
  package static let version = 1

  /// Between texts that are not to be read as one: a character that no word has.
  package static let boundary: Unicode.Scalar = "\u{E000}"

  /// A text of the same words in which only ASCII punctuation and space, which FTS5's `ascii` tokenizer takes for such, is
  /// between them. ASCII is its own, upper case left to the tokenizer.
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

  /// As ``spaced(_:)``, with the number that a camera puts behind letters once more by itself: `DSCF1234.JPG` is found by
  /// 1234 too.
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

  /// Of a text, in their order, folded.
  package static func words(of text: String) -> [String] {
    var words: [String] = []
    forEach(in: Array(spaced(text).utf8)) { words.append(CaseFolding.fold(String(decoding: $0, as: UTF8.self))) }
    return words
  }

  /// The words of a spaced text as FTS5's `ascii` tokenizer finds them (https://www.sqlite.org/fts5.html#ascii_tokenizer),
  /// upper case as it is.
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

  /// Of a word, for `ascii`: letters, digits, and whatever is not ASCII.
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
      // A variation selector says how a character looks, not which it is.
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
