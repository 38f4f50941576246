/// BMP files (Microsoft, "Bitmap Storage"; the header of 12 bytes is that of OS/2).
extension ImageHeader {
  /// The sizes of the known headers, which follow the 14 bytes of the file header.
  private static let headerSizes: Set<UInt32> = [12, 16, 40, 52, 56, 64, 108, 124]

  static func isBitmap(_ head: UnsafeRawBufferPointer) -> Bool {
    head.count >= 26 && head.holds("BM") && headerSizes.contains(head.uint32(at: 14, .little))
  }

  /// A negative height means that the rows go from top to bottom.
  static func bitmap(_ head: UnsafeRawBufferPointer) -> ImageHeader {
    var header = ImageHeader()
    guard isBitmap(head) else { return header }
    if head.uint32(at: 14, .little) == 12 {
      header.setSize(Int(head.uint16(at: 18, .little)), Int(head.uint16(at: 20, .little)))
    } else {
      let width = Int32(bitPattern: head.uint32(at: 18, .little))
      header.setSize(Int(width), Int(Int32(bitPattern: head.uint32(at: 22, .little)).magnitude))
    }
    return header
  }
}
