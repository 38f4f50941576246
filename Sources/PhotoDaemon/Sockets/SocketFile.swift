import Glibc
import SystemErrors

/// A listening socket with a name in the file system. The name is removed with it.
///
/// The name has mode 0600. If its directory is missing, it is made with mode 0700. A name that a dead process left
/// behind is taken over, but not a name at which a process answers. Two processes that start at once wait for each
/// other at a lock of the directory.
package struct SocketFile: Sendable {
  /// The file of a socket. It shows whether the name still leads to that file.
  struct Identity: Sendable {
    let path: String
    private let device: dev_t
    private let inode: ino_t

    /// - Returns: Nil if there is no file.
    init?(of path: String) {
      var status = stat()
      guard lstat(path, &status) == 0 else { return nil }
      self.path = path
      (device, inode) = (status.st_dev, status.st_ino)
    }

    /// Whether the file is still at its path. This costs a stat(2).
    var isThere: Bool {
      guard let present = Self(of: path) else { return false }
      return (present.device, present.inode) == (device, inode)
    }
  }

  /// Bound and listening; closed by ``close()``.
  package let descriptor: Int32
  private let identity: Identity

  package var path: String { identity.path }
  /// Whether clients can reach the socket by its path.
  var isThere: Bool { identity.isThere }

  /// How many connections the kernel queues for a busy daemon: as many as it allows by default.
  private static let backlog: Int32 = 4096

  /// - Parameter waits: Whether to wait for a process that holds the lock of the directory.
  /// - Throws: `alreadyRunning` if a process answers there, which the error names; `usage` for a path too long for a
  ///   socket; `cannotCreate`.
  package init(binding path: String, waits: Bool = true) throws(StartError) {
    let address = try Self.check(path)
    let directory = PrivateDirectory.parent(of: path)
    try PrivateDirectory.make(directory)
    let guarded = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard guarded >= 0 else { throw Self.failure(path, "opened", errno) }
    defer { Glibc.close(guarded) }
    guard flock(guarded, waits ? LOCK_EX : LOCK_EX | LOCK_NB) == 0 else {
      guard errno == EWOULDBLOCK else { throw Self.failure(path, "locked", errno) }
      throw StartError(
        .cannotCreate, "another process holds the lock of \(directory)",
        remedy: "End that process if it does not end by itself. photod tries again.")
    }
    try Self.removeStale(path, address)

    let descriptor = UnixSocketAddress.makeSocket(SOCK_STREAM)
    guard descriptor >= 0 else { throw Self.failure(path, "made", errno) }
    // No client can connect before the socket listens, so the mode is right for the first one.
    guard address.withPointer({ bind(descriptor, $0, $1) }) == 0, chmod(path, 0o600) == 0,
      listen(descriptor, Self.backlog) == 0, let identity = Identity(of: path)
    else {
      let code = errno
      Glibc.close(descriptor)
      throw Self.failure(path, "made", code)
    }
    self.descriptor = descriptor
    self.identity = identity
  }

  /// - Throws: `usage` for a path too long for a socket.
  @discardableResult
  static func check(_ path: String) throws(StartError) -> UnixSocketAddress {
    guard let address = UnixSocketAddress(path), path.hasPrefix("/") else {
      throw StartError(
        .usage,
        "the socket's path has \(path.utf8.count) bytes, and the limit is \(UnixSocketAddress.maximumPathBytes): \(path)",
        remedy: "Choose a shorter path with --socket.")
    }
    return address
  }

  /// Stops listening, and removes the name if it is still the one that was made.
  ///
  /// - Returns: The system's message if the name could not be removed.
  @discardableResult
  package func close() -> String? {
    stopListening()
    let directory = open(PrivateDirectory.parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // If the directory is gone, so is the name.
    guard directory >= 0 else { return errno == ENOENT ? nil : errorText(errno) }
    defer { Glibc.close(directory) }
    guard flock(directory, LOCK_EX) == 0 else { return errorText(errno) }
    guard isThere else { return nil }
    return unlink(path) == 0 ? nil : errorText(errno)
  }

  /// Stops listening, and leaves the name alone.
  func stopListening() { Glibc.close(descriptor) }

  static func noSocket(_ path: String) -> StartError {
    StartError(.cannotCreate, "\(path) exists and is no socket", remedy: "Move it away, or give another --socket.")
  }

  private static func removeStale(_ path: String, _ address: UnixSocketAddress) throws(StartError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw failure(path, "examined", errno)
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw noSocket(path)
    }
    let probe = UnixSocketAddress.makeSocket(SOCK_STREAM, flags: SOCK_NONBLOCK)
    guard probe >= 0 else { throw failure(path, "tried", errno) }
    defer { Glibc.close(probe) }
    let answer = address.withPointer { connect(probe, $0, $1) } == 0 ? 0 : errno
    switch answer {
    case ECONNREFUSED:
      if unlink(path) != 0, errno != ENOENT { throw failure(path, "replaced", errno) }
    case 0, EAGAIN:
      // EAGAIN: a process listens, and its queue is full.
      throw StartError(
        .alreadyRunning, "\(answer == 0 ? listener(of: probe) : "another process") already serves \(path)",
        remedy: "Use that photod (`photoctl status`), stop it, or give another --socket and --catalog.")
    default:
      throw failure(path, "tried", answer)
    }
  }

  /// Returns the process that called listen(2), by SO_PEERCRED. `struct ucred`, which is process, user and group, is
  /// not imported.
  private static func listener(of connection: Int32) -> String {
    var credentials: [Int32] = [0, 0, 0]
    var size = socklen_t(credentials.count * MemoryLayout<Int32>.size)
    guard getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0, credentials[0] > 0 else {
      return "another process"
    }
    return InstanceLock.describe(credentials[0])
  }

  private static func failure(_ path: String, _ verb: String, _ code: Int32) -> StartError {
    StartError(
      .cannotCreate, "the socket \(path) can't be \(verb): \(errorText(code))",
      remedy: "Make its directory writable for your user, or give another --socket.")
  }
}
