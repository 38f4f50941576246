import PhotoModel

/// Reads the header of a Matroska or WebM file (RFC 8794 for EBML, RFC 9559 for Matroska).
///
/// Info and Tracks usually precede the clusters. If a cluster comes first, the SeekHead leads to them. Tags
/// are read only if the SeekHead names them, or if they precede the clusters. Each element is visited once, at most
/// ``elementLimit`` in all, and nesting has no recursion: every level has its own function.
struct MatroskaHeader {
  private(set) var header = VideoHeader()

  private enum ID {
    static let segment = 0x1853_8067
    static let seekHead = 0x114D_9B74
    static let info = 0x1549_A966
    static let tracks = 0x1654_AE6B
    static let tags = 0x1254_C367
    static let cluster = 0x1F43_B675
  }

  private struct Element {
    var id: Int
    var data: FilePart
    /// Whether the size was unknown, so that the element ends with its parent.
    var isOpen = false
  }

  private static let elementLimit = 2000
  private static let header = 0x1A45_DFA3

  private let window: FileWindow
  private var elementsLeft = MatroskaHeader.elementLimit
  private var scale = 1_000_000
  private var duration: Double?
  /// The date of a phone's tag. Unlike the date in Info, it has the zone.
  private var taggedDate: PhotoDate?
  /// Positions from SeekHead, relative to the segment's data.
  private var sought: [Int: Int] = [:]
  private var seen: Set<Int> = []

  init(_ window: FileWindow) {
    self.window = window
    forEach(in: window.whole) { reader, element in
      guard element.id == ID.segment else { return element.id == Self.header }
      reader.readSegment(element.data)
      return false
    }
    if let duration { header.setDuration(duration * Double(scale) / 1e9) }
    header.date = taggedDate ?? header.date
  }

  private mutating func readSegment(_ segment: FilePart) {
    forEach(in: segment) { reader, element in
      reader.seen.insert(element.id)
      guard element.id != ID.cluster, !element.isOpen else { return false }
      reader.read(element)
      return true
    }
    for id in [ID.info, ID.tracks, ID.tags] where !seen.contains(id) {
      guard let position = sought[id], let rest = segment.part(at: position, upTo: segment.count),
        let element = element(in: rest, at: 0), element.id == id, !element.isOpen
      else { continue }
      read(element)
    }
  }

  private mutating func read(_ element: Element) {
    switch element.id {
    case ID.seekHead: readSeekHead(element.data)
    case ID.info: readInfo(element.data)
    case ID.tracks: readTracks(element.data)
    case ID.tags: readTags(element.data)
    default: break
    }
  }

  // MARK: - The master elements

  private mutating func readSeekHead(_ part: FilePart) {
    forEach(in: part) { reader, seek in
      guard seek.id == 0x4DBB else { return true }
      var (id, position): (Int?, Int?)
      reader.forEach(in: seek.data) { reader, element in
        if element.id == 0x53AB { id = reader.unsigned(element) }
        if element.id == 0x53AC { position = reader.unsigned(element) }
        return true
      }
      if let id, let position, reader.sought[id] == nil { reader.sought[id] = position }
      return true
    }
  }

  private mutating func readInfo(_ part: FilePart) {
    forEach(in: part) { reader, element in
      switch element.id {
      case 0x2AD7B1: reader.scale = reader.unsigned(element).flatMap { $0 > 0 ? $0 : nil } ?? reader.scale
      case 0x4489: reader.duration = reader.float(element)
      case 0x4461: reader.header.date = reader.date(element)
      case 0x7BA9: reader.header.title = reader.text(element)
      default: break
      }
      return true
    }
  }

  private mutating func readTracks(_ part: FilePart) {
    forEach(in: part) { reader, element in
      if element.id == 0xAE { reader.readTrack(element.data) }
      return true
    }
  }

  /// The first video track has the size.
  private mutating func readTrack(_ part: FilePart) {
    var type: Int?
    var video: FilePart?
    forEach(in: part) { reader, element in
      if element.id == 0x83 { type = reader.unsigned(element) }
      if element.id == 0xE0 { video = element.data }
      return true
    }
    if type == 2 { header.hasAudio = true }
    guard type == 1 else { return }
    header.hasVideo = true
    if header.width == nil, let video { readVideo(video) }
  }

  /// DisplayWidth and DisplayHeight count if their unit is the pixel. The default is the cropped pixel size (RFC 9559,
  /// 5.1.4.1.28).
  private mutating func readVideo(_ part: FilePart) {
    var values: [Int: Int] = [:]
    forEach(in: part) { reader, element in
      switch element.id {
      case 0xB0, 0xBA, 0x54B0, 0x54BA, 0x54B2, 0x54AA, 0x54BB, 0x54CC, 0x54DD:
        values[element.id] = reader.unsigned(element).map { min($0, 1 << 24) }
      default: break
      }
      return true
    }
    let width = values[0xB0, default: 0] - values[0x54CC, default: 0] - values[0x54DD, default: 0]
    let height = values[0xBA, default: 0] - values[0x54BB, default: 0] - values[0x54AA, default: 0]
    header.setSize(width, height)
    if values[0x54B2, default: 0] == 0, let width = values[0x54B0], let height = values[0x54BA] {
      header.setSize(width, height)
    }
  }

  /// Tags without a target describe the whole file.
  private mutating func readTags(_ part: FilePart) {
    forEach(in: part) { reader, element in
      guard element.id == 0x7373 else { return true }
      var isOfTrack = false
      var found: [(String, String)] = []
      reader.forEach(in: element.data) { reader, child in
        if child.id == 0x63C0 { isOfTrack = isOfTrack || reader.namesATrack(child.data) }
        if child.id == 0x67C8, let pair = reader.simpleTag(child.data) { found.append(pair) }
        return true
      }
      if !isOfTrack { for (name, value) in found { reader.note(name, value) } }
      return true
    }
  }

  private mutating func namesATrack(_ targets: FilePart) -> Bool {
    var isOfTrack = false
    forEach(in: targets) { reader, element in
      if [0x63C5, 0x63C9, 0x63C4, 0x63C6].contains(element.id), let id = reader.unsigned(element), id != 0 {
        isOfTrack = true
      }
      return true
    }
    return isOfTrack
  }

  private mutating func simpleTag(_ part: FilePart) -> (String, String)? {
    var (name, value): (String?, String?)
    forEach(in: part) { reader, element in
      if element.id == 0x45A3 { name = reader.text(element) }
      if element.id == 0x4487 { value = reader.text(element) }
      return true
    }
    guard let name, let value else { return nil }
    return (name.uppercased(), value)
  }

  /// Programs that convert a phone's film keep QuickTime's keys as tags. ffmpeg names the place of Android's films LOCATION.
  private mutating func note(_ name: String, _ value: String) {
    switch name {
    case "TITLE": header.title = header.title ?? value
    case "DESCRIPTION", "COMMENT": header.caption = header.caption ?? value
    case "MAKE", "COM.APPLE.QUICKTIME.MAKE": header.camera.make = header.camera.make ?? value
    case "MODEL", "COM.APPLE.QUICKTIME.MODEL": header.camera.model = header.camera.model ?? value
    case "LOCATION", "COM.APPLE.QUICKTIME.LOCATION.ISO6709":
      header.location = header.location ?? GeographicPoint.parse(value.utf8)
    case "COM.APPLE.QUICKTIME.CREATIONDATE":
      // A day alone is less than the date in Info.
      if value.utf8.count > 10, taggedDate == nil {
        taggedDate = Array(value.utf8).withUnsafeBytes(EmbeddedDates.xmpDate)
      }
    default: break
    }
  }

  // MARK: - Elements

  /// Calls `body` for each element of a part, until it returns false or the limit is reached.
  private mutating func forEach(in part: FilePart, _ body: (inout MatroskaHeader, Element) -> Bool) {
    var offset = 0
    while elementsLeft > 0, let element = element(in: part, at: offset) {
      elementsLeft -= 1
      guard body(&self, element) else { return }
      offset = element.data.end - part.start
    }
  }

  private func element(in part: FilePart, at offset: Int) -> Element? {
    guard let head = part.part(at: offset, upTo: 12), head.count >= 2,
      let bytes = window.bytes(at: head.start, count: head.count, ahead: 4096)
    else { return nil }
    let idLength = bytes[0].leadingZeroBitCount + 1
    guard idLength <= 4, idLength < bytes.count else { return nil }
    var id = 0
    for byte in bytes[..<idLength] { id = id << 8 | Int(byte) }
    let sizeLength = bytes[idLength].leadingZeroBitCount + 1
    guard sizeLength <= 8, idLength + sizeLength <= bytes.count else { return nil }
    var size = UInt64(bytes[idLength]) & (0xFF >> UInt64(sizeLength))
    for byte in bytes[(idLength + 1)..<(idLength + sizeLength)] { size = size << 8 | UInt64(byte) }
    let isOpen = size == (1 << UInt64(7 * sizeLength)) - 1
    let start = offset + idLength + sizeLength
    // An element that the end of the file cuts off still counts.
    guard let data = part.part(at: start, upTo: isOpen ? .max : Int(clamping: size)) else { return nil }
    return Element(id: id, data: data, isOpen: isOpen)
  }

  private func bytes(_ element: Element, limit: Int) -> UnsafeRawBufferPointer? {
    let count = min(element.data.count, limit)
    return count > 0 ? window.bytes(at: element.data.start, count: count) : nil
  }

  private func unsigned(_ element: Element) -> Int? {
    guard element.data.count <= 8, let bytes = bytes(element, limit: 8) else { return nil }
    return Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  private func float(_ element: Element) -> Double? {
    guard let bytes = bytes(element, limit: 8) else { return nil }
    switch element.data.count {
    case 4: return Double(Float(bitPattern: bytes.uint32(at: 0, .big)))
    case 8: return Double(bitPattern: bytes.uint64(at: 0, .big))
    default: return nil
    }
  }

  private func text(_ element: Element) -> String? { bytes(element, limit: 4096).flatMap(ExifText.decode) }

  /// Nanoseconds since 2001-01-01T00:00:00 UTC (RFC 8794, 7.6).
  private func date(_ element: Element) -> PhotoDate? {
    guard element.data.count == 8, let bytes = bytes(element, limit: 8) else { return nil }
    let microseconds = Int64(bitPattern: bytes.uint64(at: 0, .big)) / 1000
    return PhotoDate(microseconds: 978_307_200_000_000 + microseconds, offsetMinutes: 0)
  }
}
