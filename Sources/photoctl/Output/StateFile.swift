import PhotoModel
import SystemErrors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file in which `watch --exec` keeps the token of the last commit that its command handled.
///
/// A token is written to a new file, which is flushed to the disk and renamed into its place. So a crash at any time
/// leaves one of the two tokens. A lock keeps a second photoctl from running the same command at the same time.
struct StateFile {
  /// The bytes of its path.
  private let path: [UInt8]

  init(_ path: [UInt8]) { self.path = path }

  var name: String { Printable.text(String(decoding: path, as: UTF8.self)) }

  /// The file for a command line, in the user's folder for state. Another command line has another file.
  ///
  /// - Parameter arguments: without the program's name.
  static func standardPath(for arguments: [String], environment: (String) -> String? = Style.variable) throws -> [UInt8]
  {
    var folder = environment("XDG_STATE_HOME").map { Array($0.utf8) } ?? []
    // The specification has programs ignore a relative path.
    if folder.first != UInt8(ascii: "/") {
      guard let home = environment("HOME"), home.hasPrefix("/") else {
        throw Failure(.usage, "there is no home directory for the token", remedy: "Set HOME, or give --state FILE.")
      }
      folder = Array((home + "/.local/state").utf8)
    }
    // FNV-1a. It names a file, and no person must be kept from making an equal name.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in identity(of: arguments).joined(separator: "\0").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return folder + Array("/photoctl/watch-\(String(repeating: "0", count: 16 - digits.count))\(digits).token".utf8)
  }

  /// The arguments without those that make no difference to the photos and the command.
  private static func identity(of arguments: [String]) -> [String] {
    var kept: [String] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let name = argument.split(separator: "=", maxSplits: 1).first.map(String.init) ?? argument
      switch name {
      case "--reconnect", "--retry": break
      case "--since", "--color": if !argument.contains("=") { _ = rest.popFirst() }
      // Their values may look like options.
      case "--exec", "--where", "--text": kept += [argument] + (argument.contains("=") ? [] : [rest.popFirst() ?? ""])
      default: kept.append(argument)
      }
    }
    return kept
  }

  /// Makes the folder, and waits until no other photoctl uses the file.
  ///
  /// Commands inherit the lock. If photoctl is killed, the next one waits for the end of the command.
  func lock() throws {
    if let slash = path.lastIndex(of: UInt8(ascii: "/")) { try Self.makeFolder(Array(path[..<slash])) }
    let descriptor = open(Self.text(path + Array(".lock".utf8)), O_RDWR | O_CREAT, 0o600)
    guard descriptor >= 0 else { throw failure("can't be locked", errno) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
    guard errno == EWOULDBLOCK else { throw failure("can't be locked", errno) }
    Output.complain(
      "photoctl: another photoctl, or a command that it started, uses \(name). photoctl waits for its end.\n")
    while flock(descriptor, LOCK_EX) != 0 { if errno != EINTR { throw failure("can't be locked", errno) } }
  }

  /// The stored token; nil if there is no file yet.
  func token() throws -> String? {
    let file = open(Self.text(path), O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw failure("can't be read", errno)
    }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 1_024)
    let count = read(file, &buffer, buffer.count)
    guard count >= 0 else { throw failure("can't be read", errno) }
    var text = String(decoding: buffer[..<count], as: UTF8.self)
    if text.last == "\n" { text.removeLast() }
    guard ChangeToken(text) != nil else {
      throw Failure(
        .data, "\(name) has no token", remedy: "Name another file. To begin now, remove this one.", command: "watch")
    }
    return text
  }

  func store(_ token: String) throws {
    let new = Self.text(path + Array(".new".utf8))
    let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("can't be written", errno) }
    let bytes = Array((token + "\n").utf8)
    let isWritten = write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
    let code = errno
    close(file)
    guard isWritten else { throw failure("can't be written", code) }
    guard rename(new, Self.text(path)) == 0 else { throw failure("can't be written", errno) }
  }

  /// Calls `body` with a file that has these bytes and no name, to hand a command its input. A pipe would block if the
  /// command does not read it.
  func withInput<Result>(_ bytes: [UInt8], _ body: (CInt) throws -> Result) throws -> Result {
    let new = Self.text(path + Array(".input".utf8))
    let file = open(new, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("can't be written", errno) }
    defer { close(file) }
    unlink(new)
    var position = 0
    while position < bytes.count {
      let count = bytes[position...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      if count >= 0 {
        position += count
      } else if errno != EINTR {
        throw failure("can't be written", errno)
      }
    }
    lseek(file, 0, SEEK_SET)
    return try body(file)
  }

  private func failure(_ problem: String, _ code: CInt) -> Failure {
    Failure(
      .inputOutput, "\(name) \(problem): \(errorText(code))",
      remedy: "Name a file in a folder that you can write to with --state.", command: "watch")
  }

  private static func makeFolder(_ path: [UInt8]) throws {
    for (index, byte) in path.enumerated() where byte == UInt8(ascii: "/") && index > 0 {
      mkdir(text(Array(path[..<index])), 0o700)
    }
    mkdir(text(path), 0o700)
  }

  private static func text(_ path: [UInt8]) -> [CChar] { path.map { CChar(bitPattern: $0) } + [0] }
}
