/// The compact EXIF block that libexif is given: only the tags that are wanted, none larger than 8 KiB.
///
/// libexif drops values that lie beyond 64 KiB, can't be told to leave maker notes alone, and doesn't know type 129
/// (UTF-8, EXIF 3.0). So ``ExifDirectories`` copies what is wanted out of the file, whatever its container, and this
/// writes it as one small TIFF structure: header, values, then the directories.
final class ExifBlob {
  enum Directory: Int, CaseIterable {
    case main, exif, gps
  }

  /// One entry as it will be written: `value` holds up to 4 bytes, or the offset of the value in the block.
  private struct Entry {
    var tag: UInt16
    var type: UInt16
    var count: UInt32
    var value: (UInt8, UInt8, UInt8, UInt8)
  }

  static let largestValue = 8192
  private static let signature: StaticString = "Exif\0\0"
  private static let capacity = 65_536
  /// Where values end: what is left holds three directories of 64 entries.
  private static let valueLimit = capacity - 4096
  private static let entryLimit = 64

  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ExifBlob.capacity, alignment: 16)
  private var end = 0
  private var order: ByteOrder = .little
  private var entries: [[Entry]] = [[], [], []]

  deinit { buffer.deallocate() }

  /// Begins an empty block.
  func begin(_ order: ByteOrder) {
    self.order = order
    for index in entries.indices { entries[index].removeAll(keepingCapacity: true) }
    end = 0
    for index in 0..<Self.signature.utf8CodeUnitCount { put(Self.signature.utf8Start[index]) }
    put(order == .little ? 0x49 : 0x4D)
    put(order == .little ? 0x49 : 0x4D)
    put16(42)
    put32(0)
  }

  /// Adds a value that is in the block's byte order; `false` where it doesn't fit.
  @discardableResult
  func add(tag: UInt16, type: UInt16, count: UInt32, bytes: UnsafeRawBufferPointer, to directory: Directory) -> Bool {
    guard bytes.count <= Self.largestValue, end + bytes.count <= Self.valueLimit,
      entries[directory.rawValue].count < Self.entryLimit
    else { return false }
    var entry = Entry(tag: tag, type: type, count: count, value: (0, 0, 0, 0))
    if bytes.count <= 4 {
      withUnsafeMutableBytes(of: &entry.value) { $0.copyMemory(from: bytes) }
    } else {
      let offset = UInt32(end - Self.signature.utf8CodeUnitCount)
      entry.value = inOrder(offset)
      UnsafeMutableRawBufferPointer(rebasing: buffer[end..<end + bytes.count]).copyMemory(from: bytes)
      end += bytes.count
    }
    entries[directory.rawValue].append(entry)
    return true
  }

  var isEmpty: Bool { entries.allSatisfy(\.isEmpty) }

  /// Writes the directories and gives the whole block, valid until the next ``begin(_:)``.
  func finish() -> UnsafeRawBufferPointer {
    for directory in [Directory.exif, .gps] where !entries[directory.rawValue].isEmpty {
      let offset = UInt32(end - Self.signature.utf8CodeUnitCount)
      write(entries[directory.rawValue])
      entries[Directory.main.rawValue].append(
        Entry(tag: directory == .exif ? 0x8769 : 0x8825, type: 4, count: 1, value: inOrder(offset)))
    }
    let first = inOrder(UInt32(end - Self.signature.utf8CodeUnitCount))
    let position = Self.signature.utf8CodeUnitCount + 4
    (buffer[position], buffer[position + 1], buffer[position + 2], buffer[position + 3]) = first
    write(entries[Directory.main.rawValue])
    return UnsafeRawBufferPointer(rebasing: buffer[..<end])
  }

  private func write(_ entries: [Entry]) {
    put16(UInt16(entries.count))
    for entry in entries {
      put16(entry.tag)
      put16(entry.type)
      put32(entry.count)
      put(entry.value.0)
      put(entry.value.1)
      put(entry.value.2)
      put(entry.value.3)
    }
    put32(0)
  }

  private func put(_ byte: UInt8) {
    buffer[end] = byte
    end += 1
  }

  private func put16(_ value: UInt16) {
    put(UInt8(truncatingIfNeeded: order == .little ? value : value >> 8))
    put(UInt8(truncatingIfNeeded: order == .little ? value >> 8 : value))
  }

  private func put32(_ value: UInt32) {
    let bytes = inOrder(value)
    put(bytes.0)
    put(bytes.1)
    put(bytes.2)
    put(bytes.3)
  }

  private func inOrder(_ value: UInt32) -> (UInt8, UInt8, UInt8, UInt8) {
    let ordered = order == .little ? value.littleEndian : value.bigEndian
    return withUnsafeBytes(of: ordered) { ($0[0], $0[1], $0[2], $0[3]) }
  }
}
