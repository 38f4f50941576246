import Foundation
import TestTools
import Testing

/// The documentation's files in the package.
enum Articles {
  static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func text(_ name: String) throws -> String {
    try String(contentsOf: package.appending(path: "Documentation/photod.docc/\(name).md"), encoding: .utf8)
  }

  /// The listings of an article in this language, in their order.
  static func listings(_ language: String, in article: String) throws -> [String] {
    var listings: [String] = []
    var current: [Substring]?
    for line in try text(article).split(separator: "\n", omittingEmptySubsequences: false) {
      if let lines = current {
        if line == "```" { listings.append(lines.map { $0 + "\n" }.joined()) }
        current = line == "```" ? nil : lines + [line]
      } else if line == "```\(language)" {
        current = []
      }
    }
    return listings
  }
}

/// The result of a program that ran to its end.
struct ProgramRun {
  let status: Int32
  let output: String

  /// - Parameter input: the text for the program's standard input.
  init(_ program: URL, _ arguments: [String] = [], input: String = "") throws {
    let process = TestProcess()
    process.executableURL = program
    process.arguments = arguments
    let (feed, pipe) = (Pipe(), Pipe())
    process.standardInput = feed
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    try feed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try feed.fileHandleForWriting.close()
    output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    status = process.terminationStatus
  }

  /// Finds a program with this name in PATH.
  static func find(_ name: String) -> URL? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").lazy
      .map { URL(filePath: "\($0)/\(name)") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}
