/// The size of a JPEG or PNG that a decoder has made.
///
/// Its bytes have no metadata, so the size is in the first 4 KiB.
struct PictureHeader: Hashable, Sendable {
  static let maximumBytes = 4096
  /// How many of the last bytes ``hasEnd(_:isPNG:)`` needs.
  static let endBytes = 12

  var size: ImageFrame
  var isPNG: Bool

  var contentType: String { isPNG ? "image/png" : "image/jpeg" }

  /// - Returns: nil if these bytes begin no picture.
  init?(_ bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes.prefix(Self.maximumBytes))
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      guard bytes.count >= 24 else { return nil }
      let width = Self.number(bytes[16..<20])
      let height = Self.number(bytes[20..<24])
      self.init(width: width, height: height, isPNG: true)
    } else {
      guard bytes.starts(with: [0xFF, 0xD8]), let (width, height) = Self.frame(of: bytes) else { return nil }
      self.init(width: width, height: height, isPNG: false)
    }
  }

  private init?(width: Int, height: Int, isPNG: Bool) {
    guard (1...65_535).contains(width), (1...65_535).contains(height) else { return nil }
    size = ImageFrame(width: width, height: height)
    self.isPNG = isPNG
  }

  /// Whether the last bytes are the end of a picture. A file that was cut off has none.
  static func hasEnd(_ bytes: ArraySlice<UInt8>, isPNG: Bool) -> Bool {
    isPNG
      ? bytes.suffix(12).elementsEqual([0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82])
      : bytes.suffix(2).elementsEqual([0xFF, 0xD9])
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

  /// The size in the start of frame of a JPEG.
  private static func frame(of bytes: [UInt8]) -> (width: Int, height: Int)? {
    var position = 2
    while position + 9 <= bytes.count {
      guard bytes[position] == 0xFF else { return nil }
      let marker = bytes[position + 1]
      if marker == 0xFF {
        position += 1
        continue
      }
      let length = number(bytes[position + 2..<position + 4])
      guard length >= 2 else { return nil }
      if (0xC0...0xCF).contains(marker), marker != 0xC4, marker != 0xC8, marker != 0xCC {
        return (number(bytes[position + 7..<position + 9]), number(bytes[position + 5..<position + 7]))
      }
      position += 2 + length
    }
    return nil
  }
}
