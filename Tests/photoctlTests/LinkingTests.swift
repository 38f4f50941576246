import Foundation
import Testing

/// The libraries that the loader maps when photoctl starts.
@Suite struct LinkingTests {
  private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources")
  /// photoctl, and the targets that it depends on.
  private static let targets = [
    "ChangeDetails", "PhotoClient", "PhotoContract", "PhotoModel", "PredicateLanguage", "Varlink", "WorkerProcess",
    "photoctl",
  ]

  /// With all of Foundation, each start would take longer, and the program would be larger. One import is enough for that.
  /// FoundationEssentials has what photoctl needs. The `#else` of systems without it is indented.
  @Test(arguments: targets) func photoctlLinksNoFoundationBesideItsEssentials(target: String) throws {
    var count = 0
    let folder = Self.sources.appending(path: target)
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    for case let file as URL in files where file.pathExtension == "swift" {
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      #expect(!lines.contains { $0.hasSuffix("import Foundation") && !$0.hasPrefix(" ") }, "\(file.path)")
      count += 1
    }
    #expect(count > 0)
  }
}
