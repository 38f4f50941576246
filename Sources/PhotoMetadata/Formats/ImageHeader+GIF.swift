/// GIF files (GIF89a specification).
extension ImageHeader {
  private static let blockLimit = 20_000

  /// The size is that of the logical screen. A second image means that it is animated; a looping extension alone does
  /// not. XMP is searched for only in the first 64 KiB.
  ///
  /// The images are walked block by block through the file. If the budget for reads ends within the first image, a
  /// looping extension means that it is animated.
  static func gif(_ window: FileWindow) -> ImageHeader {
    var header = ImageHeader()
    guard let head = window.bytes(at: 0, count: 13) else { return header }
    header.setSize(Int(head.uint16(at: 6, .little)), Int(head.uint16(at: 8, .little)))
    var offset = 13 + colorTable(head[10])
    var images = 0
    var loops = false
    var blocks = 0
    var reads = 0
    // XMP may follow the images.
    while images < 2 || offset < window.headCount {
      guard let block = bytes(window, at: offset, count: 2) else { break }
      if block[0] == 0x21 {
        if block[1] == 0xFF, let name = bytes(window, at: offset + 2, count: 12) {
          if name.holds("NETSCAPE2.0", at: 1) { loops = true }
          if header.xmp == nil, name.holds("XMP DataXMP", at: 1) {
            header.xmp = xmp(window.headBuffer, at: offset + 14)
          }
        }
        offset += 2
      } else if block[0] == 0x2C {
        guard let image = bytes(window, at: offset, count: 10) else { break }
        images += 1
        offset += 11 + colorTable(image[9])
      } else {
        break
      }
      while let size = bytes(window, at: offset, count: 1)?[0] {
        offset += 1 + Int(size)
        blocks += 1
        if size == 0 { break }
        if offset >= window.headCount { reads += 1 }
        if blocks > blockLimit || reads > readLimit {
          header.isAnimated = loops
          return header
        }
      }
    }
    header.isAnimated = images > 1
    return header
  }

  /// Blocks are at most 256 bytes long, so this many beyond the head cost at most 1 MiB of the budget.
  private static let readLimit = 3000

  private static func bytes(_ window: FileWindow, at offset: Int, count: Int) -> UnsafeRawBufferPointer? {
    window.bytes(at: offset, count: count, ahead: FileWindow.pieceBytes)
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
}
