import Foundation
import TestTools

extension ScriptedDaemon {
  /// Runs photoctl on a thread of its own, because the scripted answers need those of the tasks.
  func photoctl(_ arguments: [String]) async throws -> (output: Data, errors: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
    process.arguments = ["--socket", path] + arguments
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
