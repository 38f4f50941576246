import Foundation
import TestTools

/// The environment "user manager": photod as systemd's user manager has it, with units as installed, a real manager and a
/// real journal.
///
/// All of it is one run of `Tests/Scripts/service/run`, which takes half a minute. Each check of its scripts has a result.
package struct UserManagerRun: Sendable {
  package struct Result: Sendable {
    package var isOK: Bool
    /// The commands of a failed check, with their output.
    package var steps = ""
  }

  package var results: [String: Result] = [:]
  package var output: String

  /// The one run of this process. It begins with the first use.
  package static let shared = Task { try await UserManagerRun() }

  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let scripts = package.appending(path: "Tests/Scripts/service")
  private static let tools =
    ProcessInfo.processInfo.environment["PHOTOD_TEST_TOOLS"]
    ?? package.deletingLastPathComponent().appending(path: "shared/tools").path
  /// The version of systemd, if it is not that of this system.
  private static let systemd = ProcessInfo.processInfo.environment["PHOTOD_TEST_SYSTEMD"]
  /// The checks, as their scripts name them.
  package static let names: [String] = {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: scripts.path).sorted()
        .filter { $0.hasSuffix(".bash") }
        .flatMap { name in
          try String(contentsOf: scripts.appending(path: name), encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("check ") }.map { String($0.dropFirst("check ".count)) }
        }
    } catch {
      fatalError("the scripts can't be read: \(error)")
    }
  }()

  /// Why there can't be a run here, nil where there can.
  package static let obstacle: String? = {
    do {
      let said = try run(["--obstacle", BuiltPrograms.folder, tools]).trimmingCharacters(in: .whitespacesAndNewlines)
      return said.isEmpty ? nil : said
    } catch {
      return "\(error)"
    }
  }()

  private init() async throws {
    output = try await withCheckedThrowingContinuation { continuation in
      // Half a minute is too long for a thread of the pool.
      DispatchQueue(label: "service-run").async {
        let version = Self.systemd.map { [$0] } ?? []
        continuation.resume(with: Swift.Result { try Self.run([BuiltPrograms.folder, Self.tools] + version) })
      }
    }
    var name: String?
    for line in output.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("ok ") {
        results[String(line.dropFirst("ok ".count))] = Result(isOK: true)
        name = nil
      } else if line.hasPrefix("not ok ") {
        name = String(line.dropFirst("not ok ".count))
        name.map { results[$0] = Result(isOK: false) }
      } else if let name {
        results[name]?.steps += line + "\n"
      }
    }
  }

  private static func run(_ arguments: [String]) throws -> String {
    let process = TestProcess()
    process.executableURL = scripts.appending(path: "run")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self)
  }
}
