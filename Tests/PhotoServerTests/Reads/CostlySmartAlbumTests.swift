import PhotoContract
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

@testable import PhotoCatalog
@testable import PhotoIndexer
@testable import PhotoLive
@testable import PhotoServer

/// A smart album whose query takes too long must not keep other collections from being counted.
@Suite(.timeLimit(.minutes(10))) struct CostlySmartAlbumTests {
  /// Takes several seconds over the titles of the fixture.
  private static let costly = SmartAlbumQuery(predicate: "title MATCHES '.*(t|tt|ttt){60}x'")
  private static let favorites = SmartAlbumQuery(predicate: "isFavorite == true")

  private let fixture: ServerFixture
  private let ids: [AssetID]
  private let albums: [CollectionID]

  init() async throws {
    fixture = try ServerFixture()
    ids = try fixture.insert(3_000, titleLength: 4_000)
    var favorite = AssetEdit()
    favorite.isFavorite = true
    albums = try await fixture.library.perform(
      [
        .createSmartAlbum(title: "a", Self.favorites, parent: nil),
        .createSmartAlbum(title: "b", Self.costly, parent: nil),
        .createSmartAlbum(title: "c", Self.costly, parent: nil),
        .createSmartAlbum(title: "d", Self.favorites, parent: nil), .editAssets(Array(ids[..<7]), favorite),
      ], clientName: nil
    ).created
  }

  private func counts(_ collections: [AssetCollection]) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: collections.map { ($0.title, $0.count) })
  }

  private func problems(_ collections: [AssetCollection]) -> [String] {
    collections.filter { $0.problem?.contains("Give the album a simpler query") ?? false }.map(\.title)
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func fetchedCollectionsHaveAllOtherCounts() async throws {
    try await fixture.serving { path, failures in
      let client = try await VarlinkClient.connect(path: path)
      func fetch(containing asset: AssetID? = nil) async throws -> [AssetCollection] {
        try await client.call(
          "org.photod.library.FetchCollections",
          FetchCollectionsRequest(kinds: ["smartAlbum"], containingAsset: asset), returning: CollectionPage.self
        ).collections
      }
      let all = try await fetch()
      #expect(problems(all) == ["b", "c"])
      #expect(counts(all)["a"] == 7 && counts(all)["d"] == 7 && counts(all)["b"] == 0)
      #expect(counts(all)["Recents"] == 3_000)
      #expect(Set(try await fetch(containing: ids[0]).map(\.title)).isSuperset(of: ["a", "d", "Favorites", "Recents"]))
      #expect(failures() == [])
      await client.close()
    }
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func observedCollectionsHaveAllOtherCounts() async throws {
    let (library, live) = (fixture.library, fixture.live)
    live.collections.beginObserving()
    defer { live.collections.endObserving() }
    func list() async throws -> [AssetCollection] {
      try await fixture.reads.run { try live.collections.list([.smartAlbum]).1 }
    }
    let first = try await list()
    #expect(problems(first) == ["b", "c"])
    #expect(counts(first)["a"] == 7 && counts(first)["d"] == 7 && counts(first)["Recents"] == 3_000)

    // A commit does not cost the time of these albums again.
    var favorite = AssetEdit()
    favorite.isFavorite = true
    _ = try await library.perform([.editAssets([ids[8]], favorite)], clientName: nil)
    let time = Duration.milliseconds(500)
    let second = try await fixture.reads.threads.run(for: fixture.reads.peer, budget: time) {
      try live.collections.list([.smartAlbum]).1
    }
    #expect(problems(second) == ["b", "c"] && counts(second)["a"] == 8 && counts(second)["d"] == 8)
    #expect(live.collections.countsSinceStart.reads == 1)

    let version = try await fixture.reads.run { try live.collections.list([.smartAlbum]).0 }
    _ = try await library.perform(
      [.editSmartAlbum(albums[1], Self.favorites), .editSmartAlbum(albums[0], Self.costly)], clientName: nil)
    let change = try await fixture.reads.run { try live.collections.change(since: version).1 }
    let updated = try #require(change).updated
    #expect(updated.map(\.title) == ["a", "b"] && updated.map(\.count) == [0, 8])
    #expect(problems(updated) == ["a"])
    #expect(change?.details.changedFields.contains("query") ?? false)
    #expect(problems(try await list()) == ["a", "c"])
  }

  /// The time of the whole read, and its cancellation, end the part of an album too.
  @Test func theBudgetOfAPartEndsWithTheWholeBudget() throws {
    let whole = WorkBudget(.seconds(60)) { 0 }
    let part = WorkBudget(.seconds(10), within: whole)
    #expect(part.mayGoOn && part.left == .seconds(10))
    whole.cancel()
    #expect(throws: WorkBudget.Spent.cancelled) { try part.check() }
    #expect(part.left == .zero)
    let other = WorkBudget(.seconds(60)) { 0 }
    #expect(throws: WorkBudget.Spent.timedOut) { try WorkBudget(.zero, within: other).check() }
    #expect(other.mayGoOn)
  }
}
