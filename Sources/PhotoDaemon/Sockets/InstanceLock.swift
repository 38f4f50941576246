import Glibc
import SystemErrors

/// Allows only one photod for a catalog, by a lock on the file beside it. The file holds the owner's process id, which
/// another photod names in its error.
///
/// The lock is flock(2)'s, so it ends with the process, however that ends. The file stays when photod stops. Only the
/// start that made it may remove it again, if it could not open the catalog (``removeIfNew()``).
///
/// Two processes could lock two files of one name if the file is removed in between. So each process checks, once it
/// has the lock, that the name still leads to the file that it locked. A person may also remove the file later
/// (`rm catalog.sqlite*`). So photod also claims the catalog's place by a socket in the abstract namespace (unix(7)),
/// which ends with the process too.
package final class InstanceLock: Sendable {
  package let path: String
  private let descriptor: Int32
  /// Whether this process made the file.
  private let isNew: Bool
  /// The socket that claims the catalog's place; -1 if there is none, and the lock has to suffice.
  private let claim: Int32

  /// - Throws: `alreadyRunning`, which names the process that holds the lock; `cannotCreate` or `system`.
  package init(besideCatalog catalog: String) throws(StartError) {
    let directory = PrivateDirectory.parent(of: catalog)
    try PrivateDirectory.make(directory)
    path = Self.resolved(catalog) + ".lock"
    claim = try Self.claimPlace(ofCatalog: catalog, lock: path)
    do {
      (descriptor, isNew) = try Self.lockFile(path, ofCatalog: catalog, in: directory)
    } catch {
      // The deinitializer does not run, because there is no descriptor yet.
      if claim >= 0 { close(claim) }
      throw error
    }
    let text = Array("\(getpid())\n".utf8)
    guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, text, text.count, 0) == text.count else {
      let code = errno
      removeIfNew()
      throw StartError(
        .cannotCreate, "the lock \(path) can't be written: \(errorText(code))", remedy: "Make room on that disk.")
    }
  }

  /// Removes the file if this process made it. A photod that could not open the catalog calls this when it ends, because
  /// the file beside the lock may not be a catalog at all.
  ///
  /// The lock and the claim hold until the object ends. So no other photod can have locked the file that is removed.
  /// One that has opened it meanwhile finds that it has lost its name.
  package func removeIfNew() {
    guard isNew, Self.isName(path, of: descriptor) else { return }
    unlink(path)
  }

  /// Opens and locks the file, which is made if it does not exist.
  ///
  /// - Parameter whenOpened: called before the file is locked. A test removes it then.
  static func lockFile(
    _ path: String, ofCatalog catalog: String, in directory: String, whenOpened: () -> Void = {}
  ) throws(StartError) -> (descriptor: Int32, isNew: Bool) {
    // Each further attempt follows a removal by another process.
    for _ in 0..<100 {
      let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
      var descriptor = open(path, flags | O_CREAT | O_EXCL, 0o600)
      let isNew = descriptor >= 0
      if !isNew && errno == EEXIST {
        descriptor = open(path, flags)
        if descriptor < 0 && errno == ENOENT { continue }
      }
      guard descriptor >= 0 else {
        throw StartError(
          .cannotCreate, "the lock \(path) can't be opened: \(errorText(errno))",
          remedy: "Make \(directory) writable for your user, or choose another catalog with --catalog.")
      }
      whenOpened()
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let code = errno
        defer { close(descriptor) }
        guard code == EWOULDBLOCK else {
          throw StartError(
            .system, "\(path) can't be locked: \(errorText(code))",
            remedy: "Choose a catalog on a file system that has locks, with --catalog.")
        }
        throw isUsed(catalog, by: owner(descriptor))
      }
      if isName(path, of: descriptor) { return (descriptor, isNew) }
      close(descriptor)
    }
    throw isUsed(catalog, by: "another process")
  }

  /// Whether the name still leads to the file that is open.
  private static func isName(_ path: String, of descriptor: Int32) -> Bool {
    var (mine, named) = (stat(), stat())
    return fstat(descriptor, &mine) == 0 && lstat(path, &named) == 0 && mine.st_dev == named.st_dev
      && mine.st_ino == named.st_ino
  }

  /// This also runs if `init` throws after it has a descriptor, so `init` must not close one. A second close could
  /// close an unrelated file.
  deinit {
    for descriptor in [descriptor, claim] where descriptor >= 0 {
      let isClosed = close(descriptor) == 0
      assert(isClosed || errno != EBADF)
    }
  }

  /// Listens at an abstract name that stands for the catalog's place. It consists of the device and inode of the
  /// catalog's directory, and of a hash of the catalog's name.
  ///
  /// - Returns: -1 if the system gives no such socket, or if another user listens there: any user may take such a name.
  /// - Throws: `alreadyRunning` if a process of this user listens.
  private static func claimPlace(ofCatalog catalog: String, lock: String) throws(StartError) -> Int32 {
    var status = stat()
    guard stat(PrivateDirectory.parent(of: resolved(catalog)), &status) == 0 else { return -1 }
    // The hash is FNV-1a. A file name may be too long for the name of a socket.
    let hash = (resolved(catalog).split(separator: "/").last ?? "").utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
    }
    let name = "@photod-catalog/\(geteuid())/\(status.st_dev)/\(status.st_ino)/\(String(hash, radix: 16))"
    guard let address = UnixSocketAddress(name) else { return -1 }
    let socket = UnixSocketAddress.makeSocket(SOCK_STREAM)
    guard socket >= 0 else { return -1 }
    // A child that the last owner has just started holds a copy of the socket until it executes its program.
    for attempt in 0..<20 {
      if attempt > 0 { usleep(10_000) }
      if address.withPointer({ bind(socket, $0, $1) }) == 0 {
        if listen(socket, 1) == 0 { return socket }
        break
      }
      guard errno == EADDRINUSE else { break }
    }
    let isTaken = errno == EADDRINUSE
    defer { close(socket) }
    guard isTaken, let process = listener(at: address) else { return -1 }
    // The lock file names the owner, if it exists. The socket may not, because its short queue can be full of
    // connections that are never accepted.
    let file = open(lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    defer { if file >= 0 { close(file) } }
    let who = file >= 0 ? owner(file) : process > 0 ? describe(process) : "another process"
    throw isUsed(catalog, by: who)
  }

  private static func isUsed(_ catalog: String, by owner: String) -> StartError {
    StartError(
      .alreadyRunning, "\(owner) already uses the catalog \(catalog)",
      remedy: "Use that photod (`photoctl status`), stop it, or give another --catalog and --socket.")
  }

  /// Returns the process of this user that listens there; 0 if its queue is full; nil if there is none.
  private static func listener(at address: UnixSocketAddress) -> pid_t? {
    let socket = UnixSocketAddress.makeSocket(SOCK_STREAM, flags: SOCK_NONBLOCK)
    guard socket >= 0 else { return nil }
    defer { close(socket) }
    // struct ucred: process, user, group (socket(7)); Swift does not import it.
    var peer: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: peer))
    // EAGAIN means that the queue is full of earlier connections, so a process listens.
    guard address.withPointer({ connect(socket, $0, $1) }) == 0 else { return errno == EAGAIN ? 0 : nil }
    guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0, peer.user == geteuid() else { return nil }
    return peer.process
  }

  /// Returns the catalog's path without links, so that all its names lead to one lock.
  private static func resolved(_ catalog: String) -> String {
    if let real = realpath(catalog, nil) {
      defer { free(real) }
      return String(cString: real)
    }
    guard let real = realpath(PrivateDirectory.parent(of: catalog), nil) else { return catalog }
    defer { free(real) }
    return "\(String(cString: real))/\(catalog.split(separator: "/").last ?? "catalog")"
  }

  /// Returns the owner in the lock file, such as `process 812 (photod --root /x)`, as far as it is known.
  private static func owner(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let text = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    guard let process = Int32(text.prefix(while: \.isNumber)) else { return "another process" }
    return describe(process)
  }

  /// Returns a text such as `process 812 (photod --root /x)`. The command line is missing if it can't be read.
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
