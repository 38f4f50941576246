import ArgumentParser
import Foundation
import Testing

@testable import photoctl

/// Help texts as they are meant to be, in Snapshots. With PHOTOD_RECORD_SNAPSHOTS=1 they are written anew: read the
/// difference before it is committed.
struct HelpTests {
  private static let commands: [any ParsableCommand.Type] =
    [Photoctl.self] + Photoctl.configuration.subcommands.flatMap { [$0] + $0.configuration.subcommands }

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snapshots")

  @Test(arguments: commands.indices)
  func helpIsAsItWasMeant(index: Int) throws {
    let command = Self.commands[index]
    let name = command == Photoctl.self ? "photoctl" : try #require(command.configuration.commandName)
    let help = Photoctl.helpMessage(for: command, columns: 80) + "\n"
    let file = Self.folder.appending(path: "\(name).txt")
    if ProcessInfo.processInfo.environment["PHOTOD_RECORD_SNAPSHOTS"] == "1" {
      try Data(help.utf8).write(to: file)
    }
    #expect(help == (try String(contentsOf: file, encoding: .utf8)))
  }

  @Test(arguments: commands.indices)
  func everyCommandHasADiscussionWithExamples(index: Int) {
    let configuration = Self.commands[index].configuration
    #expect(!configuration.abstract.isEmpty)
    #expect(
      configuration.discussion.contains("EXAMPLES\n  photoctl ") || configuration.discussion.contains("&& photoctl"))
  }

  @Test func everyExitCodeIsInTheHelp() {
    let help = Photoctl.helpMessage(columns: 80)
    for status in EndStatus.allCases { #expect(help.contains("\n  \(status.rawValue)  ")) }
  }
}
