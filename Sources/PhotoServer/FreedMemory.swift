import Glibc

/// What the C library keeps of freed memory because something behind it is in use.
enum FreedMemory {
  /// Gives it back to the kernel after a reply of megabytes: the pages that SQLite read for it lie between what stays. Some
  /// milliseconds; nothing after a short reply.
  static func giveBack(afterSending byteCount: Int) {
    if byteCount > 4 << 20 { _ = trim?(0) }
  }

  /// malloc_trim(3), which is in no header that Swift imports.
  private static let trim: (@convention(c) (Int) -> CInt)? = {
    guard let symbol = dlsym(nil, "malloc_trim") else { return nil }
    return unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)
  }()
}
