#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A process as described by proc(5). Each part is nil if it can't be read, because the process ended or is hidden from
/// us.
struct ProcessName: Sendable, Hashable {
  /// `comm`: the first 15 bytes of the program's name.
  var program: String?
  /// The first word of its command line.
  var command: String?

  /// - Complexity: two small reads, some 10 µs.
  init(of pid: Int32) {
    if let name = Self.read("/proc/\(pid)/comm") {
      program = String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
    if let line = Self.read("/proc/\(pid)/cmdline"), !line.isEmpty {
      command = String(decoding: line.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// Reads the first 4,096 bytes.
  private static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { return nil }
    return Array(bytes.prefix(count))
  }
}
