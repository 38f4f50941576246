/// Reads the application record of IPTC's Information Interchange Model (IIM 4.2).
///
/// Texts are taken as UTF-8 if they are valid as such, else as Latin-1. Dataset 1:90, which names the character set, is
/// ignored. Programs leave it out, or copy it from a file in another character set. Text beyond ASCII in another
/// encoding is practically never valid UTF-8.
enum IPTCFacts {
  private static let datasetLimit = 10_000
  /// The bound for TIFF files, which have no other. A JPEG segment is shorter.
  private static let lengthLimit = 1 << 18
  private static let longestText = 8192

  /// - Parameter part: begins with the first dataset. Other bytes may follow the datasets.
  /// - Returns: `nil` if no wanted dataset is found.
  static func read(_ window: FileWindow, at part: FilePart) -> DescriptiveFacts? {
    var facts = DescriptiveFacts()
    var keywords = KeywordList()
    var dates = IPTCDates()
    var offset = part.start
    let end = part.start + min(part.count, lengthLimit)
    for _ in 0..<datasetLimit {
      guard offset + 5 <= end, let head = window.bytes(at: offset, count: 5), head[0] == 0x1C else { break }
      let (record, dataset) = (head[1], head[2])
      let length = Int(head.uint16(at: 3, .big))
      // Values above 32 KiB (IIM, 1.5.e) are never wanted.
      guard length < 0x8000, length <= end - offset - 5 else { break }
      if record == 2, dataset == 5 || dataset == 25 || dataset == 120 || IPTCDates.datasets.contains(dataset),
        let value = window.bytes(at: offset + 5, count: min(length, longestText))
      {
        switch dataset {
        case 25: keywords.add(value)
        case 5: if facts.title == nil { facts.title = ExifText.decode(value) }
        case 120: if facts.caption == nil { facts.caption = ExifText.decode(value) }
        default: dates.note(dataset, value)
        }
      }
      offset += 5 + length
    }
    facts.keywords = keywords.words
    facts.dates = dates.dates
    return facts.isEmpty ? nil : facts
  }

  /// Finds the IPTC block among Photoshop's image resources: resource 0x0404
  /// (https://www.adobe.com/devnet-apps/photoshop/fileformatashtml/, "Image Resources Section").
  static func part(ofResources resources: FilePart, _ window: FileWindow) -> FilePart? {
    var offset = resources.start
    let end = resources.end
    for _ in 0..<1000 {
      // The fields are a signature, a number and the length of a name. Length and name are padded to an even number of
      // bytes.
      guard offset + 12 <= end, let head = window.bytes(at: offset, count: 7, ahead: ahead), head.holds("8BIM")
      else { return nil }
      let number = head.uint16(at: 4, .big)
      let data = offset + 6 + (Int(head[6]) + 2) / 2 * 2
      guard data + 4 <= end, let size = window.bytes(at: data, count: 4, ahead: ahead) else { return nil }
      let count = Int(size.uint32(at: 0, .big))
      guard count <= end - data - 4 else { return nil }
      if number == 0x0404 { return FilePart(start: data + 4, end: data + 4 + count) }
      offset = data + 4 + count + count % 2
    }
    return nil
  }

  private static let ahead = 64
}
