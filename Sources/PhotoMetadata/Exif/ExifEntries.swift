import CExif

/// One directory as libexif parsed it. Every read checks type, count and size first, because entries are untrusted.
struct ExifEntries {
  private let content: UnsafeMutablePointer<ExifContent>?
  private let order: ExifByteOrder
  /// The last six bits of each tag that is there. Most tags are absent, and libexif compares each entry to find that out.
  private var tagBits: UInt64 = 0

  init(content: UnsafeMutablePointer<ExifContent>?, order: ExifByteOrder) {
    self.content = content
    self.order = order
    guard let content = content?.pointee else { return }
    for index in 0..<Int(content.count) {
      if let entry = content.entries[index] { tagBits |= Self.bit(entry.pointee.tag.rawValue) }
    }
  }

  private static func bit(_ tag: UInt32) -> UInt64 { 1 << UInt64(tag & 63) }

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

  /// An integer above zero that is not 0xFFFFFFFF, which EXIF writes for "unknown".
  func knownInteger(_ tag: UInt32) -> Int? {
    guard let value = integer(tag), value > 0, value < UInt32.max else { return nil }
    return value
  }

  /// The fraction at `index`. It is `nil` if there is none, or if its value is unknown. Cameras write 0/0 for
  /// "unknown", and EXIF (2.32, 4.6.5) writes 0xFFFFFFFF as the numerator.
  func fraction(_ tag: UInt32, at index: Int = 0) -> Double? {
    guard let entry = entry(tag), let data = entry.pointee.data, Int(entry.pointee.size) >= 8 * (index + 1)
    else { return nil }
    switch entry.pointee.format {
    case EXIF_FORMAT_RATIONAL:
      let value = exif_get_rational(data + 8 * index, order)
      guard value.numerator != .max, value.denominator != .max else { return nil }
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
    tagBits & Self.bit(tag) == 0 ? nil : exif_content_get_entry(content, ExifTag(rawValue: tag))
  }
}
