import Foundation
import Glibc
import PhotoClient
import PhotoTestSupport
import TestTools
import Testing

/// Pictures of a spawned photod, made by the real photod-image and photod-video.
@Suite(.timeLimit(.minutes(10))) struct PictureTests {
  private func thumbnail(_ fixture: DaemonFixture, _ arguments: [String]) async throws -> PhotoctlTests.Result {
    try await PhotoctlTests.photoctl(in: fixture.directory, fixture.socket, ["thumbnail"] + arguments)
  }

  private func pictures(_ fixture: DaemonFixture) -> Set<String> {
    let store = fixture.directory + "/cache/photod/pictures"
    let names = FileManager.default.enumerator(atPath: store)?.compactMap { $0 as? String } ?? []
    return Set(names.filter { $0.hasSuffix(".jpg") || $0.hasSuffix(".png") })
  }

  private func library(_ fixture: DaemonFixture) -> PhotoLibrary { PhotoLibrary(socketPath: fixture.socket) }

  private static let gpsPhoto = SourceTree.tests.appendingPathComponent("Fixtures")

  /// The first fixture photo of the library with a location.
  private func photoWithLocation(_ fixture: DaemonFixture) async throws -> Asset? {
    for try await page in library(fixture).fetch() {
      if let asset = page.assets.first(where: { $0.location != nil && $0.resources[0].contentType == "image/jpeg" }) {
        return asset
      }
    }
    return nil
  }

  @Test func thumbnailPrintsPathsAndCopiesIntoAFolder() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try fixture.write("b.jpg", 1)
      try await fixture.start()
      try await fixture.synchronize()
      let printed = try await thumbnail(fixture, [fixture.path("a.jpg"), fixture.path("b.jpg"), "--size", "64"])
      #expect(printed.status == 0, "\(printed.errors)")
      let paths = printed.text.split(separator: "\n").map(String.init)
      try #require(paths.count == 2)
      for path in paths {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(bytes.starts(with: [0xFF, 0xD8]) && bytes.suffix(2) == [0xFF, 0xD9])
      }
      let ids = try await library(fixture).findAssets(paths: [fixture.path("a.jpg"), fixture.path("b.jpg")])
      let id = try #require(ids[0])
      let folder = fixture.directory + "/out"
      let copied = try await thumbnail(fixture, ["\(id)", "--output", folder])
      #expect(copied.text == "\(folder)/\(id).jpg\n" && copied.status == 0, "\(copied.errors)")
      let again = try await thumbnail(fixture, ["\(id)", "--output", folder])
      #expect(again.status == 74 && again.errors.contains("exists"), "\(again.errors)")
      let replaced = try await thumbnail(fixture, ["\(id)", "--output", folder, "--overwrite"])
      #expect(replaced.status == 0, "\(replaced.errors)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["\(id).jpg"])
      let missing = try await thumbnail(fixture, ["\(id)", "999999", "--format", "jsonl", "--json"])
      #expect(missing.status == 64, "--json and --format jsonl contradict each other")
      let unknown = try await thumbnail(fixture, ["\(id)", "999999", "--format", "jsonl"])
      #expect(unknown.status == 66, "\(unknown.errors)")
      let lines = unknown.text.split(separator: "\n")
      #expect(lines.count == 2 && lines[1].contains(#""failure":"noSuchAsset""#), "\(unknown.text)")
      let several = try await thumbnail(fixture, ["999998", "\(id)", "999999"])
      #expect(several.status == 66 && several.text.split(separator: "\n").count == 1, "\(several.text)")
      #expect(several.errors.contains("999998") && several.errors.contains("999999"), "\(several.errors)")
      let none = try await PhotoctlTests.photoctl(in: fixture.directory, fixture.socket, ["thumbnail", "-"])
      #expect(none.status == 0 && none.output.isEmpty)
      #expect(none.errors == "nothing to do: standard input names no photos\n")
    }
  }

  @Test func aPictureHasNeitherPlaceNorCamera() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.copyFolder(Self.gpsPhoto.appendingPathComponent("made"), to: "made")
      try await fixture.start()
      try await fixture.synchronize()
      let asset = try #require(try await photoWithLocation(fixture), "no fixture photo has a location")
      let images = ImageManager(of: library(fixture))
      for size in [ImageSize(width: 256, height: 256), nil] {
        for try await image in images.requestImage(for: asset.id, targetSize: size) {
          let bytes = try await images.data(of: image)
          let text = String(decoding: bytes, as: UTF8.self)
          for mark in ["Exif", "http://ns.adobe.com/xap", "Photoshop 3.0", "ICC_PROFILE"] {
            #expect(!text.contains(mark), "\(mark) in a picture of \(asset.resources[0].path)")
          }
          #expect(image.revision == asset.revision)
        }
      }
      images.close()
    }
  }

  @Test func aRenamedFolderTouchesNothingInTheStoreAndADeletedPhotoGoes() async throws {
    try await DaemonFixture.with { fixture in
      for number in 0..<20 { try fixture.write("folder/\(number).jpg", number) }
      try Data("no picture".utf8).write(to: URL(fileURLWithPath: fixture.path("folder/text.jpg")))
      try await fixture.start()
      try await fixture.synchronize()
      let warm = try await PhotoctlTests.photoctl(
        in: fixture.directory, fixture.socket, ["images", "--warm", "--now", "--format", "json"])
      #expect(warm.status == 0, "\(warm.errors)")
      // An error names the file, also if an id was given.
      let damaged = fixture.path("folder/text.jpg")
      let damagedID = try #require(try await library(fixture).findAssets(paths: [damaged])[0])
      for name in ["\(damagedID)", damaged] {
        let refused = try await thumbnail(fixture, [name])
        #expect(refused.errors.hasPrefix("photoctl: \(damaged) (asset \(damagedID)): the "), "\(refused.errors)")
        let listed = try await thumbnail(fixture, [name, "--format", "jsonl"])
        #expect(listed.text.contains("\"message\":\"\(damaged) (asset \(damagedID)): the "), "\(listed.text)")
      }
      let counts = try JSONDecoder().decode([String: Int].self, from: Data(warm.text.utf8))
      #expect(counts == ["assets": 21, "failed": 1])
      let kept = pictures(fixture)
      #expect(kept.count == 20)
      try fixture.move("folder", "renamed")
      try await fixture.synchronize()
      let made = try await thumbnail(fixture, [fixture.path("renamed/7.jpg")])
      #expect(made.status == 0, "\(made.errors)")
      #expect(pictures(fixture) == kept)
      // The picture of 7.jpg was sent, so it would stay for 60 s.
      try FileManager.default.removeItem(atPath: fixture.path("renamed/8.jpg"))
      try await fixture.synchronize()
      try await eventually("the picture of the deleted photo goes") { pictures(fixture).count == 19 }
      #expect(pictures(fixture).isSubset(of: kept))
      let cleared = try await PhotoctlTests.photoctl(in: fixture.directory, fixture.socket, ["images", "--clear"])
      #expect(cleared.status == 0 && cleared.text.contains("freed"), "\(cleared.errors)")
    }
  }

  /// The bytes of the pictures are some 30 MB.
  @Test func memoryOfPhotodDoesNotGrowWithTheNumberOfPictures() async throws {
    try await DaemonFixture.with { fixture in
      for number in 0..<50 { try fixture.write("\(number).jpg", number) }
      try await fixture.start()
      try await fixture.synchronize()
      let ids = try await fixture.assets().map(\.id)
      let library = library(fixture)
      var options = ImageRequestOptions()
      (options.resizeMode, options.format) = (.exact, .png)
      func make(_ sides: ClosedRange<Int>) async throws -> Int {
        for side in sides {
          var count = 0
          let size = ImageSize(width: side, height: side)
          for try await results in ImageManager.makeImages(
            ids, of: library, targetSize: size, options: options, wantsData: true)
          {
            for result in results { _ = try result.result.get() }
            count += results.count
          }
          #expect(count == ids.count)
        }
        let status = try String(contentsOfFile: "/proc/\(fixture.processID)/status", encoding: .utf8)
        return try #require(status.firstMatch(of: /VmRSS:\s*(\d+) kB/).flatMap { Int($0.1) }) << 10
      }
      let first = try await make(76...79)
      let last = try await make(80...115)
      #expect(last < first + (16 << 20), "\(first) bytes after 200 pictures, and \(last) after 2,000")
    }
  }

  @Test func withoutPhotodImageAPictureIsUnsupportedAndThePackageIsNamed() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      fixture.environment["PHOTOD_IMAGE"] = fixture.directory + "/none"
      try await fixture.start()
      try await fixture.synchronize()
      let result = try await thumbnail(fixture, [fixture.path("a.jpg")])
      #expect(result.status == 69 && result.errors.contains("photod-images"), "\(result.errors)")
      #expect(try await library(fixture).status().state == .live)
    }
  }

  @Test func aVideoHasPicturesWithAndWithoutATime() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.copyFolder(Self.gpsPhoto.appendingPathComponent("made"), to: "made")
      try await fixture.start()
      try await fixture.synchronize()
      let video = fixture.path("made/VID_rotated.mp4")
      let printed = try await thumbnail(fixture, [video, "--size", "128", "--format", "jsonl"])
      #expect(printed.status == 0, "\(printed.errors)")
      #expect(printed.text.contains(#""width":96"#) && printed.text.contains(#""height":128"#), "\(printed.text)")
      let late = try await thumbnail(fixture, [video, "--at", "0.5"])
      #expect(late.status == 0 && late.text != printed.text, "\(late.errors)")
      #expect(try await thumbnail(fixture, [video, "--at=-1"]).status == 64)
      let assets = library(fixture)
      let id = try #require(try await assets.findAssets(paths: [video])[0])
      let kept = pictures(fixture)
      let images = ImageManager(of: assets)
      let size = ImageSize(width: 128, height: 128)
      // A process that ended is replaced.
      let former = try fixture.childProcessIDs(named: "photod-video")
      #expect(!former.isEmpty)
      for processID in former { kill(processID, SIGKILL) }
      let times = ImageRequestOptions(deliveryMode: .highQuality, atSeconds: 1)
      let timed = try await images.image(for: id, targetSize: size, options: times)
      #expect(timed.width == 96 && timed.height == 128)
      #expect(pictures(fixture).count == kept.count + 1, "each time is a picture of its own")
      // Each after the end is the last frame.
      for seconds in [100, 1e300] {
        let end = ImageRequestOptions(deliveryMode: .highQuality, atSeconds: seconds)
        #expect(try await images.image(for: id, targetSize: size, options: end).height == 128)
      }
      images.close()
    }
  }

  @Test func withoutPhotodVideoAVideoIsUnsupportedAndThePackageIsNamed() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.copyFolder(Self.gpsPhoto.appendingPathComponent("made"), to: "made")
      fixture.environment["PHOTOD_VIDEO"] = fixture.directory + "/none"
      try await fixture.start()
      try await fixture.synchronize()
      let video = try await thumbnail(fixture, [fixture.path("made/VID_rotated.mp4")])
      #expect(video.status == 69 && video.errors.contains("photod-videos"), "\(video.errors)")
      let photo = try await thumbnail(fixture, [fixture.path("made/IMG_0001.jpg")])
      #expect(photo.status == 0, "\(photo.errors)")
    }
  }

  @Test func aManagerGoesOnAfterARestart() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let id = try #require(try await library(fixture).findAssets(paths: [fixture.path("a.jpg")])[0])
      let images = ImageManager(of: library(fixture))
      let size = ImageSize(width: 256, height: 256)
      let first = try await images.image(for: id, targetSize: size)
      fixture.kill(SIGTERM)
      try await fixture.start()
      #expect(try await images.image(for: id, targetSize: size).revision == first.revision)
      images.close()
    }
  }
}
