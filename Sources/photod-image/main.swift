// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import CSandbox
import Glibc

/// How this program was called.
enum Invocation {
  /// photod started it. The socket to photod is this descriptor.
  case server(socket: Int32)
  /// A person wants one picture.
  case picture(PictureCommand)
  /// A test wants to see what the sandbox forbids.
  case sandboxTest
  /// A person wants to know which formats can be decoded.
  case formats

  static let usage = """
    usage: photod-image [--fd N | --picture PATH --output FILE [--size N] [--embedded] | --test-sandbox | --formats]; \
    photod starts it, and N is one end of a socket pair; --picture makes one picture
    """

  init(_ arguments: [String]) throws(StartError) {
    let wrong = StartError(message: Self.usage)
    switch (arguments.count, arguments.dropFirst().first) {
    case (1, _): self = .server(socket: 3)
    case (2, "--test-sandbox"): self = .sandboxTest
    case (2, "--formats"): self = .formats
    case (3, "--fd"):
      guard let number = Int32(arguments[2]), number >= 0 else { throw wrong }
      self = .server(socket: number)
    case (_, "--picture"): self = .picture(try Self.picture(arguments, wrong))
    default: throw wrong
    }
  }

  private static func picture(_ arguments: [String], _ wrong: StartError) throws(StartError) -> PictureCommand {
    var (path, output, size, isEmbedded): (String?, String?, UInt32?, Bool) = (nil, nil, nil, false)
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      switch option {
      case "--picture": path = rest.popFirst()
      case "--output": output = rest.popFirst()
      case "--embedded": isEmbedded = true
      case "--size":
        guard let number = rest.popFirst().flatMap({ UInt32($0) }), (1...65_535).contains(number) else { throw wrong }
        size = number
      default: throw wrong
      }
    }
    guard let path, let output else { throw wrong }
    return PictureCommand(path: path, output: output, size: size, isEmbedded: isEmbedded)
  }
}

struct StartError: Error {
  let message: String
}

func describe(_ errorNumber: Int32) -> String { String(cString: strerror(errorNumber)) }

/// Writes a line to standard error, which photod puts into its log.
func complain(_ text: String) {
  let bytes = Array("\(text)\n".utf8)
  // There is no other place to report that this fails.
  _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// Initialises the decoders and gives up all rights. After this, the process can only read descriptors that it is given.
func enterSandbox(socket: Int32) throws(StartError) {
  guard imagedecoders_start() == IMAGEDECODERS_DONE else {
    throw StartError(message: "the decoders can't be initialised: \(String(cString: imagedecoders_message()))")
  }
  let step = sandbox_enter_as_decoder(socket)
  guard step != SANDBOX_DONE else { return }
  let (number, name) =
    switch step {
    case SANDBOX_LIMITS: (errno, "its limits can't be set")
    case SANDBOX_PRIVILEGES: (errno, "new privileges can't be excluded")
    case SANDBOX_LANDLOCK: (errno, "Landlock can't be used")
    default: (errno, "seccomp can't be used")
    }
  throw StartError(message: "the sandbox failed, so no file is read: \(name): \(describe(number))")
}

func checkSocket(_ descriptor: Int32) throws(StartError) {
  var kind: Int32 = 0
  var length = socklen_t(MemoryLayout<Int32>.size)
  guard getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) == 0 else {
    throw StartError(message: "descriptor \(descriptor) is no socket. \(Invocation.usage)")
  }
}

/// - Returns: the exit status.
func work() -> Int32 {
  do throws(StartError) {
    switch try Invocation(CommandLine.arguments) {
    case .server(let socket):
      try checkSocket(socket)
      sandbox_close_others(socket)
      // The folder in which photod was started must remain unmountable.
      guard chdir("/") == 0 else {
        throw StartError(message: "the folder can't be changed to /: \(describe(errno))")
      }
      try enterSandbox(socket: socket)
      return ImageServer(socket: socket).run()
    case .picture(let command): return try command.run()
    case .formats:
      guard imagedecoders_start() == IMAGEDECODERS_DONE else {
        throw StartError(message: "the decoders can't be initialised: \(String(cString: imagedecoders_message()))")
      }
      var number: UInt32 = 0
      while let name = imagedecoders_format(number) {
        print(String(cString: name))
        number += 1
      }
      return 0
    case .sandboxTest:
      try enterSandbox(socket: -1)
      var number: UInt32 = 0
      var error: Int32 = 0
      while let name = sandbox_try(number, &error) {
        complain("\(String(cString: name)): \(error == 0 ? "possible" : describe(error))")
        number += 1
      }
      return 0
    }
  } catch {
    complain("photod-image: \(error.message)")
    return 1
  }
}

exit(work())
