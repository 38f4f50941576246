import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

private typealias Written = DescriptionSamples

/// XMP packets in all the forms that programs write.
@Suite struct XMPTests {
  private func facts(_ properties: String = "", attributes: String = "") throws -> MediaFacts {
    let facts = try PhotoMetadataTests.facts(of: Written.jpeg(xmp: Written.packet(properties, attributes: attributes)))
    #expect(facts.failure == nil && facts.pixelWidth == 160)
    return facts
  }

  private func expectFull(_ facts: MediaFacts) {
    #expect(facts.keywords == ["sea", "boat", "Italy", "Ada"])
    #expect(facts.title == "Sea" && facts.caption == "A boat & the sea" && facts.rating == 4)
    #expect(facts.failure == nil)
  }

  // MARK: - Properties

  @Test func keywordsAreTheSubjectsAndThenTheLeavesOfHierarchies() throws { expectFull(try facts(full: Written.full)) }

  private func facts(full packet: String) throws -> MediaFacts {
    try PhotoMetadataTests.facts(of: Written.jpeg(xmp: packet))
  }

  @Test func keywordsAreTrimmedAndOnce() throws {
    let words = ["  sea ", "sea", "", " ", "a\n  b", "Sea", "&lt;x&gt;", "a;b, c", "Zürich", "日本"]
    #expect(
      try facts(Written.bag("dc:subject", words)).keywords
        == ["sea", "a b", "Sea", "<x>", "a;b, c", "Zürich", "日本"])
  }

  @Test func keywordsAreBounded() throws {
    let many = (0..<1500).map { "w\($0)" }
    #expect(try facts(Written.bag("dc:subject", many)).keywords == Array(many.prefix(1000)))
    let long = [
      String(repeating: "x", count: 1001), String(repeating: "é", count: 500), String(repeating: "y", count: 9000),
    ]
    #expect(try facts(Written.bag("dc:subject", long)).keywords == [long[1]])
  }

  @Test func aSingleSubjectNeedsNoList() throws {
    #expect(try facts("<dc:subject>sea</dc:subject>").keywords == ["sea"])
    #expect(try facts(attributes: "dc:subject='sea'").keywords == ["sea"])
  }

  @Test func aTitleIsInTheDefaultLanguageElseTheFirst() throws {
    func title(_ items: String) throws -> String? {
      try facts("<dc:title><rdf:Alt>\(items)</rdf:Alt></dc:title>").title
    }
    let (german, english) = ("<rdf:li xml:lang='de-CH'>Meer</rdf:li>", "<rdf:li xml:lang='en'>Sea</rdf:li>")
    let standard = "<rdf:li xml:lang='x-default'>Mare</rdf:li>"
    #expect(try title(german + standard + english) == "Mare")
    #expect(try title(german + english) == "Meer")
    #expect(try title(german + "<rdf:li xml:lang='x-default'> </rdf:li>") == "Meer")
    #expect(try title("") == nil)
    #expect(try facts("<dc:title>Sea</dc:title>").title == "Sea")
    #expect(try facts(attributes: "dc:title='Sea' dc:description='Wide'").caption == "Wide")
  }

  @Test(arguments: [
    ("5", 5), ("0", 0), ("3.0", 3), (" 4 ", 4), ("-1", 0), ("6", nil), ("-2", nil), ("", nil), ("nan", nil),
    ("1e99", nil),
  ])
  func ratingIsStarsAndRejectedMeansNone(text: String, stars: Int?) throws {
    #expect(try facts("<xmp:Rating>\(text)</xmp:Rating>").rating == stars)
    #expect(try facts(attributes: "xmp:Rating='\(text)'").rating == stars)
  }

  @Test func percentIsTheFallbackForStars() throws {
    #expect(try facts("<MicrosoftPhoto:Rating>75</MicrosoftPhoto:Rating>").rating == 4)
    #expect(try facts(attributes: "MicrosoftPhoto:Rating='99' xmp:Rating='2'").rating == 2)
    let withoutSlash = "<m:Rating xmlns:m='http://ns.microsoft.com/photo/1.0'>50</m:Rating>"
    #expect(try facts(withoutSlash).rating == 3)
  }

  @Test func longTextsAreCutBetweenCharacters() throws {
    for shift in 0..<4 {
      let text = String(repeating: "a", count: shift) + String(repeating: "日", count: 4000)
      let title = try #require(try facts("<dc:title>\(text)</dc:title>").title)
      #expect(title.utf8.count <= 8192 && title.utf8.count > 8180 && text.hasPrefix(title))
    }
  }

  @Test func theDefaultTextOfACameraIsNoCaption() throws {
    #expect(try facts("<dc:description>OLYMPUS DIGITAL CAMERA</dc:description>").caption == nil)
  }

  // MARK: - RDF

  @Test func namesAreRecognisedByNamespaceNotByPrefix() throws {
    let packet = """
      <m xmlns="adobe:ns:meta/"><R:RDF xmlns:R="\(Written.rdf)"><R:Description xmlns:a="http://purl.org/dc/elements/1.1/"
      xmlns:b="http://ns.adobe.com/xap/1.0/" b:Rating="3"><a:subject><R:Bag><R:li>sea</R:li></R:Bag></a:subject>
      <subject xmlns="http://purl.org/dc/elements/1.1/">boat</subject></R:Description></R:RDF></m>
      """
    let facts = try facts(full: packet)
    #expect(facts.keywords == ["sea", "boat"] && facts.rating == 3)
    let other = "<dc:subject xmlns:dc='http://example.org/'>sea</dc:subject><x:Rating xmlns:x='urn:x'>3</x:Rating>"
    #expect(try self.facts(other).keywords == [] && self.facts(other).rating == nil)
  }

  @Test func valuesWithQualifiersAreTheValues() throws {
    let nested = """
      <dc:subject><rdf:Bag>
      <rdf:li rdf:parseType='Resource'><rdf:value>sea</rdf:value><xmpMM:note>not this</xmpMM:note></rdf:li>
      <rdf:li><rdf:Description><rdf:value>boat</rdf:value><dc:title>nor this</dc:title></rdf:Description></rdf:li>
      <rdf:li><rdf:Description rdf:value='Ada' xmpMM:note='nor that'/></rdf:li>
      </rdf:Bag></dc:subject>
      """
    let facts = try facts(nested)
    #expect(facts.keywords == ["sea", "boat", "Ada"] && facts.title == nil)
  }

  @Test func propertiesOfOtherThingsDoNotCount() throws {
    let nested = """
      <xmpMM:Ingredients><rdf:Bag><rdf:li rdf:parseType='Resource'><dc:title>Other</dc:title><xmp:Rating>1</xmp:Rating>
      <dc:subject><rdf:Bag><rdf:li>other</rdf:li></rdf:Bag></dc:subject></rdf:li></rdf:Bag></xmpMM:Ingredients>
      """
    let facts = try facts(nested + "<xmp:Rating>5</xmp:Rating>")
    #expect(facts.title == nil && facts.keywords == [] && facts.rating == 5)
  }

  @Test func severalNodesAreMerged() throws {
    let packet = """
      <rdf:RDF xmlns:rdf="\(Written.rdf)"><rdf:Description \(Written.namespaces) xmp:Rating="2"/>
      <rdf:Description \(Written.namespaces)>\(Written.bag("dc:subject", ["sea"]))</rdf:Description></rdf:RDF>
      """
    let facts = try facts(full: packet)
    #expect(facts.keywords == ["sea"] && facts.rating == 2)
  }

  @Test func characterReferencesAndCDATASectionsAreText() throws {
    #expect(try facts("<dc:title>a&#x20AC;<![CDATA[<b>]]><!-- c -->&quot;</dc:title>").title == "a€<b>\"")
  }

  // MARK: - Encodings and containers

  @Test func packetsInUTF16AreRead() throws {
    let text = Written.packet(Written.bag("dc:subject", ["日本", "sea"]))
    let little = text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    for bytes in [little, big, [0xFF, 0xFE] + little, [0xFE, 0xFF] + big] {
      #expect(try PhotoMetadataTests.facts(of: Written.jpeg([Written.xmpSegment(bytes)])).keywords == ["日本", "sea"])
    }
  }

  @Test func blanksAndAByteOrderMarkMayPrecedeThePacket() throws {
    expectFull(try facts(full: "\n  " + Written.full))
    expectFull(try facts(full: "\u{FEFF}" + Written.full))
    expectFull(try facts(full: " <?xml version='1.0' encoding='UTF-8'?>" + Written.full))
    expectFull(try facts(full: Written.full + "\0\0\0 and then <"))
  }

  @Test func packetsOfEveryContainerAreRead() throws {
    let packet = Array(Written.full.utf8)
    let scratch = try ScratchFile()
    let text = Array("XML:com.adobe.xmp\0\0\0\0\0".utf8)
    let chunk = Samples.chunk("iTXt", text + packet)
    expectFull(try scratch.facts(Samples.png(width: 9, height: 9, chunks: [chunk]), name: "a.png"))

    let extended: [UInt8] = [0x04, 0, 0, 0, 8, 0, 0, 8, 0, 0]
    let webp = Samples.webp([("VP8X", extended), ("VP8 ", [1, 2, 3]), ("XMP ", packet)])
    expectFull(try scratch.facts(webp, name: "a.webp"))

    for bigEndian in [false, true] {
      var builder = ExifBuilder(main: [0x0100: .long([640]), 0x0101: .long([480]), 0x02BC: .bytes(packet, type: 1)])
      builder.bigEndian = bigEndian
      expectFull(try scratch.facts(builder.tiff(), name: "a.tif"))
      builder.main[0x02BC] = .bytes(packet, type: 7)
      expectFull(try scratch.facts(builder.tiff(shiftedBy: 300_000), name: "a.tif"))
    }

    var gif = Samples.gif(width: 9, height: 9, images: 2)
    let trailer: [UInt8] = [1] + (0...255).reversed() + [0]
    gif.removeLast()
    gif += [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + packet + trailer + [0x3B]
    let facts = try scratch.facts(gif, name: "a.gif")
    expectFull(facts)
    #expect(facts.mediaSubtypes == [.animated])
  }

  @Test func aPacketAfterTheFrameHeaderOrTheFirstReadIsFound() throws {
    let segment = Written.xmpSegment(Array(Written.full.utf8))
    let frame = ExifBuilder.frame(width: 160, height: 120)
    let scan = try #require(frame.firstRange(of: [0xFF, 0xDA])?.lowerBound)
    expectFull(try PhotoMetadataTests.facts(of: [0xFF, 0xD8] + frame[..<scan] + segment + frame[scan...]))
    let scratch = try ScratchFile()
    let exif = ExifBuilder.segment(0xE1, Array("Exif\0\0".utf8) + ExifBuilder(main: [0x010F: .ascii("Apple")]).tiff())
    let filler = ExifBuilder.segment(0xE2, [UInt8](repeating: 0xAA, count: 60_000))
    // The packet takes every position around the end of the first 64 KiB.
    for gap in stride(from: 2500, through: 5600, by: 61) {
      let second = ExifBuilder.segment(0xE2, [UInt8](repeating: 0xAA, count: gap))
      expectFull(try scratch.facts(Written.jpeg([exif, filler, second, segment])))
    }
  }

  /// Since 2.6.0, expat postpones a tag that is cut into several pieces. It waits for as many bytes again, or for the
  /// end (https://libexpat.github.io/doc/api/latest/#XML_SetReparseDeferralEnabled).
  @Test func aTagOfSeveralPiecesIsRead() throws {
    let scratch = try ScratchFile()
    for length in stride(from: 30_000, through: 50_000, by: 4_000) {
      let attributes = "xmpMM:a='\(String(repeating: "0", count: length))' xmp:Rating='3'"
      let packet = Written.packet(Written.bag("dc:subject", ["sea"]), attributes: attributes)
      let builder = ExifBuilder(
        main: [0x0100: .long([640]), 0x0101: .long([480]), 0x02BC: .bytes(Array(packet.utf8), type: 1)])
      let facts = try scratch.facts(builder.tiff(shiftedBy: 100_000), name: "a.tif")
      #expect(facts.keywords == ["sea"] && facts.rating == 3, "\(length)")
    }
  }

  @Test func aPacketIsReadInPieces() throws {
    // The packet is larger than any piece, and in a TIFF beyond the first read: 900 KB of other properties precede the
    // keywords.
    let filler = String(repeating: "<xmpMM:x>0123456789</xmpMM:x>", count: 30_000)
    let packet = Written.packet(filler + Written.bag("dc:subject", ["sea"]))
    let builder = ExifBuilder(
      main: [0x0100: .long([640]), 0x0101: .long([480]), 0x02BC: .bytes(Array(packet.utf8), type: 1)])
    let facts = try PhotoMetadataTests.facts(of: builder.tiff(shiftedBy: 100_000), name: "a.tif")
    #expect(facts.keywords == ["sea"] && facts.failure == nil)
  }
}
