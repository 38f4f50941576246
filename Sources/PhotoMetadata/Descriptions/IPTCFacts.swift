/// Reads the application record of IPTC's Information Interchange Model (IIM 4.2).
///
/// Texts are taken as UTF-8 if they are valid as such, else as ``Windows1252``. Dataset 1:90, which names the character set, is
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
      if length & 0x8000 != 0 {
        // An extended dataset, whose value is above 32 KiB. No wanted value is that long.
        guard let next = self.end(ofExtended: length & 0x7FFF, window, at: offset + 5, before: end) else { break }
        offset = next
        continue
      }
      guard length <= end - offset - 5 else { break }
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

  /// The end of a dataset whose length has a field of its own (IIM 4.2, 1.5.e).
  ///
  /// - Parameter width: the number of bytes of the length. More than eight cannot describe a value in this block.
  private static func end(ofExtended width: Int, _ window: FileWindow, at offset: Int, before end: Int) -> Int? {
    guard (1...8).contains(width), width <= end - offset, let bytes = window.bytes(at: offset, count: width)
    else { return nil }
    let length = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard length <= UInt64(end - offset - width) else { return nil }
    return offset + width + Int(length)
  }

  /// Finds the IPTC block among Photoshop's image resources.
  static func part(ofResources resources: FilePart, _ window: FileWindow) -> FilePart? {
    PhotoshopResources(window, part: resources, wanted: [.iptc])[.iptc]
  }
}
