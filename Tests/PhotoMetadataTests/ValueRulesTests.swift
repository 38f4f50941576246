import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

/// Values that cameras and programs write when they know nothing, or write in their own way.
@Suite struct ValueRulesTests {
  private func facts(
    main: [UInt16: ExifBuilder.Value] = [:], exif: [UInt16: ExifBuilder.Value] = [:],
    gps: [UInt16: ExifBuilder.Value] = [:]
  ) throws -> MediaFacts {
    try PhotoMetadataTests.facts(of: ExifBuilder(main: main, exif: exif, gps: gps).jpeg())
  }

  @Test(arguments: ["102:07:21 10:00:00", "24:07:21 10:00:00", "0:07:21 10:00:00", " 24:07:21 10:00:00"])
  func aYearOfFewerThanFourDigitsIsNoDate(text: String) throws {
    #expect(try facts(exif: [0x9003: .ascii(text)]).creationDate == nil)
  }

  @Test func anAltitudeIsSignedBeforeItIsJudged() throws {
    func altitude(_ metres: UInt32, below: Bool) throws -> Double? {
      let reference: UInt8 = below ? 1 : 0
      let gps: [UInt16: ExifBuilder.Value] = [
        1: .ascii("N"), 2: .rational([(47, 1), (0, 1), (0, 1)]), 3: .ascii("E"),
        4: .rational([(8, 1), (0, 1), (0, 1)]),
        5: .bytes([reference], type: 1), 6: .rational([(metres, UInt32(1))]),
      ]
      return try facts(gps: gps).location?.altitude
    }
    #expect(try altitude(100_000, below: false) == 100_000)
    #expect(try altitude(100_000, below: true) == nil)
    #expect(try altitude(430, below: true) == -430)
    #expect(try altitude(.max, below: false) == nil)
  }

  @Test func allBitsSetMeanUnknown() throws {
    let camera = try facts(exif: [
      0x829A: .rational([(.max, 1)]), 0x829D: .rational([(28, .max)]), 0x920A: .rational([(.max, .max)]),
      0x8827: .long([.max]), 0x8833: .long([.max]),
    ]).camera
    #expect(camera == nil)
  }

  @Test func exposureAndApertureOfAPEXCountIfTheOthersAreMissing() throws {
    let apex: [UInt16: ExifBuilder.Value] = [0x9201: .rational([(8, 1)]), 0x9202: .rational([(6, 1)])]
    let camera = try facts(exif: apex).camera
    #expect(camera == Camera(exposureSeconds: 1.0 / 256, fNumber: 8))
    let given = try facts(exif: apex.merging([0x829A: .rational([(1, 250)])]) { $1 }).camera
    #expect(given?.exposureSeconds == 0.004)
    #expect(try facts(exif: [0x9201: .rational([(4000, 1)]), 0x9202: .rational([(100, 1)])]).camera == nil)
  }

  @Test func theOtherSensitivitiesCountIfTheFirstIsMissing() throws {
    for tag: UInt16 in [0x8831, 0x8832, 0x8833] {
      #expect(try facts(exif: [tag: .long([640])]).camera?.iso == 640)
      #expect(try facts(exif: [tag: .long([640]), 0x8827: .short([100])]).camera?.iso == 100)
    }
  }

  @Test func theOrientationOfXMPCountsIfEXIFHasNone() throws {
    let xmp = DescriptionSamples.xmpSegment(
      Array(
        DescriptionSamples.packet("<tiff:Orientation xmlns:tiff='http://ns.adobe.com/tiff/1.0/'>6</tiff:Orientation>")
          .utf8))
    let alone = try PhotoMetadataTests.facts(of: DescriptionSamples.jpeg([xmp]))
    #expect(alone.orientation == 6 && alone.pixelWidth == 120 && alone.pixelHeight == 160)
    let exif = ExifBuilder.segment(
      0xE1, Array("Exif\0\0".utf8) + ExifBuilder(main: [0x0112: .short([1])]).tiff())
    let both = try PhotoMetadataTests.facts(of: DescriptionSamples.jpeg([exif, xmp]))
    #expect(both.orientation == 1 && both.pixelWidth == 160)
  }

  // MARK: - The camera and the place of XMP

  private static let spaces = """
    xmlns:tiff='http://ns.adobe.com/tiff/1.0/' xmlns:exif='http://ns.adobe.com/exif/1.0/' \
    xmlns:exifEX='http://cipa.jp/exif/1.0/'
    """

  private static func packet(_ attributes: String, _ properties: String = "") -> String {
    DescriptionSamples.packet(properties, attributes: "\(spaces) \(attributes)")
  }

  @Test func theCameraAndThePlaceOfXMPCountIfEXIFHasNone() throws {
    let packet = Self.packet(
      """
      tiff:Make='Acme' tiff:Model='M1' exif:ExposureTime='1/250' exif:FNumber='28/10' exif:FocalLength='50/1' \
      exif:GPSLatitude='47,22,30N' exif:GPSLongitude='8,31.5W' exif:GPSAltitude='430/1' exif:GPSAltitudeRef='1'
      """, "<exif:ISOSpeedRatings><rdf:Seq><rdf:li>200</rdf:li></rdf:Seq></exif:ISOSpeedRatings>")
    let camera = Camera(
      make: "Acme", model: "M1", exposureSeconds: 0.004, fNumber: 2.8, iso: 200, focalLengthMillimeters: 50)
    let alone = try PhotoMetadataTests.facts(of: DescriptionSamples.jpeg(xmp: packet))
    #expect(alone.camera == camera)
    #expect(alone.location == Location(latitude: 47.375, longitude: -8.525, altitude: -430))
    let xmp = BoxSamples.box("udta", BoxSamples.box("XMP_", Array(packet.utf8)))
    let film = BoxSamples.movie(["qt  "], BoxSamples.header(), BoxSamples.track(), xmp)
    let filmed = try PhotoMetadataTests.facts(of: film, name: "a.mov")
    #expect(filmed.camera == camera && filmed.location == alone.location)

    let gps: [UInt16: ExifBuilder.Value] = [
      1: .ascii("N"), 2: .rational([(1, 1), (0, 1), (0, 1)]), 3: .ascii("E"), 4: .rational([(2, 1), (0, 1), (0, 1)]),
    ]
    let exif = ExifBuilder(main: [0x010F: .ascii("Other")], exif: [0x829D: .rational([(8, 1)])], gps: gps).tiff()
    let both = try PhotoMetadataTests.facts(
      of: DescriptionSamples.jpeg([
        ExifBuilder.segment(0xE1, Array("Exif\0\0".utf8) + exif), DescriptionSamples.xmpSegment(Array(packet.utf8)),
      ]))
    #expect(both.camera?.make == "Other" && both.camera?.model == "M1")
    #expect(both.camera?.fNumber == 8 && both.camera?.exposureSeconds == 0.004)
    #expect(both.location == Location(latitude: 1, longitude: 2))
  }

  @Test(
    arguments: [
      ("exif:ExposureTime='1/250'", Camera(exposureSeconds: 0.004)),
      ("exif:ShutterSpeedValue='8/1'", Camera(exposureSeconds: 1.0 / 256)),
      ("exif:ApertureValue='6/1'", Camera(fNumber: 8)), ("exif:FNumber='2.8'", Camera(fNumber: 2.8)),
      ("exifEX:PhotographicSensitivity='640' exif:ISOSpeedRatings='100'", Camera(iso: 640)),
      ("exif:FNumber='0/1' exif:ExposureTime='1/0' exif:FocalLength='4294967295/1'", nil),
      ("exif:FNumber='0x8' exif:ExposureTime='1/2/3' exif:FocalLength='nan' exif:ISOSpeedRatings='many'", nil),
      ("exif:FNumber='/' exif:ExposureTime='' exif:FocalLength='-50/1' exif:ShutterSpeedValue='4000/1'", nil),
      ("exif:FNumber='99999999999999999999'", nil),
    ] as [(String, Camera?)])
  func settingsOfXMPAreFractionsAsInEXIF(attributes: String, camera: Camera?) throws {
    let facts = try PhotoMetadataTests.facts(of: DescriptionSamples.jpeg(xmp: Self.packet(attributes)))
    #expect(facts.camera == camera && facts.failure == nil)
  }

  @Test(
    arguments: [
      ("47,22.5N", 47.375), ("47,22,30N", 47.375), ("47.375N", 47.375), ("47,22.5s", -47.375), ("47,22.5", nil),
      ("91,0N", nil), ("47,22.5E", nil), ("-47,22.5N", nil), ("47,,5N", nil), ("47,99N", nil), ("N", nil),
      ("1,2,3,4N", nil),
    ] as [(String, Double?)])
  func coordinatesOfXMPHaveAHemisphere(text: String, latitude: Double?) throws {
    let packet = Self.packet("exif:GPSLatitude='\(text)' exif:GPSLongitude='8,30E' exif:GPSAltitude='200000/1'")
    let facts = try PhotoMetadataTests.facts(of: DescriptionSamples.jpeg(xmp: packet))
    #expect(facts.location == latitude.map { Location(latitude: $0, longitude: 8.5) })
  }

  @Test func marksAndBlanksOfUnicodeAreNoText() throws {
    for (text, expected) in [
      ("\u{FEFF}Sea", "Sea"), ("\u{A0}\u{A0}", nil), ("\u{A0}Sea\u{3000}", "Sea"), ("Se\u{85}a\u{9F}", "Sea"),
      ("\u{FEFF}", nil), ("a\u{A0}b", "a\u{A0}b"),
    ] as [(String, String?)] {
      #expect(try facts(main: [0x010E: .ascii(text)]).caption == expected)
    }
    let packet = DescriptionSamples.packet("<dc:title>&#xA0;</dc:title>")
    #expect(try PhotoMetadataTests.facts(of: DescriptionSamples.jpeg(xmp: packet)).title == nil)
  }

  /// A text as Windows writes it.
  private static func wide(_ text: String) -> ExifBuilder.Value {
    var bytes: [UInt8] = []
    for unit in text.utf16 { bytes += [UInt8(unit & 255), UInt8(unit >> 8)] }
    return .bytes(bytes + [0, 0], type: 1)
  }

  /// Windows' keywords and those of films are split after they are decoded.
  @Test func blanksOfUnicodeAroundAKeywordAreNoText() throws {
    let words = "\u{A0};\u{FEFF}sea\u{3000};\u{A0}old\u{A0}boat\u{A0}; \u{2003} ;\u{7F}wind\u{7F}"
    #expect(try facts(main: [0x9C9E: Self.wide(words)]).keywords == ["sea", "old\u{A0}boat", "wind"])
    let list = BoxSamples.keys([("keywords", BoxSamples.data(words.replacing(";", with: ",")))])
    let film = BoxSamples.movie(["qt  "], BoxSamples.header(), BoxSamples.track(), list)
    #expect(try PhotoMetadataTests.facts(of: film, name: "a.mov").keywords == ["sea", "old\u{A0}boat", "wind"])
  }

  @Test(
    arguments: [("0x5", nil), ("nan", nil), ("5", 5), ("4.0", 4), ("-1", 0), ("1e0", nil), ("", nil)]
      as [(String, Int?)])
  func aRatingIsADecimalNumber(text: String, expected: Int?) throws {
    let packet = DescriptionSamples.packet("<xmp:Rating>\(text)</xmp:Rating>")
    #expect(try PhotoMetadataTests.facts(of: DescriptionSamples.jpeg(xmp: packet)).rating == expected)
  }

  @Test func keywordsAfterADatasetWithALongLengthAreRead() throws {
    func facts(_ length: [UInt8], value: Int) throws -> [String] {
      let long: [UInt8] = [0x1C, 2, 120, 0x80, UInt8(length.count)] + length + [UInt8](repeating: 65, count: value)
      let block = long + DescriptionSamples.iptc(keywords: [Array("sea".utf8)])
      return try PhotoMetadataTests.facts(of: DescriptionSamples.jpeg([DescriptionSamples.photoshopSegment(block)]))
        .keywords
    }
    #expect(try facts([0, 0, 0x9C, 0x40], value: 40_000) == ["sea"])
    #expect(try facts([0x9C, 0x40], value: 40_000) == ["sea"])
    #expect(try facts([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], value: 100) == [])
    #expect(try facts([0, 0, 0, 0, 0, 0, 0, 0, 0], value: 100) == [])
  }

  /// A default text of each container, and beside it the same text as a part of a person's.
  @Test(arguments: [("OLYMPUS DIGITAL CAMERA", true), ("My OLYMPUS Digital Camera", false)])
  func defaultTextOfACameraIsNoCaptionInAnyFormat(text: String, isDefault: Bool) throws {
    typealias Made = FormatSamples
    typealias Box = BoxSamples
    let bytes = Array(text.utf8)
    let packet = DescriptionSamples.packet("<dc:description>\(text)</dc:description>")
    let simple = Made.element([0x45, 0xA3], Array("DESCRIPTION".utf8)) + Made.element([0x44, 0x87], bytes)
    let tags = Made.element([0x12, 0x54, 0xC3, 0x67], Made.element([0x73, 0x73], Made.element([0x67, 0xC8], simple)))
    let chunks =
      Samples.chunk("IHDR", Samples.big(40) + Samples.big(30) + [8, 6, 0, 0, 0])
      + Samples.chunk("tEXt", Array("Description\0".utf8) + bytes)
    let files: [(String, [UInt8])] = [
      ("a.exr", Made.openEXR([("comments", "string", bytes)])), ("a.png", Samples.signature + chunks),
      ("a.avi", Made.avi(extra: Made.riffList("INFO", Made.riffChunk("ICMT", bytes)))),
      ("a.mkv", Made.element([0x1A, 0x45, 0xDF, 0xA3], []) + Made.element([0x18, 0x53, 0x80, 0x67], tags)),
      ("a.mov", Box.movie(["qt  "], Box.header(), Box.track(), Box.keys([("description", Box.data(text))]))),
      ("b.mov", Box.movie(["qt  "], Box.header(), Box.track(), Box.box("udta", Box.box("XMP_", Array(packet.utf8))))),
      ("a.psd", Made.photoshop(width: 3, height: 2, resources: [(1060, Array(packet.utf8))])),
    ]
    for (name, content) in files {
      let caption = try PhotoMetadataTests.facts(of: content, name: name).caption
      #expect(caption == (isDefault ? nil : text), "\(name)")
    }
  }

  /// If a better block has a default text, the next block's text counts. Windows' comment is such a block.
  @Test func textOfTheNextBlockCountsInsteadOfADefaultText() throws {
    #expect(try facts(main: [0x010E: .ascii("SONY DSC"), 0x9C9C: Self.wide("At sea")]).caption == "At sea")
    #expect(try facts(main: [0x010E: .ascii("SONY DSC"), 0x9C9C: Self.wide("Untitled")]).caption == nil)
    let xmp = DescriptionSamples.xmpSegment(
      Array(DescriptionSamples.packet("<dc:description>SONY DSC</dc:description>").utf8))
    let iptc = DescriptionSamples.photoshopSegment(DescriptionSamples.iptc(caption: Array("At sea".utf8)))
    #expect(try PhotoMetadataTests.facts(of: DescriptionSamples.jpeg([xmp, iptc])).caption == "At sea")
  }

  @Test(arguments: [
    "My first digital camera", "Grandpa's DIGITAL CAMERA", "Exif of a JPEG", "dcim/100 or not",
    "Olympus Digital Camera",
    "An image", "Burst",
  ])
  func textThatResemblesADefaultIsACaption(text: String) throws {
    #expect(try facts(main: [0x010E: .ascii(text)]).caption == text)
  }

  @Test(arguments: [
    "OLYMPUS DIGITAL CAMERA", "KODAK Action Cam", "Created with The GIMP", "Created with GIMP", "hdrpl",
    "Exif JPEG", "Exif_JPEG_PICTURE", "DCIM\\100GOPRO\\GOPR0001.JPG", "<Digimax i5, Samsung #1>", "SONY DSC",
  ])
  func defaultTextOfACameraIsNoCaptionInAnyBlock(text: String) throws {
    let xmp = DescriptionSamples.packet("<dc:description>\(text)</dc:description>")
    #expect(try facts(main: [0x010E: .ascii(text)]).caption == nil)
    #expect(try PhotoMetadataTests.facts(of: DescriptionSamples.jpeg(xmp: xmp)).caption == nil)
    let iptc = DescriptionSamples.photoshopSegment(DescriptionSamples.iptc(caption: Array(text.utf8)))
    #expect(try PhotoMetadataTests.facts(of: DescriptionSamples.jpeg([iptc])).caption == nil)
  }
}
