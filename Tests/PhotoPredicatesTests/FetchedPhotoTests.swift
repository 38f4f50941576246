import Foundation
import PhotoClient
import PhotoModel
import PhotoPredicates
import PhotoTestSupport
import TestTools
import Testing

/// Swift's own evaluation of a #Predicate, and a fetch of photod with its translation, which SQLite carries out, select
/// the same photos of a library. Some of their values come from the files, and others from edits.
@Suite(.timeLimit(.minutes(10))) struct FetchedPhotoTests {
  private static let photos = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures/made")

  @Test func randomPredicatesFetchTheSamePhotos() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.copyFolder(Self.photos, to: "made")
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket)
      var generator = SeededGenerator(seed: 23)
      try await Self.edit(try await library.fetchAssets().ids, of: library, &generator)
      let assets = try await library.assets(library.fetchAssets(with: FetchOptions(includeHidden: true)).ids)
      #expect(assets.count > 100 && assets.contains { $0.isHidden } && assets.contains { $0.mediaType == .video })

      var selected = (none: 0, some: 0, all: 0)
      let count = TestTier.count(600, quick: 100)
      for number in 0..<count {
        let predicate = Foundation.Predicate<Asset> { RandomExpressions.condition($0, depth: number % 4, &generator) }
        var options = try FetchOptions(predicate: predicate)
        options.includeHidden = true
        let fetched = Set(try await library.fetchAssets(with: options).ids)
        for asset in assets {
          let expected = try predicate.evaluate(asset)
          try #require(
            fetched.contains(asset.id) == expected, "\(options.predicate ?? "") for \(asset), from \(predicate)")
        }
        switch fetched.count {
        case 0: selected.none += 1
        case assets.count: selected.all += 1
        default: selected.some += 1
        }
      }
      #expect(selected.some > count * 5 / 12, "\(selected)")
    }
  }

  /// Gives most of the photos some values from which the predicates are made.
  private static func edit(
    _ ids: [AssetID], of library: PhotoLibrary, _ generator: inout SeededGenerator
  ) async throws {
    func some<Value>(_ values: [Value]) -> Value { values[Int(generator.next() % UInt64(values.count))] }
    func maybe<Value>(_ values: [Value]) -> Value? { generator.next() % 3 == 0 ? nil : some(values) }
    let words = RandomAssets.texts.filter { !$0.isEmpty }
    var requests: [AssetChangeRequest] = []
    for id in ids where !generator.once(in: 8) {
      var request = AssetChangeRequest(forIDs: [id])
      request.title = maybe(RandomAssets.texts)
      request.caption = maybe(RandomAssets.texts)
      request.rating = maybe([0, 1, 3, 5])
      request.isFavorite = maybe([true, false])
      request.isHidden = generator.once(in: 5) ? true : nil
      request.creationDate = maybe(RandomAssets.dates)
      request.location = maybe([
        Location(latitude: 52.5, longitude: 13.4), Location(latitude: -33, longitude: 151, altitude: 12),
      ])
      request.addKeywords((0..<generator.next() % 4).map { _ in some(words) })
      requests.append(request)
    }
    let edits = requests
    try await library.performChanges { changes in
      for edit in edits { changes.add(edit) }
    }
  }
}
