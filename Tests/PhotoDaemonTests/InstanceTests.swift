import Dispatch
import Glibc
import Logging
import Synchronization
import Testing

@testable import PhotoDaemon

@Suite struct InstanceTests {
  // MARK: - Lock

  @Test func theSecondProcessGetsTheOwnerOfTheLock() throws {
    let scratch = try Scratch()
    let catalog = "\(scratch.path)/data/photod/catalog.sqlite"
    let lock = try InstanceLock(besideCatalog: catalog)
    #expect(mode("\(scratch.path)/data") == 0o700)
    #expect(mode("\(scratch.path)/data/photod") == 0o700)
    #expect(mode(lock.path) == 0o600)
    let error = #expect(throws: StartError.self) { try InstanceLock(besideCatalog: catalog) }
    #expect(error?.status == .alreadyRunning)
    #expect(error?.problem.hasPrefix("process \(getpid()) (") == true)
    #expect(error?.problem.hasSuffix(") already uses the catalog \(catalog)") == true)
    withExtendedLifetime(lock) {}
  }

  @Test func theLockHoldsAlsoWhereItsFileIsRemoved() throws {
    let scratch = try Scratch()
    let catalog = "\(scratch.path)/catalog.sqlite"
    let lock = try InstanceLock(besideCatalog: catalog)
    try #require(unlink(lock.path) == 0)
    for _ in 0..<5 {
      let error = #expect(throws: StartError.self) { try InstanceLock(besideCatalog: catalog) }
      #expect(error?.status == .alreadyRunning)
    }
    // Another catalog in the same folder has its own lock.
    _ = try InstanceLock(besideCatalog: "\(scratch.path)/other.sqlite")
    withExtendedLifetime(lock) {}
  }

  @Test func theLockEndsWithItsOwner() throws {
    let scratch = try Scratch()
    let catalog = "\(scratch.path)/catalog.sqlite"
    do { _ = try InstanceLock(besideCatalog: catalog) }
    _ = try InstanceLock(besideCatalog: catalog)
  }

  @Test func onlyALockFileThatThisStartMadeIsRemoved() throws {
    let scratch = try Scratch()
    let catalog = "\(scratch.path)/photo.jpg"
    let lock = try InstanceLock(besideCatalog: catalog)
    #expect(mode(lock.path) != nil)
    lock.removeIfNew()
    #expect(mode(lock.path) == nil)
    // It may be another file by now.
    try scratch.file("photo.jpg.lock")
    lock.removeIfNew()
    #expect(mode(lock.path) != nil)

    let other = "\(scratch.path)/other.sqlite"
    for _ in 0..<2 {
      let lock = try InstanceLock(besideCatalog: other)
      if mode(other + ".seen") != nil { lock.removeIfNew() }
      #expect(mode(lock.path) != nil)
      try scratch.file("other.sqlite.seen")
    }
  }

  /// A lock on a file that lost its name protects nothing, because the next process makes another file.
  @Test(arguments: [false, true]) func aFileThatIsRemovedBeforeItIsLockedIsNotTheLock(isReplaced: Bool) throws {
    let scratch = try Scratch()
    let path = try scratch.file("photo.jpg.lock")
    var other: Int32 = -1
    var attempts = 0
    let result = Result {
      try InstanceLock.lockFile(path, ofCatalog: "photo.jpg", in: scratch.path) {
        attempts += 1
        guard attempts == 1 else { return }
        unlink(path)
        if isReplaced {
          other = (try? InstanceLock.lockFile(path, ofCatalog: "photo.jpg", in: scratch.path))?.descriptor ?? -1
        }
      }
    }
    #expect(attempts == 2)
    if isReplaced {
      #expect(other >= 0)
      #expect(throws: StartError.self) { try result.get() }
      close(other)
    } else {
      let file = try result.get()
      #expect(file.isNew && mode(path) == 0o600)
      close(file.descriptor)
    }
  }

  @Test func twoNamesOfACatalogAreOneLock() throws {
    let scratch = try Scratch()
    try scratch.directory("real")
    let catalog = try scratch.file("real/catalog.sqlite")
    symlink("\(scratch.path)/real", "\(scratch.path)/folder")
    symlink(catalog, "\(scratch.path)/other.sqlite")
    let lock = try InstanceLock(besideCatalog: catalog)
    #expect(throws: StartError.self) { try InstanceLock(besideCatalog: "\(scratch.path)/folder/catalog.sqlite") }
    #expect(throws: StartError.self) { try InstanceLock(besideCatalog: "\(scratch.path)/other.sqlite") }
    withExtendedLifetime(lock) {}
  }

  @Test func aPlaceThatIsAFileIsNoPlaceForACatalog() throws {
    let scratch = try Scratch()
    try scratch.file("data")
    let error = #expect(throws: StartError.self) { try InstanceLock(besideCatalog: "\(scratch.path)/data/c.sqlite") }
    #expect(error?.status == .cannotCreate)
    #expect(error?.problem == "\(scratch.path)/data is no directory")
  }

  /// Only root can make a folder in /run/user, so its permissions are no remedy.
  @Test(arguments: ["/run/user", "/run/user/1001", "/run/user/1001/photod"])
  func withoutALoginTheRemedyIsAnotherRuntimeDirectory(path: String) {
    #expect(
      PrivateDirectory.failure(path, EACCES).threeLines == """
        photod: the directory \(path) can't be made: Permission denied
          Only systemd-logind makes this directory, when you log in. Otherwise set XDG_RUNTIME_DIR to a folder of your user with mode 700, for photod and for its clients, or choose the socket with --socket.
          See `photod --help` for options, files and exit codes.

        """)
    #expect(PrivateDirectory.failure("/run/users", EACCES).remedy.hasPrefix("Make the directory above it writable"))
  }

  // MARK: - Socket

  @Test func theSocketIsForItsUserOnlyAndIsRemovedAtTheEnd() throws {
    let scratch = try Scratch()
    let path = "\(scratch.path)/run/photod/photod.sock"
    let socket = try SocketFile(binding: path)
    #expect(mode(path) == 0o600)
    #expect(mode("\(scratch.path)/run/photod") == 0o700)
    #expect(connectionResult(path) == 0)
    #expect(socket.close() == nil)
    #expect(mode(path) == nil)
  }

  @Test func aSocketDirectoryWithWiderPermissionsGetsMode0700() throws {
    let scratch = try Scratch()
    try scratch.directory("photod")
    let socket = try SocketFile(binding: "\(scratch.path)/photod/photod.sock")
    #expect(mode("\(scratch.path)/photod") == 0o700)
    socket.close()
  }

  @Test func aSocketLeftBehindIsReplaced() throws {
    let scratch = try Scratch()
    let path = "\(scratch.path)/s"
    let dead = try SocketFile(binding: path)
    close(dead.descriptor)
    #expect(connectionResult(path) == ECONNREFUSED)
    let socket = try SocketFile(binding: path)
    #expect(connectionResult(path) == 0)
    socket.close()
  }

  @Test func aSocketThatAnswersIsNotReplaced() throws {
    let scratch = try Scratch()
    let path = "\(scratch.path)/s"
    let socket = try SocketFile(binding: path)
    let error = #expect(throws: StartError.self) { try SocketFile(binding: path) }
    #expect(error?.status == .alreadyRunning)
    #expect(error?.problem.hasPrefix("process \(getpid()) (") == true)
    #expect(connectionResult(path) == 0)
    socket.close()
  }

  @Test func theSocketOfAnotherProcessIsNotRemovedAtTheEnd() throws {
    let scratch = try Scratch()
    let path = "\(scratch.path)/s"
    let first = try SocketFile(binding: path)
    #expect(rename(path, path + ".kept") == 0)
    let second = try SocketFile(binding: path)
    first.close()
    #expect(connectionResult(path) == 0)
    second.close()
  }

  @Test func aFileInThePlaceOfTheSocketIsKept() throws {
    let scratch = try Scratch()
    let path = try scratch.file("s", "precious")
    let error = #expect(throws: StartError.self) { try SocketFile(binding: path) }
    #expect(error?.problem == "\(path) exists and is no socket")
    #expect(mode(path) != nil)
  }

  @Test func aPathTooLongForASocketIsRefusedWithItsLength() throws {
    let scratch = try Scratch()
    let longest = scratch.path + "/" + String(repeating: "s", count: 106 - scratch.path.utf8.count)
    #expect(longest.utf8.count == 107)
    try SocketFile(binding: longest).close()
    let error = #expect(throws: StartError.self) { try SocketFile(binding: longest + "s") }
    #expect(error?.problem.hasPrefix("the socket's path has 108 bytes, and the limit is 107: ") == true)
    #expect(error?.status == .usage)
  }

  // MARK: - A file that is deleted

  private func path(_ condition: ListeningSocket.Condition) -> String? {
    if case .madeAgain(let path) = condition { path } else { nil }
  }

  private func isPresent(_ condition: ListeningSocket.Condition) -> Bool {
    if case .present = condition { true } else { false }
  }

  private func isLost(_ condition: ListeningSocket.Condition) -> Bool {
    if case .lost = condition { true } else { false }
  }

  private func failure(_ condition: ListeningSocket.Condition) -> StartError? {
    if case .failed(_, let error) = condition { error } else { nil }
  }

  @Test func aDeletedSocketIsMadeAgain() throws {
    let scratch = try Scratch()
    let file = "\(scratch.path)/run/photod/photod.sock"
    let socket = ListeningSocket(made: try SocketFile(binding: file))
    defer { socket.close(Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })) }
    #expect(isPresent(socket.restore()))
    #expect(unlink(file) == 0)
    #expect(connectionResult(file) == ENOENT)
    #expect(path(socket.restore()) == file)
    #expect(connectionResult(file) == 0 && mode(file) == 0o600)
    #expect(isPresent(socket.restore()))
    // The whole folder is gone.
    #expect(unlink(file) == 0 && rmdir("\(scratch.path)/run/photod") == 0)
    #expect(path(socket.restore()) == file)
    #expect(connectionResult(file) == 0 && mode("\(scratch.path)/run/photod") == 0o700)
    // Its folder was renamed, with the socket.
    #expect(rename("\(scratch.path)/run/photod", "\(scratch.path)/run/other") == 0)
    #expect(path(socket.restore()) == file)
    #expect(connectionResult(file) == 0)
    #expect(connectionResult("\(scratch.path)/run/other/photod.sock") == ECONNREFUSED)
  }

  @Test func aFileOfAnotherProcessIsLeftAlone() throws {
    let scratch = try Scratch()
    let file = "\(scratch.path)/s"
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let socket = ListeningSocket(made: try SocketFile(binding: file))
    #expect(unlink(file) == 0)
    let other = try SocketFile(binding: file)
    for _ in 0..<2 {
      let error = try #require(failure(socket.restore()))
      #expect(error.status == .alreadyRunning && error.problem.hasSuffix("already serves \(file)"))
      #expect(connectionResult(file) == 0 && other.isThere)
    }
    // The other process ends.
    other.close()
    #expect(mode(file) == nil)
    #expect(path(socket.restore()) == file)
    #expect(connectionResult(file) == 0)
    // No file that is not a socket is replaced.
    #expect(unlink(file) == 0)
    try scratch.file("s", "precious")
    let error = try #require(failure(socket.restore()))
    #expect(error.problem == "\(file) exists and is no socket")
    socket.close(logger)
    #expect(mode(file) != nil)
  }

  @Test func aPassedSocketIsNotMadeAgain() throws {
    let scratch = try Scratch()
    let file = "\(scratch.path)/s"
    let made = try SocketFile(binding: file)
    defer { made.close() }
    let socket = ListeningSocket(given: made.descriptor)
    #expect(socket.path == file && isPresent(socket.restore()))
    #expect(unlink(file) == 0)
    #expect(isLost(socket.restore()))
    #expect(mode(file) == nil)
  }

  /// The file may be lost before photod starts, or a private mount namespace hides it.
  @Test func aPassedSocketWithoutAFileIsLostFromTheStart() throws {
    let scratch = try Scratch()
    let file = "\(scratch.path)/s"
    let made = try SocketFile(binding: file)
    defer { made.close() }
    #expect(unlink(file) == 0)
    let socket = ListeningSocket(given: made.descriptor)
    #expect(socket.path == file && isLost(socket.restore()))
    // A socket without a path has no file that could be lost.
    let abstract = UnixSocketAddress.makeSocket(SOCK_STREAM)
    defer { close(abstract) }
    #expect(withUnixAddress("@\(file)") { bind(abstract, $0, $1) } == 0 && listen(abstract, 1) == 0)
    #expect(isPresent(ListeningSocket(given: abstract).restore()))
  }

  /// The lock of the directory belongs to another process. The check runs on the actor of the daemon, which must not
  /// wait for it.
  @Test func aDeletedSocketIsNotMadeAgainWhileItsFolderIsLocked() async throws {
    let scratch = try Scratch()
    let file = "\(scratch.path)/run/photod.sock"
    let socket = ListeningSocket(made: try SocketFile(binding: file))
    defer { socket.close(Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })) }
    #expect(unlink(file) == 0)
    let directory = open("\(scratch.path)/run", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    #expect(flock(directory, LOCK_EX) == 0)
    let condition = await withCheckedContinuation { continuation in
      let restored = Mutex<ListeningSocket.Condition?>(nil)
      let hasReturned = DispatchSemaphore(value: 0)
      DispatchQueue(label: "restore").async {
        let condition = socket.restore()
        restored.withLock { $0 = condition }
        hasReturned.signal()
      }
      DispatchQueue(label: "limit").async {
        _ = hasReturned.wait(timeout: .now() + 20)
        continuation.resume(returning: restored.withLock { $0 })
      }
    }
    close(directory)
    let error = try #require(condition.flatMap(failure))
    #expect(error.problem == "another process holds the lock of \(scratch.path)/run")
    #expect(path(socket.restore()) == file)
    #expect(connectionResult(file) == 0)
  }

  // MARK: - Descriptors of a service manager

  @Test func aPassedSocketIsTaken() throws {
    let scratch = try Scratch()
    let socket = try SocketFile(binding: "\(scratch.path)/s")
    defer { socket.close() }
    #expect(fcntl(socket.descriptor, F_SETFD, 0) == 0)
    let environment = scratch.environment([
      "LISTEN_PID": "\(getpid())", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "photod.socket",
    ])
    let taken = try ListenDescriptors(taking: environment, from: socket.descriptor).descriptors
    #expect(taken.map(\.number) == [socket.descriptor])
    #expect(taken.map(\.name) == ["photod.socket"])
    #expect(fcntl(socket.descriptor, F_GETFD) == FD_CLOEXEC)
    #expect(environment.isActivated)
  }

  @Test func descriptorsForAnotherProcessAreLeft() throws {
    let scratch = try Scratch()
    let environment = scratch.environment(["LISTEN_PID": "1", "LISTEN_FDS": "1"])
    #expect(try ListenDescriptors(taking: environment).descriptors.isEmpty)
    #expect(!environment.isActivated)
    #expect(try ListenDescriptors(taking: scratch.environment()).descriptors.isEmpty)
  }

  @Test func aPassedDescriptorThatIsNoListeningSocketIsRefused() throws {
    let scratch = try Scratch()
    var pair: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    defer { for descriptor in pair { close(descriptor) } }
    let variables = ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "1"]
    let error = #expect(throws: StartError.self) {
      try ListenDescriptors(taking: scratch.environment(variables), from: pair[0])
    }
    #expect(error?.status == .configuration)
  }

  @Test(arguments: ["", "x", "-1", "65", "99999999999"]) func aNonsensicalCountIsRefused(count: String) throws {
    let scratch = try Scratch()
    let environment = scratch.environment(["LISTEN_PID": "\(getpid())", "LISTEN_FDS": count])
    #expect(throws: StartError.self) { try ListenDescriptors(taking: environment) }
  }
}
