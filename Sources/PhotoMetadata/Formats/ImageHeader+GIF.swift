/// GIF files (GIF89a specification).
extension ImageHeader {
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
}
