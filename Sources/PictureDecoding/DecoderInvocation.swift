// SPDX-License-Identifier: GPL-2.0-or-later

/// How a decoder was called.
enum DecoderInvocation {
  /// photod started it. The socket to photod is this descriptor.
  case server(socket: Int32)
  /// A person wants one picture.
  case picture(PictureCommand)
  /// A test wants to see what the sandbox forbids.
  case sandboxTest
  /// A person wants to know which formats can be decoded.
  case formats

  static func usage(of program: DecoderProgram) -> String {
    let options =
      switch program.pictures {
      case .photos: "[--size N] [--embedded]"
      case .embedded: "--embedded [--size N]"
      case .frames: "[--size N] [--at SECONDS]"
      }
    return """
      usage: \(program.name) [--fd N | --picture PATH --output FILE \(options) | --test-sandbox | --formats]; \
      photod starts it, and N is one end of a socket pair; --picture makes one picture
      """
  }

  init(_ arguments: [String], of program: DecoderProgram) throws(DecoderStartError) {
    let wrong = DecoderStartError(message: Self.usage(of: program))
    switch (arguments.count, arguments.dropFirst().first) {
    case (1, _): self = .server(socket: 3)
    case (2, "--test-sandbox"): self = .sandboxTest
    case (2, "--formats"): self = .formats
    case (3, "--fd"):
      guard let number = Int32(arguments[2]), number >= 0 else { throw wrong }
      self = .server(socket: number)
    case (_, "--picture"): self = .picture(try Self.picture(arguments, program, wrong))
    default: throw wrong
    }
  }

  private static func picture(
    _ arguments: [String], _ program: DecoderProgram, _ wrong: DecoderStartError
  ) throws(DecoderStartError) -> PictureCommand {
    var command = PictureCommand(program: program.name)
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      switch option {
      case "--picture": command.path = rest.popFirst() ?? ""
      case "--output": command.output = rest.popFirst() ?? ""
      case "--embedded" where program.pictures != .frames: command.isEmbedded = true
      case "--size":
        guard let number = rest.popFirst().flatMap({ UInt32($0) }), (1...65_535).contains(number) else { throw wrong }
        command.size = number
      case "--at" where program.pictures == .frames:
        guard let seconds = rest.popFirst().flatMap({ Double($0) }), (0...1e9).contains(seconds) else { throw wrong }
        command.atMilliseconds = UInt64((seconds * 1000).rounded())
      default: throw wrong
      }
    }
    guard !command.path.isEmpty, !command.output.isEmpty, program.pictures != .embedded || command.isEmbedded else {
      throw wrong
    }
    return command
  }
}
