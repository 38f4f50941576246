import Foundation
import TestTools
import Testing

/// The sources that these tests check, and the programs that were built from them.
enum Project {
  static let directory = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  static func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(directory)/\(path)", encoding: .utf8)
  }

  /// Returns the program's standard output. The program must exit with status 0. It gets nothing of make's environment,
  /// because this test may be a part of `make test`.
  static func run(_ program: String, _ arguments: String...) throws -> String {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["-u", "MAKEFLAGS", "-u", "MAKELEVEL", "-u", "MFLAGS", program] + arguments
    process.currentDirectoryURL = URL(fileURLWithPath: directory)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(program) \(arguments.joined(separator: " "))")
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// One paragraph of a Debian control file: https://www.debian.org/doc/debian-policy/ch-controlfields.html. The lines of
/// a field are joined by newlines. Comments are left out.
struct ControlParagraph {
  private var fields: [String: String] = [:]

  subscript(name: String) -> String? { fields[name] }

  /// The values of a field that is a list, separated by `separator`.
  func list(_ name: String, separatedBy separator: Character) -> [String] {
    (fields[name] ?? "").split { $0 == separator || $0 == "\n" }
      .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  static func all(in text: String) throws -> [ControlParagraph] {
    var paragraphs: [ControlParagraph] = []
    var current = ControlParagraph()
    var lastName: String?
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) + [""]
    for line in lines where !line.hasPrefix("#") {
      if line.isEmpty {
        if !current.fields.isEmpty { paragraphs.append(current) }
        (current, lastName) = (ControlParagraph(), nil)
      } else if line.hasPrefix(" ") {
        current.fields[try #require(lastName, "'\(line)' belongs to no field"), default: ""] += "\n" + line
      } else {
        let colon = try #require(line.firstIndex(of: ":"), "'\(line)' is no field")
        let name = String(line[..<colon])
        try #require(current.fields[name] == nil, "\(name) is there twice")
        current.fields[name] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        lastName = name
      }
    }
    return paragraphs
  }
}
