import Foundation
import PhotoClient
import PhotoPredicates
import Testing

struct TranslationTests {
  /// Each #Predicate beside the text that photod gets for it.
  @Test func predicatesBecomeTheTextsOfTheLanguage() throws {
    let after = try #require(PhotoDate("2024-07-21T10:00:00+02:00"))
    let type = MediaType.video
    let same = ComparisonResult.orderedSame
    let names = ["b.jpg", "a.jpg"]
    let stars = 3...5
    let oneOrNone: [Int?] = [1, nil]
    let cases: [(Predicate<Asset>, String)] = [
      (
        #Predicate { $0.isFavorite && $0.camera?.model?.localizedStandardContains("x-t") == true },
        "camera.model CONTAINS[cd] 'x-t' AND isFavorite == true"
      ),
      (#Predicate { _ in true }, "TRUEPREDICATE"),
      (#Predicate { !$0.isFavorite }, "NOT isFavorite == true"),
      (#Predicate { $0.rating == 3 }, "rating == 3"),
      (#Predicate { $0.rating != 3 }, "NOT rating == 3"),
      (#Predicate { $0.rating == nil }, "rating == nil"),
      (#Predicate { $0.rating != nil }, "rating != nil"),
      (#Predicate { ($0.rating ?? 0) >= 3 }, "rating >= 3"),
      (#Predicate { ($0.rating ?? 5) >= 3 }, "rating == nil OR rating >= 3"),
      (#Predicate { 3 < $0.rating! }, "rating > 3"),
      (
        #Predicate { if let rating = $0.rating { rating > 3 } else { $0.isFavorite } },
        "(isFavorite == true AND rating == nil) OR rating > 3"
      ),
      (
        #Predicate { $0.isHidden ? $0.isTrashed : $0.isFavorite },
        "(NOT isHidden == true AND isFavorite == true) OR (isHidden == true AND isTrashed == true)"
      ),
      (#Predicate { [1, 2].contains($0.rating) }, "rating IN {1, 2}"),
      (#Predicate { oneOrNone.contains($0.rating) }, "rating == 1 OR rating == nil"),
      (#Predicate { stars.contains($0.rating ?? 0) }, "rating BETWEEN {3, 5}"),
      (#Predicate { (1..<4).contains($0.orientation ?? 9) }, "orientation BETWEEN {1, 3}"),
      (#Predicate { ($0.camera?.fNumber ?? 99) <= 2.8 }, "camera.fNumber <= 2.8"),
      (#Predicate { $0.camera?.flashFired == false }, "camera.flashFired == false"),
      (#Predicate { $0.location == nil }, "location == nil"),
      (#Predicate { ($0.location?.latitude ?? 0) > 47.5 }, "location.latitude > 47.5"),
      (#Predicate { $0.title?.contains("sea") == true }, "title CONTAINS 'sea'"),
      (#Predicate { $0.title?.starts(with: "A") ?? true }, "title == nil OR title BEGINSWITH 'A'"),
      (#Predicate { $0.title?.isEmpty == true }, "title == ''"),
      (#Predicate { $0.camera?.make?.caseInsensitiveCompare("fujifilm") == same }, "camera.make ==[c] 'fujifilm'"),
      (#Predicate { $0.keywords.contains("sea") }, "ANY keywords == 'sea'"),
      (
        #Predicate { !$0.keywords.contains { $0.localizedStandardContains("ete") } },
        "NOT ANY keywords CONTAINS[cd] 'ete'"
      ),
      (#Predicate { $0.keywords.allSatisfy { $0 != "x" } }, "NOT ANY keywords == 'x'"),
      (#Predicate { $0.keywords.isEmpty }, "keywords == nil"),
      (#Predicate { $0.keywords.count > 2 }, "keywords.@count > 2"),
      (#Predicate { $0.mediaSubtypes.contains("raw") }, "ANY mediaSubtypes == 'raw'"),
      (#Predicate { $0.mediaSubtypes.contains("not yet known") }, "FALSEPREDICATE"),
      (
        #Predicate { $0.resources.contains { $0.contentType == "image/x-raf" } },
        "ANY resources.contentType == 'image/x-raf'"
      ),
      (
        #Predicate { $0.resources.contains { (5...9).contains($0.byteCount) } },
        "ANY resources.byteCount BETWEEN {5, 9}"
      ),
      (#Predicate { names.contains($0.resources[0].filename) }, "filename IN {'a.jpg', 'b.jpg'}"),
      (#Predicate { $0.resources.first?.byteCount == 7 }, "byteCount == 7"),
      (#Predicate { $0.creationDate > after }, "creationDate > '2024-07-21T08:00:00Z'"),
      (#Predicate { $0.mediaType == type }, "mediaType == 'video'"),
      (#Predicate { $0.mediaType.rawValue == "image" }, "mediaType == 'image'"),
      (#Predicate { $0.id == 42 || $0.id.rawValue == 7 }, "id == 42 OR id == 7"),
      (
        #Predicate { asset in ["a", "b"].contains { (asset.title ?? "").starts(with: $0) } },
        "title BEGINSWITH 'a' OR title BEGINSWITH 'b'"
      ),
    ]
    for (predicate, text) in cases {
      let translated = try String(photodPredicate: predicate)
      #expect(translated == text)
      #expect(try FetchOptions(predicate: predicate).predicate == translated)
    }
  }

  /// A program reaches every key of the language.
  @Test func everyKeyHasAProperty() throws {
    let type = MediaType.image
    let source = CreationDateSource.user
    let date = PhotoDate(microseconds: 0)
    let predicates: [Predicate<Asset>] = [
      #Predicate { $0.id == 1 },
      #Predicate { $0.mediaType == type },
      #Predicate { $0.mediaSubtypes.isEmpty },
      #Predicate { $0.creationDateSource == source },
      #Predicate { $0.creationDate < date },
      #Predicate { $0.modificationDate < date },
      #Predicate { $0.addedDate < date },
      #Predicate { $0.pixelWidth == nil },
      #Predicate { $0.pixelHeight == nil },
      #Predicate { $0.orientation == nil },
      #Predicate { $0.rating == nil },
      #Predicate { $0.durationSeconds == nil },
      #Predicate { $0.title == nil },
      #Predicate { $0.caption == nil },
      #Predicate { $0.burstIdentifier == nil },
      #Predicate { $0.isFavorite },
      #Predicate { $0.isHidden },
      #Predicate { $0.isTrashed },
      #Predicate { $0.available },
      #Predicate { $0.camera?.make == nil },
      #Predicate { $0.camera?.model == nil },
      #Predicate { $0.camera?.lens == nil },
      #Predicate { $0.camera?.exposureSeconds == nil },
      #Predicate { $0.camera?.fNumber == nil },
      #Predicate { $0.camera?.iso == nil },
      #Predicate { $0.camera?.focalLengthMillimeters == nil },
      #Predicate { $0.camera?.flashFired == nil },
      #Predicate { $0.location == nil },
      #Predicate { ($0.location?.latitude ?? 0) > 1 },
      #Predicate { ($0.location?.longitude ?? 0) > 1 },
      #Predicate { $0.location?.altitude == nil },
      #Predicate { $0.keywords.isEmpty },
      #Predicate { $0.keywords.count == 1 },
      #Predicate { $0.resources[0].filename == "a" },
      #Predicate { $0.resources[0].path == "a" },
      #Predicate { $0.resources[0].byteCount == 1 },
      #Predicate { $0.resources[0].contentType == "a" },
      #Predicate { $0.resources.count == 1 },
      #Predicate { $0.resources.contains { $0.path == "a" } },
      #Predicate { $0.resources.contains { $0.filename == "a" } },
      #Predicate { $0.resources.contains { $0.byteCount == 1 } },
      #Predicate { $0.resources.contains { $0.contentType == "a" } },
    ]
    let texts = try predicates.map { try String(photodPredicate: $0) }
    let words = Set(texts.joined(separator: " ").split { " ()".contains($0) }.map(String.init))
    #expect(Matcher.keys.filter { !words.contains($0) } == [])
  }

  /// If photod can't evaluate an expression, the error names it as it is in the call.
  @Test func theErrorNamesTheExpression() throws {
    let cases: [(Predicate<Asset>, String)] = [
      (#Predicate { $0.isFavorite && $0.title == $0.caption }, "$0.title == $0.caption"),
      (#Predicate { ($0.pixelWidth ?? 0) > ($0.pixelHeight ?? 0) }, "($0.pixelWidth ?? 0) > ($0.pixelHeight ?? 0)"),
      (#Predicate { $0.revision == "x" || $0.isHidden }, "$0.revision"),
      (#Predicate { $0.title?.count == 3 }, "$0.count"),
      (
        #Predicate { $0.resources.contains { $0.byteCount > 3 && $0.contentType == "image/jpeg" } },
        #"$0.resources.contains { ($0.byteCount > 3 && $0.contentType == "image/jpeg") }"#
      ),
      (#Predicate { $0.keywords == ["a"] }, #"$0.keywords == ["a"]"#),
      (#Predicate { $0.resources[1].byteCount > 3 }, "$0.resources[1]"),
      (#Predicate { "abc".contains($0.title ?? "") }, #""abc".contains(($0.title ?? ""))"#),
      (
        #Predicate { asset in asset.keywords.contains { one in asset.keywords.allSatisfy { $0 != one } } },
        "$0.keywords.allSatisfy { $0 != $0 }"
      ),
    ]
    for (predicate, expression) in cases {
      let error = #expect(throws: PredicateTranslationError.self) { try FetchOptions(predicate: predicate) }
      #expect(error?.expression == expression)
      #expect(error?.description.hasPrefix("'\(expression)' can't be translated for photod: ") == true)
      #expect(error?.remedy.hasSuffix(".") == true)
    }
  }

  @Test func aPredicateThatIsTooLargeIsAnError() {
    let names = (0..<6_000).map { "\($0).jpg" }
    let error = #expect(throws: PredicateTranslationError.self) {
      try FetchOptions(predicate: #Predicate { names.contains($0.resources[0].filename) })
    }
    #expect(error?.reason.hasPrefix("it is too large: ") == true)
  }

  @Test func foundationsSortDescriptorsBecomeOurs() throws {
    let options = try FetchOptions(sortDescriptors: [
      SortDescriptor(\.rating, order: .reverse), SortDescriptor(\.resources[0].filename), SortDescriptor(\.id),
    ])
    #expect(options.sortDescriptors?.map(\.key) == ["rating", "filename", "id"])
    #expect(options.sortDescriptors?.map(\.ascending) == [false, true, true])
    #expect(try FetchOptions(predicate: #Predicate { $0.isFavorite }).sortDescriptors == nil)
    let comparator = try PhotoClient.SortDescriptor(KeyPathComparator(\Asset.creationDate, order: .reverse))
    #expect(comparator == PhotoClient.SortDescriptor(key: "creationDate", ascending: false))
  }

  @Test func aKeyPathWithoutSortKeyIsAnError() {
    let error = #expect(throws: PredicateTranslationError.self) {
      try FetchOptions(sortDescriptors: [SortDescriptor(\.caption)])
    }
    #expect(error?.expression == #"\Asset.caption"#)
    #expect(error?.remedy.contains(#"\Asset.title"#) == true)
  }

  @Test func datesOfFoundationKeepTheirMicroseconds() throws {
    let date = try #require(PhotoDate("2024-07-21T10:00:00.123457Z"))
    #expect(PhotoDate(date.date) == date)
    #expect(PhotoDate(Date(timeIntervalSince1970: .infinity)).description == "9999-12-31T23:59:59.999999Z")
  }
}
