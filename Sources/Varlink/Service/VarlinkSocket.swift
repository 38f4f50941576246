import SystemErrors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The system calls for Unix stream sockets that a service needs before it serves.
public enum VarlinkSocket {
  /// The failure of an operation on a socket.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reasons.
    public enum Reason: Sendable, Hashable {
      /// A service answers at this path.
      case inUse
      /// Something other than a socket is at the path. It is left alone.
      case notASocket
      /// The path is longer than the 107 bytes of a socket's address (unix(7)).
      case pathTooLong
      /// The descriptor does not listen.
      case notListening
      /// The system call with this name failed.
      case system(call: String, errno: CInt)
    }
    /// The reason.
    public let reason: Reason
    /// The path of the socket.
    public let path: String

    /// The path, the reason and the remedy, for a log.
    public var description: String {
      switch reason {
      case .inUse: "\(path): another service listens here; end it, or use another path"
      case .notASocket: "\(path): there is a file that is no socket; remove it, or use another path"
      case .pathTooLong: "\(path): longer than \(VarlinkSocket.maximumPathBytes) bytes; use a shorter path"
      case .notListening: "\(path): not a Unix stream socket that listens"
      case .system(let call, let number): "\(path): \(call): \(errorText(number))"
      }
    }

    /// The reason for a client, without the path.
    var clientReason: String {
      switch reason {
      case .notASocket: "it is no socket"
      case .pathTooLong: "the path of a socket has at most \(VarlinkSocket.maximumPathBytes) bytes"
      case .system(let call, let number): "\(call): \(errorText(number))"
      case .inUse, .notListening: description
      }
    }
  }

  /// The size of sun_path of unix(7) without its NUL.
  public static let maximumPathBytes = 107

  /// Makes a listening socket at a path. If the parent directory is missing, it is created with mode 0700.
  ///
  /// The socket file of a dead service is replaced. One on which a service answers is not. The decision is made under a
  /// lock on the directory, so that two services that start at the same time can't replace each other's socket.
  ///
  /// - Parameter mode: the permissions of the socket file from its first moment on, whatever the umask.
  /// - Returns: a descriptor for `VarlinkService.serve`, closed on exec. The program that ends the service removes the
  ///   file.
  /// - Throws: `Failure`.
  public static func listen(path: String, mode: mode_t = 0o600) throws -> CInt {
    guard path.utf8.count <= maximumPathBytes else { throw Failure(reason: .pathTooLong, path: path) }
    let slash = path.lastIndex(of: "/")
    let directory = slash.map { String(path[..<$0]) } ?? "."
    let parent = directory.isEmpty ? "/" : directory
    try makeDirectory(parent)
    let lock = try check("open", parent, open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    defer { close(lock) }
    try check("flock", parent, flock(lock, LOCK_EX))
    try removeStale(path)

    let descriptor = try makeSocket(path)
    do {
      // Linux takes the file's mode from the socket's own inode, less the umask.
      try check("fchmod", path, fchmod(descriptor, mode))
      try check("bind", path, withAddress(path) { bind(descriptor, $0, $1) })
      try check("chmod", path, chmod(path, mode))
      try check("listen", path, Glibc.listen(descriptor, 128))
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Makes a connected, non-blocking socket.
  ///
  /// - Throws: `Failure`. EAGAIN in it means that too many connections are waiting at the service.
  static func connect(path: String) throws -> CInt {
    guard path.utf8.count <= maximumPathBytes else { throw Failure(reason: .pathTooLong, path: path) }
    let descriptor = try makeSocket(path)
    do {
      // Linux also replies ECONNREFUSED for a file or a folder, which is no dead service.
      var status = stat()
      if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
        throw Failure(reason: .notASocket, path: path)
      }
      try check("connect", path, withAddress(path) { Glibc.connect(descriptor, $0, $1) })
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  static func checkListening(_ descriptor: CInt) throws {
    var isListening: CInt = 0
    var size = socklen_t(MemoryLayout<CInt>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening != 0 else {
      throw Failure(reason: .notListening, path: "descriptor \(descriptor)")
    }
  }

  // MARK: -

  private static func makeSocket(_ path: String) throws -> CInt {
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    return try check("socket", path, socket(AF_UNIX, kind, 0))
  }

  /// Unlinks a socket on which no process listens.
  private static func removeStale(_ path: String) throws {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw Failure(reason: .system(call: "lstat", errno: errno), path: path)
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw Failure(reason: .notASocket, path: path) }
    do {
      close(try connect(path: path))
      throw Failure(reason: .inUse, path: path)
    } catch let failure as Failure {
      switch failure.reason {
      case .system("connect", ECONNREFUSED): try check("unlink", path, unlink(path))
      case .system("connect", EAGAIN): throw Failure(reason: .inUse, path: path)
      default: throw failure
      }
    }
  }

  private static func makeDirectory(_ path: String) throws {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      try makeDirectory(String(path[..<slash]))
      if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    }
    throw Failure(reason: .system(call: "mkdir", errno: errno), path: path)
  }

  private static func withAddress<R>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(maximumPathBytes)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  @discardableResult
  private static func check(_ call: String, _ path: String, _ result: CInt) throws -> CInt {
    if result < 0 { throw Failure(reason: .system(call: call, errno: errno), path: path) }
    return result
  }
}
