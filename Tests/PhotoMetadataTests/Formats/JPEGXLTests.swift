import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

private typealias Box = BoxSamples

/// JPEG XL and JPEG 2000 files, built from their specifications.
@Suite struct JPEGXLTests {
  /// Writes numbers of bits, the lowest bit of each byte first.
  private struct Bits {
    var bytes: [UInt8] = [0xFF, 0x0A]
    private var count = 0

    mutating func put(_ number: Int, _ width: Int) {
      for bit in 0..<width {
        if count % 8 == 0 { bytes.append(0) }
        bytes[bytes.count - 1] |= UInt8(number >> bit & 1) << (count % 8)
        count += 1
      }
    }

    mutating func length(_ value: Int) {
      let selector = [9, 13, 18, 30].firstIndex { value <= 1 << $0 } ?? 3
      put(selector, 2)
      put(value - 1, [9, 13, 18, 30][selector])
    }
  }

  /// - Parameters:
  ///   - ratio: the number of a ratio, or 0 for a width of its own.
  ///   - preview: whether fields for an intrinsic size and a preview precede the animation.
  static func codestream(
    _ width: Int, _ height: Int, ratio: Int = 0, orientation: Int? = nil, animated: Bool = false, preview: Bool = false
  ) -> [UInt8] {
    var bits = Bits()
    bits.put(0, 1)
    bits.length(height)
    bits.put(ratio, 3)
    if ratio == 0 { bits.length(width) }
    bits.put(orientation == nil ? 1 : 0, 1)
    if let orientation {
      bits.put(1, 1)
      bits.put(orientation - 1, 3)
      bits.put(preview ? 1 : 0, 1)
      if preview {
        bits.put(1, 1)
        bits.put(3, 5)
        bits.put(1, 3)
      }
      bits.put(preview ? 1 : 0, 1)
      if preview {
        bits.put(0, 1)
        bits.put(1, 2)
        bits.put(0, 8)
        bits.put(0, 3)
        bits.put(0, 2)
        bits.put(5, 6)
      }
      bits.put(animated ? 1 : 0, 1)
    }
    return bits.bytes + [1, 2, 3, 4, 5, 6, 7, 8]
  }

  private static let exif = ExifBuilder(
    main: [0x0112: .short([3]), 0x010F: .ascii("Apple")], exif: [0x9003: .ascii("2024:07:21 10:00:00")])
  private static let signature = Box.box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + Box.brands(["jxl "])

  static let container =
    signature + Box.box("Exif", Samples.big(0) + exif.tiff()) + Box.box("xml ", Array(DescriptionSamples.full.utf8))
    + Box.box("jxlc", codestream(4032, 3024, orientation: 6))

  @Test(arguments: [
    (4032, 3024, 0), (1, 1, 0), (512, 513, 0), (70_000, 300_000, 0), (24, 24, 1), (1440, 1200, 2), (400, 300, 3),
    (300, 200, 4), (1920, 1080, 5), (1000, 800, 6), (800, 400, 7),
  ])
  func theSizeHeaderIsRead(width: Int, height: Int, ratio: Int) throws {
    let facts = try facts(of: Self.codestream(width, height, ratio: ratio), name: "a.jxl")
    #expect(facts.contentType == "image/jxl" && facts.failure == nil)
    #expect(facts.pixelWidth == width && facts.pixelHeight == height && facts.orientation == 1)
  }

  @Test func theSmallSizeHeaderIsRead() throws {
    // A flag, the height in eighths, no ratio, the width in eighths, and default metadata.
    var bits = Bits()
    for (number, width) in [(1, 1), (3, 5), (0, 3), (9, 5), (1, 1)] { bits.put(number, width) }
    let facts = try facts(of: bits.bytes + [0, 0], name: "a.jxl")
    #expect(facts.pixelWidth == 80 && facts.pixelHeight == 32)
  }

  @Test(arguments: [false, true]) func orientationAndAnimationAreRead(preview: Bool) throws {
    for orientation in 1...8 {
      let file = Self.codestream(400, 300, orientation: orientation, animated: orientation % 2 == 0, preview: preview)
      let facts = try facts(of: file, name: "a.jxl")
      #expect(facts.orientation == orientation && facts.pixelWidth == (orientation >= 5 ? 300 : 400))
      #expect(facts.mediaSubtypes == (orientation % 2 == 0 ? [.animated] : []))
    }
  }

  @Test func boxesHaveExifAndXMP() throws {
    let parts =
      Self.signature + Box.box("jxlp", Samples.big(0) + Self.codestream(4032, 3024, orientation: 6))
      + Box.box("Exif", Samples.big(0) + Self.exif.tiff()) + Box.box("xml ", Array(DescriptionSamples.full.utf8))
    for file in [Self.container, parts] {
      let facts = try facts(of: file, name: "a.jxl")
      #expect(facts.failure == nil && facts.contentType == "image/jxl")
      #expect(facts.pixelWidth == 3024 && facts.pixelHeight == 4032)
      // The codestream's orientation, not EXIF's.
      #expect(facts.orientation == 6 && facts.camera?.make == "Apple" && facts.title == "Sea")
    }
  }

  // MARK: - JPEG 2000

  private static let sizes = [0, 0].flatMap(Box.big16) + [1034, 520, 10, 20].flatMap { Samples.big($0) }
  private static let codestream2000: [UInt8] =
    [0xFF, 0x4F, 0xFF, 0x51] + sizes + [UInt8](repeating: 0, count: 30)
  private static let exifIdentifier = Array("JpgTiffExif->JP2".utf8)
  private static let xmpIdentifier: [UInt8] = [
    0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
  ]
  private static let iptcIdentifier: [UInt8] = [
    0x33, 0xC7, 0xA4, 0xD2, 0xB8, 0x1D, 0x47, 0x23, 0xA0, 0xBA, 0xF1, 0xA3, 0xE0, 0x97, 0xAD, 0x38,
  ]

  private static func boxes2000(_ brand: String) -> [UInt8] {
    Box.box("jP  ", [0x0D, 0x0A, 0x87, 0x0A]) + Box.brands([brand])
      + Box.box("jp2h", Box.box("ihdr", Samples.big(300), Samples.big(400), Box.big16(3), [7, 7, 0, 0]))
      + Box.box("uuid", exifIdentifier, exif.tiff())
      + Box.box("uuid", xmpIdentifier, Array(DescriptionSamples.full.utf8))
      + Box.box("uuid", iptcIdentifier, DescriptionSamples.fullIPTC) + Box.box("jp2c", codestream2000)
  }

  static let jp2 = boxes2000("jp2 ")

  @Test(arguments: [("jp2 ", "image/jp2"), ("jpx ", "image/jpx"), ("jpm ", "image/jpm")])
  func boxesOfJPEG2000AreRead(brand: String, contentType: String) throws {
    let facts = try facts(of: Self.boxes2000(brand), name: "a.jp2")
    #expect(facts.contentType == contentType && facts.failure == nil)
    #expect(facts.pixelWidth == 400 && facts.pixelHeight == 300 && facts.orientation == 3)
    #expect(facts.camera?.make == "Apple" && facts.title == "Sea")
  }

  @Test func aCodestreamAloneHasItsSize() throws {
    let facts = try facts(of: Self.codestream2000, name: "a.j2k")
    #expect(facts.contentType == "image/x-jp2-codestream" && facts.pixelWidth == 1024 && facts.pixelHeight == 500)
    let cut = try PhotoMetadataTests.facts(of: Array(Self.codestream2000.prefix(12)), name: "a.j2k")
    #expect(cut.failure == "the file is damaged or cut off: its header has no size")
  }
}
