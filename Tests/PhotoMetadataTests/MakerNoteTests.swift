import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

/// The lens and the ISO of maker notes and XMP.
@Suite struct MakerNoteTests {
  private typealias Made = FormatSamples

  /// A directory of a maker note. Its offsets count from `base`, the directory's own position.
  private func directory(_ entries: [(tag: Int, type: Int, count: Int, data: [UInt8])], base: Int) -> [UInt8] {
    var table = Made.little16(entries.count)
    var values: [UInt8] = []
    let start = base + 6 + 12 * entries.count
    for entry in entries {
      table += Made.little16(entry.tag) + Made.little16(entry.type) + Made.little32(entry.count)
      if entry.data.count <= 4 {
        table += entry.data + [UInt8](repeating: 0, count: 4 - entry.data.count)
      } else {
        table += Made.little32(start + values.count)
        values += entry.data
      }
    }
    return table + [0, 0, 0, 0] + values
  }

  /// - Parameter note: gets its own position in the structure.
  private func camera(
    _ make: String, exif: [UInt16: ExifBuilder.Value] = [:], xmp: String? = nil, bigEndian: Bool = false,
    note: (Int) -> [UInt8]
  ) throws -> Camera? {
    var builder = ExifBuilder(main: [0x010F: .ascii(make)], exif: exif)
    builder.bigEndian = bigEndian
    // The note is the last value, so its position is known from a structure with an empty one of the same size.
    let size = note(0).count
    builder.exif[0x927C] = .bytes([UInt8](repeating: 0xEE, count: size))
    let tiff = builder.tiff()
    let position = try #require(
      (0..<(tiff.count - size + 1)).first { tiff[$0..<($0 + size)].allSatisfy { $0 == 0xEE } })
    builder.exif[0x927C] = .bytes(note(position))
    let segments =
      [ExifBuilder.segment(0xE1, Array("Exif\0\0".utf8) + builder.tiff())]
      + (xmp.map { [DescriptionSamples.xmpSegment(Array(DescriptionSamples.packet($0).utf8))] } ?? [])
    return try facts(of: DescriptionSamples.jpeg(segments)).camera
  }

  private func text(_ tag: Int, _ text: String) -> (tag: Int, type: Int, count: Int, data: [UInt8]) {
    (tag, 2, text.utf8.count + 1, Array(text.utf8) + [0])
  }

  private func canon(_ setting: Int, auto: Int, base: Int, _ position: Int) -> [UInt8] {
    let settings = [UInt8](repeating: 0, count: 32) + Made.little16(setting)
    let shot = Made.little16(6) + Made.little16(auto) + Made.little16(base)
    return directory(
      [(1, 3, 17, settings), (4, 3, 3, shot), text(0x95, "EF50mm f/1.8 STM")], base: position)
  }

  @Test func canonsLensAndISOAreRead() throws {
    for (setting, auto, base, iso) in [
      (17, 0, 0, 100), (0x4000 | 640, 0, 0, 640), (15, 0, 160, 100), (0x7FFF, 32, 160, 200), (15, 0, 0, nil),
    ] as [(Int, Int, Int, Int?)] {
      let camera = try camera("Canon") { canon(setting, auto: auto, base: base, $0) }
      #expect(camera == Camera(make: "Canon", lens: "EF50mm f/1.8 STM", iso: iso))
    }
    // EXIF's own lens and ISO come first.
    let exif: [UInt16: ExifBuilder.Value] = [0xA434: .ascii("Named"), 0x8827: .short([50])]
    let named = try camera("Canon", exif: exif) { canon(17, auto: 0, base: 0, $0) }
    #expect(named?.lens == "Named" && named?.iso == 50)
  }

  @Test func canonsOffsetsCountFromTheOriginalPositionOfTheBlock() throws {
    let camera = try camera("Canon") { _ in
      canon(17, auto: 0, base: 0, 5000) + Array("II*\0".utf8) + Made.little32(5000)
    }
    #expect(camera?.lens == "EF50mm f/1.8 STM" && camera?.iso == 100)
  }

  /// Some programs write EXIF anew in the other byte order. They do not know the block, and leave it as it was.
  @Test func canonsBlockHasAByteOrderOfItsOwn() throws {
    let camera = try camera("Canon", bigEndian: true) { _ in
      canon(17, auto: 0, base: 0, 5000) + Array("II*\0".utf8) + Made.little32(5000)
    }
    #expect(camera?.lens == "EF50mm f/1.8 STM" && camera?.iso == 100)
    // Without the header at its end, nothing says so.
    #expect(try self.camera("Canon", bigEndian: true) { canon(17, auto: 0, base: 0, $0) }?.lens == nil)
  }

  @Test func leicasLensIsRead() throws {
    func note(_ version: UInt8, type: Int = 2) -> [UInt8] {
      var lens = text(0x0303, "Vario-Elmar T 1:3.5-5.6 / 18-56 ASPH.   ")
      lens.type = type
      return Array("LEICA\0".utf8) + [version, 0] + directory([(0x0302, 1, 4, [0xFF, 0, 0, 0]), lens], base: 8)
    }
    for version: UInt8 in [6, 8] {
      #expect(
        try camera("LEICA CAMERA AG") { _ in note(version) }?.lens == "Vario-Elmar T 1:3.5-5.6 / 18-56 ASPH.")
    }
    #expect(try camera("LEICA CAMERA AG") { _ in note(6, type: 7) }?.lens == nil)
  }

  @Test func nikonsLensIsARange() throws {
    func rationals(_ values: [Int]) -> [UInt8] { values.flatMap { Made.little32($0) + Made.little32(10) } }
    for (numbers, lens) in [
      ([180, 700, 35, 45], "18-70mm f/3.5-4.5"), ([500, 500, 18, 18], "50mm f/1.8"), ([0, 0, 0, 0], nil),
    ] as [([Int], String?)] {
      let entries: [(tag: Int, type: Int, count: Int, data: [UInt8])] = [
        (2, 3, 2, [0, 0, 200, 0]), (0x84, 5, 4, rationals(numbers)),
      ]
      let header = Array("Nikon\0".utf8) + [2, 0x10, 0, 0] + Array("II*\0".utf8) + Made.little32(8)
      let camera = try camera("NIKON CORPORATION") { _ in header + directory(entries, base: 8) }
      #expect(camera?.lens == lens && camera?.iso == 200)
    }
  }

  @Test func olympusHasTheLensInADirectoryOfItsOwn() throws {
    for header in [Array("OLYMPUS\0II".utf8) + [3, 0], Array("OM SYSTEM\0\0\0II".utf8) + [4, 0]] {
      let camera = try camera("OLYMPUS") { _ in
        let inner = header.count + 18
        return header + directory([(0x2010, 13, 1, Made.little32(inner))], base: header.count)
          + directory([text(0x0203, "M.Zuiko 12-40mm F2.8")], base: inner)
      }
      #expect(camera?.lens == "M.Zuiko 12-40mm F2.8")
    }
  }

  @Test func panasonicsAndSonysLensesAreRead() throws {
    let panasonic = try camera("Panasonic") {
      Array("Panasonic\0\0\0".utf8)
        + directory([(0x3C, 3, 1, [160, 0]), text(0x51, "LUMIX G 20/F1.7")], base: $0 + 12)
    }
    #expect(panasonic?.lens == "LUMIX G 20/F1.7" && panasonic?.iso == 160)
    let sony = try camera("SONY") {
      Array("SONY DSC \0\0\0".utf8)
        + directory([(0xB02A, 1, 8, [0x01, 0x00, 0x55, 0x02, 0x00, 0x40, 0x56, 0x02])], base: $0 + 12)
    }
    #expect(sony?.lens == "DT 55-200mm F4-5.6 SAM")
  }

  @Test func theLensOfXMPComesBeforeTheMakerNotes() throws {
    let xmp = "<aux:Lens xmlns:aux='http://ns.adobe.com/exif/1.0/aux/'>By XMP</aux:Lens>"
    #expect(try camera("Canon", xmp: xmp) { canon(17, auto: 0, base: 0, $0) }?.lens == "By XMP")
    let both = xmp + "<exifEX:LensModel xmlns:exifEX='http://cipa.jp/exif/1.0/'>Model</exifEX:LensModel>"
    #expect(try camera("Canon", xmp: both) { canon(17, auto: 0, base: 0, $0) }?.lens == "Model")
  }

  @Test func aMakerNoteWithRandomOffsetsIsParsed() throws {
    for make in ["Canon", "NIKON", "SONY", "OLYMPUS"] {
      for beginning in [
        "OLYMPUS\0II\u{3}\0", "Nikon\0\u{2}\u{10}\0\0II*\0", "Panasonic\0\0\0", "SONY DSC \0\0\0", "OLYMP\0",
      ] {
        for filler: UInt8 in [0, 1, 0x7F, 0xFF] {
          let found = try camera(make) { _ in Array(beginning.utf8) + [UInt8](repeating: filler, count: 300) }
          #expect(found?.make == make)
        }
      }
    }
  }
}
