import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

private typealias Box = BoxSamples

/// HEIF, AVIF and CR3 files, built from their specifications.
@Suite struct HEIFTests {
  private static let exif = ExifBuilder(
    main: [0x0112: .short([6]), 0x010F: .ascii("Apple"), 0x0110: .ascii("iPhone 13 Pro")],
    exif: [0x9003: .ascii("2024:07:21 10:00:00"), 0x9011: .ascii("+02:00")])

  @Test(arguments: [false, true]) func exifAndXMPOfThePrimaryItemAreRead(inData: Bool) throws {
    let other = DescriptionSamples.packet("<dc:title>Gain map</dc:title>")
    let file = Box.heif(
      properties: [Box.ispe(4032, 3024)],
      items: [
        Box.Item(type: "hvc1", data: [9]), Box.xmpItem(other, describes: [2]), Box.exifItem(Self.exif.tiff()),
        Box.xmpItem(DescriptionSamples.full),
      ], inData: inData)
    let facts = try facts(of: file, name: "IMG_0001.HEIC")
    #expect(facts.failure == nil && facts.contentType == "image/heic")
    #expect(facts.pixelWidth == 4032 && facts.pixelHeight == 3024)
    #expect(facts.camera?.model == "iPhone 13 Pro" && facts.title == "Sea" && facts.rating == 4)
    #expect(facts.creationDate?.description == "2024-07-21T10:00:00+02:00")
    // EXIF says 6, but no property turns the picture.
    #expect(facts.orientation == 1)
  }

  /// EXIF's number of each combination, and whether width and height are exchanged (as libavif documents them).
  @Test(arguments: [
    ([], 1, false), ([Box.irot(0)], 1, false), ([Box.irot(1)], 8, true), ([Box.irot(2)], 3, false),
    ([Box.irot(3)], 6, true), ([Box.imir(0)], 4, false), ([Box.imir(1)], 2, false),
    ([Box.irot(1), Box.imir(1)], 7, true), ([Box.irot(1), Box.imir(0)], 5, true),
    ([Box.irot(2), Box.imir(1)], 4, false), ([Box.irot(3), Box.imir(1)], 5, true),
    ([Box.imir(1), Box.irot(1)], 5, true),
  ])
  func turnsAndMirrorsDecide(properties: [[UInt8]], orientation: Int, isTurned: Bool) throws {
    let file = Box.heif(
      properties: [Box.ispe(400, 300)] + properties, items: [Box.exifItem(Self.exif.tiff())])
    let facts = try facts(of: file, name: "a.heic")
    #expect(facts.orientation == orientation)
    #expect(facts.pixelWidth == (isTurned ? 300 : 400) && facts.pixelHeight == (isTurned ? 400 : 300))
  }

  @Test(arguments: [([], 1), ([Box.irot(1)], 8)]) func theOrientationOfXMPDoesNotTurnThePicture(
    properties: [[UInt8]], orientation: Int
  ) throws {
    let packet = DescriptionSamples.packet(
      "<tiff:Orientation xmlns:tiff='http://ns.adobe.com/tiff/1.0/'>6</tiff:Orientation>")
    let file = Box.heif(properties: [Box.ispe(400, 300)] + properties, items: [Box.xmpItem(packet)])
    let facts = try facts(of: file, name: "a.heic")
    #expect(facts.orientation == orientation)
    #expect(facts.pixelWidth == (orientation == 8 ? 300 : 400))
  }

  @Test func aCropIsAppliedBeforeATurn() throws {
    let crop = Box.box("clap", [451, 1, 461, 1, 0, 2, 0, 2].flatMap { Samples.big($0) })
    let facts = try facts(of: Box.heif(properties: [Box.ispe(452, 462), crop, Box.irot(1)]), name: "a.heic")
    #expect(facts.pixelWidth == 461 && facts.pixelHeight == 451)
  }

  /// The size describes the picture before its changes, also if it is the last property.
  @Test func theOrderOfTheSizeDoesNotMatter() throws {
    let facts = try facts(of: Box.heif(properties: [Box.irot(1), Box.ispe(400, 300)]), name: "a.heic")
    #expect(facts.pixelWidth == 300 && facts.pixelHeight == 400 && facts.orientation == 8)
  }

  @Test func aGridWithoutExtentHasItsOutputSize() throws {
    var file = Box.heif(properties: [Box.irot(1)], inData: true)
    // The first item's type and data become those of a grid of 2 x 2.
    let type = try #require(file.firstIndex(of: Array("hvc1".utf8)))
    file.replaceSubrange(type..<type + 4, with: Array("grid".utf8))
    let data = try #require(file.firstIndex(of: [1, 2, 3, 4]))
    file.replaceSubrange(data..<data + 4, with: [0, 0, 1, 1])
    #expect(
      try facts(of: file, name: "a.heic").failure
        == "the HEIF file is damaged or cut off: its primary picture has no size")
    let start = try #require(file.firstIndex(of: Array("idat".utf8)))
    file.replaceSubrange(start..<data + 4, with: Array("idat".utf8) + [0, 0, 1, 1] + Box.big16(800) + Box.big16(600))
    file.replaceSubrange(start - 4..<start, with: Samples.big(16))
    // The location has the length 4 in its last bytes.
    let iloc = try #require(file.firstIndex(of: Array("iloc".utf8)))
    file[iloc + 27] = 8
    let meta = try #require(file.firstIndex(of: Array("meta".utf8)))
    file.replaceSubrange(meta - 4..<meta, with: Samples.big(file.count - meta + 4))
    let facts = try facts(of: file, name: "a.heic")
    #expect(facts.pixelWidth == 600 && facts.pixelHeight == 800)
  }

  @Test func theBoxesMayHaveLongSizesAndEndWithTheFile() throws {
    let file = Box.heif(properties: [Box.ispe(40, 30)], after: Box.long("free", [1, 2, 3]))
    let start = try #require(file.firstIndex(of: Array("mdat".utf8)))
    var open = file
    open.replaceSubrange(start - 4..<start, with: [0, 0, 0, 0])
    for content in [file, open] { #expect(try facts(of: content, name: "a.heic").pixelWidth == 40) }
  }

  @Test func anImageSequenceOfSeveralFramesIsAnimated() throws {
    for (samples, isAnimated) in [(1, false), (2, true)] {
      let movie = Box.box("moov", Box.header(), Box.track(handler: "pict", 159, 158, samples: samples))
      let sequence = Box.brands(["avis", "msf1", "miaf"]) + movie
      let alone = try facts(of: sequence, name: "a.avifs")
      #expect(alone.mediaType == .image && alone.contentType == "image/avif")
      #expect(alone.pixelWidth == 159 && alone.pixelHeight == 158)
      #expect(alone.mediaSubtypes == (isAnimated ? [.animated] : []))
      let withItem = Box.heif(["avif", "avis"], properties: [Box.ispe(200, 100)], after: movie)
      let facts = try facts(of: withItem, name: "a.avif")
      #expect(facts.pixelWidth == 200 && facts.mediaSubtypes == (isAnimated ? [.animated] : []))
    }
  }

  @Test(
    arguments: [
      ("urn:mpeg:hevc:2015:auxid:2", .depth), ("urn:mpeg:mpegB:cicp:systems:auxiliary:depth", .depth),
      ("urn:com:apple:photo:2020:aux:hdrgainmap", .hdr), ("urn:mpeg:hevc:2015:auxid:1", []),
    ] as [(String, MediaSubtypes)])
  func auxiliaryImagesDetermineTheSubtype(type: String, subtypes: MediaSubtypes) throws {
    let file = Box.heif(properties: [Box.ispe(40, 30)], others: [Box.auxC(type)])
    #expect(try facts(of: file, name: "a.heic").mediaSubtypes == subtypes)
  }

  @Test func gainMapItemsAndTransferFunctionsAreHDR() throws {
    func colour(_ transfer: Int) -> [UInt8] {
      Box.box("colr", Array("nclx".utf8), Box.big16(9), Box.big16(transfer), Box.big16(9), [0x80])
    }
    for (transfer, isHDR) in [(16, true), (18, true), (13, false), (1, false)] {
      let file = Box.heif(properties: [Box.ispe(40, 30), colour(transfer)])
      #expect(try facts(of: file, name: "a.heic").mediaSubtypes == (isHDR ? [.hdr] : []))
    }
    let map = Box.heif(properties: [Box.ispe(40, 30)], items: [Box.Item(type: "tmap", data: [1])])
    #expect(try facts(of: map, name: "a.heic").mediaSubtypes == [.hdr])
  }

  @Test func theFilmOfAMotionPhotoIsFoundBehindThePicture() throws {
    let film = Box.heif(properties: [Box.ispe(40, 30)], after: Box.box("mpvd", [1, 2, 3]))
    #expect(try facts(of: film, name: "a.heic").mediaSubtypes == [.motionPhoto])
    let trailer = SubtypeTests.samsungTrailer(kind: 0x0A30)
    let samsung = Box.heif(properties: [Box.ispe(40, 30)], after: Box.box("sefd", trailer))
    #expect(try facts(of: samsung, name: "a.heic").mediaSubtypes == [.motionPhoto])
  }

  // MARK: - CR3

  static let canonRAW = canonRAW(Box.track(6000, 4000))

  /// - Parameter track: the track with the picture. EXIF names 6000×4000 pixels.
  private static func canonRAW(_ track: [UInt8]) -> [UInt8] {
    let main = ExifBuilder(
      main: [0x0100: .long([6000]), 0x0101: .long([4000]), 0x0112: .short([8]), 0x010F: .ascii("Canon")]
    ).tiff()
    let exif = ExifBuilder(main: [0x9003: .ascii("2024:07:21 10:00:00"), 0x8827: .short([400])]).tiff()
    let gps = ExifBuilder(
      main: [
        1: .ascii("N"), 2: .rational([(47, 1), (22, 1), (30, 1)]), 3: .ascii("E"),
        4: .rational([(8, 1), (32, 1), (0, 1)]),
      ]
    ).tiff()
    let identifier: [UInt8] = [
      0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
    ]
    return Box.movie(
      ["crx ", "isom"], Box.box("uuid", identifier, Box.box("CMT1", main), Box.box("CMT2", exif), Box.box("CMT4", gps)),
      Box.header(), track)
  }

  @Test func aCR3FileHasItsThreeDirectories() throws {
    let facts = try facts(of: Self.canonRAW, name: "IMG_0001.CR3")
    #expect(facts.failure == nil && facts.contentType == "image/x-canon-cr3" && facts.mediaSubtypes == [.raw])
    #expect(facts.pixelWidth == 4000 && facts.pixelHeight == 6000 && facts.orientation == 8)
    #expect(facts.camera?.make == "Canon" && facts.camera?.iso == 400)
    #expect(facts.creationDate?.description == "2024-07-21T10:00:00" && facts.location?.latitude == 47.375)
    let empty = Box.movie(["crx "], Box.header(), Box.track())
    #expect(
      try PhotoMetadataTests.facts(of: empty, name: "a.cr3").failure == "the CR3 is damaged or cut off: it has no EXIF")
  }

  /// The size in EXIF counts only if no track has one.
  @Test func theSizeOfACR3IsThatOfItsPicture() throws {
    let facts = try facts(of: Self.canonRAW(Box.track(5472, 3648)), name: "IMG_0001.CR3")
    #expect(facts.pixelWidth == 3648 && facts.pixelHeight == 5472)
    let without = try PhotoMetadataTests.facts(of: Self.canonRAW([]), name: "IMG_0001.CR3")
    #expect(without.pixelWidth == 4000 && without.pixelHeight == 6000)
  }
}

extension Array where Element == UInt8 {
  func firstIndex(of bytes: [UInt8]) -> Int? {
    indices.first { self[$0...].starts(with: bytes) }
  }
}
