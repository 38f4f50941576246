import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

@testable import PhotoCatalog

/// The smart albums of photod: one definition for SQL, the matcher in memory, and the counts.
@Suite struct SmartAlbumTests {
  private let fixture: UserDataFixture
  private let catalog: Catalog

  init() throws {
    fixture = try UserDataFixture()
    catalog = try fixture.open()
    try catalog.addPhotos(40)
  }

  @Test func catalogHasEachSmartAlbumOnce() throws {
    let albums = try catalog.read { try $0.collections(kinds: [.smartAlbum]) }
    #expect(albums.map(\.subtype) == SmartAlbum.allCases.map(\.rawValue))
    #expect(albums.allSatisfy { !$0.title.isEmpty })
  }

  /// After any changes, the list by SQL, the matcher in memory, the kept counts, and the collections of an asset agree.
  @Test(arguments: 0..<8)
  func definitionsAgree(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var counts = try catalog.read { try $0.collectionCounts() }
    for _ in 0..<25 {
      try catalog.write { writer in
        for _ in 0..<3 {
          let id = AssetID(rawValue: .random(in: 1...40, using: &random))
          if Bool.random(using: &random) {
            try writer.setUserData(of: id, isFavorite: .random(using: &random), isHidden: .random(using: &random))
          } else if let row = try writer.file(ofAsset: id) {
            try writer.updateContent(Self.content(&random), file: row, hasNewBytes: true)
          }
        }
        if !writer.record.isEmpty { try writer.append(origin: "test", date: .init(microseconds: 1)) }
      }
      try catalog.read { reader in
        try counts.update(reader)
        for collection in try reader.collections(kinds: [.smartAlbum]) {
          let album = try #require(collection.subtype.flatMap(SmartAlbum.init))
          let ids = try reader.ids(try reader.plan(FetchOptions(collection: "smart:\(album.rawValue)")))
          #expect(counts.collection(collection.id) == collection, "\(album): the kept count")
          #expect(collection.count == ids.count, "\(album): the count of a fetch")
          let matching = try (1...40).map(AssetID.init(rawValue:)).filter { id in
            let select = try RawStatement(reader.database, "SELECT \(AssetFacts.columns) FROM asset WHERE id = ?")
            select.bind(1, id)
            guard let facts = try select.firstRow({ AssetFacts(select) }) else { return false }
            return facts.isHidden == album.definition.showsHidden && album.definition.requirements.admit(facts)
          }
          #expect(Set(matching) == Set(ids), "\(album): the matcher")
        }
      }
    }
    let random40 = AssetID(rawValue: .random(in: 1...40, using: &random))
    try catalog.read { reader in
      for collection in try reader.collections(kinds: [.smartAlbum], containing: random40) {
        #expect(try reader.ids(try reader.plan(FetchOptions(collection: "id:\(collection.id)"))).contains(random40))
      }
    }
  }

  @Test func hiddenAssetsAreInNoOtherAlbum() throws {
    try catalog.set([1, 2], favorite: true)
    try catalog.set([1], hidden: true)
    func count(_ album: String) throws -> Int {
      try catalog.read { try $0.ids(try $0.plan(FetchOptions(collection: "smart:\(album)"))).count }
    }
    #expect(try count("hidden") == 1 && count("favorites") == 1 && count("recents") == 39)
    let containing = try catalog.read { try $0.collections(containing: 1) }
    #expect(containing.map(\.subtype) == ["hidden"])
  }

  private static func content(_ random: inout SeededGenerator) -> AssetContent {
    AssetContent(
      mediaType: Bool.random(using: &random) ? .image : .video,
      mediaSubtypes: MediaSubtypes(rawValue: 1 << Int64.random(in: 0...8, using: &random)),
      contentType: "image/jpeg",
      creationDate: PhotoDate(microseconds: .random(in: 0...1_000_000_000, using: &random)),
      location: Bool.random(using: &random) ? Location(latitude: 1, longitude: 2) : nil,
      failure: Bool.random(using: &random) ? nil : "cut off")
  }
}
