import ArgumentParser
import PhotoClient
import PhotoModel

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Says what happens, as it happens.",
    discussion: """
      Without a query: the library's history; with one: how that list changes (its details). It goes on until Ctrl-C or \
      SIGTERM, or until the reader of its pipe goes: all three end it with 0. Each line is out at once.

      With --format text a line says when, who did it, and how many came (+), changed (~), went (-) or moved (>); paths \
      follow while they are few, also that of what went, or moved, if this watch has seen it. With --format jsonl a line \
      is a PersistentChange, or with a query an Observation, of org.photod.library; the first Observations are the list \
      itself.

      --since goes on from a token that an earlier line, 'photoctl sync' or 'photoctl status --json' printed, so that \
      nothing is missed in between; one that expired, or is none, is an error (65).

      EXAMPLES
        photoctl watch
        photoctl watch --album Favorites
        photoctl watch --taken 2024.. --camera 'X-T5'
        photoctl watch --format jsonl | jq --unbuffered .insertedAssets
        photoctl watch --since "$(photoctl sync)"
      """)

  @OptionGroup var connection: ConnectionOptions
  @OptionGroup var query: QueryOptions

  @Option(help: ArgumentHelp("Go on from this token.", valueName: "token"))
  var since: String?

  @Option(help: "How to print: text or jsonl (default: text on a terminal, else jsonl).")
  var format: WatchFormat?

  func run() async throws {
    if let since, ChangeToken(since) == nil {
      throw Failure(
        .data, "'\(Printable.text(since))' is no token",
        remedy: "'photoctl sync' and 'photoctl status --json' print one; leave --since out to begin now.")
    }
    Output.endQuietlyWithReader()
    let library = connection.library
    let format = format ?? (Output.isTerminal ? .text : .jsonl)
    if query.isEmpty {
      try await watchHistory(library, format)
    } else {
      try await query.explaining(in: "watch", library) { try await watchList(library, format) }
    }
  }

  private func watchHistory(_ library: PhotoLibrary, _ format: WatchFormat) async throws {
    var token = since
    var text = HistoryText(style: connection.style)
    do {
      for try await page in library.persistentChanges(since: since, follow: true) {
        for change in page.changes {
          switch format {
          case .jsonl: try Output.put(try JSONText.line(change) + [UInt8(ascii: "\n")])
          case .text:
            let touched = change.insertedAssets + change.updatedAssets
            let few = touched.count <= HistoryText.maximumRemembered
            try Output.put(text.text(change, named: few ? try await library.assets(touched) : []))
          }
        }
        token = page.token
      }
    } catch let error as PhotoLibraryError {
      throw Self.failure(error, after: token)
    }
  }

  private func watchList(_ library: PhotoLibrary, _ format: WatchFormat) async throws {
    var text = ObservationText(style: connection.style)
    var token = since
    let options = try query.fetchOptions()
    do {
      for try await observation in library.observe(options, since: since, objects: true) {
        switch format {
        case .jsonl: try Output.put(try JSONText.line(observation) + [UInt8(ascii: "\n")])
        case .text:
          try Output.put(text.text(observation))
          if observation.complete == true { text.remember(try await library.assets(text.unseen)) }
        }
        token = observation.token
      }
    } catch let error as PhotoLibraryError {
      throw Self.failure(error, after: token)
    }
  }

  /// photod stops, or died: what comes next starts where this ended.
  private static func failure(_ error: PhotoLibraryError, after token: String?) -> any Error {
    switch error {
    case .connectionClosed, .libraryUnavailable:
      guard let token else { return error }
      return Failure(
        .unavailable, error.message, remedy: "When it runs again, go on with --since \(token).", command: "watch")
    default: return error
    }
  }
}

enum WatchFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, jsonl
}
