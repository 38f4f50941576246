/// The blocks of Minolta's RAW format (MRW): `PRD` with the size, `TTW` with a TIFF structure. Sony's first RAW files
/// contain the same blocks, in the other byte order.
///
/// There is no public specification. The rule is that of ExifTool's MinoltaRaw.pm.
struct MinoltaBlocks {
  private(set) var width: Int?
  private(set) var height: Int?
  private(set) var exif: FilePart?

  private static let blockLimit = 32

  /// - Returns: nil if the signature is missing.
  init?(_ window: FileWindow, part: FilePart) {
    guard let header = part.part(at: 0, count: 8).flatMap({ window.bytes(at: $0.start, count: 8) }) else { return nil }
    let order: ByteOrder
    if header.holds("\0MRM") { order = .big } else if header.holds("\0MRI") { order = .little } else { return nil }
    guard let blocks = part.part(at: 8, upTo: Int(header.uint32(at: 4, order))) else { return nil }
    var offset = 0
    for _ in 0..<Self.blockLimit {
      guard let head = blocks.part(at: offset, count: 8).flatMap({ window.bytes(at: $0.start, count: 8) }) else {
        return
      }
      let isSize = head.holds("\0PRD")
      let isTIFF = head.holds("\0TTW")
      let length = Int(head.uint32(at: 4, order))
      guard let data = blocks.part(at: offset + 8, upTo: length) else { return }
      if isSize, data.count >= 16, let bytes = window.bytes(at: data.start, count: 16) {
        let (lines, samples) = (Int(bytes.uint16(at: 12, order)), Int(bytes.uint16(at: 14, order)))
        if lines > 0, samples > 0 { (height, width) = (lines, samples) }
      } else if isTIFF {
        exif = data
      }
      guard data.count == length else { return }
      offset += 8 + length
    }
  }
}
