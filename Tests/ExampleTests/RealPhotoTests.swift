import Foundation
import PhotoClient
import PhotoTestSupport
import TestTools
import Testing

/// The album list, the gallery, the image picker, the thumbnail list and the prefetcher, beside a real photod with the
/// photos that were made for the tests. The names and sizes of files are also compared for real photos, if there are some.
@Suite(
  .enabled(if: BuiltPrograms.hasExamples, "the examples are not built, which takes PHOTOD_EXAMPLES=1"),
  .timeLimit(.minutes(10)))
struct RealPhotoTests {
  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let madePhotos = package.appendingPathComponent("Tests/Fixtures/made")

  /// The made photos, and the folder of real photos, which are not part of the package, if it exists.
  private static let folders: [URL] = {
    let named = ProcessInfo.processInfo.environment["PHOTOD_TEST_PHOTOS"].map { URL(fileURLWithPath: $0) }
    let realPhotos = named ?? package.deletingLastPathComponent().appendingPathComponent("shared/photos")
    return [madePhotos] + (FileManager.default.fileExists(atPath: realPhotos.path) ? [realPhotos] : [])
  }()

  private func withPhotos(
    of folder: URL = madePhotos, _ body: (DaemonFixture, PhotoLibrary) async throws -> Void
  ) async throws {
    try await DaemonFixture.with { fixture in
      try fixture.copyFolder(folder, to: "photos")
      try await fixture.start()
      try await fixture.synchronize()
      try await body(fixture, PhotoLibrary(socketPath: fixture.socket, clientName: "person"))
    }
  }

  @Test func albumsHaveTheirCoversAndCounts() async throws {
    try await withPhotos { fixture, library in
      let ids = try await library.fetchAssets(with: FetchOptions(mediaTypes: ["image"])).ids
      try await library.performChanges { changes in
        _ = changes.createAlbum(title: "Rome", assets: [ids[7], ids[2], ids[5]])
        changes.edit([ids[1], ids[2]]) { $0.isFavorite = true }
      }
      let (status, lines) = try await ExampleProgram("AlbumListExample", socket: fixture.socket).end()
      let count = try await library.fetchAssets().count
      #expect(status == 0 && lines.count == 3, "\(lines)")
      for (line, start) in zip(lines, ["Recents: \(count) photos, ", "Rome: 3 photos, ", "Favorites: 2 photos, "]) {
        #expect(line.hasPrefix(start + "cover of ") && line.hasSuffix(" pixels"), "\(line)")
      }
    }
  }

  @Test(arguments: folders) func photosOfAnAlbumAreNewestFirstAndHaveTheirFiles(_ folder: URL) async throws {
    try await withPhotos(of: folder) { fixture, library in
      let all = try await library.fetchAssets()
      let shuffled = try await all.ids(at: 0..<9).reversed() + all.ids(at: 20..<30)
      try await library.performChanges { changes in _ = changes.createAlbum(title: "Rome", assets: shuffled) }
      let (_, lines) = try await ExampleProgram("AlbumListExample", ["Rome"], socket: fixture.socket).end()
      let newest = try await (all.objects(at: 0..<9) + all.objects(at: 20..<30)).compactMap(\.self)
      #expect(
        lines == newest.enumerated().map { "\($0 + 1). \($1.resources[0].filename), \($1.creationDate)" })
      for (number, photo) in [1, 3, newest.count].map({ ($0, newest[$0 - 1]) }) {
        let (_, file) = try await ExampleProgram("AlbumListExample", ["Rome", "\(number)"], socket: fixture.socket)
          .end()
        let path = photo.resources[0].path
        let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        #expect(
          file == ["\(URL(fileURLWithPath: path).lastPathComponent), \(String(format: "%.2f MB", Double(size) / 1e6))"])
      }
    }
  }

  @Test func theGalleryFollowsTheLibrary() async throws {
    try await withPhotos { fixture, library in
      let photo = try #require(try await library.fetchAssets()[3])
      let gallery = try ExampleProgram("GalleryExample", socket: fixture.socket, in: fixture.directory)
      func page() throws -> String {
        try String(contentsOfFile: fixture.directory + "/gallery.html", encoding: .utf8)
      }
      try await eventually("the page is there: \(gallery.lines)") { !gallery.lines.isEmpty }
      #expect(gallery.lines == ["gallery.html has 50 photos"])
      #expect(try page().matches(of: /<img src='data:image\/\w+;base64,[A-Za-z0-9+\/]+=*'>/).count > 30)
      #expect(try page().contains("\(photo.id): \(photo.resources[0].filename)"))
      let (status, lines) = try await ExampleProgram(
        "GalleryExample", ["favorite", "\(photo.id)"], socket: fixture.socket
      ).end()
      #expect(status == 0 && lines.isEmpty, "\(lines)")
      try await eventually("the favorite has a heart: \(gallery.lines)") {
        try page().contains("\(photo.id): ♥ \(photo.resources[0].filename)")
      }
      try fixture.write("<b>&.jpg", 1)
      try await eventually("the name is escaped: \(gallery.lines)") { try page().contains(": &lt;b>&amp;.jpg<") }
      #expect(try !page().contains("<b>"))
      try gallery.stop()
      let wrong = try await ExampleProgram("GalleryExample", ["favorite", "x"], socket: fixture.socket).end()
      #expect(wrong == (64, ["usage: gallery [favorite ID]"]))
    }
  }

  @Test func thePickerShowsTheNewestPhotosWithPictures() async throws {
    try await withPhotos { fixture, library in
      let photos = try await library.fetchAssets()
      let picked = try #require(try await photos.enumerate().first { $0.asset.resources[0].filename.hasSuffix(".JPG") })
      let (status, lines) = try await ExampleProgram(
        "ImagePickerExample", ["0", "3", "0", "pick", "\(picked.index)"], socket: fixture.socket
      ).end()
      #expect(status == 0 && lines.count == 37, "\(lines)")
      let names = try await photos.objects(at: 0..<24).map { try #require($0).resources[0].filename }
      for (line, name) in zip(lines, names + names.prefix(12)) {
        let cell = line.drop { $0 != " " }.dropFirst()
        #expect(cell.hasPrefix(name + ", "), "\(line)")
        #expect(cell.wholeMatch(of: /.*, (\d+×\d+|no picture: .+)/) != nil, "\(line)")
      }
      let pictures = lines.prefix(24).filter { $0.contains("×") }
      #expect(pictures.count >= 12, "most of the photos have pictures: \(lines)")
      #expect(lines.prefix(12) == lines[24..<36], "the pictures are the same when they are shown again")
      let asset = picked.asset
      let size = "\(asset.pixelWidth ?? 0)×\(asset.pixelHeight ?? 0)"
      #expect(lines[36] == "picked \(asset.resources[0].path), \(size)")
    }
  }

  @Test func aThousandReusedCellsGetNoLatePicture() async throws {
    try await withPhotos { fixture, library in
      let count = try await library.fetchAssets().count
      let rows = (0..<125).map { "\($0 * 37 % (count - 10))" }
      let (status, lines) = try await ExampleProgram("ThumbnailListExample", rows, socket: fixture.socket).end()
      #expect(status == 0, "\(lines.suffix(3))")
      var shown: [Substring: Substring] = [:]
      var pictured: Set<Substring> = []
      var reuseCount = 0
      for line in lines {
        let match = try #require(
          line.wholeMatch(of: /cell (\d+): (?:(picture|preview|no picture) of )?(.*?)(?:\. .*)?/), "\(line)")
        let (_, cell, kind, name) = match.output
        if let kind {
          #expect(shown[cell].map { $0.hasPrefix(name) || name.hasPrefix($0) } == true, "late: \(line)")
          if kind != "preview" { pictured.insert(cell) }
        } else {
          if shown.updateValue(name, forKey: cell) != nil { reuseCount += 1 }
          pictured.remove(cell)
        }
      }
      #expect(reuseCount >= 1_000)
      #expect(pictured.count == 10, "each cell has its picture at the end: \(lines.suffix(30))")
    }
  }

  @Test func preparedPicturesAreShownInBothDirections() async throws {
    try await withPhotos { fixture, library in
      let photos = try await library.fetchAssets(with: FetchOptions(mediaTypes: ["image"]))
      try #require(photos.count > 40)
      let (status, lines) = try await ExampleProgram(
        "PrefetcherExample", ["0", "10", "20", "10", "0"], socket: fixture.socket
      ).end()
      #expect(status == 0 && lines.count { $0.hasPrefix("row ") } == 50, "\(lines.suffix(3))")
      #expect(lines.contains { $0.hasPrefix("down: start") } && lines.contains { $0.hasPrefix("up: start") })
    }
  }
}
