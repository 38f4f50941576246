import Foundation
import Testing

/// The examples as files that a newcomer reads.
struct ExampleFileTests {
  private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func eachExampleHasATargetAndLessThan150Lines() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.package.appending(path: "Examples").path)
    // The picker with GTK is in Python.
    let examples = folders.filter { $0 != "gtk-picker" }
    #expect(examples.count == 6)
    let manifest = try String(contentsOf: Self.package.appending(path: "Package.swift"), encoding: .utf8)
    for example in examples {
      let folder = Self.package.appending(path: "Examples/\(example)")
      var lineCount = 0
      for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
        #expect(file.pathExtension == "swift", "\(file)")
        let text = try String(contentsOf: file, encoding: .utf8)
        lineCount += text.count { $0 == "\n" }
        #expect(text.contains("import PhotoClient") || example == "ObservedGrid", "\(file)")
        #expect(!text.contains("@testable") && !text.contains("package import"), "\(file)")
      }
      #expect(lineCount > 0 && lineCount < 150, "\(example) has \(lineCount) lines")
      #expect(manifest.contains(#"dependencies: ["PhotoClient"], path: "Examples/\#(example)""#), "\(example)")
    }
  }
}
