/// The facts in the markers of a JPEG file before its first scan (ITU-T T.81, annex B).
///
/// The walk follows the markers by their lengths and ends at the scan, because some cameras write XMP after the frame
/// header. Once EXIF and the frame header are found, it goes on only within the head, without another read. Bytes that
/// belong to no marker are skipped, up to 4 KiB in all.
struct JPEGHeader {
  /// As stored, before orientation; `nil` if no frame header was found.
  private(set) var width: Int?
  private(set) var height: Int?
  /// The position of the TIFF structure of the first EXIF segment.
  private(set) var exif: FilePart?
  /// The position of the XMP packet (ISO 16684-3, 1.1.3); of the last one if programs have left several. Extended XMP,
  /// in segments of another name, is ignored.
  private(set) var xmp: FilePart?
  /// The position of the IPTC block, in the first Photoshop segment that has one.
  private(set) var iptc: FilePart?

  /// Whether a whole segment, or the scan, follows the EXIF segment. Otherwise the file was cut off there, and the
  /// block is ignored, as in ExifTool.
  private var exifIsFollowed = false

  private static let strayLimit = 4096
  /// A marker, its length, and the beginning of its segment.
  private static let markerAhead = 64

  init(_ window: FileWindow) {
    walk(window)
    if !exifIsFollowed { exif = nil }
  }

  private mutating func walk(_ window: FileWindow) {
    var offset = 2
    var stray = 0
    while stray <= Self.strayLimit, let head = window.bytes(at: offset, count: 2, ahead: Self.markerAhead) {
      guard head[0] == 0xFF, head[1] != 0xFF, head[1] != 0 else {
        offset += 1
        stray += 1
        continue
      }
      let marker = head[1]
      switch marker {
      case 0x01, 0xD0...0xD8:
        offset += 2
        continue
      case 0xD9, 0xDA:
        exifIsFollowed = true
        return
      default: break
      }
      guard let size = window.bytes(at: offset + 2, count: 2, ahead: Self.markerAhead) else { return }
      let length = Int(size.uint16(at: 0, .big))
      guard length >= 2 else { return }
      if exif != nil, !exifIsFollowed {
        exifIsFollowed = window.bytes(at: offset + 1 + length, count: 1) != nil
      }
      if marker == 0xE1 {
        noteApplicationData(window, offset: offset, length: length)
      } else if marker == 0xED, iptc == nil {
        iptc = Self.iptc(window, offset: offset, length: length)
      } else if Self.isFrame(marker), width == nil,
        let frame = window.bytes(at: offset + 5, count: 4, ahead: Self.markerAhead)
      {
        let (lines, samples) = (Int(frame.uint16(at: 0, .big)), Int(frame.uint16(at: 2, .big)))
        if lines > 0, samples > 0 { (height, width) = (lines, samples) }
      }
      offset += 2 + length
      if width != nil, exif != nil, offset + 2 > window.headCount { return }
    }
  }

  private static func isFrame(_ marker: UInt8) -> Bool {
    (0xC0...0xCF).contains(marker) && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
  }

  private mutating func noteApplicationData(_ window: FileWindow, offset: Int, length: Int) {
    if exif == nil, let place = Self.exif(window, offset: offset, length: length) {
      exif = place
    } else if let place = Self.xmp(window, offset: offset, length: length) {
      xmp = place
    }
  }

  private static func xmp(_ window: FileWindow, offset: Int, length: Int) -> FilePart? {
    let name: StaticString = "http://ns.adobe.com/xap/1.0/\0"
    let size = name.utf8CodeUnitCount
    guard length > 2 + size, let head = window.bytes(at: offset + 4, count: size, ahead: markerAhead),
      head.holds(name)
    else { return nil }
    return window.whole.part(at: offset + 4 + size, upTo: length - 2 - size)
  }

  private static func iptc(_ window: FileWindow, offset: Int, length: Int) -> FilePart? {
    let name: StaticString = "Photoshop 3.0\0"
    let size = name.utf8CodeUnitCount
    guard length > 2 + size, let head = window.bytes(at: offset + 4, count: size, ahead: markerAhead),
      head.holds(name)
    else { return nil }
    return window.whole.part(at: offset + 4 + size, upTo: length - 2 - size)
      .flatMap { IPTCFacts.part(ofResources: $0, window) }
  }

  /// An EXIF segment begins with "Exif", a NUL and a pad byte. It counts only if a TIFF header follows.
  private static func exif(_ window: FileWindow, offset: Int, length: Int) -> FilePart? {
    guard length >= 16, let head = window.bytes(at: offset + 4, count: 10, ahead: markerAhead),
      head.holds("Exif\0"), head.holds("II", at: 6) || head.holds("MM", at: 6)
    else { return nil }
    return window.whole.part(at: offset + 10, upTo: length - 8)
  }
}
