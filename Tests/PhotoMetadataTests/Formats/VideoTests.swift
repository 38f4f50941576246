import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

private typealias Made = FormatSamples

/// Matroska, AVI and MPEG streams.
@Suite struct VideoTests {
  // MARK: - Matroska

  @Test func aMatroskaFileHasItsFactsInInfoAndTracks() throws {
    for (isOpen, infoLast) in [(false, false), (true, false), (false, true)] {
      let facts = try facts(of: Made.matroska(isOpen: isOpen, infoLast: infoLast), name: "a.mkv")
      #expect(facts.mediaType == .video && facts.contentType == "video/x-matroska" && facts.failure == nil)
      #expect(facts.pixelWidth == 704 && facts.pixelHeight == 576)
      #expect(facts.durationSeconds == 9.2885)
      #expect(facts.creationDate?.description == "2010-02-03T21:17:48Z")
      #expect(facts.title == "Sea")
    }
  }

  @Test func theSizeIsThatOfTheDisplayElseTheCroppedOne() throws {
    let pixels = Made.element([0xB0], Made.big16(704)) + Made.element([0xBA], Made.big16(576))
    let crop = Made.element([0x54, 0xCC], [4]) + Made.element([0x54, 0xBB], [6]) + Made.element([0x54, 0xAA], [2])
    let display = Made.element([0x54, 0xB0], Made.big16(768)) + Made.element([0x54, 0xBA], Made.big16(576))
    let ratio = Made.element([0x54, 0xB2], [3])
    for (video, width, height) in [
      (pixels + crop, 700, 568), (pixels + crop + display, 768, 576), (pixels + display + ratio, 704, 576),
    ] {
      let facts = try facts(of: Made.matroska(video: video), name: "a.mkv")
      #expect(facts.pixelWidth == width && facts.pixelHeight == height)
    }
  }

  @Test func aFileWithAudioOnlyIsNoVideo() throws {
    let facts = try facts(of: Made.matroska(type: 2, video: []), name: "a.mkv")
    #expect(facts.mediaType == .audio && facts.contentType == "audio/x-matroska" && facts.pixelWidth == nil)
  }

  private static func tag(_ name: String, _ value: String, track: Bool = false) -> [UInt8] {
    let target = Made.element([0x63, 0xC0], track ? Made.element([0x63, 0xC5], [7]) : [])
    let simple = Made.element([0x45, 0xA3], Array(name.utf8)) + Made.element([0x44, 0x87], Array(value.utf8))
    return Made.element([0x73, 0x73], target + Made.element([0x67, 0xC8], simple))
  }

  /// - Parameter after: further elements of the segment, behind the tags.
  private func matroskaFacts(tags: [UInt8], after: [UInt8] = []) throws -> MediaFacts {
    let segment = Made.element([0x18, 0x53, 0x80, 0x67], Made.element([0x12, 0x54, 0xC3, 0x67], tags) + after)
    return try facts(of: Made.element([0x1A, 0x45, 0xDF, 0xA3], []) + segment, name: "a.mkv")
  }

  @Test func tagsOfTheFileAreReadAndThoseOfATrackAreNot() throws {
    let facts = try matroskaFacts(
      tags: Self.tag("DESCRIPTION", "Sound", track: true) + Self.tag("DESCRIPTION", "At sea")
        + Self.tag("MAKE", "DJI"))
    #expect(facts.caption == "At sea" && facts.camera?.make == "DJI")
  }

  /// The tags of a phone's film that was converted to Matroska.
  @Test(arguments: ["LOCATION", "location", "COM.APPLE.QUICKTIME.LOCATION.ISO6709"])
  func placeAndDateOfAPhoneAreReadFromTags(name: String) throws {
    let info = Made.element(
      [0x15, 0x49, 0xA9, 0x66], Made.element([0x44, 0x61], Made.big32(0x03FB_5C77) + Made.big32(0x216F_D800)))
    let facts = try matroskaFacts(
      tags: Self.tag(name, "+47.3750+008.5333+408.2/")
        + Self.tag("COM.APPLE.QUICKTIME.CREATIONDATE", "2024-07-21T10:00:00+0200"), after: info)
    #expect(facts.location == Location(latitude: 47.375, longitude: 8.5333, altitude: 408.2))
    #expect(facts.creationDate?.description == "2024-07-21T10:00:00+02:00")
    let other = try matroskaFacts(
      tags: Self.tag(name, "Zurich") + Self.tag("COM.APPLE.QUICKTIME.CREATIONDATE", "2024"), after: info)
    #expect(other.location == nil && other.creationDate?.description == "2010-02-03T21:17:48Z")
  }

  // MARK: - AVI

  @Test func anAVIHasItsFactsInTheHeaderList() throws {
    let date = Made.riffChunk("IDIT", Array("Mon Mar 10 15:04:43 2003\n\0".utf8))
    let facts = try facts(of: Made.avi(extra: date), name: "a.avi")
    #expect(facts.mediaType == .video && facts.contentType == "video/x-msvideo" && facts.failure == nil)
    #expect(facts.pixelWidth == 640 && facts.pixelHeight == 480 && facts.durationSeconds == 10)
    #expect(facts.creationDate?.description == "2003-03-10T15:04:43")
  }

  @Test func openDMLCountsAllFrames() throws {
    // Only the first part's frames are in the main header, and the stream's own length is that of all.
    #expect(try facts(of: Made.avi(frames: 250, allFrames: 300), name: "a.avi").durationSeconds == 12)
    #expect(try facts(of: Made.avi(frames: 250, allFrames: 500), name: "a.avi").durationSeconds == 10)
  }

  @Test(
    arguments: [
      ("2001/ 1/27  1:42PM", "2001-01-27T13:42:00"), ("2005/11/28/ 09:19", "2005-11-28T09:19:00"),
      ("2002-12-16  15:35:01", "2002-12-16T15:35:01"), ("MON MAR  3 05:04:43 2003", "2003-03-03T05:04:43"),
      ("Mon Foo 10 15:04:43 2003", nil), ("03/10/15", nil), ("Mon Mar 10 15:04:43 103", nil),
    ] as [(String, String?)])
  func datesOfAVIAreReadAsCamerasWriteThem(text: String, expected: String?) throws {
    let facts = try facts(of: Made.avi(extra: Made.riffChunk("IDIT", Array(text.utf8))), name: "a.avi")
    #expect(facts.creationDate?.description == expected)
  }

  @Test func textsAndTheCameraOfAnAVIAreRead() throws {
    let extra =
      Made.riffList("INFO", Made.riffChunk("INAM", Array("Sea\0".utf8)) + Made.riffChunk("ICMT", Array("Calm".utf8)))
      + Made.riffList(
        "exif", Made.riffChunk("ecor", Array("NIKON\0".utf8)) + Made.riffChunk("emdl", Array("E1\0".utf8)))
    let facts = try facts(of: Made.avi(extra: extra), name: "a.avi")
    #expect(facts.title == "Sea" && facts.caption == "Calm")
    #expect(facts.camera == Camera(make: "NIKON", model: "E1"))
  }

  /// The stored size is 640×480. The properties have the aspect of the frame, and its size.
  @Test(
    arguments: [
      (16, 9, 640, 480, 853), (4, 3, 640, 480, 640), (16, 9, 720, 576, 910), (0, 9, 640, 480, 640),
      (16, 0, 640, 480, 640), (16, 9, 0, 480, 640), (16, 9, 640, 0, 640), (65_535, 1, 640, 480, 640),
      (65_535, 65_535, 0xFFFF_FFFF, 0xFFFF_FFFF, 640), (1, 65_535, 1, 0xFFFF_FFFF, 640),
      (65_535, 65_535, 1 << 20, 1 << 20, 640), (65_535, 65_534, 1 << 20, 1 << 20, 640), (16, 9, 1 << 20, 3 << 18, 853),
    ])
  func picturesOfAVIAreStretchedToTheDisplay(_ across: Int, _ down: Int, width: Int, height: Int, expected: Int) throws
  {
    let aspect = Made.little32(across << 16 | down)
    let properties = [UInt8](repeating: 0, count: 20) + aspect + Made.little32(width) + Made.little32(height)
    let chunk = Made.riffChunk("vprp", properties + Made.little32(1))
    let facts = try facts(of: Made.avi(properties: chunk), name: "a.avi")
    #expect(facts.pixelWidth == expected && facts.pixelHeight == 480)
    let largest = try PhotoMetadataTests.facts(of: Made.avi(width: 1 << 20, properties: chunk), name: "a.avi")
    #expect(largest.pixelWidth == 1 << 20 || expected != 640)
    // Those of another stream do not count.
    let audio = Made.avi(
      extra: Made.riffChunk("strf", [UInt8](repeating: 0, count: 16)), stream: "auds", properties: chunk)
    #expect(try PhotoMetadataTests.facts(of: audio, name: "a.avi").pixelWidth == 640)
    let cut = Made.riffChunk("vprp", Array(properties.prefix(30)))
    #expect(try PhotoMetadataTests.facts(of: Made.avi(properties: cut), name: "a.avi").pixelWidth == 640)
  }

  // MARK: - MPEG

  @Test(arguments: [0, 4]) func aTransportStreamHasItsFactsInTheVideoStream(stamp: Int) throws {
    let facts = try facts(of: Made.transportStream(stamp: stamp), name: "a.mts")
    #expect(facts.mediaType == .video && facts.contentType == "video/mp2t" && facts.failure == nil)
    #expect(facts.pixelWidth == 1920 && facts.pixelHeight == 1080)
    #expect(facts.durationSeconds == 10)
    #expect(facts.creationDate?.description == "2008-12-31T23:16:24+01:00")
  }

  @Test func theDurationOfALongStreamIsReadFromItsEnd() throws {
    let facts = try facts(of: Made.transportStream(stamp: 4, padding: 30_000), name: "a.m2ts")
    #expect(facts.durationSeconds == 10 && facts.pixelWidth == 1920 && facts.failure == nil)
  }

  /// The parameters of H.264 with 1440×1080 pixels of an AVCHD camera.
  @Test(
    arguments: [
      ("0", 1440), ("1 0", 1440), ("1 1 00000001", 1440), ("1 1 00001110", 1920),
      ("1 1 11111111 0000000000000100 0000000000000011", 1920), ("1 1 00000011", 1309), ("1 1 00000000", 1440),
      ("1 1 00010001", 1440), ("1 1 11111111 0000000000000000 0000000000000011", 1440),
      ("1 1 11111111 1111111111111111 0000000000000001", 1440), ("1 1 11111111 00", 1440),
    ])
  func pixelsOfH264AreStretchedToSquares(usability: String, width: Int) throws {
    let unit: [UInt8] =
      [0, 0, 0, 1, 0x67]
      + Made.bits(
        "01100100 00000000 00101000 1 010 1 1 0 0 1 1 00100 1 0 0000001011010 0000001000100 1 1 1 1 1 1 00101 "
          + usability)
    let facts = try facts(of: Made.transportStream(unit: unit, padding: 4), name: "a.mts")
    #expect(facts.pixelWidth == width && facts.pixelHeight == 1080)
  }

  @Test(
    arguments: [
      (720, 576, 1, 720, 720), (720, 576, 2, 768, 1069), (720, 576, 3, 1024, 1024), (1440, 1080, 3, 1920, 2048),
      (1920, 1080, 3, 1920, 2731), (720, 480, 2, 640, 1069), (720, 480, 4, 1061, 946), (720, 480, 15, 720, 720),
      (720, 480, 0, 720, 720), (352, 288, 8, 352, 384), (352, 240, 12, 352, 321),
    ])
  func picturesOfMPEGAreStretchedToTheDisplay(_ stored: Int, _ height: Int, aspect: Int, width: Int, mpeg1: Int) throws
  {
    let size = [stored >> 4, (stored & 15) << 4 | height >> 8, height & 255, aspect << 4 | 3].map { UInt8($0) }
    let sequence = [0, 0, 1, 0xB3] + size + [0x10, 0x20, 0x30, 0x12]
    for matrix in [[], [UInt8](repeating: 16, count: 64)] {
      let unit = sequence + matrix + [0, 0, 1, 0xB5]
      let stream = try facts(of: Made.transportStream(unit: unit, type: 2), name: "a.m2t")
      #expect(stream.pixelWidth == width && stream.pixelHeight == height)
      let pack: [UInt8] = [0, 0, 1, 0xBA] + [UInt8](repeating: 0x21, count: 20)
      #expect(try facts(of: pack + unit, name: "a.mpg").pixelWidth == width)
      // MPEG-1 has a picture there, or a group of pictures, and these four bits are the aspect of the pixels.
      let older = sequence + matrix + [0, 0, 1, 0xB8]
      // The type 2 is that of MPEG-1, too.
      for type in [1, 2] as [UInt8] {
        #expect(try facts(of: Made.transportStream(unit: older, type: type), name: "a.m2t").pixelWidth == mpeg1)
      }
      #expect(try facts(of: pack + older, name: "a.mpg").pixelWidth == mpeg1)
      // If the stream ends there, it may be of either kind.
      #expect(try facts(of: pack + sequence + matrix, name: "a.mpg").pixelWidth == stored)
    }
  }

  @Test func theSizeIsReadFromMPEG2AndH265() throws {
    let mpeg2: [UInt8] = [0, 0, 1, 0xB3, 0x2D, 0x02, 0x40, 0x13, 0, 0, 1, 0xB5]
    let facts = try facts(of: Made.transportStream(unit: mpeg2, type: 2), name: "a.m2t")
    #expect(facts.pixelWidth == 720 && facts.pixelHeight == 576)
    let profile = String(repeating: "0", count: 24) + String(repeating: "10000000", count: 9)
    let h265 =
      [0, 0, 1, 0x42, 0x01] as [UInt8]
      + Made.bits(
        "0000 000 1" + profile
          + "1 010 00000000000 111100000001 00000000000 100001110001 1 1 1 1 00101 1 1 00000101")
    let other = try PhotoMetadataTests.facts(of: Made.transportStream(unit: h265, type: 0x24), name: "a.m2t")
    #expect(other.pixelWidth == 3840 && other.pixelHeight == 2160 - 8)
  }

  private static let noScaling = "0"
  /// Lists of which one is written for each kind of size, and the others refer to it.
  private static let scalingLists =
    "1 1 1" + ones(16) + repeated("01", 5) + "1" + ones(64) + repeated("01", 5) + "1 1" + ones(64) + repeated("01", 5)
    + "1 00111" + ones(64) + "01"
  private static let noPCM = "0"
  private static let noSets = "1"
  /// Three sets of pictures. The first has two pictures before and one behind, and the others are differences. In the
  /// second, three of four pictures are used, one of them only by others.
  private static let threeSets = "00100 011 010 11 11 11 1 1 1 1 01 00 1 1 0 1 1 1 1 1"
  private static let noLongTerm = "0"

  /// The parameters of H.265 with 1440×1080 pixels that are 4:3. The parts are those before the usability information.
  @Test(
    arguments: [
      (noScaling, noPCM, noSets, noLongTerm, 1920), (scalingLists, noPCM, noSets, noLongTerm, 1920),
      ("1 0", noPCM, noSets, noLongTerm, 1920), (noScaling, "1 00000000 1 010 1", noSets, noLongTerm, 1920),
      (noScaling, noPCM, threeSets, noLongTerm, 1920),
      (noScaling, noPCM, noSets, "1 011 00000001 1 00000010 0", 1920),
      (scalingLists, "1 00000000 1 010 1", threeSets, "1 010 00000001 1", 1920),
      // More sets, pictures in a set, and long-term pictures than H.265 permits.
      (noScaling, noPCM, "0000001000010", noLongTerm, 1440), (noScaling, noPCM, "010 000010010 1", noLongTerm, 1440),
      (noScaling, noPCM, noSets, "1 00000100010", 1440),
    ])
  func pixelsOfH265AreStretchedToSquares(_ scaling: String, _ pcm: String, _ sets: String, longTerm: String, width: Int)
    throws
  {
    let size = "1 010 00000000001 0110100001 00000000001 0000111001 0"
    for (sublayers, levels, order) in [
      ("000", "", "1 111"), ("001", "11 00000000000000" + Self.repeated("0", 96), "1 111 111"),
      ("001", Self.repeated("0", 16), "0 111"),
    ] {
      let parameters =
        "0000 \(sublayers) 1" + Self.repeated("0", 24) + Self.repeated("10000000", 9) + levels + size + "1 1 00101"
        + order + Self.ones(6) + scaling + "11" + pcm + sets + longTerm + "11"
      for (usability, expected) in [
        ("1 1 00001110", width), ("1 1 11111111 0000000000000100 0000000000000011", width), ("1 0", 1440), ("0", 1440),
      ] {
        let unit: [UInt8] = [0, 0, 1, 0x42, 0x01] + Made.escaped(Made.bits(parameters + usability + "1"))
        let facts = try facts(of: Made.transportStream(unit: unit, type: 0x24), name: "a.mts")
        #expect(facts.pixelWidth == expected && facts.pixelHeight == 1080, "\(sublayers) \(usability)")
      }
    }
  }

  private static func ones(_ count: Int) -> String { repeated("1", count) }

  private static func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

  @Test func aProgramStreamHasItsSizeInTheSequenceHeader() throws {
    let bytes: [UInt8] =
      [0, 0, 1, 0xBA] + [UInt8](repeating: 0x21, count: 20) + [0, 0, 1, 0xB3, 0x16, 0x00, 0xF0, 0x13]
    let facts = try facts(of: bytes, name: "a.mpg")
    #expect(facts.contentType == "video/mpeg" && facts.pixelWidth == 352 && facts.pixelHeight == 240)
  }
}
