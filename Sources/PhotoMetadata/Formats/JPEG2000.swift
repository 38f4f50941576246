/// The facts of a JPEG 2000 file: a codestream alone (ISO/IEC 15444-1, annex A), or in boxes (annex I, ISO/IEC 15444-2).
struct JPEG2000 {
  /// As stored, before orientation.
  private(set) var width: Int?
  private(set) var height: Int?
  private(set) var exif: FilePart?
  private(set) var xmp: FilePart?
  private(set) var iptc: FilePart?

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
      case "jp2h", "jpch", "jplh":
        for child in MediaBoxes(window, in: box.content) where child.type == "ihdr" && width == nil {
          var cursor = PartCursor(window, child.content)
          if let height = cursor.number(4), let width = cursor.number(4), width > 0, height > 0 {
            (self.width, self.height) = (width, height)
          }
        }
      case "jp2c" where width == nil: readCodestream(window, box.content)
      case "uuid" where box.isXMP: xmp = xmp ?? box.content
      case "uuid": noteExtension(window, box)
      default: break
      }
    }
  }

  private mutating func noteExtension(_ window: FileWindow, _ box: MediaBox) {
    switch (box.userType?.high, box.userType?.low) {
    case (0x4A70_6754_6966_6645, 0x7869_662D_3E4A_5032):  // "JpgTiffExif->JP2"
      exif = exif ?? HEIFItems.structure(window, in: box.content)
    case (0x33C7_A4D2_B81D_4723, 0xA0BA_F1A3_E097_AD38): iptc = iptc ?? box.content
    default: break
    }
  }

  /// The SIZ marker segment (A.5.1): the reference grid without its offset.
  private mutating func readCodestream(_ window: FileWindow, _ part: FilePart) {
    var cursor = PartCursor(window, part)
    guard cursor.number(4) == 0xFF4F_FF51, cursor.skip(4), let right = cursor.number(4), let bottom = cursor.number(4),
      let left = cursor.number(4), let top = cursor.number(4), left < right, top < bottom
    else { return }
    (width, height) = (right - left, bottom - top)
  }
}
