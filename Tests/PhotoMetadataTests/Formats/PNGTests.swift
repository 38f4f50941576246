import ExtractRecords
import PhotoMetadata
import PhotoModel
import TestTools
import Testing

@testable import MetadataSamples

private typealias Written = DescriptionSamples

/// PNG's chunks: where they are, and how texts in them are written.
@Suite struct PNGTests {
  private static let exif = ExifBuilder(
    main: [0x0112: .short([6]), 0x010F: .ascii("Apple")], exif: [0x9003: .ascii("2024:07:21 10:00:00")])

  private static func pixels(_ size: Int, count: Int = 1) -> [UInt8] {
    let chunk = Samples.chunk("IDAT", [UInt8](repeating: 7, count: size))
    return [[UInt8]](repeating: chunk, count: count).flatMap { $0 }
  }

  /// - Parameter after: chunks behind the pixels.
  private static func png(before: [[UInt8]] = [], _ pixels: [UInt8] = pixels(10), after: [[UInt8]] = []) -> [UInt8] {
    Samples.signature + Samples.chunk("IHDR", Samples.big(40) + Samples.big(30) + [8, 6, 0, 0, 0])
      + before.flatMap { $0 } + pixels + after.flatMap { $0 } + Samples.chunk("IEND", [])
  }

  private static func text(_ keyword: String, _ text: [UInt8]) -> [UInt8] {
    Samples.chunk("tEXt", Array(keyword.utf8) + [0] + text)
  }

  private static func compressed(_ keyword: String, _ text: [UInt8]) -> [UInt8] {
    Samples.chunk("zTXt", Array(keyword.utf8) + [0, 0] + Samples.deflated(text))
  }

  private static func international(_ keyword: String, _ text: [UInt8], isCompressed: Bool, language: String = "")
    -> [UInt8]
  {
    let fields: [UInt8] = [isCompressed ? 1 : 0, 0] + Array(language.utf8) + [0] + Array("übersetzt".utf8) + [0]
    return Samples.chunk("iTXt", Array(keyword.utf8) + [0] + fields + (isCompressed ? Samples.deflated(text) : text))
  }

  private static func profile(_ kind: String, _ bytes: [UInt8]) -> [UInt8] {
    let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    let lines = stride(from: 0, to: digits.count, by: 72).map { offset in
      String(digits.dropFirst(offset).prefix(72))
    }
    return Array("\n\(kind)\n    \(bytes.count)\n\(lines.joined(separator: "\n"))\n".utf8)
  }

  /// A file with one text of each kind, for mutations.
  static let texts = png(
    before: [compressed("Raw profile type exif", profile("exif", Array("Exif\0\0".utf8) + exif.tiff()))],
    after: [
      international("XML:com.adobe.xmp", Array(Written.full.utf8), isCompressed: true),
      text("Raw profile type iptc", profile("iptc", Written.fullIPTC)), text("Title", Array("Sea".utf8)),
      text("Creation Time", Array("Tue, 13 Feb 2007 06:34:38 +0100".utf8)),
    ])

  private func facts(_ file: [UInt8]) throws -> MediaFacts {
    let facts = try PhotoMetadataTests.facts(of: file, name: "a.png")
    #expect(facts.failure == nil && facts.contentType == "image/png")
    return facts
  }

  // MARK: - Chunks behind the pixels

  /// Chunks of pixels as libpng writes them, one of its own size at the end, and the metadata behind all of them.
  @Test(arguments: [(10, 1), (300_000, 1), (8192, 3000), (8192, 3001), (32_768, 700), (1, 3000), (65_536, 513)])
  func metadataBehindThePixelsIsRead(size: Int, count: Int) throws {
    let pixels = Self.pixels(size, count: count) + Self.pixels(size / 2 + 3)
    let chunks = [
      Samples.chunk("eXIf", Self.exif.tiff()),
      Self.international("XML:com.adobe.xmp", Array(Written.full.utf8), isCompressed: false),
    ]
    let (facts, time) = try measuringProcessorTime { try self.facts(Self.png(pixels, after: chunks)) }
    #expect(facts.camera?.make == "Apple" && facts.orientation == 6 && facts.title == "Sea" && facts.rating == 4)
    #expect(facts.pixelWidth == 30 && facts.pixelHeight == 40)
    #expect(time < .seconds(2))
  }

  /// The walk is bounded. The file is not damaged because of that.
  @Test func thousandsOfDifferentChunksEndTheWalkOnly() throws {
    let pixels = (0..<1000).flatMap { Self.pixels(100 + $0 % 7) } + (0..<600).flatMap { Self.pixels(1000 + $0) }
    #expect(try facts(Self.png(pixels, after: [Samples.chunk("eXIf", Self.exif.tiff())])).pixelWidth == 40)
  }

  @Test func aChunkThatIsCutOffEndsTheWalk() throws {
    var file = Self.png(before: [Samples.chunk("eXIf", Self.exif.tiff())])
    file.removeLast(20)
    #expect(try facts(file).camera?.make == "Apple")
  }

  @Test func severalFramesAreAnAnimation() throws {
    for (count, isAnimated) in [(1, false), (2, true)] {
      let file = Self.png(before: [Samples.chunk("acTL", Samples.big(count) + Samples.big(0))])
      let facts = try PhotoMetadataTests.facts(of: file, name: "a.png")
      #expect(facts.mediaSubtypes == (isAnimated ? [.animated] : []))
      #expect(facts.contentType == (isAnimated ? "image/apng" : "image/png"))
    }
  }

  // MARK: - Texts

  @Test func exifInTextsIsRead() throws {
    let block = Array("Exif\0\0".utf8) + Self.exif.tiff()
    for kind in ["exif", "APP1"] {
      for bytes in [block, Self.exif.tiff()] {
        let text = Self.profile(kind, bytes)
        for chunk in [
          Self.text("Raw profile type \(kind)", text), Self.compressed("Raw profile type \(kind)", text),
          Self.international("Raw profile type \(kind)", text, isCompressed: true, language: "de"),
        ] {
          let facts = try facts(Self.png(after: [chunk]))
          #expect(facts.camera?.make == "Apple" && facts.creationDate?.description == "2024-07-21T10:00:00")
          #expect(facts.orientation == 6 && facts.pixelWidth == 30)
        }
      }
    }
  }

  @Test func xmpInTextsIsRead() throws {
    let packet = Array(Written.full.utf8)
    let app1 = Self.profile("APP1", Array("http://ns.adobe.com/xap/1.0/\0".utf8) + packet)
    for chunk in [
      Self.text("XML:com.adobe.xmp", packet), Self.compressed("XML:com.adobe.xmp", packet),
      Self.international("XML:com.adobe.xmp", packet, isCompressed: false),
      Self.international("XML:com.adobe.xmp", packet, isCompressed: true),
      Self.text("Raw profile type xmp", Self.profile("xmp", packet)),
      Self.compressed("Raw profile type xmp", Self.profile("xmp", packet)),
      Self.compressed("Raw profile type APP1", app1),
    ] {
      let facts = try facts(Self.png(after: [chunk]))
      #expect(facts.title == "Sea" && facts.rating == 4 && facts.keywords.count == 4)
    }
  }

  /// ImageMagick names both segments of a JPEG by their marker.
  @Test func exifAndXMPUnderTheSameKeywordAreBothRead() throws {
    let exif = Self.profile("APP1", Array("Exif\0\0".utf8) + Self.exif.tiff())
    let xmp = Self.profile("APP1", Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(Written.full.utf8))
    for profiles in [[exif, xmp], [xmp, exif]] {
      let facts = try facts(Self.png(after: profiles.map { Self.compressed("Raw profile type APP1", $0) }))
      #expect(facts.camera?.make == "Apple" && facts.title == "Sea" && facts.rating == 4)
    }
  }

  @Test func iptcInTextsIsRead() throws {
    let resources = Array(Written.photoshopSegment(Written.fullIPTC).dropFirst(4 + 14))
    for bytes in [Written.fullIPTC, resources] {
      let text = Self.profile("iptc", bytes)
      for chunk in [Self.text("Raw profile type iptc", text), Self.compressed("Raw profile type iptc", text)] {
        let facts = try facts(Self.png(after: [chunk]))
        #expect(facts.title == "Harbour" && facts.keywords == ["harbour", "Ada"])
      }
    }
  }

  @Test func pngsOwnTextsComeLast() throws {
    let own = [
      Self.text("Title", Array("Own".utf8)), Self.text("Description", [0x47, 0x72, 0xFC, 0xDF, 0x65]),
      Self.text("Creation Time", Array("2007:02:13 06:34:38".utf8)),
    ]
    let facts = try facts(Self.png(after: own))
    #expect(facts.title == "Own" && facts.caption == "Grüße")
    #expect(facts.creationDate?.description == "2007-02-13T06:34:38")
    let better = [
      Samples.chunk("eXIf", Self.exif.tiff()),
      Self.international("XML:com.adobe.xmp", Array(Written.full.utf8), isCompressed: false),
    ]
    let both = try self.facts(Self.png(before: own, after: better))
    #expect(both.title == "Sea" && both.caption == "A boat & the sea")
    #expect(both.creationDate?.description == "2024-07-21T10:00:00")
  }

  @Test(
    arguments: [
      ("Tue, 13 Feb 2007 06:34:38 +0100", "2007-02-13T06:34:38+01:00"),
      ("13 Feb 2007 06:34 GMT", "2007-02-13T06:34:00Z"),
      ("2007-02-13T06:34:38Z", "2007-02-13T06:34:38Z"), ("2007-02-13", "2007-02-13T12:00:00"),
      ("2007:02:13 06:34:38", "2007-02-13T06:34:38"), ("Tue Feb 13 06:34:38 2007", "2007-02-13T06:34:38"),
      ("Sun 28 Apr 2024 11:09:02 PM CEST", "2024-04-28T23:09:02"),
      ("Sun 28 Apr 2024 12:09:02 AM", "2024-04-28T00:09:02"),
      ("yesterday", nil), ("13 Feb", nil), ("32 Feb 2007 06:34:38", nil), ("13 Feb 2007 99:34:38", nil),
      ("13 Feb 2007 13:00:00 PM", nil), ("13 Feb 2007 1:2:3:4", nil), ("", nil),
    ] as [(String, String?)])
  func creationTimesOfEveryFormAreRead(text: String, date: String?) throws {
    let facts = try facts(Self.png(after: [Self.text("Creation Time", Array(text.utf8))]))
    #expect(facts.creationDate?.description == date)
  }

  @Test(arguments: ["CreationTime", "create-date"]) func creationTimeHasSeveralNames(keyword: String) throws {
    let facts = try facts(Self.png(after: [Self.text(keyword, Array("1999:01:01 00:08:50".utf8))]))
    #expect(facts.creationDate?.description == "1999-01-01T00:08:50")
  }

  @Test func aTextThatInflatesWithoutEndIsBounded() throws {
    let bomb = Samples.deflated([UInt8](repeating: 0x20, count: 64 << 20))
    for keyword in ["Raw profile type exif", "XML:com.adobe.xmp", "Title"] {
      let chunk = Samples.chunk("zTXt", Array(keyword.utf8) + [0, 0] + bomb)
      let time = try measuringProcessorTime { try facts(Self.png(after: [chunk])) }.time
      #expect(time < .seconds(2))
    }
  }

  @Test func damagedTextsAreNone() throws {
    let packet = Array(Written.full.utf8)
    for chunk in [
      Samples.chunk("zTXt", Array("XML:com.adobe.xmp".utf8) + [0, 1] + Samples.deflated(packet)),
      Samples.chunk("zTXt", Array("XML:com.adobe.xmp".utf8) + [0, 0] + packet),
      Samples.chunk("iTXt", Array("XML:com.adobe.xmp".utf8) + [0, 0]), Samples.chunk("tEXt", Array("Title".utf8)),
      Samples.chunk("tEXt", Array("Raw profile type exif\0\nexif\n".utf8)), Samples.chunk("iTXt", []),
    ] {
      let facts = try facts(Self.png(after: [chunk]))
      #expect(facts.title == nil && facts.rating == nil && facts.camera == nil)
    }
  }
}
