import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

private typealias Written = DescriptionSamples

/// JPEG files whose metadata is spread over several segments, or written otherwise than the standards say.
@Suite struct JPEGSegmentTests {
  private static let builder = ExifBuilder(
    main: [0x0112: .short([6]), 0x010F: .ascii("Apple"), 0x010E: .ascii("A boat & the sea")],
    exif: [0x9003: .ascii("2024:07:21 10:00:00"), 0x9286: .bytes([UInt8](repeating: 0x20, count: 300))])

  private static func exifSegment(_ bytes: [UInt8]) -> [UInt8] {
    ExifBuilder.segment(0xE1, Array("Exif\0\0".utf8) + bytes)
  }

  private static let digest = "04B9E48040A30A6308713BD1E4223B41"

  private static func extensionSegments(
    _ packet: [UInt8], pieces: Int = 3, digest: String = digest, count: Int? = nil
  ) -> [[UInt8]] {
    let size = (packet.count + pieces - 1) / pieces
    return stride(from: 0, to: packet.count, by: size).map { offset in
      ExifBuilder.segment(
        0xE1,
        Array("http://ns.adobe.com/xmp/extension/\0\(digest)".utf8) + Samples.big(count ?? packet.count)
          + Samples.big(offset) + packet[offset..<min(offset + size, packet.count)])
    }
  }

  private static func main(_ properties: String = "") -> [UInt8] {
    Written.xmpSegment(
      Array(
        Written.packet(
          properties, attributes: "xmlns:xmpNote='http://ns.adobe.com/xmp/note/' xmpNote:HasExtendedXMP='\(digest)'"
        ).utf8))
  }

  /// A file with everything that this suite is about, for mutations.
  static let everything: [UInt8] = {
    let tiff = builder.tiff()
    return [0xFF, 0xD8] + exifSegment(Array(tiff.prefix(200))) + exifSegment(Array(tiff.dropFirst(200))) + main()
      + extensionSegments(Array(Written.full.utf8)).flatMap { $0 } + multiPicture(count: 2)
      + ExifBuilder.frame(width: 160, height: 120)
  }()

  private static func multiPicture(count: Int) -> [UInt8] {
    ExifBuilder.segment(
      0xE2,
      Array("MPF\0".utf8) + ExifBuilder(bigEndian: true, main: [0xB001: .long([UInt32(count)])]).tiff()
        + [UInt8](repeating: 0, count: 10))
  }

  // MARK: - EXIF

  @Test(arguments: [20, 150, 400]) func exifOverSeveralSegmentsIsJoined(size: Int) throws {
    let tiff = Self.builder.tiff()
    let segments = stride(from: 0, to: tiff.count, by: size).map { offset in
      Self.exifSegment(Array(tiff[offset..<min(offset + size, tiff.count)]))
    }
    let facts = try facts(of: Written.jpeg(segments))
    #expect(facts.camera?.make == "Apple" && facts.creationDate?.description == "2024-07-21T10:00:00")
    #expect(facts.orientation == 6 && facts.pixelWidth == 120)
  }

  @Test func exifLongerThanASegmentIsRead() throws {
    // The values are 70,000 bytes after the header.
    let tiff = Self.builder.tiff(shiftedBy: 70_000)
    let segments = [Self.exifSegment(Array(tiff.prefix(65_000))), Self.exifSegment(Array(tiff.dropFirst(65_000)))]
    #expect(try facts(of: Written.jpeg(segments)).camera?.make == "Apple")
  }

  @Test func aSecondBlockOfItsOwnIsNotJoined() throws {
    let other = ExifBuilder(main: [0x010F: .ascii("Other camera"), 0x0112: .short([3])]).tiff()
    let facts = try facts(of: Written.jpeg([Self.exifSegment(Self.builder.tiff()), Self.exifSegment(other)]))
    #expect(facts.camera?.make == "Apple" && facts.orientation == 6)
  }

  // MARK: - XMP

  @Test func theExtensionOfAPacketIsRead() throws {
    let packet = Array(Written.full.utf8)
    let segments = Self.extensionSegments(packet)
    for order in [segments, segments.reversed()] {
      let facts = try facts(of: Written.jpeg([Self.main()] + order))
      #expect(facts.title == "Sea" && facts.rating == 4 && facts.keywords.count == 4)
    }
    // The packet itself comes first.
    let facts = try facts(of: Written.jpeg([Self.main("<dc:title>Main</dc:title>")] + segments))
    #expect(facts.title == "Main" && facts.rating == 4)
  }

  @Test func extensionsThatDoNotBelongToThePacketAreIgnored() throws {
    let packet = Array(Written.full.utf8)
    let other = String(repeating: "0", count: 32)
    for segments in [
      Self.extensionSegments(packet, digest: other), Array(Self.extensionSegments(packet).dropFirst()),
      Self.extensionSegments(packet, count: packet.count + 1), Self.extensionSegments(packet, count: 2 << 20),
    ] {
      #expect(try facts(of: Written.jpeg([Self.main("<dc:subject>sea</dc:subject>")] + segments)).title == nil)
    }
    #expect(try facts(of: Written.jpeg(Self.extensionSegments(packet))).title == nil)
  }

  @Test func bytesThatAreNotUTF8AreTakenAsLatin1() throws {
    let packet = Array(
      Written.packet("<dc:title>Gr??e</dc:title>" + Written.bag("dc:subject", ["Zürich"]), attributes: "xmp:Rating='3'")
        .utf8)
    let start = try #require(packet.firstIndex(of: Array("Gr??e".utf8)))
    var latin = packet
    latin[start + 2] = 0xFC
    latin[start + 3] = 0xDF
    // The bad byte takes every position around the end of a piece.
    for padding in [0, 1, 16_383, 16_384, 16_385, 40_000] {
      let blanks = [UInt8](repeating: 0x20, count: padding)
      let facts = try facts(of: Written.jpeg([Written.xmpSegment(blanks + latin)]))
      #expect(facts.title == "Grüße" && facts.rating == 3 && facts.keywords == ["Zürich"], "\(padding)")
    }
  }

  // MARK: - Other images

  /// An image with a hint at depth, behind a segment of 14 bytes.
  private static let imageWithDepth: [UInt8] =
    [0xFF, 0xD8] + ExifBuilder.segment(0xE3, [UInt8](repeating: 0, count: 10))
    + Written.xmpSegment(
      Array(
        Written.packet(
          attributes:
            "xmlns:GDepth='http://ns.google.com/photos/1.0/depthmap/' GDepth:Format='RangeInverse'"
        ).utf8))
    + ExifBuilder.frame(width: 16, height: 12)

  /// A photo of Apple's with an index of other images.
  ///
  /// - Parameters:
  ///   - lists: the images of each list of the index.
  ///   - size: the size of each image by the index; by default its own.
  private static func photo(lists: [[[UInt8]]], size: Int? = nil) -> [UInt8] {
    func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 255) } }
    let note = SubtypeTests.appleNote(hdr: 0, burst: "", identifier: "")
    let exif = exifSegment(ExifBuilder(main: [0x010F: .ascii("Apple")], exif: [0x927C: .bytes(note)]).tiff())
    let frame = ExifBuilder.frame(width: 160, height: 120)
    let directorySize = 14 + 12 * lists.count
    let indexSize = directorySize + lists.reduce(0) { $0 + 16 * ($1.count + 1) }
    let indexStart = 2 + exif.count + 8
    var directory = Array("II*\0".utf8) + little(8) + [UInt8(lists.count), 0]
    var (tables, images): ([UInt8], [UInt8]) = ([], [])
    for list in lists {
      directory += [0x02, 0xB0, 7, 0] + little(16 * (list.count + 1)) + little(directorySize + tables.count)
      tables += [UInt8](repeating: 0, count: 16)
      for image in list {
        let start = indexStart + indexSize + frame.count + images.count - indexStart
        tables += little(0) + little(size ?? image.count) + little(start) + little(0)
        images += image
      }
    }
    let index = ExifBuilder.segment(0xE2, Array("MPF\0".utf8) + directory + little(0) + tables)
    return [0xFF, 0xD8] + exif + index + frame + images
  }

  @Test func otherImagesAreReadUpToALimit() throws {
    let plain = Written.jpeg([])
    #expect(try facts(of: Self.photo(lists: [[Self.imageWithDepth]])).mediaSubtypes.contains(.depth))
    let four = Self.photo(lists: [[plain, plain, plain, Self.imageWithDepth]])
    #expect(try facts(of: four).mediaSubtypes.contains(.depth))
    // The limit is that of all lists together.
    for lists in [
      [[plain, plain, plain, plain, Self.imageWithDepth]], [[plain, plain, plain, plain], [Self.imageWithDepth]],
      [[plain], [plain], [plain, plain], [Self.imageWithDepth]],
    ] {
      #expect(try !facts(of: Self.photo(lists: lists)).mediaSubtypes.contains(.depth))
    }
    #expect(try facts(of: Self.photo(lists: [[plain], [Self.imageWithDepth]])).mediaSubtypes.contains(.depth))
  }

  @Test func otherImageEndsWhereItsIndexSays() throws {
    for size in [2, 15, 16, 18, 60] {
      let photo = Self.photo(lists: [[Self.imageWithDepth]], size: size)
      #expect(try !facts(of: photo).mediaSubtypes.contains(.depth), "\(size)")
    }
  }

  // MARK: - Frames

  @Test func aMissingHeightIsExplained() throws {
    let facts = try facts(of: [0xFF, 0xD8] + ExifBuilder.frame(width: 160, height: 0))
    #expect(
      facts.failure
        == "the JPEG has no height in its frame header, but in a DNL marker after the picture, which photod does not read"
    )
    #expect(facts.pixelWidth == nil && facts.contentType == "image/jpeg")
  }

  @Test(arguments: [
    ("a.mpo", 2, "image/mpo"), ("a.mpo", 1, "image/jpeg"), ("a.mpo", 0, "image/jpeg"), ("a.jpg", 2, "image/jpeg"),
  ])
  func aMultiPictureFileIsOneByNameAndContent(name: String, count: Int, contentType: String) throws {
    let index = count > 0 ? [Self.multiPicture(count: count)] : []
    let facts = try facts(of: Written.jpeg(index), name: name)
    #expect(facts.contentType == contentType && facts.failure == nil && facts.pixelWidth == 160)
  }
}
