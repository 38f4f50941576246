import CExif

/// One directory as libexif parsed it. Every read checks type, count and size first, because entries are untrusted.
struct ExifEntries {
  let content: UnsafeMutablePointer<ExifContent>?
  let order: ExifByteOrder

  /// The raw value; `nil` if the tag is absent or empty.
  func bytes(_ tag: UInt32) -> UnsafeRawBufferPointer? {
    guard let entry = entry(tag), let data = entry.pointee.data, entry.pointee.size > 0 else { return nil }
    return UnsafeRawBufferPointer(start: data, count: Int(entry.pointee.size))
  }

  /// An integer of any integer type of EXIF; the first if there are several.
  func integer(_ tag: UInt32) -> Int? {
    guard let entry = entry(tag), let data = entry.pointee.data else { return nil }
    let size = Int(entry.pointee.size)
    switch entry.pointee.format {
    case EXIF_FORMAT_BYTE where size >= 1: return Int(data[0])
    case EXIF_FORMAT_SHORT where size >= 2: return Int(exif_get_short(data, order))
    case EXIF_FORMAT_SSHORT where size >= 2: return Int(exif_get_sshort(data, order))
    case EXIF_FORMAT_LONG where size >= 4: return Int(exif_get_long(data, order))
    case EXIF_FORMAT_SLONG where size >= 4: return Int(exif_get_slong(data, order))
    default: return nil
    }
  }

  /// The fraction at `index`; `nil` if there is none or its denominator is 0 (cameras write 0/0 for "unknown").
  func fraction(_ tag: UInt32, at index: Int = 0) -> Double? {
    guard let entry = entry(tag), let data = entry.pointee.data, Int(entry.pointee.size) >= 8 * (index + 1)
    else { return nil }
    switch entry.pointee.format {
    case EXIF_FORMAT_RATIONAL:
      let value = exif_get_rational(data + 8 * index, order)
      return value.denominator == 0 ? nil : Double(value.numerator) / Double(value.denominator)
    case EXIF_FORMAT_SRATIONAL:
      let value = exif_get_srational(data + 8 * index, order)
      return value.denominator == 0 ? nil : Double(value.numerator) / Double(value.denominator)
    default: return nil
    }
  }

  /// A fraction above zero: a zero exposure time, aperture or focal length means that the camera didn't know.
  func positiveFraction(_ tag: UInt32) -> Double? {
    guard let value = fraction(tag), value > 0 else { return nil }
    return value
  }

  /// A text without blanks around it; `nil` if nothing is left.
  func text(_ tag: UInt32) -> String? {
    guard let entry = entry(tag),
      entry.pointee.format == EXIF_FORMAT_ASCII || entry.pointee.format == EXIF_FORMAT_BYTE
        || entry.pointee.format == EXIF_FORMAT_UNDEFINED
    else { return nil }
    return bytes(tag).flatMap(ExifText.decode)
  }

  private func entry(_ tag: UInt32) -> UnsafeMutablePointer<ExifEntry>? {
    exif_content_get_entry(content, ExifTag(rawValue: tag))
  }
}

/// Decodes texts as cameras and programs write them.
enum ExifText {
  /// UTF-8 up to the first NUL, without blanks around it. Bytes that aren't UTF-8 are taken as Latin-1. Control
  /// characters are dropped.
  static func decode(_ bytes: UnsafeRawBufferPointer) -> String? {
    var range = bytes.startIndex..<(bytes.firstIndex(of: 0) ?? bytes.endIndex)
    while let last = range.last, isBlank(bytes[last]) { range = range.lowerBound..<last }
    while let first = range.first, isBlank(bytes[first]) { range = first + 1..<range.upperBound }
    guard !range.isEmpty else { return nil }
    let text = UnsafeRawBufferPointer(rebasing: bytes[range])
    if !text.contains(where: isControl), let string = String(validating: text, as: UTF8.self) { return string }
    var string = ""
    if let valid = String(validating: text, as: UTF8.self) {
      string.unicodeScalars.append(contentsOf: valid.unicodeScalars.filter { !isControl($0.value) })
    } else {
      for byte in text where !isControl(byte) && !(0x80...0x9F).contains(byte) {
        string.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    return string.isEmpty ? nil : string
  }

  /// UTF-16, little-endian, as in Windows' XP tags.
  static func decodeUTF16(_ bytes: UnsafeRawBufferPointer) -> String? {
    var units: [UInt16] = []
    for offset in stride(from: 0, to: bytes.count - 1, by: 2) {
      let unit = bytes.uint16(at: offset, .little)
      guard unit != 0 else { break }
      units.append(unit)
    }
    let utf8 = Array(String(decoding: units, as: UTF16.self).utf8)
    return utf8.withUnsafeBytes(decode)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
  private static func isControl(_ value: some UnsignedInteger) -> Bool {
    value < 0x20 && value != 0x0A && value != 0x0D && value != 0x09 || value == 0x7F
  }
}
