import CZlib
import ExtractRecords
import PhotoMetadata
import Testing

@testable import MetadataSamples

private typealias Written = DescriptionSamples

/// Dates from XMP, IPTC and old PNG files.
@Suite struct EmbeddedDateTests {
  private static let namespaces =
    "xmlns:exif='http://ns.adobe.com/exif/1.0/' xmlns:photoshop='http://ns.adobe.com/photoshop/1.0/'"

  private func date(exif: [UInt16: ExifBuilder.Value] = [:], xmp: String? = nil, iptc: [UInt8]? = nil) throws -> String?
  {
    let builder = ExifBuilder(main: [0x0112: .short([1])], exif: exif)
    let segments = [
      ExifBuilder.segment(0xE1, Array("Exif\0\0".utf8) + builder.tiff()),
      iptc.map { Written.photoshopSegment($0) } ?? [],
      xmp.map { Written.xmpSegment(Array(Written.packet(attributes: Self.namespaces + " " + $0).utf8)) } ?? [],
    ]
    let facts = try PhotoMetadataTests.facts(of: Written.jpeg(segments))
    #expect(facts.failure == nil)
    return facts.creationDate?.description
  }

  private static func iptc(_ values: [(UInt8, String)]) -> [UInt8] {
    Written.iptc() + values.flatMap { Written.dataset($0.0, Array($0.1.utf8)) }
  }

  private static let all = [
    "exif:DateTimeOriginal='2001-01-01T01:01:01+02:00'", "photoshop:DateCreated='2002-01-01T01:01:01'",
    "xmp:CreateDate='2003-01-01T01:01:01Z'", "exif:DateTimeDigitized='2004-01-01T01:01:01'",
  ]
  private static let allIPTC: [(UInt8, String)] = [
    (55, "20050101"), (60, "010101+0200"), (62, "20060101"), (63, "010101"),
  ]

  /// Each date is used once all preferred dates are removed.
  @Test func theOriginalComesBeforeItsDigitizationAndXMPBeforeIPTC() throws {
    let taken: ExifBuilder.Value = .ascii("2000:01:01 01:01:01")
    let (all, iptc) = (Self.all, Self.allIPTC)
    func of(_ xmp: [String], _ iptc: [(UInt8, String)]) throws -> String? {
      try date(xmp: xmp.joined(separator: " "), iptc: Self.iptc(iptc))
    }
    for tag: UInt16 in [0x9003, 0x9004] {
      let date = try date(exif: [tag: taken], xmp: all.joined(separator: " "), iptc: Self.iptc(iptc))
      #expect(date == "2000-01-01T01:01:01")
    }
    #expect(try of(all, iptc) == "2001-01-01T01:01:01+02:00")
    #expect(try of(Array(all[1...]), iptc) == "2002-01-01T01:01:01")
    #expect(try of(Array(all[2...]), iptc) == "2005-01-01T01:01:01+02:00")
    #expect(try of(Array(all[2...]), Array(iptc[2...])) == "2003-01-01T01:01:01Z")
    #expect(try of(Array(all[3...]), Array(iptc[2...])) == "2004-01-01T01:01:01")
    #expect(try of([], Array(iptc[2...])) == "2006-01-01T01:01:01")
    #expect(try of([], []) == nil)
  }

  @Test(
    arguments: [
      ("2023-09-20T00:31:05.25+05:30", "2023-09-20T00:31:05.25+05:30"), ("2023-09-20T00:31", "2023-09-20T00:31:00"),
      ("2023-09-20", "2023-09-20T12:00:00"), ("2023-09", "2023-09-01T12:00:00"), ("1914", "1914-01-01T12:00:00"),
      ("2007-11-19T00:00-08:00", "2007-11-19T00:00:00-08:00"), ("2023:09:20 00:31:05", "2023-09-20T00:31:05"),
      ("0000-00-00T00:00:00", nil), ("", nil), ("2023-13", nil), ("2023-02-30", nil), ("yesterday", nil),
    ] as [(String, String?)])
  func aDateOfXMPMayEndAnywhere(text: String, expected: String?) throws {
    #expect(try date(xmp: "xmp:CreateDate='\(text)'") == expected, "\(text)")
  }

  @Test(
    arguments: [
      ("20230920", "003105+0200", "2023-09-20T00:31:05+02:00"),
      ("20230920", "003105-0330", "2023-09-20T00:31:05-03:30"),
      ("20230920", "003105", "2023-09-20T00:31:05"), ("20230920", nil, "2023-09-20T12:00:00"),
      ("2023-09-20", "00:31:05+02:00", "2023-09-20T00:31:05+02:00"), ("20230900", nil, "2023-09-01T12:00:00"),
      ("20230000", nil, "2023-01-01T12:00:00"), ("20230920", "993105", "2023-09-20T12:00:00"),
      ("20230920", "003105+9900", "2023-09-20T00:31:05"), ("00000000", nil, nil), ("2023", nil, nil),
      ("", "003105", nil),
      (nil, "003105", nil), ("20231301", nil, nil), ("2023092x", nil, nil),
    ] as [(String?, String?, String?)])
  func aDateOfIPTCIsADayWithATime(day: String?, time: String?, expected: String?) throws {
    let values = [day.map { (55, $0) }, time.map { (60, $0) }].compactMap { $0 } as [(UInt8, String)]
    #expect(try date(iptc: Self.iptc(values)) == expected, "\(day ?? "-") \(time ?? "-")")
  }

  @Test func theDatesOfASidecarInsideAnotherPropertyDoNotCount() throws {
    let history = "<xmpMM:History><rdf:Seq><rdf:li xmp:CreateDate='2003-01-01T01:01:01Z'/></rdf:Seq></xmpMM:History>"
    #expect(try PhotoMetadataTests.facts(of: Written.jpeg(xmp: Written.packet(history))).creationDate == nil)
  }

  // MARK: - Old PNG files

  private static let exif = ExifBuilder(
    main: [0x010F: .ascii("Apple")], exif: [0x9003: .ascii("2019:07:21 10:00:00")]
  ).tiff()

  private static func profile(_ bytes: [UInt8], name: String = "exif", count: Int? = nil) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    var text = Array("\n\(name)\n    \(count ?? bytes.count)\n".utf8)
    for (index, byte) in bytes.enumerated() {
      text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      if index % 36 == 35 { text.append(0x0A) }
    }
    return text + [0x0A]
  }

  private func facts(chunk: String, _ keyword: String, _ text: [UInt8]) throws -> MediaFacts {
    let data = Array("\(keyword)\0".utf8) + (chunk == "zTXt" ? [0] + Samples.deflated(text) : text)
    let facts = try PhotoMetadataTests.facts(
      of: Samples.png(width: 4, height: 3, chunks: [Samples.chunk(chunk, data)]), name: "a.png")
    #expect(facts.failure == nil && facts.pixelWidth == 4)
    return facts
  }

  @Test(arguments: ["tEXt", "zTXt"]) func exifInATextChunkOfAPNGIsRead(chunk: String) throws {
    for (keyword, prefix) in [("exif", "Exif\0\0"), ("APP1", "Exif\0\0"), ("exif", "")] {
      let text = Self.profile(Array(prefix.utf8) + Self.exif)
      let facts = try facts(chunk: chunk, "Raw profile type \(keyword)", text)
      #expect(facts.creationDate?.description == "2019-07-21T10:00:00" && facts.camera?.make == "Apple")
    }
    let other = try facts(chunk: chunk, "Raw profile type icc", Self.profile(Self.exif))
    #expect(other.creationDate == nil)
  }

  @Test func theChunkForEXIFComesBeforeItsText() throws {
    let old = Array("Raw profile type exif\0".utf8) + Self.profile(Self.exif)
    let new = ExifBuilder(exif: [0x9003: .ascii("2020:07:21 10:00:00")]).tiff()
    let png = Samples.png(width: 4, height: 3, chunks: [Samples.chunk("tEXt", old), Samples.chunk("eXIf", new)])
    #expect(try PhotoMetadataTests.facts(of: png, name: "a.png").creationDate?.description == "2020-07-21T10:00:00")
  }

  /// The file is read in pieces, and the text is inflated in others. Here, both end at the same byte.
  @Test func aProfileContinuesIfItsPiecesEndTogether() throws {
    let profile = Self.profile(Self.exif)
    let blanks = [UInt8](repeating: 0x20, count: 50_000)
    let headerEnd = try #require(profile.indices.filter { profile[$0] == 0x0A }.dropFirst(2).first) + 1
    let text = profile[..<headerEnd] + blanks + profile[headerEnd...]
    // One stored block: its bytes are those of the text, after a header of 7 bytes.
    let length = UInt16(text.count)
    var stream: [UInt8] = [0x78, 0x01, 0x01]
    for number in [length, ~length] { stream += [UInt8(number & 0xFF), UInt8(number >> 8)] }
    stream += text
    let sum = adler32(1, Array(text), UInt32(text.count))
    stream += (0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * $0)) }
    let data = Array("Raw profile type exif\0\0".utf8) + stream
    let scratch = try ScratchFile()
    // The first piece ends with byte 65,536 of the file. The buffer of the text has 16,384 bytes.
    let plain = Samples.png(width: 4, height: 3, chunks: [Samples.chunk("zTXt", data)])
    let start = try #require(plain.firstRange(of: Array(text.prefix(64)))).lowerBound
    for shift in -2...2 {
      let padding = 65_536 - 3 * 16_384 - start - 12 + shift
      let chunks = [Samples.chunk("prIv", [UInt8](repeating: 1, count: padding)), Samples.chunk("zTXt", data)]
      let facts = try scratch.facts(Samples.png(width: 4, height: 3, chunks: chunks), name: "a.png")
      #expect(facts.failure == nil)
      #expect(facts.creationDate?.description == "2019-07-21T10:00:00", "\(shift)")
    }
  }

  /// A decompression bomb ends at the limit. A profile that is cut off or malformed is ignored.
  @Test func hostileProfilesAreBounded() throws {
    let bomb = Array("\nexif\n 9\n".utf8) + [UInt8](repeating: UInt8(ascii: "0"), count: 50_000_000)
    #expect(try facts(chunk: "zTXt", "Raw profile type exif", bomb).creationDate == nil)
    let blanks = [UInt8](repeating: 0x0A, count: 50_000_000)
    #expect(try facts(chunk: "zTXt", "Raw profile type exif", blanks).creationDate == nil)
    for text in ["", "\n", "\nexif\n", "\nexif\n8\nzz", "\nexif\n8\n4", "\nexif\n8\n4578"] {
      for chunk in ["tEXt", "zTXt"] {
        #expect(try facts(chunk: chunk, "Raw profile type exif", Array(text.utf8)).creationDate == nil)
      }
    }
    let whole = Samples.deflated(Self.profile(Self.exif))
    let scratch = try ScratchFile()
    for count in 0..<whole.count {
      let data = Array("Raw profile type exif\0\0".utf8) + whole[..<count]
      let facts = try scratch.facts(
        Samples.png(width: 4, height: 3, chunks: [Samples.chunk("zTXt", data)]), name: "a.png")
      #expect(facts.failure == nil)
    }
  }
}
