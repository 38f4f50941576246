import Dispatch
import Foundation

/// Runs Python programs that talk to photod with the package `varlink` from PyPI.
enum PythonClient {
  struct Result: Sendable {
    let status: Int32
    /// Standard output and standard error as one text.
    let output: String
  }

  static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Scripts/varlink_client.py").path

  private static let executable: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/python3" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Runs Python. A program that still runs after `seconds` is ended, so that a missing reply fails a test.
  ///
  /// - Parameter path: a folder of packages, beside Python's own.
  static func run(_ arguments: [String], path: String, seconds: Double = 60) async throws -> Result {
    guard let executable else { throw CocoaError(.fileNoSuchFile) }
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "python").async {
        continuation.resume(with: Swift.Result { try runBlocking(executable, arguments, path, seconds) })
      }
    }
  }

  private static func runBlocking(
    _ executable: String, _ arguments: [String], _ path: String, _ seconds: Double
  ) throws -> Result {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONPATH": path]) { $1 }
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let limit = DispatchWorkItem { process.terminate() }
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: limit)
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    limit.cancel()
    return Result(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
  }

  /// The folder of the package: Python's own, or one to which pip downloads it once in each run. Nil if pip cannot get
  /// it.
  static func varlinkPackage() async throws -> String? { try await package.value }

  private static let package = Task { () -> String? in
    guard executable != nil else { return nil }
    let directory = NSTemporaryDirectory() + "/photod-varlink-python-\(geteuid())"
    if try await run(["-c", "import varlink"], path: directory).status == 0 { return directory }
    let pip = try await run(
      ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", directory, "varlink"], path: "")
    return pip.status == 0 ? directory : nil
  }
}
