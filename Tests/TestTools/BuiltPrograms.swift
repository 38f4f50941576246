import Foundation
import Glibc

/// The programs under test.
package enum BuiltPrograms {
  /// The folder of the test bundle, if PHOTOD_PRODUCTS names no other. It is absolute: a program may be started from
  /// elsewhere.
  package static let folder: String = {
    protectFoundation()
    if let named = ProcessInfo.processInfo.environment["PHOTOD_PRODUCTS"] { return named }
    let bundle = CommandLine.arguments.first { $0.contains(".xctest") }
    guard let bundle, let end = bundle.range(of: "/[^/]*\\.xctest", options: .regularExpression) else {
      return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    }
    return URL(fileURLWithPath: String(bundle[..<end.lowerBound])).path
  }()

  package static func path(_ name: String) -> String { folder + "/" + name }

  /// `Process.run()` of Foundation copies 256 bytes from the start of each name in /proc/self/fd, however short it is. From
  /// about 1,360 open descriptors on, the last name is at the end of its buffer of 32 KiB. If that is at the end of a heap, the
  /// copy ends the tests with signal 11. With this limit, malloc(3) gives the buffer a mapping, which has room behind it.
  private static func protectFoundation() {
    // M_MMAP_THRESHOLD of malloc.h, which no header imported by Swift declares.
    guard let symbol = dlsym(nil, "mallopt") else { return }
    _ = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)(-3, 32 << 10)
  }
}
