// SPDX-License-Identifier: GPL-2.0-or-later

import CSandbox
import Glibc
import ImageRecords
import SystemErrors

/// A program that decodes files for photod, in a process without rights.
///
/// photod starts it with one end of a socket pair, and sends the files as descriptors.
package struct DecoderProgram {
  /// The name of the executable, for messages.
  package let name: String
  /// The pictures that the program makes.
  package let pictures: Pictures
  /// Initialises the decoders. It is called before the sandbox, because some libraries read their plugins.
  package let start: () throws(DecoderStartError) -> Void
  /// The media types that can be decoded.
  package let formats: () -> [String]
  /// Makes the picture of a file. The descriptor stays open.
  package let make: (PictureRequest, Int32) throws(PictureError) -> MadePicture

  package enum Pictures {
    /// Pictures of photos, and the pictures that cameras embed in them.
    case photos
    /// Only the pictures that cameras embed.
    case embedded
    /// Frames of videos.
    case frames
  }

  package init(
    name: String, pictures: Pictures, start: @escaping () throws(DecoderStartError) -> Void,
    formats: @escaping () -> [String],
    make: @escaping (PictureRequest, Int32) throws(PictureError) -> MadePicture
  ) {
    self.name = name
    self.pictures = pictures
    self.start = start
    self.formats = formats
    self.make = make
  }

  /// - Parameter arguments: those of the process, beginning with its name.
  /// - Returns: the exit status.
  package func run(_ arguments: [String]) -> Int32 {
    do throws(DecoderStartError) {
      switch try DecoderInvocation(arguments, of: self) {
      case .server(let socket):
        try Self.check(socket: socket, usage: DecoderInvocation.usage(of: self))
        sandbox_close_others(socket)
        // The folder in which photod was started must remain unmountable.
        guard chdir("/") == 0 else {
          throw DecoderStartError(message: "the folder can't be changed to /: \(errorText(errno))")
        }
        try enterSandbox(socket: socket)
        return ImageServer(socket: socket, program: self).run()
      case .picture(let command): return try command.run()
      case .formats:
        try start()
        for format in formats() { print(format) }
        return 0
      case .sandboxTest:
        try enterSandbox(socket: -1)
        tryForbiddenThings()
        return 0
      }
    } catch {
      complain("\(name): \(error.message)")
      return 1
    }
  }

  /// Initialises the decoders and gives up all rights. After this, the process can only read descriptors that it is given.
  private func enterSandbox(socket: Int32) throws(DecoderStartError) {
    try start()
    let step = sandbox_enter_as_decoder(socket)
    guard step != SANDBOX_DONE else { return }
    let (number, problem) =
      switch step {
      case SANDBOX_LIMITS: (errno, "its limits can't be set")
      case SANDBOX_PRIVILEGES: (errno, "new privileges can't be excluded")
      case SANDBOX_LANDLOCK: (errno, "Landlock can't be used")
      default: (errno, "seccomp can't be used")
      }
    throw DecoderStartError(message: "the sandbox failed, so no file is read: \(problem): \(errorText(number))")
  }

  private func tryForbiddenThings() {
    var number: UInt32 = 0
    var error: Int32 = 0
    while let name = sandbox_try(number, &error) {
      complain("\(String(cString: name)): \(error == 0 ? "possible" : errorText(error))")
      number += 1
    }
    for number in 0..<UInt32(SANDBOX_CALL_LIMIT) where sandbox_refuses(number) == 0 {
      complain("allowed: \(sandbox_call_name(number).map { String(cString: $0) } ?? "call \(number)")")
    }
  }

  private static func check(socket: Int32, usage: String) throws(DecoderStartError) {
    var kind: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(socket, SOL_SOCKET, SO_TYPE, &kind, &length) == 0 else {
      throw DecoderStartError(message: "descriptor \(socket) is no socket. \(usage)")
    }
  }
}

package struct DecoderStartError: Error {
  package let message: String

  package init(message: String) { self.message = message }
}

/// Writes a line to standard error, which photod puts into its log.
func complain(_ text: String) {
  let bytes = Array("\(text)\n".utf8)
  // There is no other place to report that this fails.
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
