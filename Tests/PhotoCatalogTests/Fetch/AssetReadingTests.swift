import PhotoModel
import Testing

@testable import PhotoCatalog

@Suite struct AssetReadingTests {
  private let fixture: CatalogFixture

  init() throws { fixture = try CatalogFixture() }

  @Test func everyFieldComesBack() throws {
    let top = try fixture.addRoot("/photos")
    let below = try fixture.addDirectory("2024", in: top)
    let raw = try fixture.addDirectory("RAW", in: below)
    let full = Asset(
      id: 7, mediaType: .image, mediaSubtypes: ["livePhoto", "hdr", "raw"],
      creationDate: PhotoDate(microseconds: 1_700_000_000_123_456, offsetMinutes: -330), creationDateSource: .filename,
      modificationDate: PhotoDate(microseconds: 1_700_000_001_000_000),
      addedDate: PhotoDate(microseconds: 1_700_000_002_000_000), pixelWidth: 4000, pixelHeight: 3000, orientation: 6,
      durationSeconds: 2.5, location: Location(latitude: -33.5, longitude: 151.25, altitude: 12),
      camera: Camera(
        make: "Fuji", model: "X-T5", lens: "35mm", exposureSeconds: 0.004, fNumber: 1.4, iso: 200,
        focalLengthMillimeters: 35, flashFired: false), title: "Title", caption: "Caption", rating: 4,
      isFavorite: true, isHidden: true, isTrashed: true, burstIdentifier: "B", available: true,
      resources: [
        Resource(
          kind: .adjustedPhoto, path: "/photos/2024/a.jpg", filename: "a.jpg", byteCount: 1234,
          contentType: "image/heic"),
        Resource(
          kind: .pairedVideo, path: "/photos/2024/a.mov", filename: "a.mov", byteCount: 99,
          contentType: "video/quicktime"),
        Resource(
          kind: .sidecar, path: "/photos/2024/RAW/a.xmp", filename: "a.xmp", byteCount: 99,
          contentType: "application/rdf+xml"),
      ])
    try fixture.insert(full, directory: below, name: Array("a.jpg".utf8))
    // The last one is written first, because the position decides the order.
    try fixture.insertCompanion(
      of: 7, position: 2, kind: .sidecar, directory: raw, name: Array("a.xmp".utf8),
      contentType: "application/rdf+xml")
    try fixture.insertCompanion(
      of: 7, position: 1, kind: .pairedVideo, directory: below, name: Array("a.mov".utf8),
      contentType: "video/quicktime")
    var bare = Asset.sample(8, .video)
    bare.resources = [
      Resource(kind: .video, path: "/photos/b.mp4", filename: "b.mp4", byteCount: 5, contentType: "video/mp4")
    ]
    try fixture.insert(bare, directory: top, name: Array("b.mp4".utf8))

    var (assets, missing) = try fixture.catalog.read { try $0.assets([8, 5, 7, 8, 6]) }
    #expect(assets.map(\.revision.utf8.count) == [13, 13, 13])
    #expect(assets[0].revision == assets[2].revision && assets[0].revision != assets[1].revision)
    for index in assets.indices { assets[index].revision = "" }
    #expect(assets == [bare, full, bare])
    #expect(missing == [5, 6])
  }

  @Test func pathsFollowARenameAndAnUnmountOfOneRow() throws {
    let top = try fixture.addRoot("/drive")
    let first = try fixture.addDirectory("a", in: top)
    let second = try fixture.addDirectory("b", in: first)
    try fixture.insert(.sample(1), directory: second, name: Array("x.jpg".utf8))
    let read = { try fixture.catalog.read { try $0.assets([1]).assets[0] } }
    #expect(try read().resources[0].path == "/drive/a/b/x.jpg")
    try fixture.execute("UPDATE directory SET name = 'renamed' WHERE id = ?", [.id(first)])
    try fixture.execute("UPDATE root SET is_available = 0")
    #expect(try read().resources[0].path == "/drive/renamed/b/x.jpg")
    #expect(try !read().available)
  }

  @Test func namesThatAreNotUTF8ComeAsURIsAndAreFoundByTheirBytes() throws {
    let top = try fixture.addRoot("/")
    let folder = try fixture.addDirectory([0x46, 0xff], in: top)
    let name: [UInt8] = [0xe4, 0x20, 0x2e, 0x6a]
    try fixture.insert(.sample(1), directory: folder, name: name)
    try fixture.insert(.sample(2), directory: top, name: Array("b.jpg".utf8))
    try fixture.catalog.read { reader throws in
      let assets = try reader.assets([1, 2]).assets
      #expect(assets[0].resources[0].path == "file:///F%FF/%E4%20.j")
      #expect(assets[0].resources[0].filename == "%E4%20.j")
      #expect(assets[1].resources[0].path == "/b.jpg")
      #expect(try reader.assetIDs(paths: assets.map { FilePath.bytes($0.resources[0].path) }) == [1, 2])
      let folders = try reader.collections(kinds: [.folderAlbum])
      #expect(folders.map(\.path) == ["/", "file:///F%FF"])
      #expect(folders.map(\.title) == ["/", "F%FF"])
      #expect(try reader.ids(reader.plan(FetchOptions(collection: "folder:file:///F%FF"))) == [1])
      #expect(try reader.ids(reader.plan(FetchOptions(collection: "f%ff"))) == [1])
      #expect(try reader.ids(reader.plan(FetchOptions(collection: "folder:/"))) == [2])
    }
  }

  @Test func assetsAreFoundByThePathOfAnyOfTheirFiles() throws {
    let top = try fixture.addRoot("/photos")
    let folder = try fixture.addDirectory("a", in: top)
    let inner = try fixture.addRoot("/photos/a/inner")
    try fixture.insert(.sample(1), directory: folder, name: Array("x.jpg".utf8), failure: "truncated")
    try fixture.insertCompanion(
      of: 1, position: 1, kind: .sidecar, directory: top, name: Array("x.xmp".utf8), contentType: "text/xml")
    try fixture.insert(.sample(2), directory: inner, name: Array("y.jpg".utf8))
    try fixture.catalog.read { reader throws in
      let paths = [
        "/photos/a/x.jpg", "/photos/x.xmp", "/photos/a/inner/y.jpg", "/photos/a/inner/x.jpg", "/photos/a", "/photos/a/",
        "x.jpg", "", "/", "/photo/a/x.jpg", "/photos/a/X.JPG",
      ]
      #expect(try reader.assetIDs(paths: paths.map { Array($0.utf8) }) == [1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0])
      #expect(
        try reader.file(path: Array("/photos/x.xmp".utf8))
          == CatalogFile(assetID: 1, position: 1, failure: "truncated"))
      #expect(try reader.file(directory: inner, name: Array("y.jpg".utf8))?.assetID == 2)
      #expect(try reader.directoryID(path: Array("/photos/a".utf8)) == folder)
      #expect(try reader.directoryID(path: Array("/photos/a/inner".utf8)) == inner)
      #expect(try reader.directoryID(path: Array("/elsewhere".utf8)) == nil)
      #expect(
        try reader.failedAssets(limit: 10)
          == [
            FailedAsset(
              assetID: 1, path: Array("/photos/a/x.jpg".utf8), failure: "truncated", readTime: 0, changeTime: 0)
          ])
      let truncated = try reader.assets(failed: ["no", "truncated"])
      #expect(truncated?.count == 1 && truncated?.first == Array("/photos/a/x.jpg".utf8))
      #expect(try reader.assets(failed: ["no"]) == nil)
    }
  }

  @Test func countsAreOfEveryAssetAndOfEachRoot() throws {
    let top = try fixture.addRoot("/photos")
    let folder = try fixture.addDirectory("a", in: top)
    try fixture.addDirectory("b", in: folder)
    try fixture.addRoot("/empty", isAvailable: false)
    try fixture.insert(.sample(1), directory: folder, name: [65], failure: "no")
    try fixture.insert(.sample(2, isHidden: true), directory: top, name: [66])
    try fixture.catalog.read { reader throws in
      #expect(try reader.counts() == (2, 1))
      let roots = try reader.rootCounts()
      #expect(roots.map(\.path) == ["/empty", "/photos"].map { Array($0.utf8) })
      #expect(roots.map(\.assets) == [0, 2])
      #expect(roots.map(\.directories) == [1, 3])
      #expect(roots.map(\.isAvailable) == [false, true])
    }
  }

  @Test func aTreeThousandsDeepIsReadWithoutRecursion() throws {
    var directory = try fixture.addRoot("/deep")
    try fixture.catalog.write { writer in
      let insert = try RawStatement(
        writer.database,
        "INSERT INTO directory (id, parent_id, name, volume_id, inode, birth_time) VALUES (?, ?, 'd', 1, ?, 0)")
      for _ in 0..<2_000 {
        let below = DirectoryID(rawValue: directory.rawValue + 1)
        insert.bind(1, below)
        insert.bind(2, directory)
        insert.bind(3, below)
        try insert.run()
        directory = below
      }
    }
    try fixture.insert(.sample(1), directory: directory, name: [65])
    let path = try fixture.catalog.read { try $0.assets([1]).assets[0].resources[0].path }
    #expect(path == "/deep" + String(repeating: "/d", count: 2_000) + "/A")
    #expect(try fixture.catalog.read { try $0.assetIDs(paths: [Array(path.utf8)]) } == [1])
  }
}
