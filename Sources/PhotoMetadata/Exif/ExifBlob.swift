/// The compact EXIF block for libexif: only the wanted tags, with values of at most 8 KiB.
///
/// libexif drops values beyond 64 KiB, has no option to skip maker notes, and doesn't know type 129 (UTF-8, EXIF 3.0).
/// So ``ExifDirectories`` copies the wanted entries out of the file, whatever its container. This type writes them as
/// one small TIFF structure: header, values, then the directories.
final class ExifBlob {
  enum Directory: Int, CaseIterable {
    case main, exif, gps
  }

  static let largestValue = 8192
  private static let signature: StaticString = "Exif\0\0"
  private static let capacity = 65_536
  /// The end of the space for values. The rest holds three directories of 64 entries.
  private static let valueLimit = capacity - 4096
  private static let entryLimit = 64
  /// An entry is tag, type, count, and a value of up to 4 bytes or the value's offset in the block (TIFF 6.0, section
  /// 2).
  private static let entryBytes = 12
  private static let tableBytes = entryLimit * entryBytes

  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ExifBlob.capacity, alignment: 16)
  private var end = 0
  private var order: ByteOrder = .little
  /// The entries of each directory as they will be written, one table after another.
  private let tables = UnsafeMutableRawBufferPointer.allocate(
    byteCount: (Directory.allCases.count + 1) * ExifBlob.tableBytes, alignment: 16)
  private var counts = (main: 0, exif: 0, gps: 0)

  deinit {
    buffer.deallocate()
    tables.deallocate()
  }

  /// Begins an empty block.
  func begin(_ order: ByteOrder) {
    self.order = order
    counts = (0, 0, 0)
    end = 0
    put(UnsafeRawBufferPointer(start: Self.signature.utf8Start, count: Self.signature.utf8CodeUnitCount))
    put16(order == .little ? 0x4949 : 0x4D4D)
    put16(42)
    put32(0)
  }

  /// Adds a value in the block's byte order; `false` if it doesn't fit.
  @discardableResult
  func add(tag: UInt16, type: UInt16, count: UInt32, bytes: UnsafeRawBufferPointer, to directory: Directory) -> Bool {
    guard bytes.count <= Self.largestValue, end + bytes.count <= Self.valueLimit,
      self.count(directory) < Self.entryLimit
    else { return false }
    let value: UInt32
    if bytes.count <= 4 {
      var inline: UInt32 = 0
      withUnsafeMutableBytes(of: &inline) { $0.copyMemory(from: bytes) }
      value = inline
    } else {
      value = inOrder(UInt32(end - Self.signature.utf8CodeUnitCount))
      put(bytes)
    }
    append(tag: tag, type: type, count: count, value: value, to: directory)
    return true
  }

  var isEmpty: Bool { counts.main == 0 && counts.exif == 0 && counts.gps == 0 }

  /// Writes the directories and returns the whole block, which is valid until the next ``begin(_:)``.
  func finish() -> UnsafeRawBufferPointer {
    for directory in [Directory.exif, .gps] where count(directory) > 0 {
      let offset = inOrder(UInt32(end - Self.signature.utf8CodeUnitCount))
      write(directory)
      append(tag: directory == .exif ? 0x8769 : 0x8825, type: 4, count: 1, value: offset, to: .main)
    }
    let first = inOrder(UInt32(end - Self.signature.utf8CodeUnitCount))
    buffer.storeBytes(of: first, toByteOffset: Self.signature.utf8CodeUnitCount + 4, as: UInt32.self)
    write(.main)
    return UnsafeRawBufferPointer(rebasing: buffer[..<end])
  }

  private func count(_ directory: Directory) -> Int {
    switch directory {
    case .main: counts.main
    case .exif: counts.exif
    case .gps: counts.gps
    }
  }

  /// Appends an entry. The main directory's table is the last and has room for the two entries that `finish` adds.
  private func append(tag: UInt16, type: UInt16, count: UInt32, value: UInt32, to directory: Directory) {
    let place = table(directory) + self.count(directory) * Self.entryBytes
    tables.storeBytes(of: inOrder(tag), toByteOffset: place, as: UInt16.self)
    tables.storeBytes(of: inOrder(type), toByteOffset: place + 2, as: UInt16.self)
    tables.storeBytes(of: inOrder(count), toByteOffset: place + 4, as: UInt32.self)
    tables.storeBytes(of: value, toByteOffset: place + 8, as: UInt32.self)
    switch directory {
    case .main: counts.main += 1
    case .exif: counts.exif += 1
    case .gps: counts.gps += 1
    }
  }

  private func table(_ directory: Directory) -> Int {
    switch directory {
    case .exif: 0
    case .gps: Self.tableBytes
    case .main: 2 * Self.tableBytes
    }
  }

  private func write(_ directory: Directory) {
    let count = count(directory)
    put16(UInt16(count))
    let start = table(directory)
    put(UnsafeRawBufferPointer(rebasing: tables[start..<start + count * Self.entryBytes]))
    put32(0)
  }

  private func put(_ bytes: UnsafeRawBufferPointer) {
    UnsafeMutableRawBufferPointer(rebasing: buffer[end..<end + bytes.count]).copyMemory(from: bytes)
    end += bytes.count
  }

  private func put16(_ value: UInt16) {
    buffer.storeBytes(of: inOrder(value), toByteOffset: end, as: UInt16.self)
    end += 2
  }

  private func put32(_ value: UInt32) {
    buffer.storeBytes(of: inOrder(value), toByteOffset: end, as: UInt32.self)
    end += 4
  }

  private func inOrder<Number: FixedWidthInteger>(_ value: Number) -> Number {
    order == .little ? value.littleEndian : value.bigEndian
  }
}
