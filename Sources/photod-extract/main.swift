import CReplyBuffer
import CSandbox
import Glibc
import SystemErrors

/// How this program was called.
enum ExtractorInvocation {
  /// photod started it. The socket to photod is this descriptor.
  case server(socket: Int32)
  /// A person wants to see the facts of one file.
  case file(path: String, isJSON: Bool)
  /// A test wants to see what the sandbox forbids.
  case sandboxTest

  static let usage = """
    usage: photod-extract [--fd N | --file PATH [--json] | --test-sandbox]; photod starts it, and N is one end of a socket \
    pair; --file prints the facts of one file
    """

  init(_ arguments: [String]) throws(ExtractorStartError) {
    switch (arguments.count, arguments.dropFirst().first) {
    case (1, _): self = .server(socket: 3)
    case (2, "--test-sandbox"): self = .sandboxTest
    case (3, "--file"): self = .file(path: arguments[2], isJSON: false)
    case (4, "--file") where arguments[3] == "--json": self = .file(path: arguments[2], isJSON: true)
    case (3, "--fd"):
      guard let number = Int32(arguments[2]), number >= 0 else { throw ExtractorStartError(message: Self.usage) }
      self = .server(socket: number)
    default: throw ExtractorStartError(message: Self.usage)
    }
  }
}

struct ExtractorStartError: Error {
  let message: String
  /// The exit status.
  var status: Int32 = 1
}

/// Writes a line to standard error, which photod puts into its log.
func complain(_ text: String) {
  let bytes = Array("\(text)\n".utf8)
  // There is no other place to report that this fails.
  _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// Gives up all rights. After this, the process can only read descriptors that it is given.
func enterSandbox(socket: Int32) throws(ExtractorStartError) {
  let step = sandbox_enter(socket)
  guard step != SANDBOX_DONE else { return }
  let (number, name) =
    switch step {
    case SANDBOX_LIMITS: (errno, "its limits can't be set")
    case SANDBOX_PRIVILEGES: (errno, "new privileges can't be excluded")
    case SANDBOX_LANDLOCK: (errno, "Landlock can't be used")
    default: (errno, "seccomp can't be used")
    }
  throw ExtractorStartError(message: "the sandbox failed, so no file is read: \(name): \(errorText(number))")
}

func checkSocket(_ descriptor: Int32) throws(ExtractorStartError) {
  var kind: Int32 = 0
  var length = socklen_t(MemoryLayout<Int32>.size)
  guard getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) == 0 else {
    throw ExtractorStartError(message: "descriptor \(descriptor) is no socket. \(ExtractorInvocation.usage)")
  }
}

/// Prints the things that are forbidden, first with Landlock alone and then with the whole sandbox, and the system calls
/// that remain.
func testSandbox() throws(ExtractorStartError) {
  func report(_ prefix: String, _ attempt: (UInt32, inout Int32) -> UnsafePointer<CChar>?) {
    var number: UInt32 = 0
    var error: Int32 = 0
    while let name = attempt(number, &error) {
      complain("\(prefix)\(String(cString: name)): \(error == 0 ? "possible" : errorText(error))")
      number += 1
    }
  }
  switch sandbox_enter_landlock() {
  case 0: complain("Landlock: the kernel has none")
  case 1: report("Landlock: ") { sandbox_try_path($0, &$1) }
  default: throw ExtractorStartError(message: "Landlock can't be used: \(errorText(errno))")
  }
  try enterSandbox(socket: -1)
  report("") { sandbox_try($0, &$1) }
  for number in 0..<UInt32(SANDBOX_CALL_LIMIT) where sandbox_refuses(number) == 0 {
    complain("allowed: \(sandbox_call_name(number).map { String(cString: $0) } ?? "call \(number)")")
  }
}

/// - Returns: the exit status.
func work() -> Int32 {
  do throws(ExtractorStartError) {
    switch try ExtractorInvocation(CommandLine.arguments) {
    case .server(let socket):
      try checkSocket(socket)
      sandbox_close_others(socket)
      // The folder in which photod was started must remain unmountable.
      guard chdir("/") == 0 else {
        throw ExtractorStartError(message: "the folder can't be changed to /: \(errorText(errno))")
      }
      guard replybuffer_prepare(socket, ExtractServer.longestRead) == 0 else {
        throw ExtractorStartError(message: "the signal handlers can't be set: \(errorText(errno))")
      }
      try enterSandbox(socket: socket)
      return ExtractServer(socket: socket).run()
    case .file(let path, let isJSON):
      return try FactsPrinter.run(path: path, isJSON: isJSON)
    case .sandboxTest:
      try testSandbox()
      return 0
    }
  } catch {
    complain("photod-extract: \(error.message)")
    return error.status
  }
}

exit(work())
