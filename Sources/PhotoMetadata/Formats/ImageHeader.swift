/// The facts in the headers of PNG, GIF, WebP, Photoshop and bitmap files.
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
  /// The position of an IPTC block in the file.
  var iptc: FilePart?

  mutating func setSize(_ width: Int, _ height: Int) {
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
      case 0x6163_544C:  // acTL begins with the number of frames; one alone is no animation
        header.isAnimated =
          window.bytes(at: offset + 8, count: 4, ahead: 64).map { $0.uint32(at: 0, .big) > 1 } ?? false
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

  // MARK: - WebP (RFC 9649)

  static func webp(_ window: FileWindow) -> ImageHeader {
    var header = ImageHeader()
    var offset = 12
    /// The flags of chunks that are still to come: 8 for EXIF, 4 for XMP.
    var awaited: UInt8 = 0
    var isMarkedAnimated = false
    var frames = 0
    var isComplete: Bool { awaited == 0 && (!isMarkedAnimated || frames > 1) }
    while let chunk = window.bytes(at: offset, count: 8, ahead: 64) {
      let length = Int(chunk.uint32(at: 4, .little))
      let data = offset + 8
      switch chunk.uint32(at: 0, .big) {
      case 0x5650_3858:  // VP8X
        guard let bytes = window.bytes(at: data, count: 10, ahead: 64) else { return header }
        isMarkedAnimated = bytes[0] & 0x02 != 0
        header.setSize(
          Int(bytes.uint32(at: 3, .little) >> 8) + 1, Int(bytes.uint32(at: 6, .little) >> 8) + 1)
        awaited = bytes[0] & 0x0C
        if isComplete { return header }
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
        if isComplete { return header }
      case 0x584D_5020:  // "XMP "
        if header.xmp == nil { header.xmp = window.whole.part(at: data, upTo: length) }
        awaited &= ~0x04
        if isComplete { return header }
      case 0x414E_4D46:  // ANMF, a frame; one alone is no animation
        frames += 1
        header.isAnimated = isMarkedAnimated && frames > 1
        if isComplete { return header }
      default: break
      }
      offset = data + length + length % 2
    }
    return header
  }
}
