import Foundation
import Glibc
import PhotoTestSupport
import Synchronization
import TestTools
import Testing

/// `photoctl show --picture` in a pseudo-terminal.
@Suite(.timeLimit(.minutes(10))) struct ShownPictureTests {
  /// A terminal of 80 columns, 24 rows and 640 × 384 pixels. It is the controlling terminal of one program.
  private final class Terminal: Sendable {
    private struct State {
      var output: [UInt8] = []
      var hasAnswered = false
      var isOver = false
    }

    // TIOCSPTLCK and TIOCGPTN of <asm-generic/ioctls.h>, which are macros that Swift does not import.
    private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

    private let master: Int32
    private let slave: Int32
    private let state = Mutex(State())
    private let modes: [tcflag_t]

    /// - Parameter answer: what the terminal sends when the output has the request for its attributes.
    init(answer: String?) throws {
      master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      var (isLocked, number): (Int32, UInt32) = (0, 0)
      try #require(ioctl(master, Self.setLock, &isLocked) == 0 && ioctl(master, Self.getNumber, &number) == 0)
      slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
      try #require(slave >= 0)
      var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 640, ws_ypixel: 384)
      try #require(ioctl(slave, UInt(TIOCSWINSZ), &size) == 0)
      modes = Self.modes(of: slave)
      Thread.detachNewThread { [self] in read(answer) }
    }

    deinit { close(master) }

    /// All that programs have written, when the last of them has ended.
    func output() async throws -> [UInt8] {
      close(slave)
      try await eventually("the terminal is closed") { state.withLock { $0.isOver } }
      return state.withLock { $0.output }
    }

    /// Whether lines are read and shown as before.
    var isRestored: Bool { Self.modes(of: slave) == modes }

    /// - Parameter path: the folders with programs. Nil means those of the test.
    func run(_ arguments: [String], path: String? = nil) async throws -> Int32 {
      let process = TestProcess()
      if let path {
        process.environment = ProcessInfo.processInfo.environment.merging(["PATH": path]) { $1 }
      }
      process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
      process.arguments = ["--ctty", "--wait", BuiltPrograms.path("photoctl")] + arguments
      let stream = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
      (process.standardInput, process.standardOutput, process.standardError) = (stream, stream, stream)
      try process.run()
      await process.waitUntilExit()
      return process.terminationStatus
    }

    private static func modes(of descriptor: Int32) -> [tcflag_t] {
      var modes = termios()
      tcgetattr(descriptor, &modes)
      return [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
    }

    private func read(_ answer: String?) {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        // The end of the last program is an error.
        let count = Glibc.read(master, &buffer, buffer.count)
        guard count > 0 else { return state.withLock { $0.isOver = true } }
        let mustAnswer = state.withLock { state in
          state.output += buffer[..<count]
          let hasRequest = String(decoding: state.output, as: UTF8.self).contains("\u{1B}[c")
          guard hasRequest, !state.hasAnswered else { return false }
          state.hasAnswered = true
          return true
        }
        guard mustAnswer, let answer else { continue }
        let bytes = Array(answer.utf8)
        _ = write(master, bytes, bytes.count)
      }
    }
  }

  private func isInstalled() -> Bool { access("/usr/bin/setsid", X_OK) == 0 }

  @Test func aTerminalThatAnswersAsKittyGetsThePicture() async throws {
    try #require(isInstalled())
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let terminal = try Terminal(answer: "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;c")
      let status = try await terminal.run(["--socket", fixture.socket, "show", "--picture", fixture.path("a.jpg")])
      let isRestored = terminal.isRestored
      let output = String(decoding: try await terminal.output(), as: UTF8.self)
      #expect(status == 0 && isRestored, "\(output.suffix(300).debugDescription)")
      #expect(!output.contains(";OK"), "the answer is not shown")
      let commands = output.split(separator: "\u{1B}_G").map { $0.prefix { $0 != "\u{1B}" } }
        .drop { !$0.hasPrefix("a=T,f=100,q=2,") }
      #expect(!commands.isEmpty)
      let encoded = commands.map { $0.drop { $0 != ";" }.dropFirst() }.joined()
      let png = [UInt8](try #require(Data(base64Encoded: encoded)))
      #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]) && png.count > 24)
      let sides = [16, 20].map { start in png[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
      #expect(sides[0] > 0 && sides[0] <= 640 && sides[1] > 0 && sides[1] <= 192, "\(sides)")
    }
  }

  /// The stand-in prints the first bytes of the file, and its path.
  @Test func aTerminalWithSixelsGetsThePictureOfImg2sixel() async throws {
    try #require(isInstalled())
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let programs = fixture.directory + "/programs"
      try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: false)
      try installProgram(
        "#!/bin/sh\necho \"sixels of $(head -c 3 \"$1\" | od -An -tx1 | tr -d ' ') $1\"\n", at: programs + "/img2sixel")
      let terminal = try Terminal(answer: "\u{1B}[?62;4c")
      let arguments = ["--socket", fixture.socket, "show", "--picture", fixture.path("a.jpg")]
      let status = try await terminal.run(arguments, path: "\(programs):/usr/bin:/bin")
      let isRestored = terminal.isRestored
      let output = String(decoding: try await terminal.output(), as: UTF8.self)
      #expect(status == 0 && isRestored, "\(output.debugDescription)")
      let line = try #require(output.firstMatch(of: /sixels of ffd8ff (\/\S+\.jpg)/), "\(output.debugDescription)")
      #expect(line.output.1.contains("/pictures/") && !output.contains("a=T"))
    }
  }

  @Test func aTerminalWithSixelsNeedsImg2sixel() async throws {
    try #require(isInstalled())
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let terminal = try Terminal(answer: "\u{1B}[?62;4c")
      let arguments = ["--socket", fixture.socket, "show", "--picture", fixture.path("a.jpg")]
      let status = try await terminal.run(arguments, path: fixture.directory)
      let output = String(decoding: try await terminal.output(), as: UTF8.self)
      #expect(status == 69 && output.contains("libsixel-bin"), "\(output)")
    }
  }

  @Test func aTerminalThatDoesNotAnswerGetsAnError() async throws {
    try #require(isInstalled())
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let terminal = try Terminal(answer: nil)
      let status = try await terminal.run(["--socket", fixture.socket, "show", "--picture", fixture.path("a.jpg")])
      let isRestored = terminal.isRestored
      let output = String(decoding: try await terminal.output(), as: UTF8.self)
      #expect(status == 69 && isRestored)
      #expect(output.contains("does not answer that it can show pictures"), "\(output)")
      #expect(output.contains("photoctl thumbnail ID --output DIR"))
      #expect(!output.contains("a=T"))
    }
  }
}
