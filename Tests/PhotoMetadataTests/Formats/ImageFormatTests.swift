import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

private typealias Made = FormatSamples

/// Photoshop, bitmap and OpenEXR files.
@Suite struct ImageFormatTests {
  @Test func aPhotoshopFileHasEXIFAndXMPAndIPTCInResources() throws {
    let xmp = Array(DescriptionSamples.packet("<dc:title>Boat</dc:title>").utf8)
    for isLarge in [false, true] {
      let bytes = Made.photoshop(
        width: 300, height: 200,
        resources: [(1005, [1, 2, 3]), (1058, Made.exif.tiff()), (1060, xmp), (1028, DescriptionSamples.fullIPTC)],
        isLarge: isLarge)
      let facts = try facts(of: bytes, name: isLarge ? "a.psb" : "a.psd")
      #expect(facts.contentType == "image/vnd.adobe.photoshop" && facts.mediaType == .image && facts.failure == nil)
      #expect(facts.pixelWidth == 200 && facts.pixelHeight == 300 && facts.orientation == 6)
      #expect(facts.creationDate?.description == "2024-07-21T10:00:00" && facts.camera?.model == "Model 1")
      #expect(facts.title == "Boat" && facts.caption == "In the harbour")
    }
  }

  @Test func aBitmapHasItsSizeForBothRowOrders() throws {
    for height in [20, -20] {
      let facts = try facts(of: Made.bitmap(width: 30, height: height & 0xFFFF_FFFF), name: "a.bmp")
      #expect(facts.contentType == "image/bmp" && facts.pixelWidth == 30 && facts.pixelHeight == 20)
    }
    #expect(try facts(of: Array("BMxxxxxxxxxxxxxxxxxxxxxxxxxx".utf8), name: "a.bmp").failure != nil)
  }

  @Test func anOpenEXRFileHasItsFactsInAttributes() throws {
    func float(_ value: Float) -> [UInt8] { Made.little32(Int(value.bitPattern)) }
    let facts = try facts(
      of: Made.openEXR([
        ("comments", "string", Array("A gradient".utf8)), ("displayWindow", "box2i", Made.window([0, 0, 99, 99])),
        ("dataWindow", "box2i", Made.window([-5, -5, 14, 6])), ("capDate", "string", Array("2024:07:21 10:00:00".utf8)),
        ("utcOffset", "float", float(-7200)), ("expTime", "float", float(0.5)), ("isoSpeed", "float", float(200)),
        ("latitude", "float", float(47.5)), ("longitude", "float", float(8.5)),
      ]), name: "a.exr")
    #expect(facts.contentType == "image/x-exr" && facts.failure == nil)
    #expect(facts.pixelWidth == 20 && facts.pixelHeight == 12 && facts.caption == "A gradient")
    #expect(facts.creationDate?.description == "2024-07-21T10:00:00+02:00")
    #expect(facts.camera == Camera(exposureSeconds: 0.5, iso: 200))
    #expect(facts.location == Location(latitude: 47.5, longitude: 8.5))
  }

  @Test func implausibleAltitudeOfOpenEXRIsLeftOut() throws {
    func float(_ value: Float) -> [UInt8] { Made.little32(Int(value.bitPattern)) }
    for (metres, expected) in [(430, 430), (-430, -430), (200_000, nil), (-13_000, nil)] as [(Float, Double?)] {
      let attributes = [("latitude", 47.5), ("longitude", 8.5), ("altitude", metres)] as [(String, Float)]
      let facts = try facts(of: Made.openEXR(attributes.map { ($0.0, "float", float($0.1)) }), name: "a.exr")
      #expect(facts.location == Location(latitude: 47.5, longitude: 8.5, altitude: expected))
    }
  }

  /// One of these offsets is the smallest integer in minutes, which has no absolute value.
  @Test(arguments: [0x1.Ep68, -0x1.Ep68, 86_400, -86_400, 1e30, .infinity] as [Float])
  func offsetOutOfReachIsIgnored(_ offset: Float) throws {
    let facts = try facts(
      of: Made.openEXR([
        ("capDate", "string", Array("2024:07:21 10:00:00".utf8)),
        ("utcOffset", "float", Made.little32(Int(offset.bitPattern))),
      ]), name: "a.exr")
    #expect(facts.creationDate?.description == "2024-07-21T10:00:00")
  }
}
