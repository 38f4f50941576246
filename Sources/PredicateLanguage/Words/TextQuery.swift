/// The words with which a person searches for photos: `beach "birthday party" 2024`.
///
/// All of them must occur, in any order. A word matches every word that begins with it. Words in quotes match only
/// these very words in a row; if a `*` follows, the last of them matches every word that begins with it. Case,
/// diacritics and punctuation make no difference: `x-t5` means x and t5 in a row. There is no other syntax, so a text
/// is never parsed as that of a search engine.
package struct TextQuery: Hashable, Sendable {
  /// Words in a row.
  struct Phrase: Hashable, Sendable {
    /// Folded words, at least one.
    let words: [String]
    /// Whether the last word matches every word that begins with it.
    let isPrefix: Bool
  }

  /// At least one phrase, each once. The order depends only on the phrases.
  let phrases: [Phrase]

  package static let maximumWordCount = 64
  package static let maximumLength = 1_000

  /// - Throws: ``TextQueryError``.
  package init(_ text: String) throws(TextQueryError) {
    let scalars = Array(text.unicodeScalars)
    guard scalars.count <= Self.maximumLength else {
      throw TextQueryError(
        "The text has \(scalars.count) characters; the limit is \(Self.maximumLength).",
        position: Self.maximumLength)
    }
    var phrases: Set<Phrase> = []
    var index = 0
    while index < scalars.count {
      if scalars[index].properties.isWhitespace {
        index += 1
      } else if Self.isQuote(scalars[index]) {
        guard let end = scalars[(index + 1)...].firstIndex(where: Self.isQuote) else {
          throw TextQueryError("This quote has no end. Close it, or leave it out.", position: index)
        }
        let isPrefix = end + 1 < scalars.count && scalars[end + 1] == "*"
        Self.insert(scalars[(index + 1)..<end], isPrefix: isPrefix, into: &phrases)
        index = end + (isPrefix ? 2 : 1)
      } else {
        let end = scalars[index...].firstIndex { $0.properties.isWhitespace || Self.isQuote($0) } ?? scalars.count
        Self.insert(scalars[index..<end], isPrefix: true, into: &phrases)
        index = end
      }
    }
    guard !phrases.isEmpty else {
      throw TextQueryError("The text contains no word. Write letters or digits.", position: 0)
    }
    guard phrases.reduce(0, { $0 + $1.words.count }) <= Self.maximumWordCount else {
      throw TextQueryError("The text has more than \(Self.maximumWordCount) words.", position: 0)
    }
    self.init(phrases)
  }

  /// - Precondition: there is at least one part.
  package init(parts: [TextQuery]) {
    precondition(!parts.isEmpty, "a text has a word")
    self.init(Set(parts.flatMap(\.phrases)))
  }

  private init(_ phrases: Set<Phrase>) {
    self.phrases = phrases.sorted {
      $0.words == $1.words ? !$0.isPrefix && $1.isPrefix : $0.words.lexicographicallyPrecedes($1.words)
    }
  }

  /// Each word or phrase as a query. A text matches this query if it matches all of them.
  package var parts: [TextQuery] { phrases.map { TextQuery([$0]) } }

  /// Whether some of its words match every word that begins with them.
  package var hasPrefixes: Bool { phrases.contains(where: \.isPrefix) }

  /// The words for which an index is asked: those that must match whole, and the longest of the others, which match the
  /// fewest texts. For a prefix, the index merges the lists of all words that begin with it.
  package func indexed(prefixes count: Int) -> TextQuery {
    let prefixes = phrases.filter(\.isPrefix)
    guard prefixes.count > count else { return self }
    func length(_ phrase: Phrase) -> Int { phrase.words.last?.utf8.count ?? 0 }
    let longest = prefixes.sorted { length($0) > length($1) }.prefix(count)
    return TextQuery(Set(phrases.filter { !$0.isPrefix } + longest))
  }

  private static func insert(
    _ scalars: ArraySlice<Unicode.Scalar>, isPrefix: Bool, into phrases: inout Set<Phrase>
  ) {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars)
    let words = TextWords.words(of: String(text))
    if !words.isEmpty { phrases.insert(Phrase(words: words, isPrefix: isPrefix)) }
  }

  /// Also accepts the typographic quotes that keyboards insert.
  private static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\"", "\u{201C}", "\u{201D}", "\u{201E}", "\u{201F}": true
    default: false
    }
  }

  /// The query in FTS5's syntax (https://www.sqlite.org/fts5.html#full_text_query_syntax). Words contain only letters
  /// and digits, so nothing needs escaping.
  package var fts5: String {
    phrases.map { "\"\($0.words.joined(separator: " "))\"" + ($0.isPrefix ? "*" : "") }.joined(separator: " AND ")
  }
}

extension TextQuery: CustomStringConvertible {
  /// In most cases, queries that match the same texts have the same description.
  package var description: String {
    phrases.map { phrase in
      let text = phrase.words.joined(separator: " ")
      return phrase.isPrefix && phrase.words.count == 1 ? text : "\"\(text)\"" + (phrase.isPrefix ? "*" : "")
    }.joined(separator: " ")
  }
}

package struct TextQueryError: Error, Hashable, Sendable {
  package let message: String
  /// The index of the Unicode scalar in the text, from 0.
  package let position: Int

  init(_ message: String, position: Int) {
    self.message = message
    self.position = position
  }
}

/// A ``TextQuery`` prepared for testing many texts, one by one. It matches the same texts as FTS5 in an index of them.
package final class TextTest: Sendable {
  private struct Phrase: Sendable {
    let words: [[UInt8]]
    let isPrefix: Bool
  }

  private let query: TextQuery
  private let phrases: [Phrase]

  package init(_ query: TextQuery) {
    self.query = query
    phrases = query.phrases.map { Phrase(words: $0.words.map { Array($0.utf8) }, isPrefix: $0.isPrefix) }
  }

  /// The same for an array.
  package func holds(spaced: [UInt8]) -> Bool { spaced.withUnsafeBufferPointer { holds(spaced: $0) } }

  /// - Parameter spaced: as made by ``TextWords/spaced(_:)``.
  /// - Complexity: O(n · m) for n words in the text and m in the query.
  package func holds(spaced: UnsafeBufferPointer<UInt8>) -> Bool {
    withUnsafeTemporaryAllocation(of: Range<Int>.self, capacity: spaced.count / 2 + 1) { words in
      var count = 0
      var start = -1
      for index in 0...spaced.count {
        if index < spaced.count, TextWords.isPart(spaced[index]) {
          if start < 0 { start = index }
        } else if start >= 0 {
          words[count] = start..<index
          count += 1
          start = -1
        }
      }
      return phrases.allSatisfy { phrase in
        let length = phrase.words.count
        guard length <= count else { return false }
        return (0...(count - length)).contains { first in
          (0..<length).allSatisfy { offset in
            Self.matches(
              phrase.words[offset], spaced, words[first + offset], isPrefix: phrase.isPrefix && offset == length - 1)
          }
        }
      }
    }
  }

  private static func matches(
    _ word: [UInt8], _ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, isPrefix: Bool
  ) -> Bool {
    guard isPrefix ? word.count <= range.count : word.count == range.count else { return false }
    for index in 0..<word.count {
      let byte = text[range.lowerBound + index]
      guard word[index] == (byte &- 65 < 26 ? byte | 0x20 : byte) else { return false }
    }
    return true
  }
}

extension TextTest: Hashable {
  package static func == (lhs: TextTest, rhs: TextTest) -> Bool { lhs.query == rhs.query }

  package func hash(into hasher: inout Hasher) { hasher.combine(query) }
}
