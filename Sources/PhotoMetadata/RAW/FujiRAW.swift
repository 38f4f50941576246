/// Fujifilm's RAW format (RAF): a header with the position of a JPEG, which has the EXIF, and of directories about the
/// image on the sensor.
///
/// There is no public specification. The rule is that of ExifTool's FujiFilm.pm and LibRaw's fuji.cpp.
struct FujiRAW {
  private(set) var width: Int?
  private(set) var height: Int?
  private(set) var jpeg: FilePart?

  private static let entryLimit = 255
  /// The positions of the offsets of the two directories. The second one belongs to a second image of the sensor.
  private static let directories = [0x5C, 0x78]

  init(_ window: FileWindow) {
    guard let header = window.bytes(at: 0, count: 0x5C) else { return }
    let (position, length) = (Int(header.uint32(at: 0x54, .big)), Int(header.uint32(at: 0x58, .big)))
    jpeg = window.whole.part(at: position, upTo: length)
    for directory in Self.directories where width == nil && directory < position {
      guard let bytes = window.bytes(at: directory, count: 4) else { return }
      let start = Int(bytes.uint32(at: 0, .big))
      if start != 0 { readDirectory(window, at: start) }
    }
  }

  /// Reads a list of tags with the length of their values, in big-endian order. Tag 0x111 is the cropped size, 0x121
  /// the size of older models, both with the height first.
  private mutating func readDirectory(_ window: FileWindow, at start: Int) {
    guard let head = window.bytes(at: start, count: 4) else { return }
    let count = Int(head.uint32(at: 0, .big))
    guard count <= Self.entryLimit else { return }
    var offset = start + 4
    for _ in 0..<count {
      guard let entry = window.bytes(at: offset, count: 4) else { return }
      let (tag, length) = (entry.uint16(at: 0, .big), Int(entry.uint16(at: 2, .big)))
      if tag == 0x111 || (tag == 0x121 && width == nil), length >= 4, let value = window.bytes(at: offset + 4, count: 4)
      {
        let (lines, samples) = (Int(value.uint16(at: 0, .big)), Int(value.uint16(at: 2, .big)))
        if lines > 0, samples > 0 { (height, width) = (lines, samples) }
        if tag == 0x111 { return }
      }
      offset += 4 + length
    }
  }
}
