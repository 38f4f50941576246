import CExif
import CExifArena

/// The memory for libexif, reused from file to file: 32 KiB, and temporarily more if an EXIF block needs it.
///
/// One thread at a time may use it, as for the reader that owns it.
final class ExifArena {
  /// More than a camera's entries need. Further memory comes from malloc, and is freed after the block was read.
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

  /// Passes an empty `ExifData` to `body`. No pointer into it is valid afterwards. `nil` if memory is exhausted.
  func withData<Value>(_ body: (UnsafeMutablePointer<ExifData>) -> Value) -> Value? {
    defer { exifarena_end(arena) }
    guard let data = exifarena_begin(arena) else { return nil }
    return body(data)
  }
}
