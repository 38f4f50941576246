import ArgumentParser
import Foundation
import TestTools
import Testing

@testable import photoctl

/// The pages that Documentation/manual makes from photoctl's help.
struct ManualTests {
  private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Documentation/manual")

  private static func tool(_ name: String) -> URL? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { URL(filePath: "\($0)/\(name)") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  private func run(_ tool: URL, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
    let process = TestProcess()
    let pipe = Pipe()
    process.executableURL = tool
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let said = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = String(decoding: said, as: UTF8.self)
    #expect(process.terminationStatus == 0, "\(text)")
    return text
  }

  /// Makes the pages from the description that a program prints about itself.
  private func withPages(of description: String = Photoctl._dumpHelp(), _ body: (URL) throws -> Void) throws {
    let python = try #require(Self.tool("python3"))
    let folder = FileManager.default.temporaryDirectory.appending(path: "photoctl-manual-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let program = folder.appending(path: "photoctl")
    try Data(description.utf8).write(to: folder.appending(path: "photoctl.json"))
    try Data("#!/bin/sh\n[ \"$1\" = --version ] && echo 'photoctl 0' || cat \"$0.json\"\n".utf8).write(to: program)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
    let pages = folder.appending(path: "pages")
    #expect(
      try run(python, [Self.script.path, pages.path, program.path], environment: ["SOURCE_DATE_EPOCH": "1767225600"])
        == "")
    try body(pages)
    try FileManager.default.removeItem(at: folder)
  }

  private static func titles(_ command: any ParsableCommand.Type, _ above: [String]) -> [String] {
    let names = above + [command.configuration.commandName ?? "photoctl"]
    return [names.joined(separator: "-")] + command.configuration.subcommands.flatMap { titles($0, names) }
  }

  @Test(.enabled(if: tool("python3") != nil, "python3 is not installed"))
  func everyCommandHasAPage() throws {
    try withPages { pages in
      let names = try FileManager.default.contentsOfDirectory(atPath: pages.path).sorted()
      #expect(names == Self.titles(Photoctl.self, []).map { "\($0).1" }.sorted())
      for name in ["photoctl", "photoctl-query", "photoctl-favorite"] {
        try expectSnapshot(String(contentsOf: pages.appending(path: "\(name).1"), encoding: .utf8), "\(name).1")
      }
    }
  }

  /// A heading may name an option. Words, sentences and lists of one block must not run together.
  @Test(.enabled(if: tool("python3") != nil, "python3 is not installed"))
  func blocksKeepTheirParagraphsAndLists() throws {
    let description = #"""
      {"command": {"commandName": "any", "abstract": "Does it.", "discussion":
      "It does it.\n\nFIELDS OF --clear\n  title rating\n  place\n\n  All are texts.\n  IN      one of\n          these\n  LIKE    a pattern\n  No more.\n\n    key = 1\n      # one\n\nEXAMPLES\n  any  1\n\n  any  2"}}
      """#
    try withPages(of: description) { pages in
      let page = try String(contentsOf: pages.appending(path: "any.1"), encoding: .utf8)
      #expect(
        page.contains(
          #"""
          .Ss Fields of \-\-clear
          title rating place
          .Pp
          All are texts.
          .Pp
          .Bl -tag -width Ds -compact
          .It IN
          one of these
          .It LIKE
          a pattern
          .El
          .Pp
          No more.
          .Bd -literal -offset 3n
          key = 1
            # one
          .Ed
          .Sh EXAMPLES
          .Bd -literal -offset 3n
          any  1

          any  2
          .Ed

          """#), "\(page)")
    }
  }

  @Test(.enabled(if: tool("python3") != nil && tool("mandoc") != nil, "python3 or mandoc is not installed"))
  func pagesAreWithoutWarnings() throws {
    let mandoc = try #require(Self.tool("mandoc"))
    try withPages { pages in
      for name in try FileManager.default.contentsOfDirectory(atPath: pages.path) {
        #expect(try run(mandoc, ["-T", "lint", "-W", "warning", pages.appending(path: name).path]) == "")
      }
    }
  }
}
