import ArgumentParser
import PhotoClient

struct DebugCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "debug",
    abstract: "Shows internal events of photod, and what it reads of a file, to find errors.",
    discussion: """
      EXAMPLES
        photoctl debug events
        photoctl debug events --follow
        photoctl debug extract IMG_0001.heic
      """,
    subcommands: [EventsCommand.self, ExtractCommand.self])
}

struct EventsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events",
    abstract: "Prints the last changes of files, and the library's action for each.",
    discussion: """
      photod keeps its last 1,000 events. The files that a scan finds have no events of their own, and neither have \
      those of a new folder. One event for each folder has their number.

      With --follow, it continues with new events until Ctrl-C or SIGTERM, or until the reader of the pipe has gone. A \
      reader that is too slow misses events. A line then says how many, and in JSON the field number skips them.

      With --format text, a line has the time, the kind, the path, the asset and the reason. With --format jsonl, it \
      is an Event of org.photod.manage.

      EXAMPLES
        photoctl debug events
        photoctl debug events --follow
        photoctl debug events --format jsonl | jq 'select(.kind == "ignored")'
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Continue with events as they happen.")
  var follow = false

  @OptionGroup var formats: FormatOptions<WatchFormat>

  func run() async throws {
    if follow { Output.endQuietlyWithReader() }
    let format = formats.chosen ?? (Output.isTerminal ? .text : .jsonl)
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
