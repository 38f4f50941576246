import ArgumentParser
import PhotoClient
import TestTools
import Testing

@testable import PhotoModel
@testable import PredicateLanguage
@testable import photoctl

struct ShorthandTests {
  private func predicate(_ arguments: String...) throws -> String? {
    let query = try #require(try Photoctl.parseAsRoot(["query"] + arguments) as? QueryCommand)
    return try query.query.fetchOptions().predicate
  }

  @Test(arguments: [
    ("2024", "creationDate >= '2024-01-01' AND creationDate < '2025-01-01'"),
    ("2024-07", "creationDate >= '2024-07-01' AND creationDate < '2024-08-01'"),
    ("2024-12", "creationDate >= '2024-12-01' AND creationDate < '2025-01-01'"),
    ("2024-02-28", "creationDate >= '2024-02-28' AND creationDate < '2024-02-29'"),
    ("2023-02-28", "creationDate >= '2023-02-28' AND creationDate < '2023-03-01'"),
    ("2023-12-31", "creationDate >= '2023-12-31' AND creationDate < '2024-01-01'"),
    ("2024-07..2024-09", "creationDate >= '2024-07-01' AND creationDate < '2024-10-01'"),
    ("2024..", "creationDate >= '2024-01-01'"), ("..2019", "creationDate < '2020-01-01'"),
    ("2024-07-21..2024", "creationDate >= '2024-07-21' AND creationDate < '2025-01-01'"),
    ("9999", "creationDate >= '9999-01-01'"), ("..9999", "creationDate != nil"),
  ])
  func takenIsASpanOfDays(argument: String, expected: String) throws {
    #expect(try TakenArgument(argument).predicate == expected)
    _ = try Predicate(parsing: expected)
  }

  @Test(arguments: [
    ("", "it must be a year"), ("..", "it must be a year"), ("24", "'24' is no date"),
    ("2024-7", "'2024-7' is no date"),
    ("2024-13", "there is no month 13"), ("2024-00", "there is no month 00"),
    ("2024-02-30", "there is no day 2024-02-30"), ("2024-07-01-01", "write"),
    ("2024-07..2024-06", "the range ends before it begins"), ("today..yesterday", "the range ends before it begins"),
    ("tomorrow", "'tomorrow' is no date"), ("2024...", "write"), ("٢٠٢٤", "write"), ("0000", "there is no year 0000"),
    ("2024-07-", "write"), ("+024", "write"), ("d", "write"), ("0d", "'0d' is not between 1d and 36525d"),
    ("99999999999999999999d", "is not between"),
    ("-1d", "write"),
  ])
  func invalidSpansAreRefused(argument: String, mistake: String) {
    let error = #expect(throws: TakenArgument.Mistake.self) { try TakenArgument(argument, today: "2024-03-01") }
    #expect(error?.description.contains(mistake) == true, "\(argument): \(String(describing: error))")
  }

  @Test(arguments: [
    ("today", "2024-03-01", "2024-03-02"), ("yesterday", "2024-02-29", "2024-03-01"),
    ("1d", "2024-03-01", "2024-03-02"),
    ("7d", "2024-02-24", "2024-03-02"), ("366d", "2023-03-02", "2024-03-02"),
    ("2024-02..yesterday", "2024-02-01", "2024-03-01"),
  ])
  func todayAndYesterdayAreDaysInTheTimeZoneOfTheComputer(argument: String, first: String, after: String) throws {
    let span = try TakenArgument(argument, today: "2024-03-01")
    #expect(span.firstDay == first && span.dayAfter == after)
  }

  @Test func mistakeOfADateIsNamedOnTheCommandLine() {
    do {
      _ = try Photoctl.parseAsRoot(["query", "--taken", "2024-13"])
      Issue.record("2024-13 was taken as a date")
    } catch {
      #expect(
        Photoctl.fullMessage(for: error).hasPrefix(
          "Error: The value '2024-13' is invalid for '--taken <when>': there is no month 13"),
        "\(Photoctl.fullMessage(for: error))")
    }
  }

  @Test func wordsAndTextAreOneSearch() throws {
    let command = try #require(
      try Photoctl.parseAsRoot(["query", "beach", "2024", "--text", "\"big sea\""]) as? QueryCommand)
    #expect(try command.query.fetchOptions().text == "beach 2024 \"big sea\"")
    let watch = try #require(try Photoctl.parseAsRoot(["watch", "beach"]) as? WatchCommand)
    #expect(try watch.query.fetchOptions().text == "beach" && !watch.query.isEmpty)
  }

  @Test func folderIsAPrefixOfThePathInBothForms() throws {
    #expect(
      try predicate("--under", "/p/a b", "--rating", "3")
        == "(path BEGINSWITH '/p/a b/' OR path BEGINSWITH 'file:///p/a%20b/') AND rating >= 3")
    #expect(try predicate("--under", "/p/../") == "(path BEGINSWITH '/' OR path BEGINSWITH 'file:///')")
    #expect(try predicate("--under", "file:///p/%FF") == "path BEGINSWITH 'file:///p/%FF/'")
  }

  @Test func hiddenAndOfflineAssetsAreAskedFor() throws {
    let command = try #require(try Photoctl.parseAsRoot(["query", "--hidden", "--offline"]) as? QueryCommand)
    let options = try command.query.fetchOptions()
    #expect(options.includeHidden == true && options.predicate == "isHidden == true AND available == false")
    #expect(try predicate("--no-offline") == "available == true")
  }

  @Test func shorthandsAreCombined() throws {
    #expect(
      try predicate("--camera", "Fuji X-T5", "--keyword", "it's", "--keyword", "b", "--rating", "4", "--favorite")
        == """
        (camera.make CONTAINS[c] 'Fuji' OR camera.model CONTAINS[c] 'Fuji') \
        AND (camera.make CONTAINS[c] 'X-T5' OR camera.model CONTAINS[c] 'X-T5') \
        AND ANY keywords ==[c] 'it\\'s' AND ANY keywords ==[c] 'b' AND rating >= 4 AND isFavorite == true
        """)
    #expect(
      try predicate("--camera", "a", "--camera", "b", "--no-favorite") == """
        (((camera.make CONTAINS[c] 'a' OR camera.model CONTAINS[c] 'a')) \
        OR ((camera.make CONTAINS[c] 'b' OR camera.model CONTAINS[c] 'b'))) AND isFavorite == false
        """)
    #expect(try predicate() == nil)
    #expect(try predicate("--where", "a == 1) OR (b == 1") == "a == 1) OR (b == 1")
  }

  @Test func wordsAreSentAsTyped() throws {
    let command = try #require(
      try Photoctl.parseAsRoot(["query", "--text", "-beach \"birthday party\"", "--favorite"]) as? QueryCommand)
    let options = try command.query.fetchOptions()
    #expect(options.text == "-beach \"birthday party\"")
    #expect(options.predicate == "isFavorite == true")
    #expect(!command.query.isEmpty)
  }

  @Test func thePredicateIsPutInParentheses() throws {
    #expect(
      try predicate("--where", "rating == 1 OR title == ')'", "--favorite")
        == "(rating == 1 OR title == ')') AND isFavorite == true")
    let failure = #expect(throws: Failure.self) { try predicate("--where", "id == 1) OR (id == 2", "--favorite") }
    #expect(failure?.problem == "this parenthesis has no counterpart\n    id == 1) OR (id == 2\n           ^")
    #expect(failure?.status == .data)
  }

  @Test func parenthesesInTextsDoNotCount() {
    #expect(PredicateText.unmatchedParenthesis(in: #"(a == ')\')' AND (b == "(\""))"#) == nil)
    #expect(PredicateText.unmatchedParenthesis(in: "((a)") == 0)
    #expect(PredicateText.unmatchedParenthesis(in: "(a))(") == 3)
  }

  /// Any text can be parsed back from the predicate into which it was written.
  @Test func everyTextRoundTrips() throws {
    var texts = [
      "", "'", "\\", "\\'", "a' OR 'b' == 'b", "\u{301}'\u{301}", "\r\n\t", "👩‍👩‍👧", "\u{202E}x", "%@", "\u{10FFFF}",
    ]
    var generator = SeededGenerator(seed: 1)
    let pool: [ClosedRange<UInt32>] = [1...0x7F, 0x27...0x27, 0x5C...0x5C, 0x80...0xD7FF, 0xE000...0x10FFFF]
    for _ in 0..<2_000 {
      let length = Int.random(in: 0...12, using: &generator)
      texts.append(
        String(
          String.UnicodeScalarView(
            (0..<length).compactMap { _ in
              pool.randomElement(using: &generator).flatMap { Unicode.Scalar(UInt32.random(in: $0, using: &generator)) }
            })))
    }
    let date = PhotoDate(microseconds: 0)
    var asset = Asset(
      id: 1, mediaType: .image, creationDate: date, creationDateSource: .file, modificationDate: date, addedDate: date,
      rating: 1)
    for text in texts {
      let parsed = try Predicate(parsing: "title == \(PredicateText.quoted(text)) AND rating == 1")
      asset.title = text
      #expect(parsed.matches(asset), "\(text)")
      asset.title = text + "x"
      #expect(!parsed.matches(asset), "\(text)")
    }
  }

  /// No daemon can check the user's predicate alone, so the error of the original call is shown.
  @Test func anErrorOfAPredicateAloneIsShownInIt() async throws {
    let query = try #require(try Photoctl.parseAsRoot(["query", "--where", "nope == 1"]) as? QueryCommand)
    let library = PhotoLibrary(socketPath: "/nonexistent/s")
    let failure = await #expect(throws: Failure.self) {
      try await query.query.explaining(in: "query", library) {
        throw PhotoLibraryError.invalidPredicate(message: "m", position: 0)
      }
    }
    #expect(failure?.problem == "m\n    nope == 1\n    ^")
  }
}
