import FileContent
import Glibc

/// The bounded view through which a file is read: its first 64 KiB, and one smaller window that moves beyond them.
///
/// Whatever lengths and offsets a file claims, it costs at most ``headBytes`` + ``budgetBytes`` bytes in 1 +
/// ``budgetReads`` calls of `pread`. The two buffers live as long as the reader, and no other memory is used. No read
/// begins or ends beyond the file's size, so an error of `pread` comes from the disk and never from the file. A
/// returned pointer is valid until the next call of ``bytes(at:count:ahead:)``.
final class FileWindow {
  /// One read of this size covers the metadata of 97 % of JPEGs.
  static let headBytes = 65_536
  /// The budget for reads beyond the head. It suffices for 500 JPEG segments, or a TIFF file's directories and an XMP
  /// packet.
  static let budgetBytes = 2 << 20
  static let budgetReads = 512
  /// The largest piece that can be requested.
  static let pieceBytes = 16_384

  /// The size of a read beyond the head. A TIFF directory's values are usually close to it.
  static let readAhead = 12_288
  private static let reachBytes = pieceBytes + 8192

  private let head = UnsafeMutableRawBufferPointer.allocate(byteCount: FileWindow.headBytes, alignment: 16)
  private let reach = UnsafeMutableRawBufferPointer.allocate(byteCount: FileWindow.reachBytes, alignment: 16)
  private var source = FileBytes.descriptor(-1)
  private(set) var headCount = 0
  /// The whole file.
  private(set) var whole = FilePart(start: 0, end: 0)
  private var reachStart = 0
  private var reachCount = 0
  private var bytesLeft = 0
  private var readsLeft = 0

  init() {}

  /// The `errno` of the first read that failed.
  private(set) var readError: Int32?
  /// Whether a piece was requested beyond the budget.
  private(set) var isExhausted = false

  deinit {
    head.deallocate()
    reach.deallocate()
  }

  /// Opens another file and reads its head. The caller keeps the descriptor, and its offset does not move.
  ///
  /// - Parameter byteCount: the size by `fstat`. Bytes beyond it are read only if the first `pread` returns them.
  func open(_ source: FileBytes, byteCount: Int64) {
    self.source = source
    bytesLeft = Self.budgetBytes
    readsLeft = Self.budgetReads
    readError = nil
    isExhausted = false
    reachCount = 0
    headCount = 0
    headCount = read(into: head, at: 0, sufficient: max(1, Int(clamping: byteCount)))
    whole = FilePart(start: 0, end: max(headCount, Int(clamping: byteCount)))
  }

  /// A window over bytes in memory, such as a profile that was inflated.
  convenience init(over bytes: [UInt8]) {
    self.init()
    let source = FileBytes.reader { buffer, offset in
      guard offset < bytes.count else { return 0 }
      let count = min(buffer.count, bytes.count - offset)
      bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
      return count
    }
    open(source, byteCount: Int64(bytes.count))
  }

  /// Closes the file. Its bytes that were read stay.
  func close() { source = .descriptor(-1) }

  /// The beginning of the file, or the whole file if it is no longer than ``headBytes``.
  var headBuffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: head[..<headCount]) }

  /// Exactly `count` bytes at `offset`; `nil` if the file ends before, a read fails or the budget is spent.
  ///
  /// - Parameter ahead: how many bytes to read if the piece is not in memory: few for a walk along markers.
  func bytes(at offset: Int, count: Int, ahead: Int = FileWindow.readAhead) -> UnsafeRawBufferPointer? {
    guard count <= Self.pieceBytes, whole.part(at: offset, count: count) != nil else { return nil }
    if offset + count <= headCount { return UnsafeRawBufferPointer(rebasing: head[offset..<offset + count]) }
    guard headCount == Self.headBytes else { return nil }
    if offset < reachStart || offset + count > reachStart + reachCount {
      guard move(to: offset, count: count, ahead: ahead) else { return nil }
    }
    let start = offset - reachStart
    return UnsafeRawBufferPointer(rebasing: reach[start..<start + count])
  }

  /// The next bytes of a long block: the rest of the head, or up to ``pieceBytes`` by a separate read. `nil` as for
  /// ``bytes(at:count:ahead:)``.
  func piece(at offset: Int, upTo count: Int) -> UnsafeRawBufferPointer? {
    guard offset >= 0, count > 0 else { return nil }
    if offset < headCount {
      return UnsafeRawBufferPointer(rebasing: head[offset..<offset + min(count, headCount - offset)])
    }
    return bytes(at: offset, count: min(count, Self.pieceBytes), ahead: 0)
  }

  private func move(to offset: Int, count: Int, ahead: Int) -> Bool {
    // A directory is often written after its values. So a long read begins a little before the requested offset.
    let before = ahead < Self.readAhead ? 0 : min(offset, 4096)
    let wanted = min(max(before + count, ahead), whole.end - (offset - before))
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
      let count = source.read(
        into: UnsafeMutableRawBufferPointer(start: base + done, count: buffer.count - done), at: offset + done)
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

  /// Whether the buffer contains these bytes at `offset`; `false` if it ends before.
  func holds(_ text: StaticString, at offset: Int = 0) -> Bool {
    guard offset >= 0, count - offset >= text.utf8CodeUnitCount else { return false }
    for index in 0..<text.utf8CodeUnitCount where self[offset + index] != text.utf8Start[index] { return false }
    return true
  }
}
