/// Writes small TIFF structures in either byte order, valid or invalid as a test needs them.
struct ExifBuilder {
  enum Value {
    case ascii(String)
    case bytes([UInt8], type: UInt16 = 7)
    case short([UInt16])
    case long([UInt32])
    case rational([(UInt32, UInt32)])
    /// Type, count, and the exact four bytes of the value field.
    case raw(type: UInt16, count: UInt32, field: UInt32)
  }

  var bigEndian = false
  var main: [UInt16: Value] = [:]
  var exif: [UInt16: Value] = [:]
  var gps: [UInt16: Value] = [:]

  /// The structure: header, first directory, EXIF and GPS. Each directory is followed by its values.
  ///
  /// - Parameter shift: the number of empty bytes between the header and the rest.
  func tiff(shiftedBy shift: Int = 0) -> [UInt8] {
    var main = main
    let exifOffset = 8 + shift + size(main, pointers: (exif.isEmpty ? 0 : 1) + (gps.isEmpty ? 0 : 1))
    if !exif.isEmpty { main[0x8769] = .long([UInt32(exifOffset)]) }
    if !gps.isEmpty { main[0x8825] = .long([UInt32(exifOffset + (exif.isEmpty ? 0 : size(exif)))]) }
    var bytes: [UInt8] = bigEndian ? [0x4D, 0x4D] : [0x49, 0x49]
    bytes += number(UInt16(42)) + number(UInt32(8 + shift)) + [UInt8](repeating: 0, count: shift)
    bytes += directory(main, at: bytes.count)
    if !exif.isEmpty { bytes += directory(exif, at: bytes.count) }
    if !gps.isEmpty { bytes += directory(gps, at: bytes.count) }
    return bytes
  }

  /// A JPEG that has only headers, with the structure in its EXIF segment.
  func jpeg(width: Int = 160, height: Int = 120) -> [UInt8] {
    let body = Array("Exif\0\0".utf8) + tiff()
    return [0xFF, 0xD8] + Self.segment(0xE1, body) + Self.frame(width: width, height: height)
  }

  static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
    let length = body.count + 2
    return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + body
  }

  /// A frame header and the beginning of a scan.
  static func frame(width: Int, height: Int, marker: UInt8 = 0xC0) -> [UInt8] {
    let size = [UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
    return segment(marker, [8] + size + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1])
      + segment(0xDA, [3, 1, 0, 2, 0x11, 3, 0x11, 0, 0x3F, 0]) + [0x12, 0x34, 0xFF, 0xD9]
  }

  private func number<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
    withUnsafeBytes(of: bigEndian ? value.bigEndian : value.littleEndian, Array.init)
  }

  private func encode(_ value: Value) -> (type: UInt16, count: UInt32, bytes: [UInt8]) {
    switch value {
    case .ascii(let text): (2, UInt32(text.utf8.count + 1), Array(text.utf8) + [0])
    case .bytes(let bytes, let type): (type, UInt32(bytes.count), bytes)
    case .short(let values): (3, UInt32(values.count), values.flatMap(number))
    case .long(let values): (4, UInt32(values.count), values.flatMap(number))
    case .rational(let values): (5, UInt32(values.count), values.flatMap { number($0.0) + number($0.1) })
    case .raw(let type, let count, let field): (type, count, number(field))
    }
  }

  private func size(_ entries: [UInt16: Value], pointers: Int = 0) -> Int {
    entries.values.reduce(6 + 12 * (entries.count + pointers)) {
      let count = encode($1).bytes.count
      return $0 + (count > 4 ? count + count % 2 : 0)
    }
  }

  private func directory(_ entries: [UInt16: Value], at offset: Int) -> [UInt8] {
    var table = number(UInt16(entries.count))
    var values: [UInt8] = []
    let valuesOffset = offset + 6 + 12 * entries.count
    for (tag, value) in entries.sorted(by: { $0.key < $1.key }) {
      let (type, count, bytes) = encode(value)
      table += number(tag) + number(type) + number(count)
      if bytes.count <= 4 {
        table += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
      } else {
        table += number(UInt32(valuesOffset + values.count))
        values += bytes + [UInt8](repeating: 0, count: bytes.count % 2)
      }
    }
    return table + number(UInt32(0)) + values
  }
}
