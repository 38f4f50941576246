import Dispatch
import Foundation
import TestTools

/// Runs Python programs that talk to photod with the package `varlink` from PyPI.
enum PythonClient {
  struct Result: Sendable {
    let status: Int32
    /// Standard output and standard error as one text.
    let output: String
  }

  static let script = SourceTree.tests.appendingPathComponent("Scripts/varlink_client.py").path

  static let executable: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/python3" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Runs Python. A program that still runs after `seconds` is ended, so that a missing reply fails a test.
  ///
  /// - Parameters:
  ///   - path: folders of packages, beside Python's own.
  ///   - interpreter: the first Python in PATH, unless it is given.
  static func run(
    _ arguments: [String], path: String, seconds: Double = 60, environment: [String: String] = [:],
    interpreter: String? = executable
  ) async throws -> Result {
    guard let interpreter else { throw CocoaError(.fileNoSuchFile) }
    let environment = environment.merging(["PYTHONPATH": path]) { $1 }
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "python").async {
        continuation.resume(with: Swift.Result { try runBlocking(interpreter, arguments, environment, seconds) })
      }
    }
  }

  private static func runBlocking(
    _ executable: String, _ arguments: [String], _ environment: [String: String], _ seconds: Double
  ) throws -> Result {
    let process = TestProcess()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
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
  static func varlinkPackage() async throws -> String? { try await varlink.value }

  private static let varlink = Task { try await folder(of: "varlink", seconds: 60) }

  /// The folder of the package `mypy`, likewise.
  static func mypyPackage() async throws -> String? { try await mypy.value }

  private static let mypy = Task { try await folder(of: "mypy", seconds: 300) }

  private static func folder(of package: String, seconds: Double) async throws -> String? {
    guard executable != nil else { return nil }
    let directory = NSTemporaryDirectory() + "/photod-\(package)-python-\(geteuid())"
    if try await run(["-c", "import \(package)"], path: directory).status == 0 { return directory }
    let pip = try await run(
      ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", directory, package], path: "",
      seconds: seconds)
    return pip.status == 0 ? directory : nil
  }

  /// A Python that can do this, of the first in PATH and that of the system. Nil if neither can.
  static func interpreter(thatRuns program: String) async throws -> String? {
    for candidate in [executable, "/usr/bin/python3"].compactMap({ $0 })
    where FileManager.default.isExecutableFile(atPath: candidate) {
      if try await run(["-c", program], path: "", interpreter: candidate).status == 0 { return candidate }
    }
    return nil
  }
}
