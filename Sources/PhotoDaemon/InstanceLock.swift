import Glibc

/// One photod for one catalog: a lock on the file beside it, which holds the owner's process id for the one who finds it
/// locked.
///
/// The lock is flock(2)'s, so it ends with the process, however that ends. The file stays: to remove it would let two
/// processes lock two files of one name.
package final class InstanceLock: Sendable {
  package let path: String
  private let descriptor: Int32

  /// - Throws: `alreadyRunning` with who holds it; `cannotCreate` or `system`.
  package init(besideCatalog catalog: String) throws(StartError) {
    let directory = PrivateDirectory.parent(of: catalog)
    try PrivateDirectory.make(directory)
    path = Self.resolved(catalog) + ".lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw StartError(
        .cannotCreate, "the lock \(path) can't be opened: \(systemMessage(errno))",
        remedy: "Make \(directory) yours to write, or choose another catalog with --catalog.")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      guard code == EWOULDBLOCK else {
        throw StartError(
          .system, "\(path) can't be locked: \(systemMessage(code))",
          remedy: "Keep the catalog on a file system that has locks: --catalog FILE.")
      }
      throw StartError(
        .alreadyRunning, "\(Self.owner(descriptor)) already keeps the catalog \(catalog)",
        remedy: "Ask that one ('photoctl status'), stop it first, or give another --catalog and --socket.")
    }
    let text = Array("\(getpid())\n".utf8)
    guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, text, text.count, 0) == text.count else {
      let code = errno
      throw StartError(
        .cannotCreate, "the lock \(path) can't be written: \(systemMessage(code))", remedy: "Make room on that disk.")
    }
  }

  /// Also of one whose init throws once it has a descriptor. A second close would be that of somebody else's file.
  deinit {
    let isClosed = descriptor < 0 || close(descriptor) == 0
    assert(isClosed || errno != EBADF)
  }

  /// The catalog's own path, so that two names of it are one lock.
  private static func resolved(_ catalog: String) -> String {
    if let real = realpath(catalog, nil) {
      defer { free(real) }
      return String(cString: real)
    }
    guard let real = realpath(PrivateDirectory.parent(of: catalog), nil) else { return catalog }
    defer { free(real) }
    return "\(String(cString: real))/\(catalog.split(separator: "/").last ?? "catalog")"
  }

  /// `process 812 (photod --root /x)`, as far as it can be told.
  private static func owner(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let text = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    guard let process = Int32(text.prefix(while: \.isNumber)) else { return "another process" }
    return describe(process)
  }

  /// `process 812 (photod --root /x)`; without the command line where it can't be read.
  static func describe(_ process: pid_t) -> String {
    let file = open("/proc/\(process)/cmdline", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "process \(process)" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 300)
    let count = read(file, &bytes, bytes.count)
    guard count > 0 else { return "process \(process)" }
    let words = bytes[..<count].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    return "process \(process) (\(words.joined(separator: " ")))"
  }
}
