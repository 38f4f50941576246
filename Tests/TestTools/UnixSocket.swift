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
  return descriptor
}

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
