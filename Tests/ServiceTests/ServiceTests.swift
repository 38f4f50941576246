import Foundation
import Testing

/// photod as systemd's user manager has it: units as installed, a real manager, a real journal.
///
/// All of it is one run of `Tests/Scripts/service/run`, which takes half a minute; each of its checks is a case here.
@Suite(.timeLimit(.minutes(10))) struct ServiceTests {
  @Test(
    .enabled(if: ServiceRun.obstacle == nil, "\(ServiceRun.obstacle ?? "")"), arguments: ServiceRun.names)
  func holdsUnderAUserManager(check: String) async throws {
    let run = try await ServiceRun.shared.value
    let result = try #require(run.results[check], "the run ended before it:\n\(run.output.suffix(4000))")
    if !result.isOK { Issue.record("\(check):\n\(result.steps)") }
  }
}

/// What one run of all checks said.
private struct ServiceRun: Sendable {
  struct Result: Sendable {
    var isOK: Bool
    /// The commands of a check that failed, and what they printed.
    var steps = ""
  }

  var results: [String: Result] = [:]
  var output: String

  /// Made by whoever asks first.
  static let shared = Task { try await ServiceRun() }

  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let scripts = package.appending(path: "Tests/Scripts/service")
  private static let tools =
    ProcessInfo.processInfo.environment["PHOTOD_TEST_TOOLS"]
    ?? package.deletingLastPathComponent().appending(path: "shared/tools").path
  /// The directory of the programs, which is that of the test bundle.
  private static let products =
    CommandLine.arguments.first { $0.contains(".xctest") }
    .flatMap { argument in
      argument.range(of: "/[^/]*\\.xctest", options: .regularExpression).map { String(argument[..<$0.lowerBound]) }
    } ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path

  /// The checks, as their scripts name them.
  static let names: [String] = {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: scripts.path).sorted()
        .filter { $0.hasSuffix(".bash") }
        .flatMap { name in
          try String(contentsOf: scripts.appending(path: name), encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("check ") }.map { String($0.dropFirst("check ".count)) }
        }
    } catch {
      Issue.record("the scripts can't be read: \(error)")
      return []
    }
  }()

  /// Why there can't be a run here, nil where there can.
  static let obstacle: String? = {
    do {
      let said = try run(["--obstacle", products, tools]).trimmingCharacters(in: .whitespacesAndNewlines)
      return said.isEmpty ? nil : said
    } catch {
      return "\(error)"
    }
  }()

  private init() async throws {
    output = try await withCheckedThrowingContinuation { continuation in
      // Half a minute is too long for a thread of the pool.
      DispatchQueue(label: "service-run").async {
        continuation.resume(with: Swift.Result { try Self.run([Self.products, Self.tools]) })
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
    let process = Process()
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
