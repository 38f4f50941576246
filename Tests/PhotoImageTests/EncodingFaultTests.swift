import Foundation
import TestTools
import Testing

/// The encoder of photod-preview and photod-video without enough memory.
@Suite(.enabled(if: Compiler.isInstalled, "no C compiler is installed")) struct EncodingFaultTests {
  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// - Returns: what the program prints. Its errors go to those of the test.
  private func output(of program: String, _ arguments: [String]) throws -> String {
    let (process, output) = (TestProcess(), Pipe())
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationReason == .exit && process.terminationStatus == 0, "\(program) \(arguments)")
    return text
  }

  /// Each allocation fails once. The program ends with a failure if memory is freed twice, or another failure is reported.
  @Test func missingMemoryIsReportedAndNothingIsFreedTwice() throws {
    let folder = try TemporaryFolder("encoding")
    let sources = ["Tests/Faults/encoding.c", "Sources/CJPEG/encode.c", "Sources/CJPEG/errors.c"]
    let include = Self.package.appending(path: "Sources/CJPEG/include").path
    let program = folder.path + "/encoding"
    _ = try output(
      of: "/usr/bin/cc",
      ["-std=gnu11", "-O1", "-I", include, "-o", program] + sources.map { Self.package.appending(path: $0).path }
        + ["-ljpeg"])
    let failures = try #require(Int(try output(of: program, []).trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(failures > 5)
  }
}

private enum Compiler {
  static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")
}
