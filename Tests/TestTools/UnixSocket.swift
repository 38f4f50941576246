import Glibc

/// Connects to a Unix socket with plain system calls, so that a test decides what is sent and when it reads.
///
/// - Returns: the descriptor, which the caller closes.
package func connectedSocket(path: String) throws -> CInt {
  let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
  guard descriptor >= 0 else { throw SystemCallError("socket") }
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  let result = withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  guard result == 0 else {
    let error = SystemCallError("connect")
    close(descriptor)
    throw error
  }
  var limit = timeval(tv_sec: socketTimeoutSeconds, tv_usec: 0)
  for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
    setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
  }
  return descriptor
}

/// After this time, a blocking call on a socket of ``connectedSocket(path:)`` fails with EAGAIN. Without a limit, a
/// missing reply would block the thread of a test for ever.
private let socketTimeoutSeconds = 300

/// A system call failed.
package struct SystemCallError: Error, CustomStringConvertible {
  package let call: String
  package let code: CInt

  /// Takes the code from `errno`.
  package init(_ call: String) {
    self.call = call
    code = errno
  }

  package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
