import PhotoModel

/// Canon's RAW format before TIFF (CRW): a heap of records whose directory is at its end.
///
/// The rule is that of Canon's "CIFF Specification on Image Data File" 1.0, revision 4. At most ``directoryLimit``
/// directories are read.
struct CanonHeap {
  private(set) var width: Int?
  private(set) var height: Int?
  /// Degrees, clockwise.
  private(set) var rotation = 0
  private(set) var make: String?
  private(set) var model: String?
  private(set) var date: PhotoDate?
  private(set) var iso: Int?

  private static let directoryLimit = 16
  private static let entryLimit = 512

  /// - Returns: nil if the header is missing.
  init?(_ window: FileWindow) {
    guard let header = window.bytes(at: 0, count: 14), header.holds("HEAPCCDR", at: 6) else { return nil }
    let order: ByteOrder
    if header.holds("II") { order = .little } else if header.holds("MM") { order = .big } else { return nil }
    let start = Int(header.uint32(at: 2, order))
    guard let heap = window.whole.part(at: start, upTo: .max) else { return nil }
    var pending = [heap]
    var seen: [FilePart] = []
    while let next = pending.popLast(), seen.count < Self.directoryLimit {
      guard !seen.contains(next) else { continue }
      seen.append(next)
      pending += read(window, next, order)
    }
  }

  /// Reads one directory and returns the heaps below it.
  private mutating func read(_ window: FileWindow, _ heap: FilePart, _ order: ByteOrder) -> [FilePart] {
    guard let last = heap.part(at: heap.count - 4, count: 4).flatMap({ window.bytes(at: $0.start, count: 4) }) else {
      return []
    }
    let table = Int(last.uint32(at: 0, order))
    guard let head = heap.part(at: table, count: 2).flatMap({ window.bytes(at: $0.start, count: 2) }) else { return [] }
    let count = min(Int(head.uint16(at: 0, order)), Self.entryLimit)
    guard let entries = heap.part(at: table + 2, count: 10 * count) else { return [] }
    var children: [FilePart] = []
    for index in 0..<count {
      guard let entry = window.bytes(at: entries.start + 10 * index, count: 10) else { return children }
      let tag = entry.uint16(at: 0, order)
      let (size, offset) = (Int(entry.uint32(at: 2, order)), Int(entry.uint32(at: 6, order)))
      // Bit 14 says that the value is in the entry itself. Bits 11 to 13 are the type; two types are heaps.
      let isInline = tag & 0x4000 != 0
      let value =
        isInline
        ? FilePart(start: entries.start + 10 * index + 2, end: entries.start + 10 * index + 10)
        : heap.part(at: offset, count: size)
      guard let value else { continue }
      let type = tag & 0x3800
      if type == 0x2800 || type == 0x3000, !isInline {
        children.append(value)
      } else {
        note(tag & 0x3FFF, window, value, order)
      }
    }
    return children
  }

  private mutating func note(_ tag: UInt16, _ window: FileWindow, _ value: FilePart, _ order: ByteOrder) {
    switch tag {
    case 0x1810:  // image info: width, height, pixel aspect, rotation
      guard value.count >= 16, let bytes = window.bytes(at: value.start, count: 16), width == nil else { return }
      let (samples, lines) = (Int(bytes.uint32(at: 0, order)), Int(bytes.uint32(at: 4, order)))
      if samples > 0, lines > 0, samples < 65_536, lines < 65_536 { (width, height) = (samples, lines) }
      rotation = Int(Int32(bitPattern: bytes.uint32(at: 12, order)))
    case 0x080A:  // make and model, each with a NUL
      guard make == nil, let bytes = window.bytes(at: value.start, count: min(value.count, 256)) else { return }
      make = ExifText.decode(bytes)
      if let end = bytes.firstIndex(of: 0) {
        model = ExifText.decode(UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...]))
      }
    case 0x180E:  // the clock's time as seconds since 1970, and its zone, which cameras leave empty
      guard date == nil, value.count >= 4, let bytes = window.bytes(at: value.start, count: 4) else { return }
      let seconds = bytes.uint32(at: 0, order)
      if seconds > 0, seconds < .max { date = PhotoDate(microseconds: Int64(seconds) * 1_000_000, offsetMinutes: nil) }
    case 0x102A:  // shot info, as in Canon's maker notes
      guard iso == nil, value.count >= 6, let bytes = window.bytes(at: value.start, count: 6) else { return }
      iso = MakerNote.canonISO(auto: Int(bytes.uint16(at: 2, order)), base: Int(bytes.uint16(at: 4, order)))
    default: break
    }
  }
}
