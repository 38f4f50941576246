import Glibc

/// Returns freed memory to the kernel that the C library would keep because memory behind it is in use.
package enum FreedMemory {
  /// Makes each block of megabytes a separate mapping, which returns to the kernel as soon as it is freed.
  ///
  /// Without this, the C library raises its limit for mappings to the size of each one that is freed, up to 32 MiB.
  /// Buffers of long calls then lie between other blocks, and photod keeps their memory after they are freed. Long
  /// calls made photod take twice as much memory as their bound. It must be called once, at the start.
  package static func giveBackLargeBlocks() { _ = setOption?(mmapThreshold, largeBlockBytes) }

  /// `M_MMAP_THRESHOLD` of malloc.h. Replies have up to 1 MiB, and a new mapping for each would slow them down.
  private static let mmapThreshold: CInt = -3
  private static let largeBlockBytes: CInt = 4 << 20

  /// Returns freed memory to the kernel after a reply of megabytes, since the pages that SQLite read for it lie between
  /// blocks in use. It takes some milliseconds, and does nothing after a short reply.
  static func giveBack(afterSending byteCount: Int) {
    if byteCount > 4 << 20 { _ = trim?(0) }
  }

  /// malloc_trim(3), which no header imported by Swift declares.
  private static let trim: (@convention(c) (Int) -> CInt)? = {
    guard let symbol = dlsym(nil, "malloc_trim") else { return nil }
    return unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)
  }()

  /// mallopt(3), which no header imported by Swift declares.
  private static let setOption: (@convention(c) (CInt, CInt) -> CInt)? = {
    guard let symbol = dlsym(nil, "mallopt") else { return nil }
    return unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
  }()
}
