/// Builds boxes of the ISO base media file format, and small files of them.
enum BoxSamples {
  static func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
    let body = content.flatMap { $0 }
    return Samples.big(body.count + 8) + name(type) + body
  }

  /// A box with a version and flags.
  static func full(_ type: String, version: UInt8 = 0, flags: Int = 0, _ content: [UInt8]...) -> [UInt8] {
    box(type, [version] + Samples.big(flags).dropFirst(), content.flatMap { $0 })
  }

  /// A box with a size of eight bytes.
  static func long(_ type: String, _ content: [UInt8]) -> [UInt8] {
    Samples.big(1) + name(type) + big64(content.count + 16) + content
  }

  /// "©" is one byte, A9.
  private static func name(_ type: String) -> [UInt8] {
    type.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }

  static func big16(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
  static func big64(_ value: Int) -> [UInt8] { Samples.big(value >> 32) + Samples.big(value) }

  static func brands(_ brands: [String]) -> [UInt8] {
    box("ftyp", Array(brands[0].utf8), Samples.big(0), brands.flatMap { Array($0.utf8) })
  }

  // MARK: - HEIF

  struct Item {
    var type: String
    var contentType = ""
    var data: [UInt8] = []
    /// The items that it describes.
    var describes: [Int] = []
  }

  static func ispe(_ width: Int, _ height: Int) -> [UInt8] { full("ispe", Samples.big(width), Samples.big(height)) }
  static func irot(_ angle: UInt8) -> [UInt8] { box("irot", [angle]) }
  static func imir(_ axis: UInt8) -> [UInt8] { box("imir", [axis]) }
  static func auxC(_ type: String) -> [UInt8] { full("auxC", Array(type.utf8) + [0]) }

  /// A file whose items have the numbers 1, 2, ...; the first one is the primary item and has all properties.
  ///
  /// - Parameters:
  ///   - inData: whether the items are in `idat`, not in `mdat`.
  ///   - others: properties of no item.
  static func heif(
    _ brandNames: [String] = ["heic", "mif1"], properties: [[UInt8]], items: [Item] = [], inData: Bool = false,
    others: [[UInt8]] = [], after: [UInt8] = []
  ) -> [UInt8] {
    let all = [Item(type: "hvc1", data: [1, 2, 3, 4])] + items
    func meta(_ start: Int) -> [UInt8] {
      var locations: [UInt8] = []
      var offset = start
      for (index, item) in all.enumerated() {
        locations += big16(index + 1) + big16(inData ? 1 : 0) + big16(0) + big16(1) + Samples.big(offset)
        locations += Samples.big(item.data.count)
        offset += item.data.count
      }
      let entries = all.enumerated().map { index, item in
        let type = Array(item.type.utf8) + [0] + (item.type == "mime" ? Array(item.contentType.utf8) + [0] : [])
        return full("infe", version: 2, big16(index + 1), big16(0), type)
      }
      let references = all.enumerated().filter { !$0.element.describes.isEmpty }.map { index, item in
        box("cdsc", big16(index + 1), big16(item.describes.count), item.describes.flatMap(big16))
      }
      let associations = [UInt8(properties.count)] + (0..<properties.count).map { UInt8($0 + 1) | 0x80 }
      return full(
        "meta", full("hdlr", Samples.big(0), Array("pict".utf8), [UInt8](repeating: 0, count: 13)),
        full("pitm", big16(1)), full("iinf", big16(all.count), entries.flatMap { $0 }),
        references.isEmpty ? [] : full("iref", references.flatMap { $0 }),
        box(
          "iprp", box("ipco", properties.flatMap { $0 } + others.flatMap { $0 }),
          full("ipma", Samples.big(1), big16(1), associations)),
        full("iloc", version: 1, [0x44, 0x00], big16(all.count), locations),
        inData ? box("idat", all.flatMap(\.data)) : [])
    }
    let head = brands(brandNames)
    let start = inData ? 0 : head.count + meta(0).count + 8
    return head + meta(start) + (inData ? [] : box("mdat", all.flatMap(\.data))) + after
  }

  /// An `Exif` item: the offset of the structure, a name, and the structure.
  static func exifItem(_ structure: [UInt8]) -> Item {
    Item(type: "Exif", data: Samples.big(6) + Array("Exif\0\0".utf8) + structure, describes: [1])
  }

  static func xmpItem(_ packet: String, describes: [Int] = [1]) -> Item {
    Item(type: "mime", contentType: "application/rdf+xml", data: Array(packet.utf8), describes: describes)
  }

  // MARK: - Films

  /// Matrices of quarter turns, in steps of 90 degrees.
  private static func matrix(_ turns: Int) -> [UInt8] {
    let one = 0x10000
    let (a, b) = [(one, 0), (0, one), (-one, 0), (0, -one)][turns]
    let numbers = [a, b, 0, -b, a, 0, 0, 0, 0x4000_0000]
    return numbers.flatMap { Samples.big($0 & 0xFFFF_FFFF) }
  }

  static func header(seconds: Int = 0, units: Int = 1000, duration: Int = 2500, version: UInt8 = 0) -> [UInt8] {
    let number = version == 1 ? big64 : Samples.big
    return full(
      "mvhd", version: version, number(seconds), number(seconds), Samples.big(units), number(duration),
      [UInt8](repeating: 0, count: 80))
  }

  /// - Parameter pixel: the aspect of the pixels, horizontal and vertical.
  static func track(
    handler: String = "vide", id: Int = 1, _ width: Int = 640, _ height: Int = 480, turns: Int = 0,
    enabled: Bool = true,
    coded: (Int, Int)? = nil, pixel: (Int, Int)? = nil, version: UInt8 = 0, samples: Int = 25
  ) -> [UInt8] {
    let number = version == 1 ? big64 : Samples.big
    let size = coded ?? (width, height)
    let aspect = pixel.map { box("pasp", Samples.big($0.0), Samples.big($0.1)) } ?? []
    let entry = box(
      "avc1", [UInt8](repeating: 0, count: 24), big16(size.0), big16(size.1), [UInt8](repeating: 0, count: 50), aspect)
    return box(
      "trak",
      full(
        "tkhd", version: version, flags: enabled ? 7 : 0, number(0), number(0), Samples.big(id), Samples.big(0),
        number(0),
        [UInt8](repeating: 0, count: 16), matrix(turns), Samples.big(width << 16), Samples.big(height << 16)),
      box(
        "mdia", full("mdhd", Samples.big(0), Samples.big(0), Samples.big(1000), Samples.big(0), Samples.big(0)),
        full("hdlr", Samples.big(0), Array(handler.utf8), [UInt8](repeating: 0, count: 13)),
        box(
          "minf",
          box(
            "stbl", full("stsd", Samples.big(1), entry), full("stsz", Samples.big(0), Samples.big(samples))))))
  }

  static func movie(_ brandNames: [String] = ["isom", "mp42"], _ boxes: [UInt8]..., data: Int = 16) -> [UInt8] {
    brands(brandNames) + box("mdat", [UInt8](repeating: 0, count: data)) + box("moov", boxes.flatMap { $0 })
  }

  static func text(_ type: String, _ text: String) -> [UInt8] {
    box(type, big16(text.utf8.count), big16(0x15C7), Array(text.utf8))
  }

  /// QuickTime's keys with values as texts, or as they are.
  static func keys(_ values: [(key: String, data: [UInt8])]) -> [UInt8] {
    let names = values.map { box("mdta", Array($0.key.utf8)) }
    var list: [UInt8] = []
    for (index, value) in values.enumerated() {
      list += Samples.big(value.data.count + 8) + Samples.big(index + 1) + value.data
    }
    return box(
      "meta", full("hdlr", Samples.big(0), Array("mdta".utf8), [UInt8](repeating: 0, count: 13)),
      full("keys", Samples.big(values.count), names.flatMap { $0 }), box("ilst", list))
  }

  static func data(_ text: String) -> [UInt8] { box("data", Samples.big(1), Samples.big(0), Array(text.utf8)) }
}
