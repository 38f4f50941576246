import Foundation
import ImageRecords
import TestTools
import Testing

/// The pictures that cameras and programs embed in files, by their corners, and those of real photos by their sizes.
@Suite struct EmbeddedTests {
  private let folder: TemporaryFolder
  private let process: ImageProcess

  init() throws {
    folder = try TemporaryFolder("embedded")
    process = try ImageProcess()
  }

  private func write(_ file: [UInt8], _ name: String = "file") throws -> String {
    let path = folder.path + "/" + name
    try Data(file).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// The JPEG of the four quarters, with bars above and below.
  private func jpeg(_ width: Int, _ height: Int, bars: Int = 0) throws -> [UInt8] {
    let colors = MadeFiles.quarters(width, height)
    let file = MadeFiles.tiff(width, height) { x, y in y >= bars && y < height - bars ? colors(x, y) : [0, 0, 0] }
    let outcome = try process.picture(
      write(file, "source"), .test(size: nil, format: .jpeg, contentType: "image/tiff"))
    return try #require(outcome.bytes, "\(outcome)")
  }

  private struct Embedded {
    var raster: Raster
    var isDegraded: Bool

    var size: [Int] { [raster.width, raster.height] }
  }

  private func embedded(_ path: String, _ request: PictureRequest, by decoder: ImageProcess? = nil) throws -> Embedded {
    let outcome = try (decoder ?? process).picture(path, request)
    let bytes = try require(outcome.bytes, "\(path): \(outcome)")
    // photod-image shows the picture as it is.
    let made = try process.picture(write(bytes, "made"), .test(size: nil, format: .png))
    let raster = try Raster(png: try #require(made.bytes))
    if case .picture(_, _, _, false, _) = outcome { return Embedded(raster: raster, isDegraded: false) }
    return Embedded(raster: raster, isDegraded: true)
  }

  /// The photo is 3:2, and its thumbnail 4:3 with bars, as in many cameras. The corners are those of the picture itself.
  @Test(arguments: TestTier.isWhole ? Array(1...8) : [6], ["photod-preview", "photod-image"])
  func thumbnailOfAJPEGIsUpright(_ orientation: Int, _ program: String) throws {
    let expected = Raster.cornersOfOrientations[orientation - 1]
    let file = MadeFiles.jpeg(
      try jpeg(600, 400), thumbnail: try jpeg(160, 120, bars: 7), orientation: orientation)
    let embedded = try embedded(write(file), .test(.embedded), by: ImageProcess(program))
    #expect(embedded.raster.corners == expected)
    #expect(embedded.size == (orientation > 4 ? [107, 160] : [160, 107]) && embedded.isDegraded)
    // The orientation of the catalog overrides that of the file.
    let plain = MadeFiles.jpeg(try jpeg(600, 400), thumbnail: try jpeg(160, 107), orientation: 3)
    let request = PictureRequest.test(.embedded, orientation: UInt8(orientation))
    #expect(try self.embedded(write(plain), request, by: ImageProcess(program)).raster.corners == expected)
  }

  /// A camera appends the preview to the values of the sensor. LibRaw knows no mirrored pictures, which no camera makes.
  @Test(arguments: [1, 3, 6, 8]) func previewOfARAWFileIsUpright(_ orientation: Int) throws {
    let expected = Raster.cornersOfOrientations[orientation - 1]
    let raw = MadeFiles.dng(600, 400, orientation: orientation, color: MadeFiles.quarters(600, 400))
    let path = try write(raw + jpeg(240, 160))
    let embedded = try embedded(path, .test(.embedded, contentType: "image/x-adobe-dng"))
    #expect(embedded.raster.corners == expected)
    #expect(embedded.size == (orientation > 4 ? [160, 240] : [240, 160]))
    #expect(embedded.isDegraded)
  }

  @Test func thumbnailOfAPhotoshopFileIsShown() throws {
    let file = MadeFiles.photoshop(
      600, 400, isPacked: true, thumbnail: try jpeg(160, 107), color: MadeFiles.quarters(600, 400))
    let embedded = try embedded(write(file), .test(.embedded))
    #expect(embedded.size == [160, 107] && embedded.isDegraded)
    #expect(embedded.raster.corners == "rgbw")
  }

  @Test(.enabled(if: MadeStills.has("heif-enc"), "heif-enc is not installed"))
  func thumbnailOfAHEICIsShown() throws {
    let path = try write(MadeStills.heic(in: folder.path, 600, 400, thumbnail: 240))
    let embedded = try embedded(path, .test(.embedded))
    #expect(embedded.size == [240, 160] && embedded.isDegraded)
    #expect(embedded.raster.corners == "rgbw")
    let plain = try write(MadeStills.heic(in: folder.path, 600, 400))
    #expect(try process.picture(plain, .test(.embedded)).failure == .noEmbeddedPicture)
  }

  /// Real photos by the ends of their paths, with the sizes of their embedded pictures in a frame of 256 × 256. The
  /// photos that are higher than wide were taken with a rotated camera.
  private static let real: [(path: String, width: Int, height: Int)] = [
    ("images/iphone.heic", 256, 192), ("heic/IMG_2682.heic", 256, 192), ("iphone_13_pro_max.HEIC", 192, 256),
    ("samsung-one-ui-6.heic", 192, 256), ("examples/example.heic", 256, 170), ("heic-single.heic", 240, 160),
    ("Sony.HIF", 256, 170), ("canon-r6.cr3", 256, 171), ("sample.arw", 160, 108), ("sample.nef", 160, 120),
    ("exiv2-canon-powershot-s40.crw", 160, 119), ("FujiFilm.raf", 160, 120), ("20110626_213900.psd", 150, 91),
    ("hopper.psd", 128, 128),
  ]

  @Test(
    .enabled(if: TestTier.isWhole, "takes seconds"),
    .enabled(if: RealPhotos.folder != nil, "there are no real photos"))
  func embeddedPicturesOfRealPhotosAreThere() throws {
    let all = RealPhotos.all("heic", "hif", "cr3", "arw", "nef", "crw", "raf", "psd")
    var found: [String: Int] = [:]
    for (name, width, height) in Self.real {
      guard let file = all.first(where: { $0.path.hasSuffix("/" + name) }) else { continue }
      let type = file.pathExtension.lowercased()
      let contentType = ["heic", "hif", "psd"].contains(type) ? "" : "image/x-raw-\(type)"
      let embedded = try embedded(file.path, .test(.embedded, contentType: contentType))
      #expect(embedded.size == [width, height], "\(name)")
      found[type, default: 0] += 1
      // The RAW files are cut off, so their pictures are these, too. The thumbnail of the HIF is cropped.
      guard contentType.isEmpty, type != "hif" else { continue }
      let rendered = try process.picture(file.path, .test(size: UInt32(max(width, height)), format: .png))
      let difference = embedded.raster.meanDifference(try Raster(png: try #require(rendered.bytes, "\(rendered)")))
      #expect(difference < 12, "\(name)")
    }
    #expect(found["heic", default: 0] >= 3 && found["psd", default: 0] >= 1, "\(found)")
    #expect(["cr3", "arw", "nef", "crw", "raf"].count { found[$0] != nil } >= 3, "\(found)")
  }
}
