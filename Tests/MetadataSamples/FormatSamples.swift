/// Small files of the formats with structures of their own, made from their specifications.
enum FormatSamples {
  static func little16(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
  static func big16(_ value: Int) -> [UInt8] { little16(value).reversed() }
  static func little32(_ value: Int) -> [UInt8] { Samples.little(value) }
  static func big32(_ value: Int) -> [UInt8] { Samples.big(value) }
  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  static let exif = ExifBuilder(
    main: [0x0112: .short([6]), 0x010F: .ascii("Maker"), 0x0110: .ascii("Model 1")],
    exif: [0x9003: .ascii("2024:07:21 10:00:00"), 0x8827: .short([400])])

  // MARK: - RAW

  static func fujiRAW(width: Int, height: Int, exif: ExifBuilder = exif) -> [UInt8] {
    let directory = big32(1) + big16(0x111) + big16(4) + big16(height) + big16(width)
    let jpeg = exif.jpeg()
    let start = 0x94
    var bytes = Array("FUJIFILMCCD-RAW ".utf8) + zeros(0x54 - 16)
    bytes += big32(start + directory.count) + big32(jpeg.count) + big32(start)
    return bytes + zeros(start - bytes.count) + directory + jpeg
  }

  static func minoltaRAW(width: Int, height: Int, exif: ExifBuilder = exif, isBig: Bool = true) -> [UInt8] {
    func number32(_ value: Int) -> [UInt8] { isBig ? big32(value) : little32(value) }
    func number16(_ value: Int) -> [UInt8] { isBig ? big16(value) : little16(value) }
    let size = zeros(8) + number16(height + 8) + number16(width + 8) + number16(height) + number16(width) + zeros(8)
    let tiff = exif.tiff()
    let blocks =
      Array("\0PRD".utf8) + number32(size.count) + size + Array("\0TTW".utf8) + number32(tiff.count) + tiff
    return Array(isBig ? "\0MRM".utf8 : "\0MRI".utf8) + number32(blocks.count) + blocks
  }

  /// Canon's heap with the records of a camera, in a heap within the heap.
  static func canonHeap(width: Int, height: Int, rotation: Int = 0, seconds: Int = 1_114_278_876) -> [UInt8] {
    func heap(_ records: [(tag: Int, data: [UInt8])]) -> [UInt8] {
      var data: [UInt8] = []
      var table = little16(records.count)
      for record in records {
        table += little16(record.tag) + little32(record.data.count) + little32(data.count)
        data += record.data
      }
      return data + table + little32(data.count)
    }
    let inner = heap([
      (0x080A, Array("Canon\0Canon PowerShot S40\0".utf8)),
      (0x1810, little32(width) + little32(height) + zeros(4) + little32(rotation) + zeros(12)),
      (0x180E, little32(seconds) + zeros(8)), (0x102A, little16(64) + little16(32) + little16(160) + zeros(10)),
    ])
    return Array("II".utf8) + little32(26) + Array("HEAPCCDR".utf8) + zeros(12) + heap([(0x300A, inner)])
  }

  static func sigmaRAW(width: Int, height: Int, properties: [(String, String)], exif: ExifBuilder? = nil) -> [UInt8] {
    func utf16(_ text: String) -> [UInt8] { text.utf16.flatMap { little16(Int($0)) } + [0, 0] }
    var table: [UInt8] = []
    var texts: [UInt8] = []
    for (name, value) in properties {
      for text in [name, value] {
        table += little32(texts.count / 2)
        texts += utf16(text)
      }
    }
    var bytes = Array("FOVb".utf8) + little32(0x0002_0000) + zeros(20) + little32(width) + little32(height)
    bytes += little32(0)
    let list =
      Array("SECp".utf8) + little32(0x0002_0000) + little32(properties.count) + zeros(8) + little32(texts.count / 2)
      + table + texts
    var sections = [("PROP", bytes.count, list.count)]
    bytes += list
    if let exif {
      let image = Array("SECi".utf8) + little32(0x0002_0000) + little32(2) + little32(18) + zeros(12) + exif.jpeg()
      sections.append(("IMA2", bytes.count, image.count))
      bytes += image
    }
    let directory = bytes.count
    bytes += Array("SECd".utf8) + little32(0x0002_0000) + little32(sections.count)
    for (name, offset, count) in sections { bytes += little32(offset) + little32(count) + Array(name.utf8) }
    return bytes + little32(directory)
  }

  // MARK: - Video

  static func element(_ id: [UInt8], _ data: [UInt8], isOpen: Bool = false) -> [UInt8] {
    id + (isOpen ? [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] : [0x10] + Array(big32(data.count).dropFirst()))
      + data
  }

  static func matroska(
    type: UInt8 = 1, video: [UInt8] = element([0xB0], big16(704)) + element([0xBA], big16(576)), isOpen: Bool = false,
    infoLast: Bool = false
  ) -> [UInt8] {
    let info = element(
      [0x15, 0x49, 0xA9, 0x66],
      element([0x2A, 0xD7, 0xB1], big32(1_000_000)) + element([0x44, 0x89], big32(0x4611_2200))
        + element([0x44, 0x61], big32(0x03FB_5C77) + big32(0x216F_D800)) + element([0x7B, 0xA9], Array("Sea".utf8)))
    let tracks = element(
      [0x16, 0x54, 0xAE, 0x6B], element([0xAE], element([0x83], [type]) + element([0xE0], video)))
    let cluster = element([0x1F, 0x43, 0xB6, 0x75], [UInt8](repeating: 7, count: 50), isOpen: isOpen)
    var content = info + tracks + cluster
    if infoLast {
      let seek = element(
        [0x11, 0x4D, 0x9B, 0x74],
        element(
          [0x4D, 0xBB],
          element([0x53, 0xAB], [0x15, 0x49, 0xA9, 0x66]) + element([0x53, 0xAC], big32(47 + tracks.count)))
          + element(
            [0x4D, 0xBB], element([0x53, 0xAB], [0x16, 0x54, 0xAE, 0x6B]) + element([0x53, 0xAC], big32(47))))
      // A cluster stands before both.
      let position = seek.count + 16
      let fixed = element(
        [0x11, 0x4D, 0x9B, 0x74],
        element(
          [0x4D, 0xBB],
          element([0x53, 0xAB], [0x15, 0x49, 0xA9, 0x66]) + element([0x53, 0xAC], big32(position + tracks.count)))
          + element(
            [0x4D, 0xBB], element([0x53, 0xAB], [0x16, 0x54, 0xAE, 0x6B]) + element([0x53, 0xAC], big32(position))))
      content = fixed + element([0x1F, 0x43, 0xB6, 0x75], [UInt8](repeating: 7, count: 8)) + tracks + info
    }
    return element([0x1A, 0x45, 0xDF, 0xA3], element([0x42, 0x82], Array("matroska".utf8)))
      + element([0x18, 0x53, 0x80, 0x67], content, isOpen: isOpen)
  }

  static func riffChunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    Array(name.utf8) + little32(data.count) + data + (data.count % 2 == 1 ? [0] : [])
  }

  static func riffList(_ name: String, _ data: [UInt8]) -> [UInt8] { riffChunk("LIST", Array(name.utf8) + data) }

  /// Ten seconds of 25 frames each, with the chunks of a camera.
  /// - Parameters:
  ///   - extra: further chunks of the header list.
  ///   - properties: further chunks of the stream's list.
  static func avi(
    frames: Int = 250, allFrames: Int? = nil, width: Int = 640, extra: [UInt8] = [], stream: String = "vids",
    properties: [UInt8] = []
  ) -> [UInt8] {
    let main = little32(40_000) + zeros(12) + little32(frames) + zeros(12) + little32(width) + little32(480) + zeros(16)
    let header = Array(stream.utf8) + zeros(16) + little32(1) + little32(25) + zeros(4) + little32(frames) + zeros(20)
    let odml = allFrames.map { riffList("odml", riffChunk("dmlh", little32($0))) } ?? []
    let body =
      riffList(
        "hdrl", riffChunk("avih", main) + riffList("strl", riffChunk("strh", header) + properties) + odml + extra)
      + riffList("movi", zeros(20))
    return Array("RIFF".utf8) + little32(body.count + 4) + Array("AVI ".utf8) + body
  }

  /// A transport stream of H.264 with two clock references ten seconds apart.
  ///
  /// - Parameter stamp: bytes before each packet: 0, or 4 as in AVCHD.
  static func transportStream(stamp: Int = 0, unit: [UInt8] = h264Units, type: UInt8 = 0x1B, padding: Int = 20)
    -> [UInt8]
  {
    func packet(_ id: Int, _ payload: [UInt8], isStart: Bool = true, clock: Int? = nil) -> [UInt8] {
      var field: [UInt8] = []
      if let clock {
        let base = clock / 300
        field = [0x10] + big32(base >> 1) + [UInt8(base & 1) << 7 | 0x7E, 0]
      }
      let room = 184 - payload.count
      if room > 0 || clock != nil {
        if field.isEmpty, room > 1 { field = [0] }
        field += [UInt8](repeating: 0xFF, count: max(0, room - 1 - field.count))
        field = [UInt8(field.count)] + field
      }
      let head: [UInt8] = [
        0x47, UInt8(id >> 8) | (isStart ? 0x40 : 0), UInt8(id & 255), field.isEmpty ? 0x10 : 0x30,
      ]
      return zeros(stamp) + head + field + payload
    }
    func section(_ table: UInt8, _ body: [UInt8]) -> [UInt8] {
      [0, table, 0xB0, UInt8(body.count + 9), 0, 1, 0xC1, 0, 0] + body + zeros(4)
    }
    let pes: [UInt8] = [0, 0, 1, 0xE0, 0, 0, 0x80, 0, 0] + unit
    var bytes = packet(0, section(0, [0, 1, 0xE1, 0x00]))
    bytes += packet(0x100, section(2, [0xF0, 0x11, 0xF0, 0, type, 0xF0, 0x11, 0xF0, 0]))
    bytes += packet(0x1011, [], isStart: false, clock: 27_000_000)
    var rest = pes[...]
    var isStart = true
    while !rest.isEmpty {
      bytes += packet(0x1011, Array(rest.prefix(170)), isStart: isStart)
      rest = rest.dropFirst(170)
      isStart = false
    }
    for _ in 0..<padding { bytes += packet(0x1FFF, zeros(184), isStart: false) }
    return bytes + packet(0x1011, [], isStart: false, clock: 297_000_000)
  }

  /// A sequence parameter set of 1920×1080, and the SEI of an AVCHD camera of 2008-12-31 23:16:24+01:00.
  static let h264Units: [UInt8] = {
    let parameters = bits(
      "01100100 00000000 00101000 1 010 1 1 0 0 1 1 00100 1 0 0000001111000 0000001000100 1 1 1 1 1 1 00101 0 1")
    let parts: [[UInt8]] = [
      [0, 0, 0, 1, 0x67], parameters, [0, 0, 1, 0x06, 5, 42], recordingData, [0x80, 0, 0, 1, 0x09],
    ]
    return parts.flatMap { $0 }
  }()

  /// The UUID, "MDPM" and two packs of date and time.
  static let recordingData: [UInt8] =
    [0x17, 0xEE, 0x8C, 0x60, 0xF8, 0x4D, 0x11, 0xD9, 0x8C, 0xD6, 0x08, 0x00, 0x20, 0x0C, 0x9A, 0x66]
    + Array("MDPM".utf8) + [2, 0x18, 0x02, 0x20, 0x08, 0x12, 0x19, 0x31, 0x23, 0x16, 0x24]

  /// Bytes from digits; blanks are ignored.
  static func bits(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var count = 0
    for digit in text where digit != " " {
      if count % 8 == 0 { bytes.append(0) }
      if digit == "1" { bytes[bytes.count - 1] |= 0x80 >> UInt8(count % 8) }
      count += 1
    }
    return bytes
  }

  /// The payload of a NAL unit with emulation prevention bytes.
  static func escaped(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for byte in bytes {
      if byte <= 3, result.suffix(2) == [0, 0] { result.append(3) }
      result.append(byte)
    }
    return result
  }

  // MARK: - Images

  static func photoshop(width: Int, height: Int, resources: [(number: Int, data: [UInt8])], isLarge: Bool = false)
    -> [UInt8]
  {
    var block: [UInt8] = []
    for (number, data) in resources {
      block +=
        Array("8BIM".utf8) + big16(number) + [0, 0] + big32(data.count) + data + (data.count % 2 == 1 ? [0] : [])
    }
    return Array("8BPS".utf8) + [0, isLarge ? 2 : 1] + zeros(6) + [0, 3] + big32(height) + big32(width) + [0, 8, 0, 3]
      + big32(0) + big32(block.count) + block + zeros(20)
  }

  static func bitmap(width: Int, height: Int) -> [UInt8] {
    Array("BM".utf8) + little32(100) + zeros(4) + little32(54) + little32(40) + little32(width) + little32(height)
      + [1, 0, 24, 0] + zeros(24)
  }

  static func openEXR(_ attributes: [(name: String, type: String, data: [UInt8])]) -> [UInt8] {
    var bytes: [UInt8] = [0x76, 0x2F, 0x31, 0x01, 2, 0, 0, 0]
    for attribute in attributes {
      bytes += Array(attribute.name.utf8) + [0] + Array(attribute.type.utf8) + [0]
      bytes += little32(attribute.data.count) + attribute.data
    }
    return bytes + [0]
  }

  static func window(_ corners: [Int]) -> [UInt8] { corners.flatMap { little32($0 & 0xFFFF_FFFF) } }

  /// One file of each format, for the tests with damage.
  static let all: [(name: String, content: [UInt8])] = [
    ("a.raf", fujiRAW(width: 4256, height: 2848)), ("a.mrw", minoltaRAW(width: 3264, height: 2448)),
    ("a.crw", canonHeap(width: 2272, height: 1704)),
    ("a.x3f", sigmaRAW(width: 2640, height: 1760, properties: [("CAMMANUF", "SIGMA"), ("ISO", "100")], exif: exif)),
    ("a.rw2", panasonic), ("a.nef", nikon), ("a.mkv", matroska()), ("a.webm", matroska(infoLast: true)),
    ("a.avi", avi(allFrames: 300, extra: riffChunk("IDIT", Array("Mon Mar 10 15:04:43 2003\n".utf8)))),
    ("a.mts", transportStream(stamp: 4)), ("a.m2t", transportStream()),
    (
      "a.psd",
      photoshop(width: 30, height: 20, resources: [(0x0422, exif.tiff()), (0x0404, DescriptionSamples.fullIPTC)])
    ),
    ("a.bmp", bitmap(width: 30, height: 20)),
    (
      "a.exr",
      openEXR([
        ("dataWindow", "box2i", window([0, 0, 19, 11])), ("capDate", "string", Array("2024:07:21 10:00:00".utf8)),
      ])
    ),
  ]

  /// A RAW file of Panasonic's, whose borders are the size.
  static let panasonic: [UInt8] = {
    let builder = ExifBuilder(
      main: [
        0x0002: .short([3724]), 0x0003: .short([2754]), 0x0004: .short([8]), 0x0005: .short([16]),
        0x0006: .short([2744]), 0x0007: .short([3664]), 0x0017: .short([80]), 0x010F: .ascii("Panasonic"),
        0x0110: .ascii("DMC-LX3"),
      ], exif: [0x9003: .ascii("2008:08:06 15:21:56")])
    var bytes = builder.tiff()
    bytes[2] = 0x55
    return bytes
  }()

  /// A RAW file of Nikon's: the directory of a thumbnail, and the image in a SubIFD behind all.
  static let nikon: [UInt8] = {
    var builder = exif
    builder.main[0x00FE] = .long([1])
    builder.main[0x0100] = .long([160])
    builder.main[0x0101] = .long([120])
    builder.main[0x014A] = .long([0])
    let position = builder.tiff().count
    builder.main[0x014A] = .long([UInt32(position)])
    func entry(_ tag: Int, _ value: Int) -> [UInt8] { little16(tag) + little16(4) + little32(1) + little32(value) }
    return builder.tiff() + little16(3) + entry(0xFE, 0) + entry(0x100, 3040) + entry(0x101, 2014) + little32(0)
  }()
}
