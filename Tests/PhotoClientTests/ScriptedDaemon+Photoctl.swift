import Foundation
import TestTools

extension ScriptedDaemon {
  /// Runs photoctl on a thread of its own, because the scripted answers need those of the tasks.
  func photoctl(_ arguments: [String]) async throws -> (output: Data, errors: String, status: Int32) {
    try await run("photoctl", ["--socket", path] + arguments)
  }

  /// Runs an example.
  ///
  /// - Returns: the lines that it prints, and its exit status.
  func example(_ name: String, _ arguments: [String] = []) async throws -> (lines: [String], status: Int32) {
    let (output, errors, status) = try await run(name, arguments)
    let text = String(decoding: output, as: UTF8.self) + errors
    return (text.split(separator: "\n").map(String.init), status)
  }

  private func run(_ program: String, _ arguments: [String]) async throws -> (
    output: Data, errors: String, status: Int32
  ) {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path(program))
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["PHOTOD_SOCKET": path]) { $1 }
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            try process.run()
            let text = try output.fileHandleForReading.readToEnd() ?? Data()
            let problems = try errors.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return (text, String(decoding: problems, as: UTF8.self), process.terminationStatus)
          })
      }
    }
  }
}
