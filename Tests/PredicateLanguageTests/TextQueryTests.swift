import Testing

@testable import PredicateLanguage

/// The queries that people type, and the words of texts.
@Suite struct TextQueryTests {
  @Test(arguments: [
    ("IMG_1234.JPG", ["img", "1234", "jpg"]), ("Été à Köln", ["ete", "a", "koln"]), ("x-t5", ["x", "t5"]),
    ("東京2024旅", ["東", "京", "2024", "旅"]), ("カメラ", ["カ", "メ", "ラ"]), ("🦊🐻 a", ["🦊", "🐻", "a"]), ("", []),
    ("-_'\u{E000}\u{0}", []), ("Straße", ["straße"]), ("e\u{301}te\u{301}", ["ete"]), ("हिन्दी x", ["हिनदी", "x"]),
  ])
  func wordsAreLettersAndDigits(text: String, words: [String]) {
    #expect(TextWords.words(of: text) == words)
    // A spaced text has the same words again.
    #expect(TextWords.words(of: TextWords.spaced(text)) == words)
  }

  @Test func theIndexIsAskedForTheLongestPrefixes() throws {
    let query = try TextQuery("a bbb \"whole words\" cc \"long d\"* eeee")
    #expect(query.indexed(prefixes: 5) == query)
    #expect(try query.indexed(prefixes: 2) == TextQuery("bbb \"whole words\" eeee"))
    #expect(try query.indexed(prefixes: 0) == TextQuery("\"whole words\""))
  }

  @Test func numbersAfterLettersAreWordsOfAFilename() {
    #expect(TextWords.words(of: TextWords.spaced(filename: "DSCF1234.JPG")) == ["dscf1234", "jpg", "1234"])
    #expect(TextWords.words(of: TextWords.spaced(filename: "IMG_1234.JPG")) == ["img", "1234", "jpg"])
    #expect(TextWords.words(of: TextWords.spaced(filename: "é12.jpg")) == ["e12", "jpg", "12"])
  }

  @Test(arguments: [
    ("beach", "beach"), ("Beach  sea beach", "beach sea"), ("\"birthday party\" 2024", "2024 \"birthday party\""),
    ("x-t5*", "\"x t5\"*"), ("\"sea\"*", "sea"), ("\"Sea\"", "\"sea\""), ("a“b c”d", "a \"b c\" d"),
  ])
  func aQueryHasOneCanonicalText(text: String, canonical: String) throws {
    let query = try TextQuery(text)
    #expect(query.description == canonical)
    #expect(try TextQuery(canonical) == query)
  }

  @Test(arguments: [
    ("", 0), ("\"sea", 0), ("sea \"sun", 4), (" - * ", 0), ("\"\" \"-\"", 0),
    (String(repeating: "a", count: 1_001), 1_000), ((1...65).map { "w\($0)" }.joined(separator: " "), 0),
  ])
  func queriesWithoutWordsAndThoseBeyondTheBoundsAreRefused(text: String, position: Int) {
    let error = #expect(throws: TextQueryError.self) { try TextQuery(text) }
    #expect(error?.position == position)
  }

  @Test func aTestHoldsForWordsAndTheirBeginnings() throws {
    let text = TextWords.spaced("Sunset at the Beach, 2024")
    func holds(_ query: String) throws -> Bool {
      let test = TextTest(try TextQuery(query))
      return Array(text.utf8).withUnsafeBufferPointer { test.holds(spaced: $0) }
    }
    for query in ["sun", "BEACH 20", "\"the beach\"", "\"at the b\"*", "2024 sunset"] { #expect(try holds(query)) }
    for query in ["set", "\"sun\"", "\"beach the\"", "sunset 2023", "\"2024 x\"", "sunsets"] {
      #expect(try !holds(query), "\(query)")
    }
  }
}
