/// A TIFF structure in a file: TIFF 6.0, BigTIFF, or a camera's variant of TIFF with another version number.
///
/// It reads one directory at a time, without following any pointer. So the caller bounds the number of directories.
struct TIFFStructure {
  struct Entry {
    var tag: UInt16
    var type: UInt16
    var count: Int
    /// The part of the value that lies within the structure.
    var value: FilePart
  }

  struct Directory {
    var entries: [UInt16: Entry] = [:]
    /// The offset of the next directory of the chain; 0 at its end.
    var next = 0
  }

  let window: FileWindow
  /// The bytes that offsets may point into. Offsets count from its start.
  let part: FilePart
  let order: ByteOrder
  let isBig: Bool
  /// 0 if the structure has no header.
  let firstDirectory: Int
  /// Whether the first directory has Panasonic's tags, whose numbers TIFF uses for other things.
  let isPanasonic: Bool

  /// - Returns: `nil` if there is no header of TIFF (42), BigTIFF (43), Olympus (`RO`, `RS`) or Panasonic (0x55).
  init?(window: FileWindow, part: FilePart) {
    guard part.count >= 8, let header = window.bytes(at: part.start, count: 8) else { return nil }
    if header.holds("II") { order = .little } else if header.holds("MM") { order = .big } else { return nil }
    let version = header.uint16(at: 2, order)
    switch version {
    case 42, 0x4F52, 0x5352, 0x55:
      isBig = false
      firstDirectory = Int(header.uint32(at: 4, order))
    case 43:
      guard header.uint16(at: 4, order) == 8, part.count >= 16,
        let rest = window.bytes(at: part.start + 8, count: 8),
        let offset = Int(exactly: rest.uint64(at: 0, order))
      else { return nil }
      isBig = true
      firstDirectory = offset
    default: return nil
    }
    isPanasonic = version == 0x55
    self.window = window
    self.part = part
  }

  /// A structure without a header, as maker notes have.
  init(window: FileWindow, part: FilePart, order: ByteOrder) {
    (self.window, self.part, self.order) = (window, part, order)
    (isBig, firstDirectory, isPanasonic) = (false, 0, false)
  }

  /// The wanted entries of the directory at an offset, the first of each tag.
  ///
  /// Only the entries that fit into one piece are read: 1,365, or 819 in a BigTIFF.
  ///
  /// - Parameter valueShift: what is added to the offsets of values, which may be negative.
  func directory(at offset: Int, wanted: Set<UInt16>, valueShift: Int = 0) -> Directory? {
    let (countSize, entrySize, inlineSize) = isBig ? (8, 20, 8) : (2, 12, 4)
    guard let head = part.part(at: offset, count: countSize).flatMap({ window.bytes(at: $0.start, count: countSize) })
    else { return nil }
    let count = isBig ? Int(clamping: head.uint64(at: 0, order)) : Int(head.uint16(at: 0, order))
    let listed = min(count, FileWindow.pieceBytes / entrySize)
    guard listed > 0, let table = part.part(at: offset + countSize, count: listed * entrySize),
      let bytes = window.bytes(at: table.start, count: table.count)
    else { return nil }
    var directory = Directory()
    for at in stride(from: 0, to: table.count, by: entrySize) {
      let tag = bytes.uint16(at: at, order)
      guard wanted.contains(tag), directory.entries[tag] == nil else { continue }
      let type = bytes.uint16(at: at + 2, order)
      let size = Self.size(ofType: type)
      let count = isBig ? Int(clamping: bytes.uint64(at: at + 4, order)) : Int(bytes.uint32(at: at + 4, order))
      guard size > 0, count > 0, count <= Int(UInt32.max) else { continue }
      let inline = at + entrySize - inlineSize
      let value: FilePart?
      if count * size <= inlineSize {
        value = FilePart(start: table.start + inline, end: table.start + inline + count * size)
      } else {
        let offset = isBig ? Int(clamping: bytes.uint64(at: inline, order)) : Int(bytes.uint32(at: inline, order))
        let (place, overflows) = offset.addingReportingOverflow(valueShift)
        value = overflows ? nil : part.part(at: place, upTo: count * size)
      }
      if let value { directory.entries[tag] = Entry(tag: tag, type: type, count: count, value: value) }
    }
    let nextSize = isBig ? 8 : 4
    if listed == count, let next = part.part(at: offset + countSize + table.count, count: nextSize),
      let bytes = window.bytes(at: next.start, count: nextSize)
    {
      directory.next = isBig ? Int(clamping: bytes.uint64(at: 0, order)) : Int(bytes.uint32(at: 0, order))
    }
    return directory
  }

  // MARK: - Values

  /// The first `limit` integers of an entry; none if its type is no integer.
  func integers(_ entry: Entry?, limit: Int = 16) -> [Int] {
    guard let entry else { return [] }
    let size = Self.size(ofType: entry.type)
    guard size > 0 else { return [] }
    let count = min(entry.count, limit, entry.value.count / size)
    guard count > 0, let bytes = window.bytes(at: entry.value.start, count: count * size) else { return [] }
    return (0..<count).compactMap { index in
      switch entry.type {
      case 1, 7: Int(bytes[index])
      case 3: Int(bytes.uint16(at: 2 * index, order))
      case 8: Int(Int16(bitPattern: bytes.uint16(at: 2 * index, order)))
      case 4, 13: Int(bytes.uint32(at: 4 * index, order))
      case 9: Int(Int32(bitPattern: bytes.uint32(at: 4 * index, order)))
      case 16, 18: Int(exactly: bytes.uint64(at: 8 * index, order))
      default: nil
      }
    }
  }

  func integer(_ entry: Entry?) -> Int? { integers(entry, limit: 1).first }

  /// An offset, which may also be stored as four single bytes.
  func pointer(_ entry: Entry?) -> Int? {
    guard let entry else { return nil }
    guard entry.type == 1 || entry.type == 7, entry.count == 4 else { return integer(entry) }
    return bytes(entry, limit: 4).flatMap { $0.count == 4 ? Int($0.uint32(at: 0, order)) : nil }
  }

  /// Fractions; an unknown one (0/0) is `nil`.
  func fractions(_ entry: Entry?, limit: Int = 8) -> [Double?] {
    guard let entry, entry.type == 5 else { return [] }
    let count = min(entry.count, limit, entry.value.count / 8)
    guard count > 0, let bytes = window.bytes(at: entry.value.start, count: count * 8) else { return [] }
    return (0..<count).map { index in
      let (above, below) = (bytes.uint32(at: 8 * index, order), bytes.uint32(at: 8 * index + 4, order))
      return below == 0 || above == .max || below == .max ? nil : Double(above) / Double(below)
    }
  }

  func bytes(_ entry: Entry?, limit: Int = 1024) -> UnsafeRawBufferPointer? {
    guard let entry else { return nil }
    let count = min(entry.value.count, limit)
    return count > 0 ? window.bytes(at: entry.value.start, count: count) : nil
  }

  func text(_ entry: Entry?) -> String? { bytes(entry, limit: 256).flatMap(ExifText.decode) }

  /// The size in bytes of one value: TIFF 6.0, BigTIFF (16...18), EXIF 3.0 (129). 0 for an unknown type.
  static func size(ofType type: UInt16) -> Int {
    switch type {
    case 1, 2, 6, 7, 129: 1
    case 3, 8: 2
    case 4, 9, 11, 13: 4
    case 5, 10, 12, 16, 17, 18: 8
    default: 0
    }
  }
}
