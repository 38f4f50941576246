import Foundation
import TestTools
import Testing

/// The tests rely on these properties when they start programs.
@Suite(.timeLimit(.minutes(10))) struct TestProcessTests {
  private static func shell(_ script: String, _ output: Pipe) -> TestProcess {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script]
    process.standardOutput = output
    return process
  }

  @Test func programInheritsOnlyItsStandardDescriptors() async throws {
    // Neither of the descriptors of this pipe is close-on-exec.
    let other = Pipe()
    let output = Pipe()
    // The shell expands the pattern itself, and opens the folder for that.
    let process = Self.shell("for f in /proc/$$/fd/*; do readlink $f; done; true", output)
    try process.run()
    let text = String(decoding: try await output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    await process.waitUntilExit()
    var status = stat()
    try #require(fstat(other.fileHandleForReading.fileDescriptor, &status) == 0)
    #expect(!text.contains("[\(status.st_ino)]") && text.contains("pipe:"), "\(text)")
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
  }

  /// The background process has no pipe of the test, but it has inherited whatever its parent has.
  @Test func endIsKnownWhileAnotherProcessIsLeft() async throws {
    let output = Pipe()
    let process = Self.shell("sleep 600 >/dev/null & echo $!; exit 3", output)
    try process.run()
    await process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 3 && !process.isRunning)
    let line = try await output.fileHandleForReading.availableData(within: .seconds(60))
    let child = try #require(pid_t(String(decoding: line, as: UTF8.self).dropLast()))
    #expect(kill(child, SIGKILL) == 0)
  }

  @Test func signalThatEndsAProgramIsReported() async throws {
    let process = Self.shell("read line", Pipe())
    process.standardInput = Pipe()
    try process.run()
    #expect(process.isRunning)
    process.signal(SIGKILL)
    await process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL)
    // It no longer exists, and no other process is ended.
    process.signal(SIGKILL)
  }

  @Test func programThatIsMissingIsAnError() {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: "/bin/none")
    #expect(throws: POSIXError.self) { try process.run() }
    #expect(!process.isRunning)
  }
}
