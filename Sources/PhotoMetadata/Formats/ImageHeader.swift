/// The facts in the headers of PNG, GIF and WebP.
struct ImageHeader {
  /// As stored, before orientation.
  var width: Int?
  var height: Int?
  var isAnimated = false
  /// The position of a TIFF structure in the file.
  var exif: FilePart?
  /// The text chunk of a PNG file that holds EXIF.
  var profile: PNGProfile?
  /// The position of an XMP packet in the file.
  var xmp: FilePart?

  private mutating func setSize(_ width: Int, _ height: Int) {
    if width > 0, height > 0 { (self.width, self.height) = (width, height) }
  }

  /// The TIFF structure of an EXIF block, which may begin with JPEG's six bytes.
  private static func exif(_ window: FileWindow, at offset: Int, length: Int) -> FilePart? {
    guard length >= 14, let head = window.bytes(at: offset, count: 6) else { return nil }
    return head.holds("Exif\0")
      ? window.whole.part(at: offset + 6, upTo: length - 6) : window.whole.part(at: offset, upTo: length)
  }

  // MARK: - PNG (W3C, third edition)

  /// Reads chunk by chunk up to the pixels. After them, only chunks within the first 64 KiB are read.
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
      case 0x7445_5874, 0x7A54_5874:  // tEXt, zTXt
        if header.profile == nil, let data = window.whole.part(at: offset + 8, upTo: length) {
          let isCompressed = chunk.uint32(at: 4, .big) == 0x7A54_5874
          header.profile = PNGProfile(window, data: data, isCompressed: isCompressed)
        }
      case 0x4944_4154: sawPixels = true  // IDAT
      case 0x4945_4E44: return header  // IEND
      default: break
      }
      offset += 12 + length
      if sawPixels, offset + 8 > window.headCount { break }
    }
    return header
  }

  /// An uncompressed text chunk with the keyword of XMP (ISO 16684-3, 1.1.5). Its language and translated keyword are
  /// empty.
  private static func xmp(_ window: FileWindow, at offset: Int, length: Int) -> FilePart? {
    let beginning: StaticString = "XML:com.adobe.xmp\0\0\0\0\0"
    let size = beginning.utf8CodeUnitCount
    guard length > size, let head = window.bytes(at: offset, count: size, ahead: 64), head.holds(beginning)
    else { return nil }
    return window.whole.part(at: offset + size, upTo: length - size)
  }

  // MARK: - GIF (GIF89a specification)

  /// The size is that of the logical screen. A looping extension or a second image means that it is animated. Both, and
  /// XMP, are searched for only in the first 64 KiB.
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

  /// The packet is not cut into blocks (ISO 16684-3, 1.1.2). A trailer follows whose bytes count down from FF. It leads
  /// a program that reads the packet as blocks to its end.
  private static func xmp(_ head: UnsafeRawBufferPointer, at offset: Int) -> FilePart? {
    var end = offset
    while end < head.count, head[end] != 1 { end += 1 }
    guard end + 2 < head.count, head[end + 1] == 0xFF, head[end + 2] == 0xFE else { return nil }
    return FilePart(start: offset, end: end)
  }

  private static func colorTable(_ flags: UInt8) -> Int {
    flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
  }

  // MARK: - WebP (RFC 9649)

  static func webp(_ window: FileWindow) -> ImageHeader {
    var header = ImageHeader()
    var offset = 12
    /// The flags of chunks that are still to come: 8 for EXIF, 4 for XMP.
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
        if header.xmp == nil { header.xmp = window.whole.part(at: data, upTo: length) }
        awaited &= ~0x04
        if awaited == 0 { return header }
      default: break
      }
      offset = data + length + length % 2
    }
    return header
  }
}
