/// What the headers of PNG, GIF and WebP say.
struct ImageHeader {
  /// As stored, before orientation.
  var width: Int?
  var height: Int?
  var isAnimated = false
  /// Where a TIFF structure stands in the file.
  var exif: (base: Int, length: Int)?
  /// Where an XMP packet stands.
  var xmp: (base: Int, length: Int)?

  private mutating func setSize(_ width: Int, _ height: Int) {
    if width > 0, height > 0 { (self.width, self.height) = (width, height) }
  }

  /// Where a block of EXIF begins that may or may not have JPEG's six bytes before it.
  private static func exif(_ window: FileWindow, at offset: Int, length: Int) -> (base: Int, length: Int)? {
    guard length >= 14, let head = window.bytes(at: offset, count: 6) else { return nil }
    return head.holds("Exif\0") ? (offset + 6, length - 6) : (offset, length)
  }

  // MARK: - PNG (W3C, third edition)

  /// Chunk by chunk up to the pixels; behind them only as far as the first 64 KiB reach.
  static func png(_ window: FileWindow) -> ImageHeader {
    var header = ImageHeader()
    var offset = 8
    var sawPixels = false
    while let chunk = window.bytes(at: offset, count: 8, ahead: 64) {
      let length = Int(chunk.uint32(at: 0, .big))
      guard length <= Int(Int32.max) else { break }
      switch chunk.uint32(at: 4, .big) {
      case 0x4948_4452:  // IHDR
        guard length == 13, let size = window.bytes(at: offset + 8, count: 8, ahead: 64) else { return header }
        header.setSize(Int(size.uint32(at: 0, .big)), Int(size.uint32(at: 4, .big)))
      case 0x6163_544C: header.isAnimated = true  // acTL
      case 0x6558_4966:  // eXIf
        if header.exif == nil { header.exif = exif(window, at: offset + 8, length: length) }
      case 0x6954_5874:  // iTXt
        if header.xmp == nil { header.xmp = xmp(window, at: offset + 8, length: length) }
      case 0x4944_4154: sawPixels = true  // IDAT
      case 0x4945_4E44: return header  // IEND
      default: break
      }
      offset += 12 + length
      if sawPixels, offset + 8 > window.headCount { break }
    }
    return header
  }

  /// An uncompressed text chunk whose keyword says XMP (ISO 16684-3, 1.1.5); both of its languages are empty.
  private static func xmp(_ window: FileWindow, at offset: Int, length: Int) -> (base: Int, length: Int)? {
    let beginning: StaticString = "XML:com.adobe.xmp\0\0\0\0\0"
    let size = beginning.utf8CodeUnitCount
    guard length > size, let head = window.bytes(at: offset, count: size, ahead: 64), head.holds(beginning)
    else { return nil }
    return (offset + size, length - size)
  }

  // MARK: - GIF (GIF89a specification)

  /// The size is that of the logical screen. Animated: a looping extension, or a second image. Both that and XMP are
  /// only looked for in the first 64 KiB.
  static func gif(_ head: UnsafeRawBufferPointer) -> ImageHeader {
    var header = ImageHeader()
    guard head.count >= 13 else { return header }
    header.setSize(Int(head.uint16(at: 6, .little)), Int(head.uint16(at: 8, .little)))
    var offset = 13 + colorTable(head[10])
    var images = 0
    while offset + 2 <= head.count {
      switch head[offset] {
      case 0x21:
        if head[offset + 1] == 0xFF, head.holds("NETSCAPE2.0", at: offset + 3) { images += 2 }
        if head[offset + 1] == 0xFF, header.xmp == nil, head.holds("XMP DataXMP", at: offset + 3) {
          header.xmp = xmp(head, at: offset + 14)
        }
        offset += 2
      case 0x2C:
        guard offset + 10 <= head.count else { return header }
        images += 1
        offset += 11 + colorTable(head[offset + 9])
      default: return header
      }
      header.isAnimated = images > 1
      while offset < head.count, head[offset] != 0 { offset += 1 + Int(head[offset]) }
      offset += 1
    }
    return header
  }

  /// The packet isn't cut into blocks (ISO 16684-3, 1.1.2): a trailer behind it, whose bytes count down from FF, leads who
  /// reads it as blocks to its end.
  private static func xmp(_ head: UnsafeRawBufferPointer, at offset: Int) -> (base: Int, length: Int)? {
    var end = offset
    while end < head.count, head[end] != 1 { end += 1 }
    guard end + 2 < head.count, head[end + 1] == 0xFF, head[end + 2] == 0xFE else { return nil }
    return (offset, end - offset)
  }

  private static func colorTable(_ flags: UInt8) -> Int {
    flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
  }

  // MARK: - WebP (RFC 9649)

  static func webp(_ window: FileWindow) -> ImageHeader {
    var header = ImageHeader()
    var offset = 12
    /// The flags of what is still to come: 8 EXIF, 4 XMP.
    var awaited: UInt8 = 0
    while let chunk = window.bytes(at: offset, count: 8, ahead: 64) {
      let length = Int(chunk.uint32(at: 4, .little))
      let data = offset + 8
      switch chunk.uint32(at: 0, .big) {
      case 0x5650_3858:  // VP8X
        guard let bytes = window.bytes(at: data, count: 10, ahead: 64) else { return header }
        header.isAnimated = bytes[0] & 0x02 != 0
        header.setSize(
          Int(bytes.uint32(at: 3, .little) >> 8) + 1, Int(bytes.uint32(at: 6, .little) >> 8) + 1)
        awaited = bytes[0] & 0x0C
        if awaited == 0 { return header }
      case 0x5650_3820:  // "VP8 ", RFC 6386, 9.1
        if header.width == nil, let bytes = window.bytes(at: data, count: 10, ahead: 64),
          bytes[3] == 0x9D, bytes[4] == 0x01, bytes[5] == 0x2A
        {
          header.setSize(Int(bytes.uint16(at: 6, .little) & 0x3FFF), Int(bytes.uint16(at: 8, .little) & 0x3FFF))
          return header
        }
      case 0x5650_384C:  // VP8L
        if header.width == nil, let bytes = window.bytes(at: data, count: 5, ahead: 64), bytes[0] == 0x2F {
          let bits = bytes.uint32(at: 1, .little)
          header.setSize(Int(bits & 0x3FFF) + 1, Int(bits >> 14 & 0x3FFF) + 1)
          return header
        }
      case 0x4558_4946:  // EXIF
        if header.exif == nil { header.exif = exif(window, at: data, length: length) }
        awaited &= ~0x08
        if awaited == 0 { return header }
      case 0x584D_5020:  // "XMP "
        if header.xmp == nil, length > 0 { header.xmp = (data, length) }
        awaited &= ~0x04
        if awaited == 0 { return header }
      default: break
      }
      offset = data + length + length % 2
    }
    return header
  }
}
