import Foundation
import Glibc
import Synchronization
import TestTools

/// A running example, and the lines that it has printed.
final class ExampleProgram: Sendable {
  private struct State {
    var lines: [String] = []
    /// The last line so far, which has no end yet.
    var rest = Data()
    var hasEnded = false
  }

  private let process: TestProcess
  private let state = Mutex(State())

  /// - Parameters:
  ///   - socket: the socket of its photod.
  ///   - folder: its current folder; nil for that of the tests.
  init(_ name: String, _ arguments: [String] = [], socket: String, in folder: String? = nil) throws {
    process = TestProcess()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path(name))
    process.arguments = arguments
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    process.environment = ProcessInfo.processInfo.environment.merging(["PHOTOD_SOCKET": socket]) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    // A thread of its own waits for the output, because the tests run in the threads of tasks.
    Thread.detachNewThread { [self] in
      while true {
        let data = pipe.fileHandleForReading.availableData
        append(data)
        if data.isEmpty { return }
      }
    }
  }

  private func append(_ data: Data) {
    state.withLock { state in
      state.hasEnded = data.isEmpty
      state.rest += data
      while let end = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
        state.lines.append(String(decoding: state.rest[..<end], as: UTF8.self))
        state.rest = Data(state.rest[(end + 1)...])
      }
    }
  }

  var lines: [String] { state.withLock { $0.lines } }
  var lastLine: String { state.withLock { $0.lines.last ?? "" } }

  /// Waits until the program has ended by itself.
  ///
  /// - Returns: its exit status and all of its lines.
  func end() async throws -> (status: Int32, lines: [String]) {
    try await eventually("the program ends after \(lastLine)") { state.withLock { $0.hasEnded } && !process.isRunning }
    return (process.terminationStatus, lines)
  }

  /// Ends the program. It must still run.
  func stop() throws {
    try require(process.isRunning, "the program has ended by itself: \(lines.suffix(3))")
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
