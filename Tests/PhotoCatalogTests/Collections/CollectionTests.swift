import PhotoModel
import Testing

@testable import PhotoCatalog

@Suite struct CollectionTests {
  private let fixture: CatalogFixture
  private let top: DirectoryID
  private let trip: DirectoryID

  init() throws {
    fixture = try CatalogFixture()
    top = try fixture.addRoot("/photos/Family")
    trip = try fixture.addDirectory("Trip", in: top)
    try fixture.addDirectory("Alpha", in: top)
    let rows: [(Asset, DirectoryID)] = [
      (.sample(1, taken: 100), trip), (.sample(2, taken: 300, isFavorite: true), trip), (.sample(3, added: 900), trip),
      (.sample(4, taken: 500, isHidden: true), trip), (.sample(5, .video, taken: 200), top),
    ]
    try fixture.insert(rows.map { ($0.0, $0.1, Array("\($0.0.id).jpg".utf8), nil) })
  }

  private func collections(
    _ kinds: Set<AssetCollection.Kind>? = nil, containing asset: AssetID? = nil
  ) throws -> [AssetCollection] {
    try fixture.catalog.read { try $0.collections(kinds: kinds, containing: asset) }
  }

  private func failure(_ collection: String) throws -> FetchError? {
    do {
      _ = try fixture.ids(FetchOptions(collection: collection))
      return nil
    } catch let error as FetchError {
      return error
    }
  }

  @Test func smartAlbumsComeFirstThenAlbumsThenFoldersByPath() throws {
    try fixture.addAlbum("zoo")
    try fixture.addAlbum("Apes")
    let all = try collections()
    #expect(
      all.map(\.title) == [
        "Recents", "Favorites", "Videos", "Screenshots", "Panoramas", "Animated", "RAW", "Bursts", "Live Photos",
        "Depth",
        "No Location", "Hidden", "Unable to Read", "Recently Added", "Duplicates", "Apes", "zoo", "Family", "Alpha",
        "Trip",
      ])
    #expect(all.prefix(16).map(\.subtype) == SmartAlbum.allCases.map(\.rawValue) + [nil])
    #expect(all.compactMap(\.path) == ["/photos/Family", "/photos/Family/Alpha", "/photos/Family/Trip"])
    #expect(try collections([.album, .smartAlbum]).count == 17)
    #expect(try collections([]).isEmpty)
  }

  @Test func theCountIsThatOfAFetchWithEverythingLeftOut() throws {
    try fixture.addAlbum("Mixed", [1, 4, 5])
    for collection in try collections() {
      let ids = try fixture.ids(FetchOptions(collection: "id:\(collection.id)"))
      #expect(collection.count == ids.count, "\(collection.title)")
      #expect(try fixture.catalog.read { try $0.collection(id: collection.id) } == collection)
    }
  }

  @Test func coverIsTheNewestAndDatesAreThoseOfTheOldestAndTheNewest() throws {
    let folder = try #require(try collections([.folderAlbum]).last)
    #expect(folder.count == 3)
    #expect(folder.keyAssetID == 3)  // Its file has the newest date.
    #expect(folder.startDate == PhotoDate(microseconds: 100_000_000, offsetMinutes: nil))
    #expect(folder.endDate == PhotoDate(microseconds: 900_000_000, offsetMinutes: nil))
    let empty = try collections([.folderAlbum])[1]
    #expect(empty.count == 0 && empty.keyAssetID == nil && empty.startDate == nil && empty.endDate == nil)
  }

  @Test func aChosenCoverStaysWhileItIsInTheAlbum() throws {
    let chosen = try fixture.addAlbum("Chosen", [1, 2, 5], keyAssetID: 1)
    let hidden = try fixture.addAlbum("Hidden cover", [1, 4], keyAssetID: 4)
    let gone = try fixture.addAlbum("Gone cover", [1, 2], keyAssetID: 5)
    let covers = try [chosen, hidden, gone].map { id in
      try fixture.catalog.read { try $0.collection(id: id)?.keyAssetID }
    }
    #expect(covers == [1, 1, 2])
  }

  @Test func anAssetIsInEachCollectionThatContainsIt() throws {
    try fixture.addAlbum("Mine", [2, 4])
    #expect(
      try collections(containing: 2).map(\.title) == [
        "Recents", "Favorites", "No Location", "Recently Added", "Mine", "Trip",
      ])
    #expect(
      try collections(containing: 5).map(\.title) == ["Recents", "Videos", "No Location", "Recently Added", "Family"])
    #expect(try collections([.folderAlbum], containing: 5).map(\.title) == ["Family"])
    #expect(try collections(containing: 4).map(\.title) == ["Hidden"])
    #expect(try collections(containing: 99).isEmpty)
  }

  @Test func aTitleWithoutAKindIsThatOfTheFirstKind() throws {
    let videos = try fixture.addAlbum("Videos", [1])
    let trip = try fixture.addAlbum("TRIP", [5])
    #expect(try fixture.ids(FetchOptions(collection: "videos")) == [5])
    #expect(try fixture.ids(FetchOptions(collection: "album:videos")) == [1])
    #expect(try fixture.ids(FetchOptions(collection: "trip")) == [5])
    #expect(try fixture.key(FetchOptions(collection: "trip")) == fixture.key(FetchOptions(collection: "id:\(trip)")))
    #expect(try fixture.ids(FetchOptions(collection: "id:\(videos)")) == [1])
    #expect(try fixture.ids(FetchOptions(collection: "family")) == [5])
  }

  @Test func titlesWithAColonAreTitles() throws {
    try fixture.addAlbum("Rome: the rest", [1])
    try fixture.addAlbum("id:", [2])
    #expect(try fixture.ids(FetchOptions(collection: "rome: the REST")) == [1])
    #expect(try fixture.ids(FetchOptions(collection: "album:id:")) == [2])
  }

  @Test func twoOfOneKindAreAmbiguous() throws {
    let other = try fixture.addDirectory("trip", in: try fixture.addRoot("/drive"))
    #expect(other > trip)
    #expect(
      try failure("Trip")
        == .ambiguousCollection(
          collection: "Trip", candidates: ["folder:/photos/Family/Trip", "folder:/drive/trip"], count: 2))
    let first = try fixture.addAlbum("Été")
    let second = try fixture.addAlbum("éTÉ")
    #expect(
      try failure("album:été")
        == .ambiguousCollection(collection: "album:été", candidates: ["id:\(first)", "id:\(second)"], count: 2))
  }

  /// An error must fit into a reply, whatever the caller's text and the titles are.
  @Test func errorsOfCollectionsAreShort() throws {
    let ids = try (0..<150).map { _ in try fixture.addAlbum("Same") }
    let expected = FetchError.ambiguousCollection(
      collection: "same", candidates: ids.prefix(20).map { "id:\($0)" }, count: 150)
    #expect(try failure("same") == expected)
    let text = String(repeating: "\u{1}", count: 200_000)
    guard case .noSuchCollection(let collection, _) = try failure(text) else {
      Issue.record("the text names a collection")
      return
    }
    #expect(collection.unicodeScalars.count == 4_096)
    // Control characters take six bytes each in a reply.
    var parent = try fixture.addRoot("/deep")
    for level in 0..<30 {
      parent = try fixture.addDirectory("\(level)" + String(repeating: "\u{1}", count: 400), in: parent)
    }
    for number in 0..<21 {
      try fixture.addDirectory("deepest", in: try fixture.addDirectory("\(number)", in: parent))
    }
    guard case .ambiguousCollection(_, let candidates, let count) = try failure("deepest") else {
      Issue.record("the title is not ambiguous")
      return
    }
    #expect(count == 21 && (1..<20).contains(candidates.count))
    #expect(candidates.reduce(0) { $0 + $1.utf8.count } <= 150_000)
  }

  @Test func anUnknownCollectionNamesThoseThatAreAlike() throws {
    try fixture.addAlbum("Triple")
    #expect(
      try failure("tripp")
        == .noSuchCollection(collection: "tripp", similar: ["folder:/photos/Family/Trip"]))
    #expect(try failure("favorits") == .noSuchCollection(collection: "favorits", similar: ["smart:favorites"]))
    #expect(
      try failure("folder:/photos/Trip")
        == .noSuchCollection(
          collection: "folder:/photos/Trip", similar: ["folder:/photos/Family/Trip"]))
    #expect(
      try failure("album:Alpha")
        == .noSuchCollection(collection: "album:Alpha", similar: ["folder:/photos/Family/Alpha"]))
    for nothing in ["", "id:99", "id:x", "smart:", "folder:", "wholly different", "x' OR 1=1 --"] {
      #expect(try failure(nothing) == .noSuchCollection(collection: nothing, similar: []))
    }
  }

  @Test func editDistanceIsThatOfLevenshtein() {
    let distance = { (a: String, b: String, limit: Int) in EditDistance.between(Array(a), Array(b), atMost: limit) }
    #expect(distance("kitten", "sitting", 3) == 3)
    #expect(distance("kitten", "sitting", 2) == nil)
    #expect(distance("", "abc", 3) == 3)
    #expect(distance("", "", 0) == 0)
    #expect(distance("same", "same", 0) == 0)
  }
}
