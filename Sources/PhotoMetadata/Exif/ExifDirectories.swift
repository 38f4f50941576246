/// Walks the directories of a TIFF structure and copies the wanted entries into an ``ExifBlob``.
///
/// The structure may be a file of its own (TIFF 6.0, BigTIFF, and cameras' variants) or part of another (EXIF 2.32 in JPEG, PNG, WebP). Three
/// directories are read, each once, with at most 4,096 entries each. So nothing in the file can cause an endless loop.
struct ExifDirectories {
  private struct Entry {
    var tag: UInt16
    var type: UInt16
    var count: Int
    /// The part of the value that lies within the structure.
    var value: FilePart
  }

  /// The positions of other formats' blocks in the file.
  struct Places {
    var xmp: FilePart?
    var iptc: FilePart?
    /// The camera's own block, which ``MakerNote`` and ``AppleMakerNote`` read.
    var makerNote: FilePart?
  }

  private static let entryLimit = 4096

  private let window: FileWindow
  /// The bytes that offsets may point into. Offsets count from its start.
  private let structure: FilePart
  let order: ByteOrder
  private let isBig: Bool
  private let firstDirectory: Int
  private var exifDirectory: Int?
  /// The pointer may also be in the EXIF directory, where some writers put it.
  private var gpsDirectory: Int?
  private var wanted: [Entry] = []
  private(set) var places = Places()

  /// - Returns: `nil` if there is no TIFF header.
  init?(window: FileWindow, structure: FilePart) {
    guard let tiff = TIFFStructure(window: window, part: structure) else { return nil }
    self.window = window
    self.structure = structure
    (order, isBig, firstDirectory) = (tiff.order, tiff.isBig, tiff.firstDirectory)
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

  /// Copies only the first directory, as one of the directories of the block. Canon's CR3 files have a structure for each.
  mutating func copyFirst(as directory: ExifBlob.Directory, to blob: ExifBlob) -> Bool {
    read(firstDirectory, directory, to: blob)
  }

  private mutating func read(_ offset: Int, _ directory: ExifBlob.Directory, to blob: ExifBlob) -> Bool {
    guard collect(offset, directory) else { return false }
    for index in wanted.indices {
      let entry = wanted[index]
      switch entry.tag {
      case 0x02BC: places.xmp = block(entry)
      case 0x83BB: places.iptc = block(entry)
      case 0x927C: if places.makerNote == nil { places.makerNote = entry.value }
      case 0x8769: if exifDirectory == nil { exifDirectory = pointer(entry) }
      case 0x8825: if gpsDirectory == nil { gpsDirectory = pointer(entry) }
      default: copy(entry, directory, to: blob)
      }
    }
    return true
  }

  /// Lists the wanted entries first, because copying a value may move the window away from the directory.
  private mutating func collect(_ offset: Int, _ directory: ExifBlob.Directory) -> Bool {
    let (countSize, entrySize, inlineSize) = isBig ? (8, 20, 8) : (2, 12, 4)
    wanted.removeAll(keepingCapacity: true)
    guard let head = bytes(offset, countSize) else { return false }
    let count = isBig ? Int(clamping: head.uint64(at: 0, order)) : Int(head.uint16(at: 0, order))
    let listed = min(count, Self.entryLimit)
    // A directory that the end cuts off, or whose first entry has an unknown type, is none.
    guard listed > 0, let table = structure.part(at: offset, count: countSize + listed * entrySize),
      window.bytes(at: table.end - 1, count: 1) != nil
    else { return false }
    var position = table.start + countSize
    var left = listed
    while left > 0 {
      let piece = min(left, FileWindow.pieceBytes / entrySize)
      guard let bytes = window.bytes(at: position, count: piece * entrySize) else { break }
      if left == listed, TIFFStructure.size(ofType: bytes.uint16(at: 2, order)) == 0 { return false }
      for at in stride(from: 0, to: piece * entrySize, by: entrySize) {
        let tag = bytes.uint16(at: at, order)
        guard Self.isWanted(tag, directory) else { continue }
        let type = bytes.uint16(at: at + 2, order)
        let size = TIFFStructure.size(ofType: type)
        let count = isBig ? Int(clamping: bytes.uint64(at: at + 4, order)) : Int(bytes.uint32(at: at + 4, order))
        guard size > 0, count > 0, count <= Int(UInt32.max) else { continue }
        let inline = at + entrySize - inlineSize
        if count * size <= inlineSize {
          let value = FilePart(start: position + inline, end: position + inline + count * size)
          wanted.append(Entry(tag: tag, type: type, count: count, value: value))
        } else {
          let offset = isBig ? Int(clamping: bytes.uint64(at: inline, order)) : Int(bytes.uint32(at: inline, order))
          guard let value = structure.part(at: offset, upTo: count * size) else { continue }
          wanted.append(Entry(tag: tag, type: type, count: count, value: value))
        }
      }
      position += piece * entrySize
      left -= piece
    }
    return true
  }

  private func copy(_ entry: Entry, _ directory: ExifBlob.Directory, to blob: ExifBlob) {
    let size = TIFFStructure.size(ofType: entry.type)
    var count = entry.count
    if count * size > ExifBlob.largestValue {
      // A long text is cut. Any other value of that length does not belong to the tag.
      guard size == 1 else { return }
      count = ExifBlob.largestValue
    }
    guard entry.value.count >= count * size, let bytes = window.bytes(at: entry.value.start, count: count * size)
    else { return }
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

  /// A block of another format, if it lies within the structure completely.
  private func block(_ entry: Entry) -> FilePart? {
    entry.value.count == entry.count * TIFFStructure.size(ofType: entry.type) ? entry.value : nil
  }

  private func pointer(_ entry: Entry) -> Int? {
    let size = TIFFStructure.size(ofType: entry.type)
    guard entry.value.count >= size, let bytes = window.bytes(at: entry.value.start, count: size) else { return nil }
    switch entry.type {
    case 4, 9, 13: return Int(bytes.uint32(at: 0, order))
    case 16, 18: return Int(exactly: bytes.uint64(at: 0, order))
    default: return nil
    }
  }

  private func bytes(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer? {
    structure.part(at: offset, count: count).flatMap { window.bytes(at: $0.start, count: count) }
  }

  /// The maker note 0x927C never comes into the block. It takes a third of libexif's time and caused most of its
  /// vulnerabilities. ``MakerNote`` and ``AppleMakerNote`` read what is wanted of it.
  private static func isWanted(_ tag: UInt16, _ directory: ExifBlob.Directory) -> Bool {
    if directory == .gps { return (1...7).contains(tag) || tag == 29 }
    switch tag {
    case 0x0100, 0x0101, 0x010F, 0x0110, 0x0112, 0x4746, 0x4749, 0x9C9B, 0x9C9C, 0x9C9E:
      return directory == .main
    case 0x02BC, 0x83BB, 0x8769: return directory == .main
    case 0x010E, 0x0132, 0x829A, 0x829D, 0x8825, 0x8827, 0x8831...0x8833, 0x9003, 0x9004, 0x9010...0x9012, 0x9201,
      0x9202,
      0x9209, 0x920A, 0x927C, 0x9286, 0x9290...0x9292, 0xA434:
      return true
    default: return false
    }
  }
}
