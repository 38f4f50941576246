import SystemErrors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A command that /bin/sh runs.
enum ShellCommand {
  enum End: Equatable, CustomStringConvertible {
    case exited(Int32)
    case signaled(Int32)

    var description: String {
      switch self {
      case .exited(let status): "exit status \(status)"
      case .signaled(let signal): "signal \(signal)"
      }
    }
  }

  /// Runs the command and waits for its end.
  ///
  /// - Parameters:
  ///   - variables: the variables to set; nil removes one. Values are bytes, because a path need not be UTF-8.
  ///   - input: the descriptor of its standard input.
  /// - Returns: nil if it succeeded.
  static func run(_ command: String, variables: [String: [UInt8]?], input: CInt) throws -> End? {
    var environment: [[CChar]] = []
    var entry = environ
    while let pointer = entry.pointee {
      let bytes = UnsafeBufferPointer(start: pointer, count: strlen(pointer))
      let name = bytes.prefix { $0 != CChar(bitPattern: UInt8(ascii: "=")) }.map { UInt8(bitPattern: $0) }
      if variables.index(forKey: String(decoding: name, as: UTF8.self)) == nil {
        environment.append(Array(bytes) + [0])
      }
      entry += 1
    }
    for (name, value) in variables {
      guard let value else { continue }
      environment.append((Array("\(name)=".utf8) + value).map { CChar(bitPattern: $0) } + [0])
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A command would inherit that photoctl ignores SIGPIPE, and that this thread blocks signals.
    var defaults = sigset_t()
    sigemptyset(&defaults)
    sigaddset(&defaults, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    var blocked = sigset_t()
    sigemptyset(&blocked)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var process = pid_t()
    let code = withPointers(["sh", "-c", command].map { $0.utf8CString.map(\.self) }) { arguments in
      withPointers(environment) { posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, $0) }
    }
    guard code == 0 else {
      throw Failure(
        .software, "the command can't be started: \(errorText(code))",
        remedy: "Check that /bin/sh exists, and that you may start more processes.", command: "watch")
    }
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { break }
    }
    // wait(2): the low seven bits are the signal, the next byte is the exit status.
    let signal = status & 0x7F
    if signal != 0 { return .signaled(signal) }
    let exit = (status >> 8) & 0xFF
    return exit == 0 ? nil : .exited(exit)
  }

  /// Calls `body` with a list of C strings that ends with a null pointer.
  private static func withPointers<Result>(
    _ strings: [[CChar]], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { string in
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: string.count)
      copy.initialize(from: string, count: string.count)
      return copy
    }
    pointers.append(nil)
    defer { for pointer in pointers { pointer?.deallocate() } }
    return body(&pointers)
  }
}
