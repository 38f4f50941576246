import Dispatch
import Foundation
import Glibc
import PhotoDaemon
import PhotoTestSupport
import Synchronization
import Testing

/// A directory for one test, with a path short enough for a socket. It is deleted with this object.
final class Scratch: Sendable {
  private let folder: TemporaryFolder
  var path: String { folder.path }

  init() throws { folder = try TemporaryFolder("daemon") }

  @discardableResult
  func directory(_ name: String) throws -> String {
    var made = path
    for part in name.split(separator: "/") {
      made += "/\(part)"
      guard mkdir(made, 0o755) == 0 || errno == EEXIST else { throw SystemCallError("mkdir") }
    }
    return made
  }

  @discardableResult
  func file(_ name: String, _ text: String = "") throws -> String {
    let file = "\(path)/\(name)"
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw SystemCallError("open") }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw SystemCallError("write") }
    return file
  }

  /// An environment whose user has all folders in this directory.
  func environment(_ more: [String: String] = [:]) -> ProcessEnvironment {
    let variables = ["HOME": path, "XDG_RUNTIME_DIR": "\(path)/run"]
    return ProcessEnvironment(
      variables: variables.merging(more) { $1 }, processID: getpid(), userID: geteuid(), currentDirectory: path)
  }
}

/// The permission bits of a file.
func mode(_ path: String) -> mode_t? {
  var status = stat()
  return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
}

/// A datagram socket like that of a service manager.
final class NotifySocket: Sendable {
  let descriptor: Int32
  private let queue = DispatchQueue(label: "notify-socket")

  /// - Parameter name: A path, or `@` and a name of the abstract namespace.
  init(_ name: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let bound = withUnixAddress(name) { bind(descriptor, $0, $1) }
    guard descriptor >= 0, bound == 0 else { throw SystemCallError("bind") }
    // A message that never comes must fail the test, not block it. The limit is long, because other tests may keep the
    // thread pool of tasks busy for several seconds.
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  /// Waits for the next message on its own thread, so that the daemon under test keeps the threads of the pool.
  func next() async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [descriptor] in
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count < 0 {
          continuation.resume(throwing: SystemCallError("recv"))
        } else {
          continuation.resume(returning: String(decoding: bytes[..<count], as: UTF8.self))
        }
      }
    }
  }

  /// Reads messages until one has this prefix.
  func next(beginning prefix: String) async throws {
    while !(try await next()).hasPrefix(prefix) {}
  }
}

func withUnixAddress<Result>(_ name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  var bytes = Array(name.utf8)
  if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 } else { bytes.append(0) }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  return withUnsafePointer(to: address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(2 + bytes.count)) }
  }
}

/// The immediate result of a connection to this socket: the errno, or 0 for success.
func connectionResult(_ path: String) -> Int32 {
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  defer { close(descriptor) }
  return withUnixAddress(path) { connect(descriptor, $0, $1) } == 0 ? 0 : errno
}

/// Text that any thread may append to.
final class LockedText: Sendable {
  private let bytes = Mutex<[UInt8]>([])

  func append(_ more: [UInt8]) { bytes.withLock { $0 += more } }
  var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
}

/// A clock that does not advance until a test moves it.
final class LockedTime: Sendable {
  private let time: Mutex<ContinuousClock.Instant>

  init(_ start: ContinuousClock.Instant) { time = Mutex(start) }

  var now: ContinuousClock.Instant {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }
}
