import Foundation
import Testing

struct DocumentationTests {
  @Test func everyMessageIsExplained() throws {
    let run = try ProgramRun(Articles.package.appending(path: "Documentation/messages"))
    #expect(run.status == 0, "\(run.output)")
  }

  @Test func messagesWithoutAnEntryAreNamed() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "photod-messages-\(UUID())")
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
    let sources = folder.appending(path: "Sources/Any")
    try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
    let source = #"""
      // logger.error("in a comment")
      func say(_ why: String) {
        logger.error("the \(kind(of: "moon")) is gone", metadata: ["why": "\(why)"])
        logger.info("nobody need explain this")
      }
      """#
    try source.write(to: sources.appending(path: "Moon.swift"), atomically: false, encoding: .utf8)
    let warnings = #"""
      extension Warning { var text: String { "The moon \(why) is gone. Put it back." } }
      extension Warning { var part: String { "These words begin no message." } }
      """#
    try warnings.write(to: sources.appending(path: "Warning+Text.swift"), atomically: false, encoding: .utf8)
    let run = try ProgramRun(Articles.package.appending(path: "Documentation/messages"), [folder.path])
    #expect(run.status == 1)
    let missing = run.output.split(separator: "\n").filter { $0.hasPrefix("no entry: ") }
    #expect(
      missing == [
        "no entry: error: the … is gone  (Sources/Any/Moon.swift)",
        "no entry: status: The moon … is gone. Put it back.  (Sources/Any/Warning+Text.swift)",
      ])
    #expect(run.output.contains("said no more: exit code 78\n"))
  }

  /// Every declaration is on its page unchanged, with every word of the comments.
  @Test func pagesOfInterfacesContainEveryWord() throws {
    let folder = Articles.package.appending(path: "Sources/PhotoContract")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "varlink" }
    #expect(!files.isEmpty)
    for file in files {
      let run = try ProgramRun(Articles.package.appending(path: "Documentation/interface-page"), [file.path])
      #expect(run.status == 0, "\(run.output)")
      let lines = Set(run.output.split(separator: "\n"))
      let words = Set(Self.words(run.output))
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        if line.hasPrefix("#") {
          let lost = Self.words(line).filter { !words.contains($0) }
          #expect(lost.isEmpty || line == "# Conventions" || line.contains("change-details.md"), "\(lost): \(line)")
        } else {
          #expect(lines.contains(line) || line.hasPrefix("interface "), "\(line)")
        }
      }
    }
  }

  private static func words(_ text: some StringProtocol) -> [String] {
    text.split { !($0.isLetter || $0.isNumber) }.map { $0.lowercased() }
  }

  @Test(
    .enabled(if: ProgramRun.find("docc") != nil, "docc is not in PATH"),
    .enabled(if: modules != nil, "the modules are not beside the tests"))
  func doccConvertsWithoutWarnings() throws {
    let output = FileManager.default.temporaryDirectory.appending(path: "photod-documentation-\(UUID())")
    let modules = try #require(Self.modules)
    let run = try ProgramRun(
      Articles.package.appending(path: "Documentation/build"),
      ["--modules", modules.path, "--output", output.path])
    #expect(run.status == 0, "\(run.output)")
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: output) } }
    let pages = output.appending(path: "photod.doccarchive/data/documentation")
    for page in ["photod/architecture", "photod/operating", "photod/org-photod-library", "photoclient/photolibrary"] {
      #expect(FileManager.default.fileExists(atPath: pages.appending(path: "\(page).json").path), "\(page)")
    }
  }

  /// The folder in which the build put the modules. It contains the program that runs the tests.
  static let modules: URL? = {
    let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let client = folder.appending(path: "Modules/PhotoClient.swiftmodule")
    return FileManager.default.fileExists(atPath: client.path) ? folder : nil
  }()
}
