import PhotoModel
import SystemErrors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The reader of the output pipe has gone, so no message can reach it.
struct ClosedPipe: Error {}

/// Standard output and standard error, unbuffered: each call is one write, so that a line is out at once.
enum Output {
  static let isTerminal = isatty(STDOUT_FILENO) == 1
  static let isErrorTerminal = isatty(STDERR_FILENO) == 1

  /// The columns of the terminal; `nil` if the output is no terminal, and must not be cut.
  static var terminalColumns: Int? { isTerminal ? columns(of: STDOUT_FILENO) : nil }

  static func columns(of descriptor: CInt) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// - Throws: ``ClosedPipe``, or ``Failure`` for any other error, such as a full disk.
  static func put(_ text: String) throws {
    try put(Array(text.utf8))
  }

  static func put(_ bytes: [UInt8]) throws {
    let code = writeAll(bytes, to: STDOUT_FILENO)
    if code == EPIPE { throw ClosedPipe() }
    guard code == 0 else {
      throw Failure(
        .inputOutput, "the output can't be written: \(errorText(code))",
        remedy: "Check the file or program that receives the output, and run the command again.")
    }
  }

  /// Opens descriptors that the caller closed. Otherwise a socket could get such a number, and messages would be
  /// written to it.
  static func occupyClosedDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Writes to standard error. If that fails, no other output is left.
  static func complain(_ text: String) { _ = writeAll(Array(text.utf8), to: STDERR_FILENO) }

  private static func writeAll(_ bytes: [UInt8], to descriptor: CInt) -> CInt {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count >= 0 {
          rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
          // The process at the other end made the descriptor non-blocking.
          var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = poll(&wait, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
  }

  /// Ends the process quietly when the reader of the pipe goes, even if there is nothing to write. SIGINT and SIGTERM
  /// end it with 0, because they are the regular end of a command that runs until it is stopped.
  static func endQuietlyWithReader() {
    signal(SIGINT) { _ in _exit(0) }
    signal(SIGTERM) { _ in _exit(0) }
    var status = stat()
    guard fstat(STDOUT_FILENO, &status) == 0 else { return }
    let kind = status.st_mode & S_IFMT
    guard kind == S_IFIFO || kind == S_IFSOCK else { return }
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { _ in
        // No events are requested. POLLERR and POLLHUP always come, and only after the reader has gone.
        var reader = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        while poll(&reader, 1, -1) < 0 && errno == EINTR {}
        _exit(0)
      }, nil)
  }
}

/// Standard input.
enum Input {
  /// The limit for input that names assets. A million of the longest paths would exceed it, but that is no list.
  private static let maximumBytes = 256 << 20

  /// Reads all of it.
  ///
  /// - Throws: ``Failure`` if it can't be read or is too long.
  static func readAll() throws -> [UInt8] {
    try readAll(STDIN_FILENO, name: "standard input", remedy: "It must name photos, with an id or a path on each line.")
  }

  /// Reads a whole file; `-` is standard input.
  ///
  /// - Parameter remedy: what the file should contain.
  /// - Throws: ``Failure``, as in ``readAll()``.
  static func readAll(path: String, remedy: String) throws -> [UInt8] {
    if path == "-" { return try readAll(STDIN_FILENO, name: "standard input", remedy: remedy) }
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw Failure(
        .noInput, "\(Printable.text(path)) can't be read: \(errorText(errno))", remedy: remedy)
    }
    defer { close(file) }
    return try readAll(file, name: Printable.text(path), remedy: remedy)
  }

  private static func readAll(_ descriptor: CInt, name: String, remedy: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= maximumBytes {
      let count = read(descriptor, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += buffer[..<count]
      } else if errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&wait, 1, -1)
      } else if errno != EINTR {
        throw Failure(
          .inputOutput, "\(name) can't be read: \(errorText(errno))",
          remedy: "Check the file or program that sends it, and run the command again.")
      }
    }
    throw Failure(
      .usage, "\(name) has more than \(byteText(Int64(maximumBytes)))", remedy: remedy)
  }
}

/// Makes text safe for a terminal.
enum Printable {
  /// Replaces control characters by `?`, because a file's name must not move the cursor or set colours.
  static func text(_ text: String) -> String {
    guard !text.unicodeScalars.allSatisfy(isPlain) else { return text }
    var printable = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { printable.append(isPlain(scalar) ? scalar : "?") }
    return String(printable)
  }

  /// Whether a terminal shows the character at its own place.
  static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    // Directional overrides reorder the rest of the line.
    case .format: !(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value)
    default: true
    }
  }
}
