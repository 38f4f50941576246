import PhotoContract
import PhotoModel
import PredicateLanguage
import Testing

@testable import photoctl

struct PredicateCompletionTests {
  private static let values: [String: [(String, Int)]] = [
    "camera.model": [("NIKON D90", 12), ("X-T5", 3), ("Say \"x\" \\ 'y'", 1)], "camera.iso": [("100", 5), ("1600", 2)],
    "keywords": [("sea", 2), ("Seaside", 1)], "year": [("2024", 9), ("2023", 1)], "month": [("2024-07", 4)],
    "day": [("2024-07-21", 2)], "folder": [("/photos/2024", 9)], "rating": [("4", 2)],
  ]

  private static let source = CompletionSource(
    albums: { _ in [] }, keys: { _ in .known },
    values: { _, key, prefix in (values[key] ?? []).filter { $0.0.lowercased().hasPrefix(prefix.lowercased()) } },
    backups: { _ in [] })

  private func candidates(_ text: String, shellQuote: Unicode.Scalar? = nil) async -> [String] {
    await PredicateCompletion(source: Self.source, socket: nil, shellQuote: shellQuote).candidates(text).map(\.text)
  }

  private func bash(_ line: String) async throws -> [String] {
    let completer = Completer(program: try CommandDescription(dump: Photoctl._dumpHelp()), source: Self.source)
    let answer = await Completion.text(["bash", line, " \t\n\"'@><=;|&(:"], completer)
    return answer.split(separator: "\n").dropFirst().map(String.init)
  }

  @Test func keysComeFirst() async {
    let all = await candidates("")
    #expect(all.starts(with: KnownKeys.known.predicateKeys) && all.suffix(4) == ["ANY ", "ALL ", "NONE ", "NOT "])
    #expect(await candidates("rating > 3 AND (isF").first == "rating > 3 AND (isFavorite ==")
    #expect(await candidates("camera.m") == ["camera.make", "camera.model"])
    #expect(await candidates("no").allSatisfy { $0.hasPrefix("NO") })
  }

  @Test func onlyListsFollowAQuantifier() async {
    #expect(await candidates("ANY k") == KnownKeys.operators(of: .keywords).map { "ANY keywords \($0)" })
    #expect(await candidates("NONE ").allSatisfy { PredicateKey(rawValue: String($0.dropFirst(5)))?.isList == true })
    // A list that needs a quantifier can be compared with nil only.
    #expect(await candidates("keywords ") == ["keywords ==", "keywords !="])
    #expect(await candidates("keywords == ") == ["keywords == nil"])
  }

  @Test func completeKeyIsFollowedByItsOperators() async {
    #expect(await candidates("isFav") == ["isFavorite ==", "isFavorite !=", "isFavorite IN"])
    #expect(await candidates("camera.f") == ["camera.fNumber", "camera.focalLengthMillimeters", "camera.flashFired"])
    #expect(
      await candidates("location") == [
        "location.latitude", "location.longitude", "location.altitude", "location NEAR", "location ==", "location !=",
      ])
    #expect(await candidates("title B") == ["title BEGINSWITH "])
    #expect(await candidates("rating B") == ["rating BETWEEN {4"])
    #expect(await candidates("location N") == ["location NEAR {"])
  }

  @Test func completeOperatorIsFollowedByTheValuesOfTheLibrary() async {
    #expect(await candidates("camera.iso =") == ["camera.iso = 100", "camera.iso = 1600", "camera.iso = nil"])
    #expect(await candidates("camera.iso >") == ["camera.iso >=", "camera.iso > 100", "camera.iso > 1600"])
    #expect(await candidates("ANY keywords in") == ["ANY keywords in {'sea'", "ANY keywords in {'Seaside'"])
    #expect(await candidates("path BEG") == ["path BEGINSWITH '/photos/2024'"])
    // The values of titles are not listed, so the operator comes alone.
    #expect(await candidates("title ==") == ["title == "])
    #expect(await candidates("title == ").isEmpty)
  }

  @Test func valuesAreLiteralsOfTheirType() async {
    #expect(await candidates("camera.model == \"NI") == ["camera.model == \"NIKON D90\""])
    #expect(await candidates("camera.model == 'ni") == ["camera.model == 'NIKON D90'"])
    #expect(await candidates("camera.model != 'Say") == [#"camera.model != 'Say "x" \\ \'y\''"#])
    #expect(await candidates("isFavorite == t") == ["isFavorite == true"])
    #expect(await candidates("mediaType == 'v") == ["mediaType == 'video'"])
    #expect(await candidates("ANY mediaSubtypes == 'pan") == ["ANY mediaSubtypes == 'panorama'"])
    #expect(await candidates("rating == n") == ["rating == nil"])
    #expect(
      await candidates("ANY keywords IN {'sea', 'S") == [
        "ANY keywords IN {'sea', 'sea'", "ANY keywords IN {'sea', 'Seaside'",
      ])
    #expect(await candidates("camera.model LIKE 'N").isEmpty)
    for text in ["camera.model == 'Say", "camera.model == \"Say", "creationDate == '2024-07-2", "isHidden == f"] {
      let candidate = await candidates(text)
      #expect(candidate.count == 1)
      #expect(throws: Never.self) { try Predicate(parsing: candidate[0]) }
    }
  }

  @Test func datesGrowFromTheYearToTheDay() async {
    #expect(await candidates("creationDate >= '20") == ["creationDate >= '2024'", "creationDate >= '2023'"])
    #expect(await candidates("creationDate >= '2024-") == ["creationDate >= '2024-07'"])
    #expect(await candidates("creationDate >= '2024-07-") == ["creationDate >= '2024-07-21'"])
  }

  @Test func connectivesFollowAComparison() async {
    #expect(await candidates("rating == 4 ") == ["rating == 4 AND ", "rating == 4 OR "])
    #expect(await candidates("title == 'x'") == ["title == 'x' AND ", "title == 'x' OR "])
    #expect(await candidates("rating == 4 o").first == "rating == 4 OR id")
  }

  /// Within the quote of the shell, a literal has the other quote, which needs no escape there.
  @Test func literalsHaveTheQuoteThatTheShellDoesNotUse() async throws {
    #expect(await candidates("camera.iso == ", shellQuote: "'").first == "camera.iso == 100")
    #expect(await candidates("camera.model == ", shellQuote: "'").first == "camera.model == \"NIKON D90\"")
    #expect(await candidates("camera.model == ", shellQuote: "\"").first == "camera.model == 'NIKON D90'")
    #expect(try await bash("photoctl query --where 'camera.model == \"NI") == ["camera.model == \"NIKON D90\""])
    #expect(try await bash("photoctl query --where \"camera.model == 'NI") == ["camera.model == 'NIKON D90'"])
    #expect(
      try await bash("photoctl query --where camera.model\\ ==\\ \\'NI") == [
        "\\ \\'NIKON\\ D90\\'"
      ])
  }
}

extension KnownKeys {
  fileprivate static func operators(of key: PredicateKey) -> [String] { key.valueType.operatorNames }
}
