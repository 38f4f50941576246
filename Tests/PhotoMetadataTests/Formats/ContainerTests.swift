import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

/// Containers: the facts in their headers, and types by content and by name.
@Suite struct ContainerTests {
  private static let exif = ExifBuilder(
    main: [0x0112: .short([6]), 0x010F: .ascii("Apple"), 0x0110: .ascii("iPhone 13 Pro")],
    exif: [0x9003: .ascii("2024:07:21 10:00:00")])

  private func expectExif(_ facts: MediaFacts, _ width: Int, _ height: Int) {
    #expect(facts.failure == nil)
    #expect(facts.camera?.model == "iPhone 13 Pro")
    #expect(facts.creationDate?.description == "2024-07-21T10:00:00")
    #expect(facts.orientation == 6)
    #expect(facts.pixelWidth == height && facts.pixelHeight == width)
  }

  // MARK: - JPEG

  @Test(arguments: [0xC0, 0xC1, 0xC2, 0xC9] as [UInt8])
  func everyKindOfFrameHasTheSize(marker: UInt8) throws {
    let facts = try facts(of: [0xFF, 0xD8] + ExifBuilder.frame(width: 4000, height: 3000, marker: marker))
    #expect(facts.pixelWidth == 4000 && facts.pixelHeight == 3000)
    #expect(facts.orientation == nil && facts.failure == nil)
  }

  @Test func exifIsFoundAfterLargeSegmentsAndAcrossTheFirstRead() throws {
    let filler = ExifBuilder.segment(0xE2, [UInt8](repeating: 0xAA, count: 60_000))
    let block = ExifBuilder.segment(0xE1, Array("Exif\0\0".utf8) + Self.exif.tiff())
    let frame = ExifBuilder.frame(width: 160, height: 120)
    for count in [1, 2, 30] {
      let fillers = [[UInt8]](repeating: filler, count: count).flatMap { $0 }
      expectExif(try facts(of: [0xFF, 0xD8] + fillers + block + fillers + frame), 160, 120)
    }
    // The block takes every position around the end of the first 64 KiB.
    let scratch = try ScratchFile()
    for gap in stride(from: 5000, through: 5600, by: 7) {
      let second = ExifBuilder.segment(0xE2, [UInt8](repeating: 0xAA, count: gap))
      expectExif(try scratch.facts([0xFF, 0xD8] + filler + second + block + frame), 160, 120)
    }
  }

  @Test func strayAndFillBytesBetweenSegmentsAreSkipped() throws {
    let jpeg = Self.exif.jpeg()
    expectExif(try facts(of: [0xFF, 0xD8, 0xFF, 0xFF] + jpeg.dropFirst(2)), 160, 120)
    expectExif(try facts(of: [0xFF, 0xD8, 0xFF, 0x00, 0x12, 0x34] + jpeg.dropFirst(2)), 160, 120)
  }

  @Test func metadataScatteredBeyondTheBudgetIsExplained() throws {
    let filler = ExifBuilder.segment(0xE2, [UInt8](repeating: 0xAA, count: 65_533))
    let fillers = [[UInt8]](repeating: filler, count: 600).flatMap { $0 }
    let facts = try facts(of: [0xFF, 0xD8] + fillers + ExifBuilder.frame(width: 1, height: 1))
    #expect(facts.failure != nil)
    #expect(facts.contentType == "image/jpeg")
  }

  // MARK: - TIFF

  @Test func aTIFFIsReadWhereverItsDirectoriesLie() throws {
    for bigEndian in [false, true] {
      var builder = Self.exif
      builder.bigEndian = bigEndian
      builder.main[0x0100] = .long([640])
      builder.main[0x0101] = .short([480])
      expectExif(try facts(of: builder.tiff(), name: "scan.tif"), 640, 480)
    }
  }

  @Test func aTIFFWhoseDirectoriesComeLastIsRead() throws {
    let shift = 300_000
    var builder = Self.exif
    builder.main[0x0100] = .long([640])
    builder.main[0x0101] = .long([480])
    let moved = builder.tiff(shiftedBy: shift)
    expectExif(try facts(of: moved, name: "scan.tiff"), 640, 480)
  }

  @Test func aBigTIFFIsRead() throws {
    func long8(_ value: Int) -> [UInt8] { Samples.little(value) + [0, 0, 0, 0] }
    func entry(_ tag: UInt8, _ type: UInt8, _ value: Int) -> [UInt8] { [tag, 1, type, 0] + long8(1) + long8(value) }
    let bytes: [UInt8] =
      [0x49, 0x49, 43, 0, 8, 0, 0, 0] + long8(16) + long8(3) + entry(0x00, 16, 70_000) + entry(0x01, 4, 50_000)
      + entry(0x12, 3, 1) + long8(0)
    let facts = try facts(of: bytes, name: "map.tif")
    #expect(facts.pixelWidth == 70_000 && facts.pixelHeight == 50_000 && facts.orientation == 1)
  }

  @Test func directoriesThatPointAtThemselvesEnd() throws {
    var builder = Self.exif
    builder.main[0x8769] = .long([8])
    builder.exif = [:]
    builder.main[0x8825] = .long([8])
    #expect(try facts(of: builder.jpeg()).camera?.make == "Apple")
  }

  // MARK: - PNG, GIF, WebP

  @Test func pngHasSizeExifAndAnimation() throws {
    let plain = try facts(of: Samples.png(width: 1920, height: 1080), name: "a.png")
    #expect(plain.pixelWidth == 1920 && plain.pixelHeight == 1080 && plain.mediaSubtypes == [])
    let block = Samples.chunk("eXIf", Self.exif.tiff())
    expectExif(try facts(of: Samples.png(width: 20, height: 10, chunks: [block]), name: "a.png"), 20, 10)
    let moving = Samples.png(width: 20, height: 10, chunks: [Samples.chunk("acTL", Samples.big(2) + Samples.big(0))])
    #expect(try facts(of: moving, name: "a.png").mediaSubtypes == [.animated])
  }

  @Test func gifIsAnimatedWithASecondImageAndNotByALoop() throws {
    for (images, loops, animated) in [(1, false, false), (2, false, true), (1, true, false), (2, true, true)] {
      let facts = try facts(of: Samples.gif(width: 300, height: 200, images: images, loops: loops), name: "a.gif")
      #expect(facts.pixelWidth == 300 && facts.pixelHeight == 200 && facts.failure == nil)
      #expect(facts.mediaSubtypes == (animated ? [.animated] : []))
    }
  }

  /// The second image is behind the first read, and behind the bytes that are walked.
  @Test(arguments: [(100_000, true, true), (100_000, false, true), (2_000_000, true, true), (2_000_000, false, false)])
  func theSecondImageOfALargeGIFIsFound(size: Int, loops: Bool, animated: Bool) throws {
    let blocks = [[UInt8]](repeating: [254] + [UInt8](repeating: 1, count: 254), count: size / 255).flatMap { $0 }
    var file = Samples.gif(width: 30, height: 20, images: 1, loops: loops)
    file.removeLast(5)
    let image: [UInt8] = [0x2C, 0, 0, 0, 0, 30, 0, 20, 0, 0, 2, 2, 0x44, 0x01, 0]
    file += [2] + blocks + [0] + image + [0x3B]
    let facts = try facts(of: file, name: "a.gif")
    #expect(facts.mediaSubtypes == (animated ? [.animated] : []))
    #expect(facts.failure == nil && facts.pixelWidth == 30)
  }

  @Test func everyKindOfWebPHasItsSize() throws {
    let lossy: [UInt8] = [0, 0, 0, 0x9D, 0x01, 0x2A, 0x40, 0x01, 0xF0, 0x00]
    let bits = 319 | 239 << 14
    let lossless = [0x2F] + Samples.little(bits)
    let extended: [UInt8] = [0x0A, 0, 0, 0, 0x3F, 0x01, 0x00, 0xEF, 0x00, 0x00]
    for chunk in [("VP8 ", lossy), ("VP8L", lossless), ("VP8X", extended)] {
      let facts = try facts(of: Samples.webp([chunk]), name: "a.webp")
      #expect(facts.pixelWidth == 320 && facts.pixelHeight == 240)
    }
    for (prefix, frames) in [([], 2), (Array("Exif\0\0".utf8), 3), ([], 1)] {
      let file = Samples.webp(
        [("VP8X", extended)] + [(String, [UInt8])](repeating: ("ANMF", [1, 2, 3]), count: frames)
          + [("EXIF", prefix + Self.exif.tiff())])
      let facts = try facts(of: file, name: "a.webp")
      expectExif(facts, 320, 240)
      #expect(facts.mediaSubtypes == (frames > 1 ? [.animated] : []))
    }
    let still = Samples.webp([("VP8X", extended), ("ANIM", [0, 0, 0, 0, 0, 0]), ("ANMF", [1, 2, 3])])
    #expect(try facts(of: still, name: "a.webp").mediaSubtypes == [])
  }

  // MARK: - Content and name

  @Test func contentRefinesTheType() throws {
    func heif(_ brands: String...) -> [UInt8] { BoxSamples.heif(brands, properties: [BoxSamples.ispe(8, 8)]) }
    func movie(_ brands: String...) -> [UInt8] { BoxSamples.movie(brands, BoxSamples.header(), BoxSamples.track()) }
    let heic = heif("mif1", "miaf", "heic")
    let cases: [(String, [UInt8], MediaType, String)] = [
      ("a.jpg", Samples.png(width: 1, height: 1), .image, "image/png"),
      ("a.heic", Self.exif.jpeg(), .image, "image/jpeg"),
      ("a.png", Samples.gif(width: 1, height: 1, images: 1), .image, "image/gif"),
      ("a.jpg", heic, .image, "image/heic"), ("a.heif", heic, .image, "image/heic"),
      ("a.heic", heif("mif1"), .image, "image/heif"),
      ("a.heic", heif("avif", "mif1"), .image, "image/avif"),
      ("a.heic", heif("mif2"), .image, "image/heif"), ("a.heic", heif("jpeg", "mif1"), .image, "image/heif"),
      ("a.heic", heif("abcd", "miaf", "avif"), .image, "image/avif"),
      ("a.heic", heif("abcd", "mif1"), .image, "image/heif"), ("a.avci", heif("avci"), .image, "image/avci"),
      ("a.heic", heif("heis"), .image, "image/heic"), ("a.heic", heif("msf1", "hevc"), .image, "image/heic"),
      ("a.mov", movie("qt  "), .video, "video/quicktime"), ("a.mov", movie("isom"), .video, "video/mp4"),
      ("a.mp4", movie("isom", "mif1"), .video, "video/mp4"),
      ("a.mp4", movie("abcd", "qt  "), .video, "video/quicktime"),
      ("a.3gp", movie("3gp5"), .video, "video/3gpp"), ("a.3g2", movie("3g2a"), .video, "video/3gpp2"),
      ("a.m4v", movie("M4V "), .video, "video/x-m4v"), ("a.mp4", movie("abcd"), .video, "video/mp4"),
      ("a.jpg", movie("mp42"), .video, "video/mp4"),
      ("a.avi", Array("RIFF\0\0\0\0AVI LIST".utf8), .video, "video/x-msvideo"),
      ("a.mkv", [0x1A, 0x45, 0xDF, 0xA3] + Array("....webm".utf8), .video, "video/webm"),
      ("a.mpg", [0x12, 0x34], .video, "video/mpeg"),
      ("a.orf", Array("IIRO\u{8}\0\0\0".utf8), .image, "image/x-olympus-orf"),
    ]
    for (name, content, mediaType, contentType) in cases {
      let facts = try facts(of: content, name: name)
      #expect(facts.mediaType == mediaType && facts.contentType == contentType, "\(name) \(contentType)")
      // These have only a signature.
      if !["a.avi", "a.mkv", "a.orf"].contains(name) { #expect(facts.failure == nil, "\(name) \(contentType)") }
    }
  }

  @Test func aRAWFileIsOneByNameUnlessItsContentIsAPlainImage() throws {
    let raw = try facts(of: Self.exif.tiff(), name: "DSC_1.NEF")
    #expect(raw.contentType == "image/x-nikon-nef" && raw.mediaSubtypes == [.raw] && raw.failure == nil)
    let jpeg = try facts(of: Self.exif.jpeg(), name: "DSC_1.NEF")
    #expect(jpeg.contentType == "image/jpeg" && jpeg.mediaSubtypes == [])
  }

  @Test func unreadableContentIsExplained() throws {
    let unknown = try facts(of: Array("<!DOCTYPE html>".utf8))
    #expect(unknown.mediaType == .image && unknown.contentType == "image/jpeg")
    #expect(
      unknown.failure
        == "it is not image/jpeg: it begins with 3C 21 44 4F 43 54 59 50; the file may be damaged or misnamed")
    #expect(try facts(of: []).failure == "the file is empty")
    #expect(try facts(of: [0xFF, 0xD8, 0xFF, 0xD9]).failure?.hasPrefix("the JPEG is damaged or cut off") == true)
    #expect(try facts(of: [0x49, 0x49, 42, 0, 9, 9, 9, 9], name: "a.tif").failure?.hasPrefix("the TIFF") == true)
  }

  @Test func aFailedReadIsExplained() {
    var reader = MediaReader()
    let facts = reader.facts(descriptor: -1, byteCount: 100, name: "a.jpg".utf8)
    #expect(facts.failure == "its content can't be read: Bad file descriptor; check the disk or the connection")
    #expect(facts.contentType == "image/jpeg")
  }
}
