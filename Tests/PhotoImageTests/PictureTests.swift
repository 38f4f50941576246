import Foundation
import ImageRecords
import TestTools
import Testing

/// The pictures of photod-image, from files whose pixels are known.
@Suite struct PictureTests {
  private let folder: TemporaryFolder
  private let process: ImageProcess

  init() throws {
    folder = try TemporaryFolder("image")
    process = try ImageProcess()
  }

  private func make(_ file: [UInt8], _ request: PictureRequest) throws -> ImageProcess.Outcome {
    try process.picture(of: file, in: folder, request)
  }

  private func raster(_ file: [UInt8], _ request: PictureRequest) throws -> Raster {
    try process.raster(of: file, in: folder, request)
  }

  @Test(arguments: zip(1...8, Raster.cornersOfOrientations))
  func pictureIsUpright(orientation: Int, expected: String) throws {
    let file = MadeFiles.tiff(64, 32, orientation: orientation, color: MadeFiles.quarters(64, 32))
    let upright = try raster(file, .test(size: 32, format: .png, contentType: "image/tiff"))
    #expect(upright.corners == expected)
    #expect(upright.width == (orientation > 4 ? 16 : 32) && upright.height == (orientation > 4 ? 32 : 16))
    // The orientation of the catalog overrides that of the file.
    let plain = MadeFiles.tiff(64, 32, orientation: 3, color: MadeFiles.quarters(64, 32))
    let request = PictureRequest.test(size: 32, format: .png, orientation: UInt8(orientation))
    #expect(try raster(plain, request).corners == expected)
  }

  @Test func frameIsFilledOrCoveredAndNothingIsEnlarged() throws {
    let file = MadeFiles.tiff(400, 100, color: MadeFiles.quarters(400, 100))
    func size(_ request: PictureRequest) throws -> [Int] {
      guard case .picture(_, let width, let height, _, _) = try make(file, request) else { return [] }
      return [width, height]
    }
    #expect(try size(.test(size: 50)) == [50, 13])
    #expect(try size(.test(size: 50, covers: true)) == [200, 50])
    #expect(try size(.test(size: 1000)) == [400, 100])
    #expect(try size(.test(size: 200, covers: true)) == [400, 100])
    #expect(try size(.test(size: nil)) == [400, 100])
  }

  @Test func embeddedProfileIsApplied() throws {
    let file = MadeFiles.tiff(16, 16, profile: MadeFiles.swappedProfile) { _, _ in [200, 50, 90] }
    let color = try raster(file, .test(format: .png, contentType: "image/tiff")).color(8, 8)
    for (value, expected) in zip(color, [50, 200, 90]) { #expect(abs(value - expected) < 12, "\(color)") }
  }

  @Test func damagedProfileIsIgnored() throws {
    let file = MadeFiles.tiff(16, 16, profile: Array("no profile at all".utf8)) { _, _ in [200, 50, 90] }
    #expect(try raster(file, .test(format: .png, contentType: "image/tiff")).color(8, 8) == [200, 50, 90])
  }

  @Test func transparencyIsKeptAsPNGAndShownOverWhiteAsJPEG() throws {
    let file = MadeFiles.tiff(16, 16, bands: 4) { x, _ in [200, 0, 0, x < 8 ? 255 : 0] }
    guard case .picture("image/png", 16, 16, false, let bytes) = try make(file, .test()) else {
      Issue.record("a picture with transparency is no PNG")
      return
    }
    let raster = try Raster(png: bytes)
    #expect(raster.bands == 4 && raster.color(12, 2) == [255, 255, 255])
    // Colours are multiplied by their opacity for the scaling, and divided again.
    for (value, expected) in zip(raster.color(2, 2), [200, 0, 0]) { #expect(abs(value - expected) <= 2) }
    guard case .picture("image/jpeg", _, _, _, _) = try make(file, .test(format: .jpeg)) else {
      Issue.record("JPEG was asked for")
      return
    }
    let opaque = MadeFiles.tiff(16, 16, bands: 4) { _, _ in [200, 0, 0, 255] }
    guard case .picture("image/jpeg", _, _, _, _) = try make(opaque, .test()) else {
      Issue.record("a picture without transparency is no JPEG")
      return
    }
  }

  @Test func bitmapAndPhotoshopAreRead() throws {
    let files = [
      MadeFiles.bitmap(64, 32, color: MadeFiles.quarters(64, 32)),
      MadeFiles.photoshop(64, 32, isPacked: false, color: MadeFiles.quarters(64, 32)),
      MadeFiles.photoshop(64, 32, isPacked: true, color: MadeFiles.quarters(64, 32)),
    ]
    for file in files {
      let raster = try raster(file, .test(format: .png, contentType: "image/bmp"))
      #expect(raster.corners == "rgbw" && raster.width == 64 && raster.height == 32)
    }
  }

  /// LibRaw closes a file whose preview is damaged.
  @Test func photoWithADamagedPreviewIsDeveloped() throws {
    let request = PictureRequest.test(format: .png, contentType: "image/x-adobe-dng")
    let plain = try raster(MadeFiles.dng(600, 400, color: MadeFiles.quarters(600, 400)), request)
    let damaged = try raster(
      MadeFiles.dng(600, 400, hasDamagedPreview: true, color: MadeFiles.quarters(600, 400)), request)
    #expect(damaged.width == 256 && damaged.meanDifference(plain) == 0)
  }

  @Test func bombIsRefusedBeforeItIsDecoded() throws {
    guard case .failed(.tooLarge, let message) = try make(MadeFiles.png(60_000, 60_000), .test()) else {
      Issue.record("a picture of 3.6 billion pixels was accepted")
      return
    }
    #expect(message.contains("60000 × 60000"))
    let file = MadeFiles.tiff(64, 32, color: MadeFiles.quarters(64, 32))
    #expect(try make(file, .test(maximumPixels: 64 * 32 - 1)).failure == .tooLarge)
    #expect(try make(file, .test(format: .png, maximumBytes: 20)).failure == .resultTooLarge)
    #expect(try make(file, .test(.embedded)).failure == .noEmbeddedPicture)
  }

  /// Each header promises 3.6 billion pixels.
  @Test(arguments: Bomb.allCases) func bombOfEachFormatIsRefusedWithItsSize(_ bomb: Bomb) throws {
    guard let file = try bomb.file(in: folder.path) else { return }
    let type = bomb == .raw ? "image/x-adobe-dng" : ""
    guard case .failed(let failure, let message) = try make(file, .test(contentType: type)) else {
      Issue.record("a picture of 3.6 billion pixels was accepted")
      return
    }
    // libheif refuses it before its size is known, with a message of its own.
    let size = bomb == .heif ? "60000x60000" : "60000 × 60000"
    #expect(failure == .tooLarge && message.contains(size), "\(failure): \(message)")
  }

  /// libjpeg has no longer sides. PNG does.
  @Test func sidesThatJPEGDoesNotHaveAreTooLarge() throws {
    let file = MadeFiles.bitmap(65_501, 1) { _, _ in [10, 200, 30] }
    #expect(try make(file, .test(size: nil, contentType: "image/bmp")).failure == .resultTooLarge)
    #expect(try make(file, .test(size: nil, format: .png, contentType: "image/bmp")).bytes != nil)
    let longest = MadeFiles.bitmap(65_500, 1) { _, _ in [10, 200, 30] }
    #expect(try make(longest, .test(size: nil, contentType: "image/bmp")).bytes != nil)
  }

  @Test func unknownContentIsUnsupportedAndContentThatIsNotWhatTheNameSaysIsUnreadable() throws {
    #expect(try make(Array("hello".utf8), .test(contentType: "")).failure == .unsupported)
    guard case .failed(.unreadable, let message) = try make(Array("hello".utf8), .test(contentType: "image/jpeg"))
    else {
      Issue.record("a text is a picture")
      return
    }
    #expect(message == "the content is no picture of the type that the name says (image/jpeg)")
    #expect(try make([], .test()).failure == .unreadable)
    // LibRaw would say that it is no RAW file, which is true of every OpenEXR file.
    let exr: [UInt8] = [0x76, 0x2F, 0x31, 0x01, 2, 0, 0, 0]
    for type in ["image/x-exr", "image/jpeg"] {
      guard case .failed(let failure, let text) = try make(exr, .test(contentType: type)) else {
        Issue.record("an OpenEXR file has a picture")
        return
      }
      #expect(failure == .unsupported && text == "pictures of OpenEXR files are not supported")
    }
  }

  /// A process that ends is started again by photod, but each end costs time, and the file is blamed.
  @Test func damagedFilesGiveFailuresAndTheProcessGoesOn() throws {
    let good = MadeFiles.tiff(64, 32, color: MadeFiles.quarters(64, 32))
    let samples = [
      good, MadeFiles.bitmap(64, 32, color: MadeFiles.quarters(64, 32)), MadeFiles.png(64, 32),
      MadeFiles.photoshop(64, 32, isPacked: true, color: MadeFiles.quarters(64, 32)),
      try Array(Data(contentsOf: Self.photo)),
    ]
    var random = SeededGenerator(seed: 19)
    for number in 0..<effort("PHOTOD_DAMAGED_PICTURES", 150) {
      var file = samples[number % samples.count]
      switch number % 3 {
      case 0: file = Array(file.prefix(Int.random(in: 1..<file.count, using: &random)))
      case 1:
        for _ in 0..<8 {
          let place = Int.random(in: 0..<min(file.count, 4096), using: &random)
          file[place] = UInt8.random(in: 0...255, using: &random)
        }
      default: file = Array(file.prefix(16)) + (0..<2000).map { _ in UInt8.random(in: 0...255, using: &random) }
      }
      for kind in [PictureKind.embedded, .rendered] {
        let outcome = try make(file, .test(kind))
        #expect(!outcome.hasEnded, "file \(number): \(outcome)")
        // libvips repeats lines of its messages.
        if case .failed(_, let message) = outcome {
          let parts = message.components(separatedBy: "; ")
          #expect(Set(parts).count == parts.count, "file \(number): \(message)")
        }
      }
    }
    #expect(try raster(good, .test(format: .png)).corners == "rgbw")
  }

  private static let photo = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/made/PXL_20220216_125541000.MP.jpg")

  /// photod-image gives pictures to programs that may not know the place of a photo.
  @Test func noPictureHasMetadata() throws {
    let names = ["PXL_20220216_125541000.MP.jpg", "MVIMG_20190216_125541.jpg", "IMG_0001.jpg"]
    for name in names {
      let path = Self.photo.deletingLastPathComponent().appending(path: name).path
      for format in [PictureFormat.jpeg, .png] {
        guard let bytes = try process.picture(path, .test(format: format)).bytes else { continue }
        for mark in ["Exif", "ns.adobe.com", "ICC_PROFILE", "eXIf", "iCCP", "tEXt", "iTXt", "Photoshop", "MPF\0"] {
          #expect(Data(bytes).range(of: Data(mark.utf8)) == nil, "\(name) as \(format): \(mark)")
        }
      }
    }
  }
}

/// A small file whose header has 60,000 × 60,000 pixels.
enum Bomb: CaseIterable {
  case jpeg, heif, jpegXL, photoshop, raw, tiff, bitmap

  /// - Returns: nil if a program that makes it is not installed.
  func file(in folder: String) throws -> [UInt8]? {
    let side = 60_000
    let big = Array(MadeFiles.four(side).reversed())
    switch self {
    case .jpeg: return MadeFiles.jpegHeader(side, side)
    case .heif:
      guard MadeStills.has("heif-enc") else { return nil }
      let file = try MadeStills.heic(in: folder, 256, 128)
      // The size of the picture (ispe) has a version, flags, the width and the height.
      guard let place = Data(file).range(of: Data("ispe".utf8))?.upperBound else { return nil }
      return file[..<(place + 4)] + big + big + file[(place + 12)...]
    case .jpegXL: return MadeFiles.jpegXLHeader(side, side)
    case .photoshop:
      let file = MadeFiles.photoshop(64, 32, isPacked: true, color: MadeFiles.quarters(64, 32))
      return file[..<14] + big + big + file[22...]
    case .raw: return patched(MadeFiles.dng(64, 32, color: MadeFiles.quarters(64, 32)), side)
    case .tiff: return patched(MadeFiles.tiff(64, 32, color: MadeFiles.quarters(64, 32)), side)
    case .bitmap:
      let file = MadeFiles.bitmap(64, 32, color: MadeFiles.quarters(64, 32))
      return file[..<18] + MadeFiles.four(side) + MadeFiles.four(side) + file[26...]
    }
  }

  /// The first two fields of 32 bits (type 4) with the tags 256 and 257 are the sides.
  private func patched(_ file: [UInt8], _ side: Int) -> [UInt8] {
    var file = file
    for tag in [256, 257] {
      let entry = Data(MadeFiles.two(tag) + MadeFiles.two(4) + MadeFiles.four(1))
      guard let place = Data(file).range(of: entry)?.upperBound else { continue }
      file.replaceSubrange(place..<place + 4, with: MadeFiles.four(side))
    }
    return file
  }
}
