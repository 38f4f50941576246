/// What IPTC's Information Interchange Model (IIM 4.2) says of a picture, in its application record.
///
/// Texts are UTF-8 where they are valid as such, else Latin-1. Dataset 1:90, which names the character set, isn't asked:
/// programs leave it out, or copy it from a file that was written otherwise, and text beyond ASCII in another
/// encoding is practically never valid UTF-8.
enum IPTCFacts {
  private static let datasetLimit = 10_000
  /// Of TIFF files, where nothing else bounds it; a JPEG segment is shorter.
  private static let lengthLimit = 1 << 18
  private static let longestText = 8192

  /// - Parameter place: where the first dataset begins, and how many bytes follow at most.
  /// - Returns: `nil` where it says nothing of interest.
  static func read(_ window: FileWindow, at place: (base: Int, length: Int)) -> DescriptiveFacts? {
    var facts = DescriptiveFacts()
    var keywords = KeywordList()
    var offset = place.base
    let end = place.base + min(place.length, lengthLimit)
    for _ in 0..<datasetLimit {
      guard offset + 5 <= end, let head = window.bytes(at: offset, count: 5), head[0] == 0x1C else { break }
      let (record, dataset) = (head[1], head[2])
      let length = Int(head.uint16(at: 3, .big))
      // Above 32 KiB (IIM, 1.5.e) nothing is that is looked for.
      guard length < 0x8000, length <= end - offset - 5 else { break }
      if record == 2, dataset == 5 || dataset == 25 || dataset == 120,
        let value = window.bytes(at: offset + 5, count: min(length, longestText))
      {
        switch dataset {
        case 25: keywords.add(value)
        case 5: if facts.title == nil { facts.title = ExifText.decode(value) }
        default: if facts.caption == nil { facts.caption = ExifText.decode(value) }
        }
      }
      offset += 5 + length
    }
    facts.keywords = keywords.words
    return facts.keywords.isEmpty && facts.title == nil && facts.caption == nil ? nil : facts
  }

  /// Where the IPTC block stands among Photoshop's image resources: resource 0x0404
  /// (https://www.adobe.com/devnet-apps/photoshop/fileformatashtml/, "Image Resources Section").
  static func place(
    inResourcesOf window: FileWindow, at base: Int, length: Int
  ) -> (base: Int, length: Int)? {
    var offset = base
    let end = base + length
    for _ in 0..<1000 {
      // Signature, number, and the length of a name, which is padded with it to an even number of bytes.
      guard offset + 12 <= end, let head = window.bytes(at: offset, count: 7, ahead: ahead), head.holds("8BIM")
      else { return nil }
      let number = head.uint16(at: 4, .big)
      let data = offset + 6 + (Int(head[6]) + 2) / 2 * 2
      guard data + 4 <= end, let size = window.bytes(at: data, count: 4, ahead: ahead) else { return nil }
      let count = Int(size.uint32(at: 0, .big))
      guard count <= end - data - 4 else { return nil }
      if number == 0x0404 { return (data + 4, count) }
      offset = data + 4 + count + count % 2
    }
    return nil
  }

  private static let ahead = 64
}
