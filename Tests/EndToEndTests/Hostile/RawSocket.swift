import Foundation
import Glibc

/// A connection on which a test sends and receives any bytes, from one thread at a time. No system call on it waits
/// longer than its timeout.
final class RawSocket {
  private let descriptor: CInt
  private var received: [UInt8] = []
  /// Whether a read found that the peer closed the connection.
  private(set) var isClosed = false
  private var chunk = [UInt8](repeating: 0, count: 1 << 16)

  /// - Throws: `POSIXError` if the service does not accept the connection.
  init(_ path: String, timeout: Duration = .seconds(5)) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Self.failure() }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    setTimeout(timeout)
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    // `deinit` closes the descriptor, also after this error.
    guard connected == 0 else { throw Self.failure() }
  }

  deinit { close(descriptor) }

  static func failure() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

  func setTimeout(_ timeout: Duration) {
    let (seconds, attoseconds) = timeout.components
    var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  /// - Returns: false if the peer closed the connection, or read nothing until the timeout.
  @discardableResult
  func send(_ bytes: some Collection<UInt8>) -> Bool {
    let bytes = Array(bytes)
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// The next message without its NUL; nil if the peer closed the connection, or sent nothing until the timeout.
  func receive() -> [UInt8]? {
    // A message may come in many pieces. Only the new piece is searched.
    var start = 0
    while true {
      if let end = received[start...].firstIndex(of: 0) {
        defer { received.removeSubrange(...end) }
        return Array(received[..<end])
      }
      start = received.count
      guard read(1 << 16) > 0 else { return nil }
    }
  }

  /// Reads at most this many bytes, for a later `receive()`.
  @discardableResult
  func read(_ count: Int) -> Int {
    let taken = recv(descriptor, &chunk, min(count, chunk.count), 0)
    if taken > 0 { received += chunk[..<taken] }
    if taken == 0 || taken < 0 && errno != EAGAIN && errno != EINTR { isClosed = true }
    return taken
  }

  func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }
}

/// Runs blocking work on a separate thread, because it must not block a thread of the tests' pool.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
  }
}
