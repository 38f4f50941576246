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
      (720, 576, 1, 720), (720, 576, 2, 768), (720, 576, 3, 1024), (1440, 1080, 3, 1920), (1920, 1080, 3, 1920),
      (720, 480, 2, 640), (720, 480, 4, 1061), (720, 480, 15, 720), (720, 480, 0, 720),
    ])
  func picturesOfMPEG2AreStretchedToTheDisplay(_ stored: Int, _ height: Int, aspect: Int, width: Int) throws {
    let size = [stored >> 4, (stored & 15) << 4 | height >> 8, height & 255, aspect << 4 | 3].map { UInt8($0) }
    let sequence = [0, 0, 1, 0xB3] + size + [0x10, 0x20, 0x30, 0x12]
    for matrix in [[], [UInt8](repeating: 16, count: 64)] {
      let unit = sequence + matrix + [0, 0, 1, 0xB5]
      let stream = try facts(of: Made.transportStream(unit: unit, type: 2), name: "a.m2t")
      #expect(stream.pixelWidth == width && stream.pixelHeight == height)
      let pack: [UInt8] = [0, 0, 1, 0xBA] + [UInt8](repeating: 0x21, count: 20)
      #expect(try facts(of: pack + unit, name: "a.mpg").pixelWidth == width)
      // MPEG-1 has a picture there, or a group of pictures, and these four bits have another meaning.
      let older = sequence + matrix + [0, 0, 1, 0xB8]
      #expect(try facts(of: Made.transportStream(unit: older, type: 1), name: "a.m2t").pixelWidth == stored)
      #expect(try facts(of: pack + older, name: "a.mpg").pixelWidth == stored)
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

  @Test func aProgramStreamHasItsSizeInTheSequenceHeader() throws {
    let bytes: [UInt8] =
      [0, 0, 1, 0xBA] + [UInt8](repeating: 0x21, count: 20) + [0, 0, 1, 0xB3, 0x16, 0x00, 0xF0, 0x13]
    let facts = try facts(of: bytes, name: "a.mpg")
    #expect(facts.contentType == "video/mpeg" && facts.pixelWidth == 352 && facts.pixelHeight == 240)
  }
}
