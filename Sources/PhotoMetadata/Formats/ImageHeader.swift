/// The facts in the headers of GIF and WebP.
struct ImageHeader {
  /// As stored, before orientation.
  var width: Int?
  var height: Int?
  var isAnimated = false
  /// The position of a TIFF structure in the file.
  var exif: FilePart?
  /// The position of an XMP packet in the file.
  var xmp: FilePart?

  private mutating func setSize(_ width: Int, _ height: Int) {
    if width > 0, height > 0 { (self.width, self.height) = (width, height) }
  }

  /// The TIFF structure of an EXIF block, which may begin with JPEG's six bytes.
  static func exif(_ window: FileWindow, at offset: Int, length: Int) -> FilePart? {
    guard length >= 14, let head = window.bytes(at: offset, count: 6) else { return nil }
    return head.holds("Exif\0")
      ? window.whole.part(at: offset + 6, upTo: length - 6) : window.whole.part(at: offset, upTo: length)
  }

  // MARK: - GIF (GIF89a specification)

  /// The size is that of the logical screen. A second image means that it is animated, a loop alone does not.
  ///
  /// The images are walked block by block until the second one, for at most ``longestWalk``. A file with a longer first
  /// image is animated if it loops. XMP is searched for only in the first 64 KiB.
  static func gif(_ window: FileWindow) -> ImageHeader {
    var header = ImageHeader()
    let head = window.headBuffer
    guard head.count >= 13 else { return header }
    header.setSize(Int(head.uint16(at: 6, .little)), Int(head.uint16(at: 8, .little)))
    var offset = 13 + colorTable(head[10])
    var images = 0
    var loops = false
    while images < 2 || header.xmp == nil && offset < window.headCount {
      guard offset < longestWalk else {
        header.isAnimated = loops || images > 1
        return header
      }
      guard let block = window.bytes(at: offset, count: 2, ahead: gifAhead) else { break }
      let kind = block[0]
      let label = block[1]
      if kind == 0x21 {
        if label == 0xFF, offset + 14 <= head.count {
          if head.holds("NETSCAPE2.0", at: offset + 3) { loops = true }
          if header.xmp == nil, head.holds("XMP DataXMP", at: offset + 3) { header.xmp = xmp(head, at: offset + 14) }
        }
        offset += 2
      } else if kind == 0x2C {
        guard let flags = window.bytes(at: offset + 9, count: 1, ahead: gifAhead) else { break }
        images += 1
        offset += 11 + colorTable(flags[0])
      } else {
        break
      }
      // The data is in blocks of up to 255 bytes. An empty one is the last.
      while offset < longestWalk, let size = window.bytes(at: offset, count: 1, ahead: gifAhead) {
        offset += 1 + Int(size[0])
        if size[0] == 0 { break }
      }
    }
    header.isAnimated = images > 1
    return header
  }

  private static let longestWalk = 3 << 19
  private static let gifAhead = 12_000

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
    /// The flags of chunks that are still to come: 8 for EXIF, 4 for XMP, 2 for frames.
    var awaited: UInt8 = 0
    var frames = 0
    while let chunk = window.bytes(at: offset, count: 8, ahead: 64) {
      let length = Int(chunk.uint32(at: 4, .little))
      let data = offset + 8
      switch chunk.uint32(at: 0, .big) {
      case 0x5650_3858:  // VP8X
        guard let bytes = window.bytes(at: data, count: 10, ahead: 64) else { return header }
        header.setSize(
          Int(bytes.uint32(at: 3, .little) >> 8) + 1, Int(bytes.uint32(at: 6, .little) >> 8) + 1)
        // Frames are counted, because one frame is no animation.
        awaited = bytes[0] & 0x0E
        if awaited == 0 { return header }
      case 0x414E_4D46:  // ANMF
        frames += 1
        if frames == 2 {
          header.isAnimated = true
          awaited &= ~0x02
          if awaited == 0 { return header }
        }
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
