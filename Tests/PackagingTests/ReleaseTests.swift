import Foundation
import TestTools
import Testing

/// Runs `Scripts/release` on a copy of the files that it changes.
@Suite struct ReleaseTests {
  private struct Copy {
    static let paths = [
      "Scripts/release", "Sources/PhotoModel/Release.swift", "debian/changelog", "CHANGELOG.md",
      "Sources/python/photod/__init__.py",
    ]
    let folder: URL

    static func with(_ body: (Copy) throws -> Void) throws {
      let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appending(path: "photod-release-\(UUID().uuidString)")
      defer {
        do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
      }
      for path in paths {
        let target = folder.appending(path: path)
        try FileManager.default.createDirectory(
          at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: URL(fileURLWithPath: Project.directory).appending(path: path), to: target)
      }
      try body(Copy(folder: folder))
    }

    func text(_ path: String) throws -> String { try String(contentsOf: folder.appending(path: path), encoding: .utf8) }

    /// Runs the script. Returns its exit code and standard error.
    func release(_ arguments: String...) throws -> (code: Int32, message: String) {
      let process = TestProcess()
      process.executableURL = folder.appending(path: "Scripts/release")
      process.arguments = arguments
      let output = Pipe()
      (process.standardOutput, process.standardError) = (FileHandle.nullDevice, output)
      try process.run()
      let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }
  }

  @Test func releaseSetsTheVersionInAllPlaces() throws {
    try Copy.with { copy in
      let before = try Copy.paths.dropFirst().map(copy.text)
      let (code, message) = try copy.release("9.10.11", "2031-02-03")
      #expect(code == 0, "\(message)")
      #expect(try copy.text("Sources/PhotoModel/Release.swift").contains(#"static let version = "9.10.11""#))
      #expect(try copy.text("Sources/python/photod/__init__.py").contains("\n__version__ = \"9.10.11\"\n"))
      let package = try copy.text("debian/changelog")
      #expect(package.hasPrefix("photod (9.10.11-1) unstable; urgency=medium\n\n  * "))
      #expect(
        package.contains("\n\n -- photod maintainers <maintainers@photod.invalid>  Mon, 03 Feb 2031 12:00:00 +0000\n\n")
      )
      #expect(package.hasSuffix(before[1]))
      let changes = try copy.text("CHANGELOG.md")
      #expect(changes.contains("## [Unreleased]\n\n## [9.10.11] - 2031-02-03\n\n###"))
      #expect(changes.replacing("\n\n## [9.10.11] - 2031-02-03", with: "") == before[2])
    }
  }

  @Test(arguments: [
    (["1.2"], 64, "is no version"), (["01.2.3"], 64, "is no version"), (["9.0.0", "31.12.2030"], 64, "is no date"),
    ([], 64, "usage"), (["0.0.9"], 65, "is not newer than"), (["0.1.0"], 65, "is not newer than"),
  ])
  func wrongReleaseChangesNothing(arguments: [String], code: Int32, message: String) throws {
    try Copy.with { copy in
      let before = try Copy.paths.map(copy.text)
      let result =
        switch arguments.count {
        case 0: try copy.release()
        case 1: try copy.release(arguments[0])
        default: try copy.release(arguments[0], arguments[1])
        }
      #expect(result.code == code && result.message.contains(message), "\(result)")
      #expect(try Copy.paths.map(copy.text) == before)
    }
  }

  @Test func releaseWithoutChangesIsRefused() throws {
    try Copy.with { copy in
      #expect(try copy.release("9.0.0").code == 0)
      let (code, message) = try copy.release("9.0.1")
      #expect(code == 65 && message.contains("is empty"))
    }
  }
}
