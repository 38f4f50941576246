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
  /// The segments that continue the first EXIF segment (EXIF 2.32 allows one of 64 KiB; programs write several). They
  /// also begin with "Exif", but no TIFF header follows.
  private(set) var exifContinuation: [FilePart] = []
  /// The position of the XMP packet (ISO 16684-3, 1.1.3); of the last one if programs have left several.
  private(set) var xmp: FilePart?
  /// The segments of extensions of the packet (ISO 16684-3, 1.1.3.1).
  private(set) var xmpExtensions: [XMPExtension] = []
  /// Whether the frame header has no height. A DNL marker after the first scan then defines it (B.2.5).
  private(set) var lacksHeight = false
  /// Whether a segment says that the file has a gain map (ISO 21496-1, annex C).
  private(set) var hasGainMap = false
  /// The number of images in the file (CIPA DC-007, 5.2.3.2); 0 without an index of them.
  private(set) var imageCount = 0
  /// The images after the first one, at most ``imageLimit``.
  private(set) var otherImages: [FilePart] = []
  /// The position of the IPTC block, in the first Photoshop segment that has one.
  private(set) var iptc: FilePart?

  /// Whether a whole segment, or the scan, follows the EXIF segment. Otherwise the file was cut off there, and the
  /// block is ignored, as in ExifTool.
  private var exifIsFollowed = false

  /// A segment of an extension: its position in the extension, which has a digest and a length.
  struct XMPExtension {
    var digest: String
    var count: Int
    var offset: Int
    var part: FilePart
  }

  private static let strayLimit = 4096
  /// The segments that belong together, of EXIF and of XMP: 1 MiB.
  private static let segmentLimit = 17
  private static let imageLimit = 4
  /// A marker, its length, and the beginning of its segment.
  private static let markerAhead = 64

  /// - Parameter image: a picture within the file; `nil` for the file itself.
  init(_ window: FileWindow, at image: FilePart? = nil) {
    walk(window, image ?? window.whole)
    if !exifIsFollowed { exif = nil }
  }

  private mutating func walk(_ window: FileWindow, _ image: FilePart) {
    var offset = image.start + 2
    var stray = 0
    while stray <= Self.strayLimit, offset + 2 <= image.end,
      let head = window.bytes(at: offset, count: 2, ahead: Self.markerAhead)
    {
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
      // A picture within the file ends where its index says. Behind it is another one.
      guard length >= 2, image == window.whole || offset + 2 + length <= image.end else { return }
      if exif != nil, !exifIsFollowed {
        exifIsFollowed = window.bytes(at: offset + 1 + length, count: 1) != nil
      }
      if marker == 0xE1 {
        noteApplicationData(window, offset: offset, length: length)
      } else if marker == 0xE2 {
        noteMultiplePictures(window, offset: offset, length: length)
      } else if marker == 0xED, iptc == nil {
        iptc = Self.iptc(window, offset: offset, length: length)
      } else if Self.isFrame(marker), width == nil,
        let frame = window.bytes(at: offset + 5, count: 4, ahead: Self.markerAhead)
      {
        let (lines, samples) = (Int(frame.uint16(at: 0, .big)), Int(frame.uint16(at: 2, .big)))
        if lines > 0, samples > 0 { (height, width) = (lines, samples) }
        lacksHeight = lines == 0 && samples > 0
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
    } else if let segment = Self.xmpExtension(window, offset: offset, length: length) {
      if xmpExtensions.count < Self.segmentLimit { xmpExtensions.append(segment) }
    } else if exif != nil, let place = Self.exifContinuation(window, offset: offset, length: length) {
      if exifContinuation.count < Self.segmentLimit { exifContinuation.append(place) }
    }
  }

  private static func exifContinuation(_ window: FileWindow, offset: Int, length: Int) -> FilePart? {
    guard length > 12, let head = window.bytes(at: offset + 4, count: 10, ahead: markerAhead), head.holds("Exif\0\0"),
      !head.holds("II*\0", at: 6), !head.holds("MM\0*", at: 6)
    else { return nil }
    return window.whole.part(at: offset + 10, upTo: length - 8)
  }

  /// A name, the digest of the whole extension, its length, and the position of this segment's bytes.
  private static func xmpExtension(_ window: FileWindow, offset: Int, length: Int) -> XMPExtension? {
    let name: StaticString = "http://ns.adobe.com/xmp/extension/\0"
    let size = name.utf8CodeUnitCount
    let headSize = size + 40
    guard length > 2 + headSize, let head = window.bytes(at: offset + 4, count: headSize, ahead: 128), head.holds(name)
    else { return nil }
    let digest = String(decoding: head[size..<size + 32], as: UTF8.self)
    guard let part = window.whole.part(at: offset + 4 + headSize, upTo: length - 2 - headSize) else { return nil }
    return XMPExtension(
      digest: digest, count: Int(head.uint32(at: size + 32, .big)), offset: Int(head.uint32(at: size + 36, .big)),
      part: part)
  }

  /// The parts of the extension with this digest in their order; empty if one is missing, or it is longer than 1 MiB.
  func xmpExtension(_ digest: String) -> [FilePart] {
    let segments = xmpExtensions.filter { $0.digest == digest }.sorted { $0.offset < $1.offset }
    guard let count = segments.first?.count, count <= XMPReader.packetLimit else { return [] }
    var end = 0
    for segment in segments {
      guard segment.offset == end else { return [] }
      end += segment.part.count
    }
    return end == count ? segments.map(\.part) : []
  }

  /// The Multi-Picture Format's index (CIPA DC-007), or the mark of a gain map.
  private mutating func noteMultiplePictures(_ window: FileWindow, offset: Int, length: Int) {
    guard length >= 30, let head = window.bytes(at: offset + 4, count: 28, ahead: Self.markerAhead) else { return }
    if head.holds("urn:iso:std:iso:ts:21496:-1\0") { hasGainMap = true }
    guard head.holds("MPF\0"), imageCount == 0, let index = window.whole.part(at: offset + 8, upTo: length - 6) else {
      return
    }
    let order: ByteOrder = head.holds("II", at: 4) ? .little : .big
    let directory = Int(head.uint32(at: 8, order))
    guard let place = index.part(at: directory, count: 2),
      let count = window.bytes(at: place.start, count: 2, ahead: 256)
    else { return }
    for entry in 0..<min(Int(count.uint16(at: 0, order)), 32) {
      guard let bytes = window.bytes(at: place.end + 12 * entry, count: 12, within: index, ahead: 256) else { return }
      let value = Int(bytes.uint32(at: 8, order))
      switch bytes.uint16(at: 0, order) {
      case 0xB001: imageCount = value
      case 0xB002: noteImages(window, index, at: value, count: Int(bytes.uint32(at: 4, order)) / 16, order)
      default: break
      }
    }
  }

  /// The list of images (5.2.3.3): attributes, size, and position in relation to the index.
  private mutating func noteImages(
    _ window: FileWindow, _ index: FilePart, at offset: Int, count: Int, _ order: ByteOrder
  ) {
    guard let list = index.part(at: offset, upTo: .max) else { return }
    for number in 1..<max(2, min(count, Self.imageLimit + 1)) {
      guard let entry = window.bytes(at: list.start + 16 * number, count: 16, within: list, ahead: 256) else { return }
      let (size, start) = (Int(entry.uint32(at: 4, order)), Int(entry.uint32(at: 8, order)))
      guard otherImages.count < Self.imageLimit else { return }
      guard size > 0, start > 0, let base = window.whole.part(at: index.start, upTo: .max),
        let image = base.part(at: start, upTo: size)
      else { continue }
      otherImages.append(image)
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
