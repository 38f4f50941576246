import Glibc

/// The bounded view that a file is read through: its first 64 KiB, and one smaller window that moves beyond them.
///
/// Whatever a file's lengths and offsets claim, one file costs at most ``headBytes`` + ``budgetBytes`` bytes in
/// 1 + ``budgetReads`` calls of `pread`, and no memory beyond the two buffers, which live as long as the reader.
/// A pointer it hands out is valid until the next call of ``bytes(at:count:ahead:)``.
final class FileWindow {
  /// Covers the metadata of 97 % of JPEGs in one read.
  static let headBytes = 65_536
  /// Of reads beyond the head: enough for 500 JPEG segments or the directories of a TIFF file, and an XMP packet.
  static let budgetBytes = 2 << 20
  static let budgetReads = 512
  /// The largest piece that can be asked for.
  static let pieceBytes = 16_384

  /// How much a read beyond the head brings in: a TIFF directory's values mostly lie close to it.
  static let readAhead = 12_288
  private static let reachBytes = pieceBytes + 8192

  private let head = UnsafeMutableRawBufferPointer.allocate(byteCount: FileWindow.headBytes, alignment: 16)
  private let reach = UnsafeMutableRawBufferPointer.allocate(byteCount: FileWindow.reachBytes, alignment: 16)
  private var descriptor: Int32 = -1
  private(set) var headCount = 0
  private var reachStart = 0
  private var reachCount = 0
  private var bytesLeft = 0
  private var readsLeft = 0

  /// The `errno` of the first read that failed.
  private(set) var readError: Int32?
  /// Something was asked for beyond the budget.
  private(set) var isExhausted = false

  deinit {
    head.deallocate()
    reach.deallocate()
  }

  /// Turns to another file and reads its head. The descriptor stays the caller's, its offset untouched.
  ///
  /// - Parameter byteCount: the size by `fstat`: once so much was read no further call looks for the end.
  func open(_ descriptor: Int32, byteCount: Int64) {
    self.descriptor = descriptor
    bytesLeft = Self.budgetBytes
    readsLeft = Self.budgetReads
    readError = nil
    isExhausted = false
    reachCount = 0
    headCount = 0
    headCount = read(into: head, at: 0, sufficient: max(1, Int(clamping: byteCount)))
  }

  /// The beginning of the file, all of it where it is no longer than ``headBytes``.
  var headBuffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: head[..<headCount]) }

  /// Exactly `count` bytes at `offset`; `nil` where the file ends before, a read fails or the budget is spent.
  ///
  /// - Parameter ahead: how many bytes to read where the piece isn't at hand: few when walking along markers.
  func bytes(at offset: Int, count: Int, ahead: Int = FileWindow.readAhead) -> UnsafeRawBufferPointer? {
    guard offset >= 0, count >= 0, count <= Self.pieceBytes, offset <= Int.max - count else { return nil }
    if offset + count <= headCount { return UnsafeRawBufferPointer(rebasing: head[offset..<offset + count]) }
    guard headCount == Self.headBytes else { return nil }
    if offset < reachStart || offset + count > reachStart + reachCount {
      guard move(to: offset, count: count, ahead: ahead) else { return nil }
    }
    let start = offset - reachStart
    return UnsafeRawBufferPointer(rebasing: reach[start..<start + count])
  }

  /// The next bytes of something long: as many as the head still has, or up to ``pieceBytes`` by a read of their own;
  /// `nil` as for ``bytes(at:count:ahead:)``.
  func piece(at offset: Int, upTo count: Int) -> UnsafeRawBufferPointer? {
    guard offset >= 0, count > 0 else { return nil }
    if offset < headCount {
      return UnsafeRawBufferPointer(rebasing: head[offset..<offset + min(count, headCount - offset)])
    }
    return bytes(at: offset, count: min(count, Self.pieceBytes), ahead: 0)
  }

  private func move(to offset: Int, count: Int, ahead: Int) -> Bool {
    // A directory is often written after its values: a long read begins a little before what was asked for.
    let before = ahead < Self.readAhead ? 0 : min(offset, 4096)
    let wanted = max(before + count, ahead)
    guard readsLeft > 0, bytesLeft >= wanted else {
      isExhausted = true
      return false
    }
    readsLeft -= 1
    bytesLeft -= wanted
    reachStart = offset - before
    reachCount = read(into: UnsafeMutableRawBufferPointer(rebasing: reach[..<wanted]), at: reachStart)
    return reachCount >= before + count
  }

  private func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int, sufficient: Int = .max) -> Int {
    var done = 0
    while done < min(buffer.count, sufficient), let base = buffer.baseAddress {
      let count = pread(descriptor, base + done, buffer.count - done, off_t(offset + done))
      if count > 0 {
        done += count
      } else if count == 0 {
        break
      } else if errno != EINTR {
        if readError == nil { readError = errno }
        break
      }
    }
    return done
  }
}

// MARK: - Numbers

/// The order of a number's bytes in a file.
enum ByteOrder {
  case little, big
}

extension UnsafeRawBufferPointer {
  /// The caller has checked the bounds, as for every subscript here.
  func uint16(at offset: Int, _ order: ByteOrder) -> UInt16 { number(at: offset, order) }

  func uint32(at offset: Int, _ order: ByteOrder) -> UInt32 { number(at: offset, order) }

  func uint64(at offset: Int, _ order: ByteOrder) -> UInt64 { number(at: offset, order) }

  private func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, _ order: ByteOrder) -> Number {
    let number = loadUnaligned(fromByteOffset: offset, as: Number.self)
    return order == .little ? Number(littleEndian: number) : Number(bigEndian: number)
  }

  /// Whether these bytes stand at `offset`; `false` where the buffer ends before.
  func holds(_ text: StaticString, at offset: Int = 0) -> Bool {
    guard offset >= 0, count - offset >= text.utf8CodeUnitCount else { return false }
    for index in 0..<text.utf8CodeUnitCount where self[offset + index] != text.utf8Start[index] { return false }
    return true
  }
}
