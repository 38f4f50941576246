import Glibc
import Testing

/// A connection of which the test says when it is read.
final class VarlinkSocketClient {
  private let socket: CInt

  init(path: String) throws {
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    try #require(socket >= 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(connected == 0, "\(String(cString: strerror(errno)))")
  }

  deinit { close(socket) }

  func send(_ message: String) throws {
    let bytes = Array(message.utf8) + [0]
    try #require(write(socket, bytes, bytes.count) == bytes.count)
  }

  /// Reads what is there; waits for the first byte.
  @discardableResult
  func receive() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = read(socket, &bytes, bytes.count)
    try #require(count > 0)
    return Array(bytes[..<count])
  }
}
