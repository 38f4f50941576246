import ExtractRecords
import PhotoModel

extension MediaReader {
  /// Reads a PNG file. Its own texts (Title, Description, Creation Time) count if no other block has them.
  func readPNG(into facts: inout MediaFacts) {
    let header = PNGHeader(window)
    let segments = header.segments.map(\.profile)
    let exif =
      exif(header.exif) ?? header.texts[.rawExif].flatMap { profileExif($0.profile) }
      ?? segments.lazy.filter { !$0.starts(with: Self.xmpName) }.compactMap(profileExif).first
    facts.apply(exif, width: header.width, height: header.height)
    let iptc = header.texts[.rawIPTC].flatMap(profileIPTC)
    describe(&facts, exif, xmp: packet(header, segments, for: facts), iptc: iptc)
    if header.isAnimated {
      facts.mediaSubtypes.insert(.animated)
      facts.contentType = "image/apng"
    }
    facts.title = facts.title ?? header.texts[.title]?.line
    if facts.caption == nil {
      facts.caption = CaptionDefaults.written(header.texts[.description]?.line, by: facts.camera)
    }
    if facts.creationDate == nil { facts.creationDate = header.texts[.creationTime]?.line.flatMap(PNGText.date) }
    if header.width == nil { facts.failure = Self.noSize }
  }

  private static let exifName = Array("Exif\0\0".utf8)
  private static let xmpName = Array("http://ns.adobe.com/xap/1.0/\0".utf8)

  private func profileExif(_ bytes: [UInt8]) -> ExifFacts? {
    guard !bytes.isEmpty else { return nil }
    let memory = FileWindow(over: bytes)
    return exif(memory.whole.part(at: bytes.starts(with: Self.exifName) ? 6 : 0, upTo: .max), in: memory)
  }

  /// IPTC is in Photoshop's resources, or alone.
  private func profileIPTC(_ text: PNGText) -> DescriptiveFacts? {
    let memory = FileWindow(over: text.profile)
    let part = IPTCFacts.part(ofResources: memory.whole, memory) ?? memory.whole
    return IPTCFacts.read(memory, at: part)
  }

  private func packet(_ header: PNGHeader, _ segments: [[UInt8]], for facts: MediaFacts) -> DescriptiveFacts? {
    if let text = header.texts[.xmp] {
      if let place = text.place { return xmpFacts([place], for: facts) }
      return packet(text.bytes[...], for: facts)
    }
    if let text = header.texts[.rawXMP] { return packet(text.profile[...], for: facts) }
    if let bytes = segments.first(where: { $0.starts(with: Self.xmpName) }) {
      return packet(bytes[Self.xmpName.count...], for: facts)
    }
    return nil
  }

  private func packet(_ bytes: ArraySlice<UInt8>, for facts: MediaFacts) -> DescriptiveFacts? {
    let memory = FileWindow(over: Array(bytes))
    return xmpFacts([memory.whole], for: facts, in: memory)
  }
}
