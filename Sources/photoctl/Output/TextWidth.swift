/// The width of text, in columns of a terminal.
///
/// It is computed by grapheme clusters, as terminals show them. Characters with East Asian Width W or F, and emoji, are
/// two columns wide. Combining characters have no width (https://www.unicode.org/reports/tr11/).
enum TextWidth {
  static func columns(of text: some StringProtocol) -> Int {
    // Nearly every path is ASCII.
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + columns(of: $1) }
  }

  static func columns(of character: Character) -> Int {
    var width = 0
    for scalar in character.unicodeScalars {
      // VARIATION SELECTOR-16 selects the emoji of a character that also has a textual form.
      if isWide(scalar) || (scalar == "\u{FE0F}" && width == 1) { return 2 }
      if !combines(scalar) { width = 1 }
    }
    return width
  }

  /// The text, padded with spaces to this many columns.
  static func padded(_ text: String, to columns: Int, atStart: Bool = false) -> String {
    let padding = String(repeating: " ", count: max(0, columns - self.columns(of: text)))
    return atStart ? padding + text : text + padding
  }

  /// The text, cut to this many columns, but never within a character. `…` replaces the missing end.
  static func shortened(_ text: String, to maximum: Int) -> String {
    guard columns(of: text) > maximum else { return text }
    return String(prefix(of: text, maximum - 1)) + (maximum > 0 ? "…" : "")
  }

  /// The same with `…` at the beginning, since the end of a path is more important.
  static func shortenedAtStart(_ text: String, to maximum: Int) -> String {
    guard columns(of: text) > maximum else { return text }
    return (maximum > 0 ? "…" : "") + String(prefix(of: text.reversed(), maximum - 1).reversed())
  }

  private static func prefix(of characters: some Sequence<Character>, _ maximum: Int) -> [Character] {
    var width = 0
    return characters.prefix { character in
      width += columns(of: character)
      return width <= maximum
    }
  }

  private static func combines(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: scalar != "\u{AD}"
    default: false
    }
  }

  /// W and F of EastAsianWidth.txt, with the unassigned gaps between them. Swift knows the emoji.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x1100: false
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
      0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
      true
    default: scalar.properties.isEmojiPresentation
    }
  }
}
