import Foundation
import Testing

/// The public symbols of the libraries that other programs import.
@Suite(
  .enabled(if: ProgramRun.find("python3") != nil && ProgramRun.find("swift") != nil, "python3 or swift is missing"))
struct PublicSymbolTests {
  /// A symbol that disappears or changes breaks other programs. The list is committed, so that a review shows such a
  /// change.
  @Test func theCommittedListHasThePublicSymbols() throws {
    let committed = try String(
      contentsOf: Articles.package.appending(path: "Documentation/public-symbols.txt"), encoding: .utf8)
    let lines = try Set(publicSymbols().split(separator: "\n"))
    let listed = Set(committed.split(separator: "\n"))
    let remedy: Comment = "if this is intended, record the list with `Scripts/public-symbols --record`"
    #expect(lines.count > 500)
    #expect(listed.subtracting(lines).sorted() == [], remedy)
    #expect(lines.subtracting(listed).sorted() == [], remedy)
  }

  @Test func everyPublicSymbolIsDocumented() throws {
    #expect(try publicSymbols("--undocumented") == "", "each needs a comment with its meaning, and its complexity")
  }

  /// A list may have a million assets, so the author of an app needs to know what a call costs.
  @Test func functionsAndPropertiesWithListsSayWhatTheyCost() throws {
    #expect(try publicSymbols("--without-complexity") == "", "each needs a line `- Complexity:` in its comment")
  }

  private func publicSymbols(_ options: String...) throws -> String {
    let script = Articles.package.appending(path: "Scripts/public-symbols")
    let run = try ProgramRun(script, options)
    try #require(run.status == 0, "\(run.output)")
    return run.output
  }
}
