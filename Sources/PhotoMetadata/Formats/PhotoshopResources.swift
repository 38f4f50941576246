/// Photoshop's image resources, in PSD and JPEG files
/// (https://www.adobe.com/devnet-apps/photoshop/fileformatashtml/, "Image Resources Section").
struct PhotoshopResources {
  enum Kind: UInt16 {
    case iptc = 0x0404
    case exif = 0x0422
    case xmp = 0x0424
  }

  private var parts: [Kind: FilePart] = [:]

  private static let resourceLimit = 1000
  private static let ahead = 64
  /// Adobe's other programs write signatures of their own.
  private static let signatures: [StaticString] = ["8BIM", "PHUT", "DCSR", "AgHg", "MeSa"]

  /// Walks the resources until all wanted ones are found.
  init(_ window: FileWindow, part: FilePart, wanted: Set<Kind>) {
    var offset = 0
    for _ in 0..<Self.resourceLimit where parts.count < wanted.count {
      // The fields are a signature, a number and the length of a name. Length and name are padded to an even number of
      // bytes.
      guard let place = part.part(at: offset, count: 12),
        let head = window.bytes(at: place.start, count: 7, ahead: Self.ahead),
        Self.signatures.contains(where: { head.holds($0) })
      else { return }
      let kind = Kind(rawValue: head.uint16(at: 4, .big))
      let sizeOffset = offset + 6 + (Int(head[6]) + 2) / 2 * 2
      guard let place = part.part(at: sizeOffset, count: 4),
        let size = window.bytes(at: place.start, count: 4, ahead: Self.ahead)
      else { return }
      let count = Int(size.uint32(at: 0, .big))
      guard let data = part.part(at: sizeOffset + 4, count: count) else { return }
      if let kind, wanted.contains(kind), parts[kind] == nil { parts[kind] = data }
      offset = sizeOffset + 4 + count + count % 2
    }
  }

  subscript(kind: Kind) -> FilePart? { parts[kind] }
}
