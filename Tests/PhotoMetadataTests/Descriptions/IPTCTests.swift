import ExtractRecords
import PhotoMetadata
import Testing

@testable import MetadataSamples

private typealias Written = DescriptionSamples

/// IPTC blocks, Windows' tags, and the precedence of all blocks.
@Suite struct IPTCTests {
  private func facts(iptc: [UInt8], before: [(name: String, data: [UInt8])] = []) throws -> MediaFacts {
    let facts = try PhotoMetadataTests.facts(of: Written.jpeg([Written.photoshopSegment(iptc, before: before)]))
    #expect(facts.failure == nil)
    return facts
  }

  private static func utf16(_ text: String) -> ExifBuilder.Value {
    .bytes(text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] } + [0, 0], type: 1)
  }

  @Test func keywordsTitleAndCaptionAreRead() throws {
    let facts = try facts(iptc: Written.fullIPTC)
    #expect(facts.keywords == ["harbour", "Ada"])
    #expect(facts.title == "Harbour" && facts.caption == "In the harbour" && facts.rating == nil)
  }

  @Test func theBlockIsFoundAfterOtherPhotoshopResources() throws {
    for others in [[("", [1, 2, 3])], [("a", [])], [("ab", [1]), ("abc", [1, 2])]] as [[(String, [UInt8])]] {
      #expect(try facts(iptc: Written.fullIPTC, before: others.map { (name: $0.0, data: $0.1) }).title == "Harbour")
    }
  }

  @Test func textsAreUTF8ElseOfWindows() throws {
    let iptc = Written.iptc(keywords: [Array("Zürich".utf8), [0x5A, 0xFC, 0x72, 0x69, 0x63, 0x68], [0x81, 0x8D]])
    #expect(try facts(iptc: iptc).keywords == ["Zürich"])
    #expect(try facts(iptc: Written.iptc(title: [0xC9, 0x74, 0xE9, 0])).title == "Été")
  }

  @Test func theBlockOfATIFFIsReadFromItsOwnTag() throws {
    var block = Written.fullIPTC
    for type: UInt16 in [1, 7] {
      let builder = ExifBuilder(main: [0x0100: .long([9]), 0x0101: .long([9]), 0x83BB: .bytes(block, type: type)])
      #expect(try PhotoMetadataTests.facts(of: builder.tiff(), name: "a.tif").keywords == ["harbour", "Ada"])
    }
    // Photoshop declares its bytes as long numbers, and pads them.
    while block.count % 4 != 0 { block.append(0) }
    let words = stride(from: 0, to: block.count, by: 4).map { index in
      block[index..<index + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    let builder = ExifBuilder(main: [0x0100: .long([9]), 0x0101: .long([9]), 0x83BB: .long(words)])
    #expect(try PhotoMetadataTests.facts(of: builder.tiff(), name: "a.tif").keywords == ["harbour", "Ada"])
  }

  @Test func windowsKeywordsAreSeparatedBySemicolons() throws {
    let builder = ExifBuilder(main: [0x9C9E: Self.utf16("sea; boat;;sea;日本")])
    #expect(try PhotoMetadataTests.facts(of: builder.jpeg()).keywords == ["sea", "boat", "日本"])
  }

  @Test func xmpComesBeforeIPTCBeforeEXIFFieldByField() throws {
    let exif = ExifBuilder(
      main: [
        0x9C9E: Self.utf16("windows"), 0x9C9B: Self.utf16("Windows"), 0x010E: .ascii("Described"), 0x4746: .short([1]),
      ])
    let exifSegment = ExifBuilder.segment(0xE1, Array("Exif\0\0".utf8) + exif.tiff())
    func facts(xmp: String?, iptc: [UInt8]?) throws -> MediaFacts {
      let segments = [
        exifSegment, iptc.map { Written.photoshopSegment($0) } ?? [],
        xmp.map { Written.xmpSegment(Array(Written.packet($0).utf8)) } ?? [],
      ]
      return try PhotoMetadataTests.facts(of: Written.jpeg(segments))
    }
    let all = try facts(
      xmp: Written.bag("dc:subject", ["sea"]) + "<dc:title>Sea</dc:title><xmp:Rating>5</xmp:Rating>",
      iptc: Written.fullIPTC)
    #expect(all.keywords == ["sea"] && all.title == "Sea" && all.caption == "In the harbour" && all.rating == 5)
    let part = try facts(xmp: "<dc:description>Wide</dc:description>", iptc: Written.iptc(title: [65]))
    #expect(part.keywords == ["windows"] && part.title == "A" && part.caption == "Wide" && part.rating == 1)
    let percent = try facts(xmp: "<MicrosoftPhoto:Rating>75</MicrosoftPhoto:Rating>", iptc: nil)
    #expect(percent.rating == 4 && percent.title == "Windows" && percent.caption == "Described")
    let rejected = try facts(xmp: "<xmp:Rating>-1</xmp:Rating>", iptc: nil)
    #expect(rejected.rating == 0)
  }
}
