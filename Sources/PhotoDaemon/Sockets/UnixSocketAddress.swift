import Glibc

/// A `sockaddr_un` with its length. It is a path, or, with a leading `@`, a name in the abstract namespace (unix(7)).
struct UnixSocketAddress {
  /// `sun_path` has 108 bytes, and the last is the NUL.
  static let maximumPathBytes = 107

  private var address = sockaddr_un()
  private let length: socklen_t

  /// - Returns: Nil for an empty path, or one longer than ``maximumPathBytes``.
  init?(_ path: String) {
    var bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count <= Self.maximumPathBytes else { return nil }
    let isAbstract = bytes[0] == UInt8(ascii: "@")
    if isAbstract { bytes[0] = 0 }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let header = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    length = socklen_t(header + bytes.count + (isAbstract ? 0 : 1))
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }

  /// - Returns: A descriptor that closes on exec, or -1 with `errno`.
  static func makeSocket(_ type: __socket_type, flags: __socket_type? = nil) -> Int32 {
    socket(AF_UNIX, Int32(type.rawValue | SOCK_CLOEXEC.rawValue | (flags?.rawValue ?? 0)), 0)
  }
}

extension UnixSocketAddress {
  /// The path to which a socket is bound; nil if it has no name, or one in the abstract namespace.
  static func path(of descriptor: Int32) -> String? {
    var address = sockaddr_un()
    var size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let isKnown = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
    }
    guard isKnown, Int32(address.sun_family) == AF_UNIX else { return nil }
    let path = withUnsafeBytes(of: address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return path.isEmpty ? nil : path
  }

  /// An integer option of the SOL_SOCKET level, or nil with `errno`.
  static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
  }
}
