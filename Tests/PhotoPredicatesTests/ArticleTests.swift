import Foundation
import PhotoClient
import PhotoPredicates
import Testing

/// The article about predicates in Swift, whose listing and table stand here so that they are compiled and tested.
struct ArticleTests {
  private func listing() throws -> FetchOptions {
    let lastWeek = PhotoDate(Date.now.addingTimeInterval(-7 * 86_400))
    let options = try FetchOptions(
      predicate: #Predicate {
        $0.creationDate > lastWeek && $0.camera?.model?.localizedStandardContains("x-t") == true
      },
      sortDescriptors: [SortDescriptor(\.rating, order: .reverse), SortDescriptor(\.creationDate)])
    return options
  }

  @Test func theRowsOfTheTableAreTranslatedSo() throws {
    let date = try #require(PhotoDate("2024-07-21T10:00:00+02:00"))
    let video = MediaType.video
    let same = ComparisonResult.orderedSame
    let rows: [(Predicate<Asset>, String)] = [
      (#Predicate { $0.isFavorite && !$0.isHidden }, "NOT isHidden == true AND isFavorite == true"),
      (#Predicate { $0.rating == 3 }, "rating == 3"), (#Predicate { $0.rating != 3 }, "NOT rating == 3"),
      (#Predicate { $0.rating == nil }, "rating == nil"), (#Predicate { ($0.rating ?? 0) >= 3 }, "rating >= 3"),
      (#Predicate { if let rating = $0.rating { rating > 3 } else { false } }, "rating > 3"),
      (#Predicate { $0.camera?.flashFired == false }, "camera.flashFired == false"),
      (#Predicate { (3...5).contains($0.rating ?? 0) }, "rating BETWEEN {3, 5}"),
      (#Predicate { [1, 2].contains($0.rating) }, "rating IN {1, 2}"),
      (#Predicate { $0.title?.contains("sea") == true }, "title CONTAINS 'sea'"),
      (#Predicate { $0.title?.starts(with: "A") == true }, "title BEGINSWITH 'A'"),
      (#Predicate { $0.title?.localizedStandardContains("ete") == true }, "title CONTAINS[cd] 'ete'"),
      (#Predicate { $0.camera?.make?.caseInsensitiveCompare("sony") == same }, "camera.make ==[c] 'sony'"),
      (#Predicate { $0.keywords.contains("sea") }, "ANY keywords == 'sea'"),
      (#Predicate { $0.keywords.contains { $0.starts(with: "trip") } }, "ANY keywords BEGINSWITH 'trip'"),
      (#Predicate { $0.keywords.allSatisfy { $0 != "private" } }, "NOT ANY keywords == 'private'"),
      (#Predicate { $0.keywords.isEmpty }, "keywords == nil"),
      (#Predicate { $0.keywords.count > 2 }, "keywords.@count > 2"),
      (#Predicate { $0.mediaSubtypes.contains("raw") }, "ANY mediaSubtypes == 'raw'"),
      (
        #Predicate { $0.resources.contains { $0.contentType == "image/x-raf" } },
        "ANY resources.contentType == 'image/x-raf'"
      ), (#Predicate { $0.resources[0].filename == "a.jpg" }, "filename == 'a.jpg'"),
      (#Predicate { $0.creationDate > date }, "creationDate > '2024-07-21T08:00:00Z'"),
      (#Predicate { $0.mediaType == video }, "mediaType == 'video'"),
    ]
    for (predicate, text) in rows {
      let translated = try String(photodPredicate: predicate)
      #expect(translated == text)
    }
  }

  @Test func theArticleHasWhatIsTestedHere() throws {
    let tests = URL(filePath: #filePath)
    let source = try Self.words(String(contentsOf: tests, encoding: .utf8))
    let article = try String(
      contentsOf: tests.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Documentation/photod.docc/SwiftPredicates.md"), encoding: .utf8)
    var rows = 0
    for match in article.matches(of: /(?m)^\| (`.+`) \| (`.+`) \|$/) {
      let (swift, texts) = (Self.codes(match.1), Self.codes(match.2))
      #expect(swift.count == texts.count)
      for (expression, text) in zip(swift, texts) {
        #expect(source.contains("#Predicate { \(expression) }, \"\(text)\""), "\(expression)")
        rows += 1
      }
    }
    #expect(rows == 23)
    let listing = try #require(article.firstMatch(of: /```swift\n(?:import \w+\n)+\n([^`]*)```/)).1
    #expect(source.contains(Self.words(String(listing))))
    #expect(try self.listing().sortDescriptors?.map(\.key) == ["rating", "creationDate"])
    let error = #expect(throws: PredicateTranslationError.self) {
      try FetchOptions(predicate: #Predicate { $0.title == $0.caption })
    }
    #expect(article.contains(error.map { "`'\($0.expression)' can't be translated for photod: \($0.reason).`" } ?? "?"))
  }

  /// The texts in backticks.
  private static func codes(_ cell: Substring) -> [String] { cell.matches(of: /`([^`]+)`/).map { String($0.1) } }

  /// The text with single spaces between its words.
  private static func words(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
