import Glibc
import PhotoTestSupport
import Testing

/// A connection that is read only when the test says so.
final class VarlinkSocketClient {
  private let socket: CInt

  init(path: String) throws { socket = try connectedSocket(path: path) }

  deinit { close(socket) }

  func send(_ message: String) throws {
    let bytes = Array(message.utf8) + [0]
    try #require(write(socket, bytes, bytes.count) == bytes.count)
  }

  /// Reads the available bytes, and waits for the first one.
  @discardableResult
  func receive() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = read(socket, &bytes, bytes.count)
    try #require(count > 0, "read: \(count < 0 ? String(cString: strerror(errno)) : "the connection was closed")")
    return Array(bytes[..<count])
  }
}
