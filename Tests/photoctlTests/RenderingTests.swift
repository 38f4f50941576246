import Foundation
import PhotoModel
import Testing

@testable import photoctl

struct RenderingTests {
  private func asset(_ id: Int64, path: String = "/p/a.jpg", _ change: (inout Asset) -> Void = { _ in }) -> Asset {
    var asset = Asset(
      id: id, mediaType: .image, creationDate: PhotoDate("2024-07-21T10:00:05+02:00"),
      modificationDate: PhotoDate(microseconds: 0), addedDate: PhotoDate(microseconds: 0),
      resources: [
        Resource(kind: .photo, path: path, filename: "a.jpg", byteCount: 3_400_000, contentType: "image/jpeg")
      ])
    change(&asset)
    return asset
  }

  private func rendered(_ pages: [[Asset]], _ format: OutputFormat) throws -> String {
    var renderer = ListRenderer<Asset>(format: format)
    var bytes: [UInt8] = []
    for page in pages { bytes += try renderer.page(page) }
    return String(decoding: bytes + renderer.end(), as: UTF8.self)
  }

  @Test func aTableHasOneHeadingAndTheWidthsOfItsFirstPage() throws {
    let text = try rendered(
      [
        [
          asset(7) {
            $0.pixelWidth = 4000
            $0.pixelHeight = 3000
            $0.isFavorite = true
          }
        ], [asset(12_345, path: "/p/b.jpg") { $0.creationDate = nil }],
      ], .table)
    #expect(
      text == """
          ID  TAKEN             TYPE      PIXELS  ♥  PATH
           7  2024-07-21 10:00  image  4000×3000  ♥  /p/a.jpg
        12345  -                 image          -     /p/b.jpg

        """)
  }

  @Test func namesCannotControlTheTerminal() throws {
    let text = try rendered([[asset(1, path: "/p/\u{1B}[31m\n\u{202E}gpj.exe")]], .table)
    #expect(text.hasSuffix("/p/?[31m??gpj.exe\n"))
  }

  @Test func aLineOfJSONIsTheAssetOfTheWire() throws {
    let assets = [asset(1), asset(2, path: "/p/ü\n.jpg")]
    let lines = try rendered([assets], .jsonl).split(separator: "\n")
    let decoded = try lines.map { try JSONDecoder().decode(Asset.self, from: Data($0.utf8)) }
    #expect(decoded == assets)
    #expect(lines[0].contains(#""path":"/p/a.jpg""#))
  }

  @Test(arguments: [[], [1], [1, 1], [2, 0, 3]])
  func pagesMakeOneJSONArray(sizes: [Int]) throws {
    var id: Int64 = 0
    let pages = sizes.map { size in
      (0..<size).map { _ in
        id += 1
        return asset(id)
      }
    }
    let text = try rendered(pages, .json)
    #expect(try JSONDecoder().decode([Asset].self, from: Data(text.utf8)) == pages.flatMap { $0 })
  }

  @Test func pathsAreTheBytesOfTheFileSystem() throws {
    var renderer = ListRenderer<Asset>(format: .paths)
    let bytes = try renderer.page([asset(1, path: "file:///p/%FF%20.jpg"), asset(2) { $0.resources = [] }])
    #expect(bytes == Array("/p/".utf8) + [0xFF, 0x20] + Array(".jpg\n".utf8))
  }

  @Test func nothingIsNothingButAnEmptyArray() throws {
    #expect(try rendered([[]], .table) == "")
    #expect(try rendered([[]], .jsonl) == "")
    #expect(try rendered([[]], .paths) == "")
    #expect(try rendered([[]], .json) == "[]\n")
  }

  @Test func showNamesEverythingThatIsKnown() {
    let shown = AssetText.text(
      asset(5) {
        $0.pixelWidth = 4000
        $0.pixelHeight = 3000
        $0.isFavorite = true
        $0.keywords = ["sea", "sun"]
        $0.camera = Camera(
          make: "FUJIFILM", model: "X-T4", exposureSeconds: 0.004, fNumber: 2.8, iso: 400, focalLengthMillimeters: 35)
        $0.location = Location(latitude: 54.5, longitude: 18.25, altitude: 3)
      })
    #expect(
      shown == """
           asset  5
            type  image
        keywords  sea, sun
          marked  ♥ favorite
           taken  2024-07-21 10:00:05+02:00
          pixels  4000×3000
          camera  FUJIFILM, X-T4
        exposure  1/250 s, f/2.8, ISO 400, 35 mm
           place  54.5, 18.25, 3 m
        modified  1970-01-01 00:00:00 UTC
           added  1970-01-01 00:00:00 UTC
           photo  /p/a.jpg  (image/jpeg, 3.4 MB)

        """)
  }

  @Test func statusIsReadAtAGlance() {
    let status = LibraryStatus(
      state: .scanning, library: "l", token: "l.1.2", version: "0.1.0", assetCount: 12_345, pendingCount: 2,
      failedCount: 1, progress: .init(done: 50, total: 200, phase: "reading"),
      roots: [
        .init(path: "/p", state: .online, assetCount: 1, directoryCount: 1),
        .init(path: "/card", state: .offline, watch: .polling, assetCount: 9, directoryCount: 2),
      ], warnings: ["/card is offline. Put it in."], observerCount: 1, connectionCount: 2)
    #expect(
      StatusText.text(status) == """
        scanning: 12,345 assets, 2 pending, 1 unreadable
        [#######.......................]  50 of 200, reading

          /p     online  1 asset in 1 folder
          /card  offline  9 assets in 2 folders, polled

          warning: /card is offline. Put it in.

        photod 0.1.0, 2 connections, 1 observer
        token l.1.2

        """)
  }

  @Test func numbersAreWrittenForPeople() {
    #expect(Text.grouped(1_234_567) == "1,234,567")
    #expect(Text.grouped(999) == "999")
    #expect(Text.bytes(999) == "999 bytes")
    #expect(Text.bytes(3_949) == "3.9 kB")
    #expect(Text.bytes(2_000_000_000_000) == "2 TB")
    #expect(Text.count(1, "asset", "assets") == "1 asset")
  }
}
