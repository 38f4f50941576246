/// The facts of a JPEG XL file: the headers of its codestream (ISO/IEC 18181-1), alone or in boxes (ISO/IEC 18181-2).
///
/// Boxes that are compressed with Brotli (`brob`) are not read. EXIF's orientation is ignored, because the codestream
/// has its own.
struct JPEGXL {
  /// As stored, before orientation.
  private(set) var width: Int?
  private(set) var height: Int?
  /// 1...8
  private(set) var orientation: Int?
  private(set) var isAnimated = false
  private(set) var exif: FilePart?
  private(set) var xmp: FilePart?

  /// The size header and the first fields of the metadata are at most this long.
  private static let headerBytes = 64

  init(_ window: FileWindow) {
    if window.headBuffer.first == 0xFF {
      readCodestream(window, window.whole)
    } else {
      readBoxes(window)
    }
  }

  private mutating func readBoxes(_ window: FileWindow) {
    for box in MediaBoxes(window, in: window.whole, ahead: MediaBoxes.far) {
      switch box.type {
      case "jxlc" where width == nil: readCodestream(window, box.content)
      // A part of the codestream, after its number.
      case "jxlp" where width == nil: box.content.part(at: 4, upTo: .max).map { readCodestream(window, $0) }
      case "Exif" where exif == nil: exif = HEIFItems.structure(window, in: box.content)
      case "xml " where xmp == nil: xmp = box.content
      default: break
      }
    }
  }

  private mutating func readCodestream(_ window: FileWindow, _ part: FilePart) {
    guard let bytes = window.bytes(at: part.start, count: min(part.count, Self.headerBytes)) else { return }
    guard bytes.count >= 3, bytes[0] == 0xFF, bytes[1] == 0x0A else { return }
    var bits = BitReader(UnsafeRawBufferPointer(rebasing: bytes[2...]))
    let size = Self.size(&bits)
    guard !bits.isAtEnd else { return }
    (width, height) = (size.width, size.height)
    // The image metadata (annex D.3.1).
    var orientation = 1
    let isDefault = bits.flag()
    if !isDefault, bits.flag() {
      orientation = bits.number(3) + 1
      if bits.flag() { _ = Self.size(&bits) }
      if bits.flag() { Self.skipPreview(&bits) }
      if bits.flag(), !bits.isAtEnd { isAnimated = true }
    }
    if !bits.isAtEnd { self.orientation = orientation }
  }

  /// A size header (annex D.3.2). The width is coded as one of seven ratios, or as the height.
  private static func size(_ bits: inout BitReader) -> (width: Int, height: Int) {
    let isSmall = bits.flag()
    let height = isSmall ? (bits.number(5) + 1) * 8 : bits.choice([9, 13, 18, 30]) + 1
    let width =
      switch bits.number(3) {
      case 0: isSmall ? (bits.number(5) + 1) * 8 : bits.choice([9, 13, 18, 30]) + 1
      case 1: height
      case 2: height * 12 / 10
      case 3: height * 4 / 3
      case 4: height * 3 / 2
      case 5: height * 16 / 9
      case 6: height * 5 / 4
      default: height * 2
      }
    return (width, height)
  }

  /// A preview header (annex D.3.3) has the same form with other numbers.
  private static func skipPreview(_ bits: inout BitReader) {
    let isDivided = bits.flag()
    func skipLength() {
      let selector = bits.number(2)
      _ = bits.number((isDivided ? [0, 0, 5, 9] : [6, 8, 10, 12])[selector])
    }
    skipLength()
    if bits.number(3) == 0 { skipLength() }
  }

  /// Reads numbers of bits, the lowest bit of each byte first (annex B.2).
  private struct BitReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Whether bits beyond the end were read. They are 0.
    var isAtEnd: Bool { position > 8 * bytes.count }

    mutating func flag() -> Bool { number(1) == 1 }

    /// - Parameter count: at most 30.
    mutating func number(_ count: Int) -> Int {
      var number = 0
      for bit in 0..<count {
        let index = position + bit
        if index < 8 * bytes.count { number |= Int(bytes[index / 8] >> (index % 8) & 1) << bit }
      }
      position += count
      return number
    }

    /// A number whose size is chosen by two bits.
    mutating func choice(_ sizes: [Int]) -> Int { number(sizes[number(2)]) }
  }
}
