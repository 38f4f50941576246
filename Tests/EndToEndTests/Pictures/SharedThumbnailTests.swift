import Foundation
import Glibc
import PhotoClient
import PhotoTestSupport
import TestTools
import Testing

/// Programs that were not written here read the thumbnails of photod, and photod reads theirs.
@Suite(
  .enabled(if: Desktop.isInstalled, "python3-gi, gir1.2-glib-2.0 or gir1.2-gnomedesktop-3.0 is not installed"),
  .timeLimit(.minutes(10)))
struct SharedThumbnailTests {
  private static let photo = SourceTree.tests.appendingPathComponent("Fixtures/made/IMG_0001.jpg")

  private func photoctl(_ fixture: DaemonFixture, _ arguments: [String]) async throws -> PhotoctlTests.Result {
    try await PhotoctlTests.photoctl(in: fixture.directory, fixture.socket, arguments)
  }

  private func configure(_ fixture: DaemonFixture, _ text: String) throws {
    let folder = fixture.directory + "/config/photod"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/config.toml"))
  }

  /// Writes a photo of 640 × 480 pixels under a name of any bytes.
  private func write(_ fixture: DaemonFixture, _ folder: String, _ name: [UInt8]) throws {
    try FileManager.default.createDirectory(atPath: fixture.path(folder), withIntermediateDirectories: true)
    let path = (Array((fixture.path(folder) + "/").utf8) + name).map { CChar(bitPattern: $0) } + [0]
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let bytes = [UInt8](try Data(contentsOf: Self.photo)) + name
    try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }

  @Test func fileManagersFindTheThumbnails() async throws {
    try await DaemonFixture.with { fixture in
      try configure(fixture, "share-thumbnails = true\n")
      let names = [Array("plain.jpg".utf8), Array("a ;[é]~.jpg".utf8), [0xE4, 0xFF] + Array(".jpg".utf8)]
      for name in names { try write(fixture, "album", name) }
      try await fixture.start()
      try await fixture.synchronize()
      let ids = try await fixture.ids().ids.map { "\($0)" }
      #expect(ids.count == 3)
      let made = try await photoctl(fixture, ["thumbnail", "--size", "512"] + ids)
      #expect(made.status == 0, "\(made.errors)")
      let sizes = ["NORMAL", "LARGE", "XLARGE"]
      func found(_ folder: String) throws -> [Desktop.Found] { try Desktop.find(fixture, fixture.path(folder)) }
      func isShared(_ found: [Desktop.Found]) -> Bool { found.allSatisfy { $0.isValid && $0.sizes == sizes } }
      try await eventually("each file has its thumbnails") { isShared(try found("album")) }

      try fixture.move("album", "renamed")
      try await fixture.synchronize()
      try await eventually("the thumbnails follow") { isShared(try found("renamed")) }

      let hidden = try await photoctl(fixture, ["hide", fixture.path("renamed/plain.jpg")])
      #expect(hidden.status == 0, "\(hidden.errors)")
      try await eventually("the hidden photo has no thumbnail") {
        let found = try found("renamed")
        return found.count { $0.sizes.isEmpty } == 1 && found.count { $0.sizes == sizes } == 2
      }
      try FileManager.default.removeItem(atPath: fixture.path("renamed"))
      try await fixture.synchronize()
      let folder = fixture.directory + "/cache/thumbnails"
      try await eventually("no thumbnail is left") {
        let all = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return !all.contains { $0.hasSuffix(".png") }
      }
    }
  }

  /// The largest size, and the entry of a photo that can't be decoded.
  @Test func otherProgramsReadLargeThumbnailsAndFailures() async throws {
    try await DaemonFixture.with { fixture in
      try configure(fixture, "share-thumbnails = true\n")
      let (photo, damaged) = (fixture.path("album/large.jpg"), fixture.path("album/damaged.jpg"))
      try FileManager.default.createDirectory(atPath: fixture.path("album"), withIntermediateDirectories: true)
      try Desktop.savePhoto(fixture, photo, width: 1600, height: 1200)
      // The frame is there, and the pixels are missing.
      let whole = try Data(contentsOf: URL(fileURLWithPath: photo))
      try whole.prefix(whole.count / 3).write(to: URL(fileURLWithPath: damaged))
      try await fixture.start()
      try await fixture.synchronize()
      let made = try await photoctl(fixture, ["thumbnail", "--size", "1024", photo])
      #expect(made.status == 0, "\(made.errors)")
      try await eventually("all sizes are shared") {
        try Desktop.find(fixture, fixture.path("album"), only: "large.jpg").first?.sizes
          == ["NORMAL", "LARGE", "XLARGE", "XXLARGE"]
      }
      let entry = try #require(try Desktop.entries(fixture, photo)["xx-large"])
      #expect(entry.width == 1024 && entry.height == 768 && entry.uri == "file://" + photo)
      let inVain = try await photoctl(fixture, ["thumbnail", damaged])
      #expect(inVain.status != 0)
      try await eventually("the failure is shared") {
        let entries = try Desktop.entries(fixture, damaged)
        guard let name = entries.keys.first, name.hasPrefix("fail/photod-"), let entry = entries[name] else {
          return false
        }
        var status = stat()
        #expect(stat(damaged, &status) == 0 && entry.time == "\(status.st_mtim.tv_sec)")
        return entries.count == 1 && entry.uri == "file://" + damaged
      }
    }
  }

  @Test func thumbnailsFollowALargeFolder() async throws {
    try await DaemonFixture.with { fixture in
      try configure(fixture, "share-thumbnails = true\n")
      try write(fixture, "large", Array("a.jpg".utf8))
      // The history names the assets of such a folder in another way.
      for number in 0..<4_200 { try fixture.write("large/\(number).jpg", number) }
      try await fixture.start()
      try await fixture.synchronize()
      let made = try await photoctl(fixture, ["thumbnail", fixture.path("large/a.jpg")])
      #expect(made.status == 0, "\(made.errors)")
      func sizes(_ path: String) throws -> [String] {
        try Desktop.find(fixture, fixture.path(path), only: "a.jpg").first?.sizes ?? []
      }
      try await eventually("it is shared") { try sizes("large") == ["NORMAL", "LARGE"] }
      try fixture.move("large", "moved")
      try await fixture.synchronize()
      try await eventually("it follows") { try sizes("moved") == ["NORMAL", "LARGE"] }
    }
  }

  @Test func thumbnailOfAnotherProgramIsAnImmediatePicture() async throws {
    try await DaemonFixture.with { fixture in
      try write(fixture, "album", Array("a;b.jpg".utf8))
      let path = fixture.path("album/a;b.jpg")
      // Its aspect ratio shows that it is used.
      try Desktop.save(fixture, path, width: 512, height: 100)
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket)
      let id = try #require(try await library.findAssets(paths: [path])[0])
      let images = ImageManager(of: library)
      defer { images.close() }
      let size = ImageSize(width: 512, height: 512)
      var received: [AssetImage] = []
      for try await image in images.requestImage(
        for: id, targetSize: size, options: ImageRequestOptions(deliveryMode: .fast))
      {
        received.append(image)
      }
      let image = try #require(received.first)
      #expect(received.count == 1 && (image.width, image.height) == (512, 100) && !image.isDegraded)
      let bytes = try await images.data(of: image)
      #expect(bytes.starts(with: [0xFF, 0xD8]))
      let text = String(decoding: bytes, as: UTF8.self)
      for mark in ["Thumb::", "GNOME", "file://"] { #expect(!text.contains(mark)) }
      var sizes: [[Int]] = []
      for try await image in images.requestImage(for: id, targetSize: size) {
        sizes.append([image.width, image.height])
      }
      #expect(sizes == [[512, 100], [512, 384]], "the degraded picture, and then the new one")
    }
  }
}

/// The libraries of GNOME's programs, through Python.
private enum Desktop {
  struct Found: Decodable {
    var name: String
    /// Whether GIO has found a valid thumbnail.
    var isValid: Bool
    /// The sizes in which GNOME's library finds a valid thumbnail.
    var sizes: [String]
  }

  struct Entry: Decodable {
    var width: Int
    var height: Int
    var uri: String?
    var time: String?
  }

  private static let imports = """
    import gi, json, os, sys
    gi.require_version('GnomeDesktop', '3.0')
    gi.require_version('GdkPixbuf', '2.0')
    from gi.repository import GdkPixbuf, Gio, GLib, GnomeDesktop
    Size = GnomeDesktop.DesktopThumbnailSize
    factory = GnomeDesktop.DesktopThumbnailFactory.new

    """

  static let isInstalled = (try? run(imports, [], [:])) != nil

  static func find(_ fixture: DaemonFixture, _ folder: String, only name: String = "") throws -> [Found] {
    let output = try run(
      imports + """
        found = []
        for name in sorted(os.listdir(sys.argv[1])) if not sys.argv[2] else [sys.argv[2]]:
          path = sys.argv[1] + '/' + name
          info = Gio.File.new_for_path(path).query_info('thumbnail::*', 0, None)
          uri, time = GLib.filename_to_uri(path, None), int(os.stat(path).st_mtime)
          found.append({
            'name': ascii(name), 'isValid': info.get_attribute_boolean('thumbnail::is-valid'),
            'sizes': [s for s in ['NORMAL', 'LARGE', 'XLARGE', 'XXLARGE'] if factory(getattr(Size, s)).lookup(uri, time)]})
        print(json.dumps(found))
        """, [folder, name], environment(fixture))
    return try JSONDecoder().decode([Found].self, from: output)
  }

  /// Writes a thumbnail of one colour.
  static func save(_ fixture: DaemonFixture, _ path: String, width: Int, height: Int) throws {
    _ = try run(
      imports + """
        pixels = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, False, 8, int(sys.argv[2]), int(sys.argv[3]))
        pixels.fill(0xC02020FF)
        uri, time = GLib.filename_to_uri(sys.argv[1], None), int(os.stat(sys.argv[1]).st_mtime)
        assert factory(Size.XLARGE).save_thumbnail(pixels, uri, time, None)
        """, [path, "\(width)", "\(height)"], environment(fixture))
  }

  /// Writes a photo of one colour, as a JPEG.
  static func savePhoto(_ fixture: DaemonFixture, _ path: String, width: Int, height: Int) throws {
    _ = try run(
      imports + """
        pixels = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, False, 8, int(sys.argv[2]), int(sys.argv[3]))
        pixels.fill(0xC02020FF)
        assert pixels.savev(sys.argv[1], 'jpeg', [], [])
        """, [path, "\(width)", "\(height)"], environment(fixture))
  }

  /// The thumbnails of a file as GdkPixbuf reads them, by their folders.
  static func entries(_ fixture: DaemonFixture, _ path: String) throws -> [String: Entry] {
    let output = try run(
      imports + """
        import glob, hashlib
        name = hashlib.md5(GLib.filename_to_uri(sys.argv[1], None).encode()).hexdigest() + '.png'
        root, found = os.environ['XDG_CACHE_HOME'] + '/thumbnails/', {}
        for file in glob.glob(root + '*/' + name) + glob.glob(root + 'fail/*/' + name):
          pixels = GdkPixbuf.Pixbuf.new_from_file(file)
          found[os.path.dirname(file)[len(root):]] = {
            'width': pixels.get_width(), 'height': pixels.get_height(),
            'uri': pixels.get_option('tEXt::Thumb::URI'), 'time': pixels.get_option('tEXt::Thumb::MTime')}
        print(json.dumps(found))
        """, [path], environment(fixture))
    return try JSONDecoder().decode([String: Entry].self, from: output)
  }

  private static func environment(_ fixture: DaemonFixture) -> [String: String] {
    ["XDG_CACHE_HOME": fixture.directory + "/cache", "XDG_CONFIG_HOME": fixture.directory + "/config"]
  }

  private static func run(_ script: String, _ arguments: [String], _ environment: [String: String]) throws -> Data {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["-c", script] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try require(process.terminationStatus == 0, "python3 ended with \(process.terminationStatus)")
    return output
  }
}
