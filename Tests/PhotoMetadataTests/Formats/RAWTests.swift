import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

/// RAW files: the size of the main image, and the EXIF of each structure.
@Suite struct RAWTests {
  private func expect(_ facts: MediaFacts, _ width: Int, _ height: Int, _ contentType: String) {
    #expect(facts.failure == nil)
    #expect(facts.pixelWidth == width && facts.pixelHeight == height)
    #expect(facts.mediaSubtypes == [.raw] && facts.mediaType == .image && facts.contentType == contentType)
  }

  private func expectExif(_ facts: MediaFacts) {
    #expect(facts.camera?.make == "Maker" && facts.camera?.model == "Model 1" && facts.camera?.iso == 400)
    #expect(facts.creationDate?.description == "2024-07-21T10:00:00" && facts.orientation == 6)
  }

  // MARK: - TIFF structures

  @Test func theSizeIsThatOfTheFullImageInASubdirectory() throws {
    let facts = try facts(of: FormatSamples.nikon, name: "a.nef")
    expect(facts, 2014, 3040, "image/x-nikon-nef")
    expectExif(facts)
  }

  @Test func withoutAFullImageTheFirstSizeCounts() throws {
    var builder = FormatSamples.exif
    (builder.main[0x0100], builder.main[0x0101]) = (.long([4640]), .long([3472]))
    var bytes = builder.tiff()
    bytes.replaceSubrange(2..<4, with: Array("RO".utf8))
    expect(try facts(of: bytes, name: "a.orf"), 3472, 4640, "image/x-olympus-orf")
    bytes.replaceSubrange(2..<4, with: Array("RS".utf8))
    expect(try facts(of: bytes, name: "a.orf"), 3472, 4640, "image/x-olympus-orf")
    var big = builder
    big.bigEndian = true
    bytes = big.tiff()
    bytes.replaceSubrange(2..<4, with: Array("OR".utf8))
    expectExif(try facts(of: bytes, name: "a.orf"))
  }

  @Test func theSizeOfACR2IsInEXIF() throws {
    var builder = FormatSamples.exif
    (builder.main[0x0100], builder.main[0x0101]) = (.long([1536]), .long([1024]))
    (builder.exif[0xA002], builder.exif[0xA003]) = (.long([3456]), .long([2304]))
    expect(try facts(of: builder.tiff(), name: "a.cr2"), 2304, 3456, "image/x-canon-cr2")
    expect(try facts(of: builder.tiff(), name: "a.iiq"), 2304, 3456, "image/x-phaseone-iiq")
    // An edited copy of another format keeps a stale size in EXIF.
    expect(try facts(of: builder.tiff(), name: "a.pef"), 1024, 1536, "image/x-pentax-pef")
  }

  @Test func theSizeOfPanasonicsIsBetweenTheBorders() throws {
    let facts = try facts(of: FormatSamples.panasonic, name: "a.rw2")
    expect(facts, 3648, 2736, "image/x-panasonic-rw2")
    #expect(facts.camera == Camera(make: "Panasonic", model: "DMC-LX3", iso: 80))
    #expect(facts.creationDate?.description == "2008-08-06T15:21:56")
  }

  /// The difference of these borders has more than 64 bits.
  @Test func bordersOutOfReachAreIgnored() throws {
    var builder = ExifBuilder(
      main: [
        0x0002: .short([3724]), 0x0003: .short([2754]), 0x0004: .short([8]),
        0x0005: .raw(type: 8, count: 1, field: 0xFFFF), 0x0006: .short([2744]),
        0x0007: .raw(type: 16, count: 1, field: 0), 0x010F: .ascii("Panasonic"),
      ])
    builder.main[0x0007] = .raw(type: 16, count: 1, field: UInt32(builder.tiff().count))
    var bytes = builder.tiff() + [UInt8](repeating: 0xFF, count: 7) + [0x7F]
    bytes[2] = 0x55
    expect(try facts(of: bytes, name: "a.rw2"), 3724, 2754, "image/x-panasonic-rw2")
  }

  @Test func thePreviewOfPanasonicsCompletesTheFacts() throws {
    let preview = ExifBuilder(main: [0x010F: .ascii("Other")], exif: [0xA434: .ascii("Lens 1")]).jpeg()
    let builder = ExifBuilder(main: [0x010F: .ascii("Panasonic"), 0x002E: .bytes(preview)])
    var bytes = builder.tiff()
    bytes[2] = 0x55
    #expect(try facts(of: bytes, name: "a.rw2").camera == Camera(make: "Panasonic", lens: "Lens 1"))
  }

  @Test func theFirstSonysKeepTheSizeInABlockOfMinoltas() throws {
    var builder = FormatSamples.exif
    builder.main[0x010F] = .ascii("SONY")
    builder.main[0xC634] = .bytes([0, 0, 0, 0], type: 1)
    (builder.main[0x0100], builder.main[0x0101]) = (.long([3880]), .long([2600]))
    let position = builder.tiff().count
    builder.main[0xC634] = .bytes(Samples.little(position), type: 1)
    let block = FormatSamples.minoltaRAW(width: 3872, height: 2592, isBig: false)
    let directory: [UInt8] = [1, 0, 0x50, 0x72, 7, 0] + Samples.little(block.count) + Samples.little(position + 18)
    let bytes = builder.tiff() + directory + [0, 0, 0, 0] + block
    expect(try facts(of: bytes, name: "a.arw"), 2592, 3872, "image/x-sony-arw")
  }

  @Test func aDNGIsOneByItsVersion() throws {
    var builder = FormatSamples.exif
    builder.main[0xC612] = .bytes([1, 4, 0, 0], type: 1)
    (builder.main[0x0100], builder.main[0x0101]) = (.long([40]), .long([30]))
    expect(try facts(of: builder.tiff(), name: "a.tif"), 30, 40, "image/x-adobe-dng")
  }

  @Test func directoriesThatFormALoopEnd() throws {
    var bytes = FormatSamples.nikon
    // The SubIFD's entries are replaced by a pointer to itself.
    let position = bytes.count - 42
    for entry in 0..<3 {
      bytes.replaceSubrange(
        (position + 2 + 12 * entry)..<(position + 14 + 12 * entry),
        with: [0x4A, 0x01, 4, 0, 1, 0, 0, 0] + Samples.little(position))
    }
    bytes.replaceSubrange((bytes.count - 4)..., with: Samples.little(position))
    #expect(try facts(of: bytes, name: "a.nef").pixelWidth == 120)
  }

  // MARK: - Structures of their own

  @Test func aRAFHasItsSizeInADirectoryAndEXIFInAJPEG() throws {
    let bytes = FormatSamples.fujiRAW(width: 4256, height: 2848)
    let facts = try facts(of: bytes, name: "a.raf")
    expect(facts, 2848, 4256, "image/x-fuji-raf")
    expectExif(facts)
    expect(try PhotoMetadataTests.facts(of: bytes, name: "a.jpg"), 2848, 4256, "image/x-fuji-raf")
  }

  @Test func anMRWHasItsSizeAndEXIFInBlocks() throws {
    let facts = try facts(of: FormatSamples.minoltaRAW(width: 3264, height: 2448), name: "a.mrw")
    expect(facts, 2448, 3264, "image/x-minolta-mrw")
    expectExif(facts)
  }

  @Test func aCRWHasRecordsInHeaps() throws {
    let facts = try facts(of: FormatSamples.canonHeap(width: 2272, height: 1704), name: "a.crw")
    expect(facts, 2272, 1704, "image/x-canon-crw")
    #expect(facts.camera == Camera(make: "Canon", model: "Canon PowerShot S40", iso: 200))
    #expect(facts.creationDate?.description == "2005-04-23T17:54:36")
    let turned = try PhotoMetadataTests.facts(
      of: FormatSamples.canonHeap(width: 2272, height: 1704, rotation: 270), name: "a.crw")
    #expect(turned.orientation == 8 && turned.pixelWidth == 1704)
  }

  @Test func anX3FHasAPropertyListAndEXIFInAJPEG() throws {
    let properties = [
      ("CAMMANUF", "SIGMA"), ("CAMMODEL", "SIGMA SD10"), ("SHUTTER", "0.004"), ("APERTURE", "8.0"), ("ISO", "100"),
      ("FLENGTH", "30"), ("TIME", "978309395"),
    ]
    let bytes = FormatSamples.sigmaRAW(width: 2268, height: 1512, properties: properties)
    let listed = try facts(of: bytes, name: "a.x3f")
    expect(listed, 2268, 1512, "image/x-sigma-x3f")
    #expect(
      listed.camera
        == Camera(
          make: "SIGMA", model: "SIGMA SD10", exposureSeconds: 0.004, fNumber: 8, iso: 100, focalLengthMillimeters: 30))
    #expect(listed.creationDate?.description == "2001-01-01T00:36:35")
    let both = try facts(
      of: FormatSamples.sigmaRAW(width: 2268, height: 1512, properties: properties, exif: FormatSamples.exif),
      name: "a.x3f")
    expectExif(both)
    #expect(both.camera?.fNumber == 8)
  }

  @Test(arguments: [("8.0", 8), ("0x8", nil), ("inf", nil), ("-8", nil), ("8e0", nil)] as [(String, Double?)])
  func propertyOfAnX3FIsADecimalNumber(text: String, expected: Double?) throws {
    let bytes = FormatSamples.sigmaRAW(width: 2268, height: 1512, properties: [("APERTURE", text)])
    #expect(try facts(of: bytes, name: "a.x3f").camera?.fNumber == expected)
  }

  // MARK: - Foreign content

  @Test(arguments: ["a.cr2", "a.arw", "a.d.mts", "a.mp4", "a.mkv"]) func textAndZerosAreReported(name: String) throws {
    let contents: [([UInt8], String)] = [
      (Array("export declare const a: string;\n".utf8), "text"), (Array("Grüße aus Zürich".utf8), "text"),
      ([UInt8](repeating: 0, count: 5000), "zeros"), (Array("PK\u{3}\u{4}".utf8) + [20, 0, 0, 0], "a zip archive"),
    ]
    for (content, kind) in contents {
      let facts = try facts(of: content, name: name)
      #expect(facts.failure == "it is not \(facts.contentType) but \(kind); the file may be damaged or misnamed")
    }
    // Binary data of an unknown kind may be a format that is unknown here.
    #expect(try facts(of: [1, 2, 3, 4, 5, 6, 7, 8, 200, 201], name: name).failure == nil)
  }

  @Test func aTypeScriptFileIsNoAsset() {
    #expect(MediaFormat.promised(byName: "foo.ts".utf8) == nil)
    #expect(MediaFormat.promised(byName: "foo.d.mts".utf8)?.contentType == "video/mp2t")
  }
}
