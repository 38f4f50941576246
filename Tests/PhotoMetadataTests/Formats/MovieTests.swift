import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

private typealias Box = BoxSamples

/// Films in the ISO base media file format, built from its specification.
@Suite struct MovieTests {
  @Test func aMovieOfAPhoneHasItsMetadata() throws {
    let facts = try facts(of: MovieSamples.film, name: "IMG_0001.MOV")
    #expect(facts.failure == nil && facts.mediaType == .video && facts.contentType == "video/quicktime")
    #expect(facts.durationSeconds == 2.5)
    #expect(facts.pixelWidth == 1080 && facts.pixelHeight == 1920)
    #expect(facts.creationDate?.description == "2024-07-21T10:00:00+02:00")
    #expect(facts.location == Location(latitude: 47.375, longitude: 8.5333, altitude: 408.2))
    #expect(facts.camera?.make == "Apple" && facts.camera?.model == "iPhone 13 Pro")
    #expect(facts.contentIdentifier == "1B2C3D4E-5F60-4718-92A3-B4C5D6E7F809")
    #expect(facts.title == "Sea" && facts.caption == "A boat" && facts.keywords == ["sea", "boat"])
    #expect(facts.rating == 4 && facts.mediaSubtypes == [])
  }

  @Test func keysWithoutApplesPrefixAreRead() throws {
    let keys = Box.keys([("make", Box.data("Acme")), ("com.android.model", Box.data("M1")), ("maker", Box.data("x"))])
    let facts = try facts(of: Box.movie(["qt  "], Box.header(), Box.track(), keys), name: "a.mov")
    #expect(facts.camera?.make == "Acme" && facts.camera?.model == "M1")
  }

  /// Before brands existed, a file of QuickTime began with any of its boxes.
  @Test(arguments: ["free", "skip", "wide", "mdat"]) func filmWithoutBrandsIsRead(first: String) throws {
    let content = Box.box(first, [UInt8](repeating: 0, count: 64)) + Box.box("moov", Box.header(), Box.track())
    let facts = try facts(of: content, name: "a.mov")
    #expect(facts.contentType == "video/quicktime" && facts.pixelWidth == 640 && facts.failure == nil)
  }

  /// Old programs compressed the header. Another method is not known.
  @Test func compressedHeaderIsRead() throws {
    func film(method: String = "zlib", cutting cut: Int = 0) throws -> MediaFacts {
      let header = Box.box("moov", Box.header(units: 600, duration: 900), Box.track())
      let data = Samples.big(header.count) + Samples.deflated(header).dropLast(cut)
      let compressed = Box.box("cmov", Box.box("dcom", Array(method.utf8)), Box.box("cmvd", Array(data)))
      return try PhotoMetadataTests.facts(of: Box.box("moov", compressed) + Box.box("mdat", [0]), name: "a.mov")
    }
    let facts = try film()
    #expect(facts.failure == nil && facts.durationSeconds == 1.5)
    #expect(facts.pixelWidth == 640 && facts.pixelHeight == 480)
    #expect(try film(method: "none").failure != nil)
    #expect(try film(cutting: 10_000).failure != nil)
  }

  @Test func textWithTheNameOfABoxIsNoFilm() throws {
    #expect(try facts(of: Array("the free encyclopedia".utf8), name: "a.mov").failure != nil)
  }

  @Test(arguments: [("4", 4), ("4.0", 4), ("0x5", nil), ("nan", nil), ("4e0", nil)] as [(String, Int?)])
  func ratingOfAFilmIsADecimalNumber(text: String, expected: Int?) throws {
    let keys = Box.keys([("com.apple.quicktime.rating.user", Box.data(text))])
    let facts = try facts(of: Box.movie(["qt  "], Box.header(), Box.track(), keys), name: "a.mov")
    #expect(facts.rating == expected)
  }

  @Test(arguments: [0, 1] as [UInt8]) func theHeaderOfEitherVersionHasDurationAndDateInUTC(version: UInt8) throws {
    // 2024-07-21T08:00:00Z, in seconds since 1904.
    let seconds = 1_721_548_800 + 2_082_844_800
    let header = Box.header(seconds: seconds, units: 600, duration: 900, version: version)
    let facts = try facts(of: Box.movie(["isom"], header, Box.track(version: version)), name: "a.mp4")
    #expect(facts.durationSeconds == 1.5 && facts.pixelWidth == 640 && facts.pixelHeight == 480)
    #expect(facts.creationDate?.description == "2024-07-21T08:00:00Z")
  }

  @Test func unknownDatesAndDurationsAreNone() throws {
    for seconds in [0, 0xFFFF_FFFF] {
      let header = Box.header(seconds: 0, duration: seconds)
      let facts = try facts(of: Box.movie(["isom"], header, Box.track()), name: "a.mp4")
      #expect(facts.creationDate == nil && facts.durationSeconds == nil && facts.failure == nil)
    }
    let first = Box.header(seconds: 2_082_844_800)
    #expect(try facts(of: Box.movie(["isom"], first, Box.track()), name: "a.mp4").creationDate == nil)
    // A program that counted from 1970.
    let header = Box.header(seconds: 1_721_548_800)
    #expect(
      try facts(of: Box.movie(["isom"], header, Box.track()), name: "a.mp4").creationDate?.description
        == "2024-07-21T08:00:00Z")
  }

  @Test func longSizesAreRead() throws {
    let facts = try facts(of: MovieSamples.long, name: "a.mp4")
    #expect(facts.durationSeconds == 2.5 && facts.pixelWidth == 640)
  }

  @Test(arguments: [0, 1, 2, 3]) func aQuarterTurnExchangesTheSides(turns: Int) throws {
    let facts = try facts(of: Box.movie(["isom"], Box.header(), Box.track(turns: turns)), name: "a.mp4")
    #expect(facts.pixelWidth == (turns % 2 == 1 ? 480 : 640) && facts.pixelHeight == (turns % 2 == 1 ? 640 : 480))
  }

  @Test func thePresentationIsInSquarePixels() throws {
    let cases: [((Int, Int), (Int, Int), (Int, Int)?, (Int, Int))] = [
      ((1440, 1080), (1440, 1080), (4, 3), (1920, 1080)), ((1920, 1080), (1440, 1080), (4, 3), (1920, 1080)),
      ((0, 0), (720, 576), (16, 15), (768, 576)), ((0, 0), (720, 576), nil, (720, 576)),
    ]
    for (header, coded, pixel, shown) in cases {
      let track = Box.track(header.0, header.1, coded: coded, pixel: pixel)
      let facts = try facts(of: Box.movie(["isom"], Box.header(), track), name: "a.mp4")
      #expect(facts.pixelWidth == shown.0 && facts.pixelHeight == shown.1)
    }
  }

  @Test func theFirstEnabledTrackWithPicturesCounts() throws {
    let movie = Box.movie(
      ["isom"], Box.header(), Box.track(handler: "soun", id: 1, 0, 0), Box.track(id: 2, 100, 50, enabled: false),
      Box.track(id: 3, 320, 240), Box.track(id: 4, 30, 20))
    #expect(try facts(of: movie, name: "a.mp4").pixelWidth == 320)
  }

  @Test func fileWithAudioOnlyIsNoVideo() throws {
    let sound = Box.movie(["isom"], Box.header(), Box.track(handler: "soun", 0, 0))
    let facts = try facts(of: sound, name: "a.mp4")
    #expect(facts.mediaType == .audio && facts.contentType == "audio/mp4" && facts.failure == nil)
    #expect(facts.pixelWidth == nil && facts.durationSeconds != nil)
    #expect(
      try PhotoMetadataTests.facts(of: Samples.baseMedia("isom"), name: "a.mp4").failure
        == "the video is damaged or cut off: it has no header (moov)")
    #expect(
      try PhotoMetadataTests.facts(of: Box.movie(["isom"], Box.header()), name: "a.mp4").failure
        == "the video is damaged or cut off: it has no track with pictures")
  }

  @Test func fragmentedFilesHaveADuration() throws {
    #expect(try facts(of: MovieSamples.fragmented(total: 7500), name: "a.mp4").durationSeconds == 7.5)
    #expect(try facts(of: MovieSamples.fragmented(index: true), name: "a.mp4").durationSeconds == 8)
    // 100 + 200 units, and twice ten samples of 40 units.
    #expect(try facts(of: MovieSamples.fragmented(), name: "a.mp4").durationSeconds == 1.1)
    let many = try facts(of: MovieSamples.fragmented(count: 3000), name: "a.mp4")
    #expect(many.durationSeconds == nil && many.failure == nil && many.pixelWidth == 640)
  }

  /// A sum of some samples would be a wrong duration.
  @Test func runWithMoreSamplesThanAreReadHasNoDuration() throws {
    func duration(samples: Int, runs: Int = 1) throws -> Double? {
      let run = Box.full("trun", flags: 0x100, Samples.big(samples), (0..<samples).flatMap { _ in Samples.big(10) })
      let part = Box.box(
        "traf", Box.full("tfhd", Samples.big(1)), [[UInt8]](repeating: run, count: runs).flatMap { $0 })
      return try facts(of: MovieSamples.fragmented(count: 0) + Box.box("moof", part), name: "a.mp4").durationSeconds
    }
    let second = try #require(try duration(samples: 100))
    #expect(try duration(samples: 4096) == second * 40.96)
    #expect(try duration(samples: 4097) == nil)
    #expect(try duration(samples: 1, runs: 64) == second * 0.64)
    #expect(try duration(samples: 1, runs: 65) == nil)
  }

  /// Sample counts, durations and start times as large as the fields.
  @Test func hugeFragmentsDoNotOverflow() throws {
    let all = 0xFFFF_FFFF
    let run = Box.full("trun", Samples.big(1 << 24))
    let time = Box.full("tfdt", version: 1, Box.big64((1 << 48) - 1))
    let header = Box.full("tfhd", flags: 8, Samples.big(1), Samples.big(all))
    let fragments = [[UInt8]](
      repeating: Box.box("traf", header, time, [[UInt8]](repeating: run, count: 64).flatMap { $0 })
        + Box.box("traf", header, run), count: 200
    ).flatMap { $0 }
    let facts = try facts(of: MovieSamples.fragmented() + Box.box("moof", fragments), name: "a.mp4")
    #expect(facts.durationSeconds == nil && facts.pixelWidth == 640)
  }

  // MARK: - Texts

  @Test func textsOfQuickTimeAndITunesAreRead() throws {
    let user = Box.box(
      "udta", Box.text("©day", "2024-07-21T10:00:00+02:00"), Box.text("©xyz", "+47.3750+008.5333/"),
      Box.text("©mak", "Nikon"), Box.text("©mod", "Z 6"), Box.text("©nam", "Sea"), Box.text("©des", "A boat"),
      Samples.big(0))
    let facts = try facts(of: Box.movie(["qt  "], Box.header(seconds: 3_600_000_000), Box.track(), user), name: "a.mov")
    #expect(facts.creationDate?.description == "2024-07-21T10:00:00+02:00")
    #expect(facts.location == Location(latitude: 47.375, longitude: 8.5333))
    #expect(facts.camera?.make == "Nikon" && facts.camera?.model == "Z 6")
    #expect(facts.title == "Sea" && facts.caption == "A boat")

    let list = Box.box(
      "udta",
      Box.full(
        "meta", Box.full("hdlr", Samples.big(0), Array("mdirappl".utf8), [UInt8](repeating: 0, count: 9)),
        Box.box(
          "ilst", Box.box("©nam", Box.data("Sea")), Box.box("desc", Box.data("A boat")),
          Box.box("keyw", Box.data("sea, boat")), Box.box("©day", Box.data("2011")))))
    let listed = try PhotoMetadataTests.facts(of: Box.movie(["M4V "], Box.header(), Box.track(), list), name: "a.m4v")
    #expect(listed.title == "Sea" && listed.caption == "A boat" && listed.keywords == ["sea", "boat"])
    // The year of a release is no date of creation.
    #expect(listed.creationDate == nil)
  }

  @Test func boxesOf3GPPAreRead() throws {
    func text(_ type: String, _ bytes: [UInt8]) -> [UInt8] { Box.full(type, Box.big16(0x15C7), bytes) }
    func fixed(_ number: Double) -> [UInt8] { Samples.big(Int(number * 65_536) & 0xFFFF_FFFF) }
    let wide: [UInt8] = [0xFE, 0xFF, 0, 0x53, 0, 0x65, 0, 0x61, 0, 0]
    for name in [Array("Zurich\0".utf8), wide] {
      let user = Box.box(
        "udta", text("titl", wide), text("dscp", Array("A boat\0".utf8)),
        text("kywd", [2, 4] + Array("sea\0".utf8) + [5] + Array("boat\0".utf8)),
        text("loci", name + [0] + fixed(-8.5) + fixed(47.375) + fixed(408) + Array("earth\0\0".utf8)))
      let facts = try facts(of: Box.movie(["3gp5"], Box.header(), Box.track(), user), name: "a.3gp")
      #expect(facts.title == "Sea" && facts.caption == "A boat" && facts.keywords == ["sea", "boat"])
      #expect(facts.location == Location(latitude: 47.375, longitude: -8.5, altitude: 408))
    }
  }

  @Test func sonysDescriptionHasTheZone() throws {
    let xml = """
      <?xml version="1.0"?><NonRealTimeMeta><CreationDate value="2024-07-21T10:00:00+02:00"/>\
      <Device manufacturer="Sony" modelName="ILCE-7M4" serialNo="1"/></NonRealTimeMeta>
      """
    let meta = Box.full(
      "meta", Box.full("hdlr", Samples.big(0), Array("nrtm".utf8), [UInt8](repeating: 0, count: 13)),
      Box.full("xml ", Array(xml.utf8)))
    let movie = Box.movie(["XAVC", "mp42"], Box.header(seconds: 3_600_000_000), Box.track()) + meta
    let facts = try facts(of: movie, name: "C0001.MP4")
    #expect(facts.creationDate?.description == "2024-07-21T10:00:00+02:00")
    #expect(facts.camera?.make == "Sony" && facts.camera?.model == "ILCE-7M4")
  }

  @Test func packetsOfXMPAreReadInEitherPlace() throws {
    let packet = Array(DescriptionSamples.full.utf8)
    let identifier: [UInt8] = [
      0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
    ]
    let plain = Box.movie(["isom"], Box.header(), Box.track())
    let user = Box.movie(["qt  "], Box.header(), Box.track(), Box.box("udta", Box.box("XMP_", packet)))
    for file in [plain + Box.box("uuid", identifier, packet), user] {
      let facts = try facts(of: file, name: "a.mp4")
      #expect(facts.title == "Sea" && facts.rating == 4 && facts.keywords.count == 4)
    }
  }

  @Test(
    arguments: [
      ("+47.3750+008.5333+408.2/", 47.375, 8.5333, 408.2), ("-33.5-070.5/", -33.5, -70.5, nil),
      ("+4722.50+00832.0/", 47.375, 8 + 32.0 / 60, nil), ("+472230.0-0083200.0+10/", 47.375, -(8 + 32.0 / 60), 10),
      ("+27.1281+100.2508+000.000/", 27.1281, 100.2508, 0), ("+47.375+008.5333CRSWGS_84/", 47.375, 8.5333, nil),
    ] as [(String, Double, Double, Double?)])
  func placesOfISO6709AreRead(text: String, latitude: Double, longitude: Double, altitude: Double?) throws {
    let user = Box.box("udta", Box.text("©xyz", text))
    let location = try #require(
      try facts(of: Box.movie(["qt  "], Box.header(), Box.track(), user), name: "a.mov").location)
    #expect(abs(location.latitude - latitude) < 1e-9 && abs(location.longitude - longitude) < 1e-9)
    #expect(location.altitude == altitude)
  }

  @Test(arguments: ["", "+", "47.375+8.5/", "+95.0+008.5/", "+47.3", "+1+2+3+4/", "+12345678901+1/"])
  func otherTextsAreNoPlaces(text: String) throws {
    let user = Box.box("udta", Box.text("©xyz", text))
    #expect(try facts(of: Box.movie(["qt  "], Box.header(), Box.track(), user), name: "a.mov").location == nil)
  }
}
