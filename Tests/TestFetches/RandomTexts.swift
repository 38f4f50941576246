import PredicateLanguage

/// Texts, and queries for them. They are made of few words, so that most queries find some texts.
package enum RandomTexts {
  package static let words = [
    "a", "ab", "abc", "A", "É", "e\u{301}te\u{301}", "Straße", "x-t5", "X", "T5", "1234", "DSCF1234", "IMG_0012.JPG",
    "日本",
    "旅行日本", "カメラ", "한국어", "ภาษาไทย", "🦊", "🦊🦊", "'", "\"", "*", "AND", "OR", "NOT", "NEAR(a b)", "words:a", "^a", "+",
    "a*b", "-", "\u{E000}", "\u{0}", "\n", "naïve", "Ǆ", "ﬁn", "\u{1F1E9}\u{1F1EA}", "café-bar", "O'Neill", "ꙮ",
  ]

  package static func text(using random: inout some RandomNumberGenerator) -> String {
    (0..<Int.random(in: 0...6, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }
      .joined(separator: [" ", ", ", ""].randomElement(using: &random) ?? " ")
  }

  /// A query that is valid, so that it searches for something.
  package static func query(
    of words: [String] = words, using random: inout some RandomNumberGenerator
  ) -> String {
    while true {
      let parts = (0..<Int.random(in: 1...2, using: &random)).map { _ -> String in
        let word = words.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return "\"\(word)\""
        case 1: return "\"\(word) \(words.randomElement(using: &random) ?? "")\"*"
        case 2: return String(word.prefix(1))
        default: return word
        }
      }
      let text = parts.joined(separator: " ")
      if case .success = Result(catching: { try TextQuery(text) }) { return text }
    }
  }
}
