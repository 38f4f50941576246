import ArgumentParser
import PhotoModel
import Testing

@testable import photoctl

/// The expected help texts are in Snapshots.
struct HelpTests {
  private static let commands: [any ParsableCommand.Type] =
    [Photoctl.self] + Photoctl.configuration.subcommands.flatMap { [$0] + $0.configuration.subcommands }

  @Test(arguments: commands.indices)
  func helpEqualsItsSnapshot(index: Int) throws {
    let command = Self.commands[index]
    let name = command == Photoctl.self ? "photoctl" : Photoctl.name(of: command)
    try expectSnapshot(
      Photoctl.helpMessage(for: command, columns: 80) + "\n", "\(name.replacing(" ", with: "-")).txt")
  }

  @Test(arguments: commands.indices)
  func everyCommandHasADiscussionWithExamples(index: Int) {
    let configuration = Self.commands[index].configuration
    #expect(!configuration.abstract.isEmpty)
    #expect(
      configuration.discussion.contains("EXAMPLES\n  photoctl ") || configuration.discussion.contains("&& photoctl"))
  }

  /// Tables and examples are indented. A line that is too long would continue without its indentation.
  @Test(arguments: commands.indices)
  func indentedLinesOfADiscussionAreShort(index: Int) {
    for line in Self.commands[index].configuration.discussion.split(separator: "\n") where line.hasPrefix("  ") {
      #expect(line.count <= 80, "\(line)")
    }
  }

  @Test func everyCounterOfTheStatusIsDocumentedInItsHelp() throws {
    let help = Photoctl.helpMessage(for: StatusCommand.self, columns: 1000)
    for counter in Mirror(reflecting: LibraryStatus.Counters()).children {
      let name = try #require(counter.label)
      #expect(help.contains(name), "\(name)")
    }
  }

  @Test func everyExitCodeIsDocumentedInTheHelp() {
    let help = Photoctl.helpMessage(columns: 80)
    for status in CommandStatus.allCases { #expect(help.contains("\n  \(status.rawValue)  ")) }
  }
}
