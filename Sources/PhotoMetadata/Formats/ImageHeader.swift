/// The facts in the headers of GIF, WebP, Photoshop and bitmap files.
struct ImageHeader {
  /// As stored, before orientation.
  var width: Int?
  var height: Int?
  var isAnimated = false
  /// The position of a TIFF structure in the file.
  var exif: FilePart?
  /// The position of an XMP packet in the file.
  var xmp: FilePart?
  /// The position of an IPTC block in the file.
  var iptc: FilePart?

  mutating func setSize(_ width: Int, _ height: Int) {
    if width > 0, height > 0 { (self.width, self.height) = (width, height) }
  }

  /// The TIFF structure of an EXIF block, which may begin with JPEG's six bytes.
  static func exif(_ window: FileWindow, at offset: Int, length: Int) -> FilePart? {
    guard length >= 14, let head = window.bytes(at: offset, count: 6) else { return nil }
    return head.holds("Exif\0")
      ? window.whole.part(at: offset + 6, upTo: length - 6) : window.whole.part(at: offset, upTo: length)
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
