/// Walks the directories of a TIFF structure and copies the wanted entries into an ``ExifBlob``.
///
/// The structure may be a file of its own (TIFF 6.0, BigTIFF) or stand inside another one (EXIF 2.32 in JPEG, PNG,
/// WebP). Three directories are read, each once, at most 4,096 entries of each: nothing in the file can make it loop.
struct ExifDirectories {
  private struct Entry {
    var tag: UInt16
    var type: UInt16
    var count: Int
    /// Where the value stands, counted from the structure's beginning.
    var offset: Int
  }

  /// Where blocks of other formats stand in the file.
  struct Places {
    var xmp: (base: Int, length: Int)?
    var iptc: (base: Int, length: Int)?
  }

  private static let entryLimit = 4096

  private let window: FileWindow
  /// Where in the file the structure begins, and how long it is at most.
  private let base: Int
  private let length: Int
  private let order: ByteOrder
  private let isBig: Bool
  private let firstDirectory: Int
  private var exifDirectory: Int?
  /// Some writers put its pointer into the EXIF directory.
  private var gpsDirectory: Int?
  private var wanted: [Entry] = []
  private(set) var places = Places()

  /// - Returns: `nil` where there is no TIFF header.
  init?(window: FileWindow, base: Int, length: Int) {
    guard length >= 8, let header = window.bytes(at: base, count: 8) else { return nil }
    let order: ByteOrder
    if header.holds("II") { order = .little } else if header.holds("MM") { order = .big } else { return nil }
    switch header.uint16(at: 2, order) {
    case 42:
      isBig = false
      firstDirectory = Int(header.uint32(at: 4, order))
    case 43:
      guard header.uint16(at: 4, order) == 8, length >= 16, let rest = window.bytes(at: base + 8, count: 8),
        let offset = Int(exactly: rest.uint64(at: 0, order))
      else { return nil }
      isBig = true
      firstDirectory = offset
    default: return nil
    }
    self.window = window
    self.base = base
    self.length = length
    self.order = order
    wanted.reserveCapacity(48)
  }

  /// - Returns: whether there was a first directory.
  mutating func copy(to blob: ExifBlob) -> Bool {
    blob.begin(order)
    guard read(firstDirectory, .main, to: blob) else { return false }
    if let exifDirectory { _ = read(exifDirectory, .exif, to: blob) }
    if let gpsDirectory { _ = read(gpsDirectory, .gps, to: blob) }
    return true
  }

  private mutating func read(_ offset: Int, _ directory: ExifBlob.Directory, to blob: ExifBlob) -> Bool {
    guard collect(offset, directory) else { return false }
    for index in wanted.indices {
      let entry = wanted[index]
      switch entry.tag {
      case 0x02BC: places.xmp = place(entry)
      case 0x83BB: places.iptc = place(entry)
      case 0x8769: if exifDirectory == nil { exifDirectory = pointer(entry) }
      case 0x8825: if gpsDirectory == nil { gpsDirectory = pointer(entry) }
      default: copy(entry, directory, to: blob)
      }
    }
    return true
  }

  /// Lists the wanted entries first: copying a value may move the window that the directory stands in.
  private mutating func collect(_ offset: Int, _ directory: ExifBlob.Directory) -> Bool {
    let (countSize, entrySize, inlineSize) = isBig ? (8, 20, 8) : (2, 12, 4)
    wanted.removeAll(keepingCapacity: true)
    guard let head = bytes(offset, countSize) else { return false }
    let count = isBig ? Int(clamping: head.uint64(at: 0, order)) : Int(head.uint16(at: 0, order))
    let listed = min(count, Self.entryLimit)
    // One that the end cuts off, or whose first entry has no type that exists, is no directory.
    guard listed > 0, self.bytes(offset + countSize + listed * entrySize - 1, 1) != nil else { return false }
    var position = offset + countSize
    var left = listed
    while left > 0 {
      let piece = min(left, FileWindow.pieceBytes / entrySize)
      guard let bytes = bytes(position, piece * entrySize) else { break }
      if left == listed, Self.size(ofType: bytes.uint16(at: 2, order)) == 0 { return false }
      for at in stride(from: 0, to: piece * entrySize, by: entrySize) {
        let tag = bytes.uint16(at: at, order)
        guard Self.isWanted(tag, directory) else { continue }
        let type = bytes.uint16(at: at + 2, order)
        let size = Self.size(ofType: type)
        let count = isBig ? Int(clamping: bytes.uint64(at: at + 4, order)) : Int(bytes.uint32(at: at + 4, order))
        guard size > 0, count > 0, count <= Int(UInt32.max) else { continue }
        let inline = at + entrySize - inlineSize
        var value = position + inline
        if count * size > inlineSize {
          value = isBig ? Int(clamping: bytes.uint64(at: inline, order)) : Int(bytes.uint32(at: inline, order))
        }
        wanted.append(Entry(tag: tag, type: type, count: count, offset: value))
      }
      position += piece * entrySize
      left -= piece
    }
    return true
  }

  private func copy(_ entry: Entry, _ directory: ExifBlob.Directory, to blob: ExifBlob) {
    let size = Self.size(ofType: entry.type)
    var count = entry.count
    if count * size > ExifBlob.largestValue {
      // A long text is cut, anything else of that length isn't what the tag is for.
      guard size == 1 else { return }
      count = ExifBlob.largestValue
    }
    guard let bytes = bytes(entry.offset, count * size) else { return }
    switch entry.type {
    case 129: blob.add(tag: entry.tag, type: 2, count: UInt32(count), bytes: bytes, to: directory)
    case 13: blob.add(tag: entry.tag, type: 4, count: UInt32(count), bytes: bytes, to: directory)
    case 16, 18:
      guard count == 1, let value = UInt32(exactly: bytes.uint64(at: 0, order)) else { return }
      withUnsafeBytes(of: order == .little ? value.littleEndian : value.bigEndian) {
        _ = blob.add(tag: entry.tag, type: 4, count: 1, bytes: $0, to: directory)
      }
    default: blob.add(tag: entry.tag, type: entry.type, count: UInt32(count), bytes: bytes, to: directory)
    }
  }

  private func place(_ entry: Entry) -> (base: Int, length: Int)? {
    let (count, overflows) = entry.count.multipliedReportingOverflow(by: Self.size(ofType: entry.type))
    guard !overflows, entry.offset >= 0, count <= length, entry.offset <= length - count else { return nil }
    return (base + entry.offset, count)
  }

  private func pointer(_ entry: Entry) -> Int? {
    let size = Self.size(ofType: entry.type)
    guard let bytes = bytes(entry.offset, size) else { return nil }
    switch entry.type {
    case 4, 9, 13: return Int(bytes.uint32(at: 0, order))
    case 16, 18: return Int(exactly: bytes.uint64(at: 0, order))
    default: return nil
    }
  }

  private func bytes(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer? {
    guard offset >= 0, count <= length, offset <= length - count else { return nil }
    return window.bytes(at: base + offset, count: count)
  }

  /// Bytes of one value: TIFF 6.0, BigTIFF (16...18), EXIF 3.0 (129); 0 for a type that doesn't exist.
  private static func size(ofType type: UInt16) -> Int {
    switch type {
    case 1, 2, 6, 7, 129: 1
    case 3, 8: 2
    case 4, 9, 11, 13: 4
    case 5, 10, 12, 16, 17, 18: 8
    default: 0
    }
  }

  /// Never the maker note 0x927C: it is a third of libexif's time and was most of its holes.
  private static func isWanted(_ tag: UInt16, _ directory: ExifBlob.Directory) -> Bool {
    if directory == .gps { return (1...6).contains(tag) }
    switch tag {
    case 0x0100, 0x0101, 0x010E, 0x010F, 0x0110, 0x0112, 0x4746, 0x4749, 0x9C9B, 0x9C9C, 0x9C9E:
      return directory == .main
    case 0x02BC, 0x83BB, 0x8769: return directory == .main
    case 0x0132, 0x829A, 0x829D, 0x8825, 0x8827, 0x8831...0x8833, 0x9003, 0x9004, 0x9010...0x9012, 0x9209, 0x920A,
      0x9286, 0x9290...0x9292, 0xA434:
      return true
    default: return false
    }
  }
}
