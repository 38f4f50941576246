import ArgumentParser
import PhotoClient

struct DebugCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "debug",
    abstract: "Shows what photod does inside, for finding faults.",
    discussion: """
      EXAMPLES
        photoctl debug events
        photoctl debug events --follow
      """,
    subcommands: [EventsCommand.self])
}

struct EventsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events",
    abstract: "Says what photod saw on disk last, and what it made of it.",
    discussion: """
      photod keeps its last 1,000 events. What scans and the listings of new folders find is counted by folder. With \
      --follow it goes on with what happens, until Ctrl-C or SIGTERM, or until the reader of its pipe goes. Who reads too \
      slowly misses events, and is told how many; in JSON their numbers are missing.

      With --format text a line says when, what, where, which asset, and why. With --format jsonl it is an Event of \
      org.photod.manage.

      EXAMPLES
        photoctl debug events
        photoctl debug events --follow
        photoctl debug events --format jsonl | jq 'select(.kind == "ignored")'
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Go on with events as they happen.")
  var follow = false

  @Option(help: "How to print: text or jsonl (default: text on a terminal, else jsonl).")
  var format: WatchFormat?

  func run() async throws {
    if follow { Output.endQuietlyWithReader() }
    let format = format ?? (Output.isTerminal ? .text : .jsonl)
    var isFirst = true
    do {
      for try await page in PhotoDaemonManagement(of: connection.library).events(follow: follow) {
        switch format {
        case .text: try Output.put(EventText.text(page, isFirst: isFirst))
        case .jsonl: try Output.put(page.events.flatMap { try JSONText.line($0) + [UInt8(ascii: "\n")] })
        }
        isFirst = false
      }
    } catch let error as PhotoLibraryError {
      throw Failure(error, in: "debug events")
    }
  }
}
