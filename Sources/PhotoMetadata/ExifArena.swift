import CExif
import CExifArena

/// The memory that libexif works in, file after file: 32 KiB, and more for a while where an EXIF block needs it.
///
/// Of one thread at a time, as its reader.
final class ExifArena {
  /// More than a camera's entries need; what does not fit is malloc's until the block is read.
  private static let capacity = 32_768

  private let arena: UnsafeMutablePointer<exifarena>

  init() {
    arena = .allocate(capacity: 1)
    let block = UnsafeMutableRawPointer.allocate(byteCount: Self.capacity, alignment: 16)
    arena.initialize(to: exifarena(block: block, capacity: Self.capacity, used: 0, overflow: nil))
  }

  deinit {
    arena.pointee.block.deallocate()
    arena.deallocate()
  }

  /// Gives an empty `ExifData` to `body`; no pointer into it is valid afterwards. `nil` where memory is out.
  func withData<Value>(_ body: (UnsafeMutablePointer<ExifData>) -> Value) -> Value? {
    defer { exifarena_end(arena) }
    guard let data = exifarena_begin(arena) else { return nil }
    return body(data)
  }
}
