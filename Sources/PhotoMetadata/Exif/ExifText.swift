/// Decodes texts as cameras and programs write them.
enum ExifText {
  /// UTF-8 up to the first NUL, without a byte order mark and without blanks around it. A text that is not UTF-8 is
  /// taken as ``Windows1252``. Control characters, including C1 (U+0080 to U+009F), are dropped. A text of blanks is
  /// `nil`, whatever kind of blank it uses.
  static func decode(_ bytes: UnsafeRawBufferPointer) -> String? {
    var range = bytes.startIndex..<(bytes.firstIndex(of: 0) ?? bytes.endIndex)
    if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF, range.upperBound >= 3 {
      range = 3..<range.upperBound
    }
    while let last = range.last, isBlank(bytes[last]) { range = range.lowerBound..<last }
    while let first = range.first, isBlank(bytes[first]) { range = first + 1..<range.upperBound }
    guard !range.isEmpty else { return nil }
    let text = UnsafeRawBufferPointer(rebasing: bytes[range])
    let isPlain = text.allSatisfy { !isControl($0) && $0 < 0x80 }
    if isPlain { return String(decoding: text, as: UTF8.self) }
    var scalars = String.UnicodeScalarView()
    if let valid = String(validating: text, as: UTF8.self) {
      scalars.append(contentsOf: valid.unicodeScalars.filter { !isControl($0.value) && !isC1($0.value) })
    } else {
      for byte in text where !isControl(byte) {
        if let scalar = Windows1252.scalar(byte) { scalars.append(scalar) }
      }
    }
    while let last = scalars.last, isBlank(last) { scalars.removeLast() }
    while let first = scalars.first, isBlank(first) { scalars.removeFirst() }
    return scalars.isEmpty ? nil : String(scalars)
  }

  /// UTF-16 in this order, up to the first NUL.
  static func decodeUTF16(_ bytes: UnsafeRawBufferPointer, _ order: ByteOrder = .little) -> String? {
    var units: [UInt16] = []
    for offset in stride(from: 0, to: bytes.count - 1, by: 2) {
      let unit = bytes.uint16(at: offset, order)
      guard unit != 0 else { break }
      units.append(unit)
    }
    let utf8 = Array(String(decoding: units, as: UTF16.self).utf8)
    return utf8.withUnsafeBytes(decode)
  }

  /// Parses a decimal number such as "4", "-1" or "4.0". Swift's own parser also takes hexadecimal digits, "nan" and
  /// "infinity".
  static func decimal(_ bytes: UnsafeRawBufferPointer) -> Double? { decode(bytes).flatMap { decimal($0) } }

  static func decimal(_ text: some StringProtocol) -> Double? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }) else { return nil }
    return Double(text)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  /// A blank of Unicode, such as the no-break space, or a byte order mark.
  static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || scalar.value == 0xFEFF
  }

  private static func isControl(_ value: some UnsignedInteger) -> Bool {
    value < 0x20 && value != 0x0A && value != 0x0D && value != 0x09 || value == 0x7F
  }

  private static func isC1(_ value: some UnsignedInteger) -> Bool { (0x80...0x9F).contains(value) }
}
