import PredicateLanguage
import Testing

@Suite struct PredicateBeginningTests {
  typealias Continuation = PredicateBeginning.Continuation

  /// The texts after each key are the text before the cursor's word, and that word.
  @Test(
    arguments: [
      ("", .key(isQuantified: false), "", ""), ("cam", .key(isQuantified: false), "", "cam"),
      ("rating > 3 AND (is", .key(isQuantified: false), "rating > 3 AND (", "is"),
      ("NOT !(", .key(isQuantified: false), "NOT !(", ""), ("ANY key", .key(isQuantified: true), "ANY ", "key"),
      ("TRUEPREDICATE || i", .key(isQuantified: false), "TRUEPREDICATE || ", "i"),
      ("camera.model", .key(isQuantified: false), "", "camera.model"),
      ("rating ", .comparisonOperator(of: .rating, isQuantified: false), "rating ", ""),
      ("rating =", .comparisonOperator(of: .rating, isQuantified: false), "rating ", "="),
      ("title CONT", .comparisonOperator(of: .title, isQuantified: false), "title ", "CONT"),
      ("rating == ", .value(of: .rating, operator: "==", isQuantified: false), "rating == ", ""),
      ("rating = 4", .value(of: .rating, operator: "==", isQuantified: false), "rating = ", "4"),
      ("title contains[cd] ", .value(of: .title, operator: "CONTAINS", isQuantified: false), "title contains[cd] ", ""),
      (
        "ANY keywords IN {'a', 'b", .value(of: .keywords, operator: "IN", isQuantified: true), "ANY keywords IN {'a', ",
        "b"
      ),
      ("rating IN {1,", .value(of: .rating, operator: "IN", isQuantified: false), "rating IN {1,", ""),
      ("rating == 4 ", .connective, "rating == 4 ", ""), ("rating == 4 A", .connective, "rating == 4 ", "A"),
      ("(title == 'x')", .connective, "(title == 'x')", ""),
      ("rating IN {1, 2} ", .connective, "rating IN {1, 2} ", ""),
    ] as [(String, Continuation, String, String)])
  func continuationIsThatOfTheGrammar(text: String, continuation: Continuation, before: String, begun: String) {
    let beginning = PredicateBeginning(text)
    #expect(beginning.continuation == continuation)
    #expect(beginning.before == before)
    #expect(beginning.begun == begun)
    #expect(beginning.quote == (text.hasSuffix("'b") ? "'" : nil))
  }

  @Test func textWithoutItsClosingQuoteIsTheBeginningOfAValue() {
    let beginning = PredicateBeginning(#"title == "it's a \"big\" \\"#)
    #expect(beginning.continuation == .value(of: .title, operator: "==", isQuantified: false))
    #expect(beginning.before == "title == ")
    #expect(beginning.begun == #"it's a "big" \"#)
    #expect(beginning.quote == "\"")
  }

  /// No candidate is better than one that makes a wrong predicate.
  @Test(arguments: [
    "nokey == ", "rating == 4 rating ", "rating IN ", "rating ==[", "AND ", "'x", "title == 'a\\n", "rating == 4.",
    "ANY NOT ", "rating [", ") ", "rating == 4 & ", "rating BETWEEN {1 ", String(repeating: " ", count: 70_000),
  ])
  func nothingFollowsTextThatIsNoPredicate(text: String) {
    #expect(PredicateBeginning(text).continuation == .none)
  }

  /// Every beginning of a predicate is understood, and its parts are the text.
  @Test(arguments: [
    "isFavorite == true AND rating >= 4", "camera.model CONTAINS[c] 'x-t' AND creationDate == '2024-07'",
    "ANY keywords ==[cd] 'ete' OR title LIKE[cd] '*ete*'", "location NEAR {52.52, 13.405, 5} AND NOT (caption == nil)",
    "resources.contentType == 'image/x-raf' AND resources.@count > 1",
  ])
  func eachPartOfAPredicateIsABeginning(text: String) {
    for count in 0...text.count {
      let part = String(text.prefix(count))
      let beginning = PredicateBeginning(part)
      if beginning.continuation == .none { continue }
      let quote = beginning.quote.map { "\($0)" } ?? ""
      #expect(beginning.before + quote + beginning.begun == part)
    }
  }
}
