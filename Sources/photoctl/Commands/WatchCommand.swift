import ArgumentParser
import PhotoClient
import PhotoContract
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
      is a PersistentChange, or with a query an Observation, of org.photod.library; the first Observation is the list \
      itself.

      --since goes on from a token that an earlier line, 'photoctl sync' or 'photoctl status --json' printed, so that \
      nothing is missed in between. With jsonl the token of a line counts for it and all lines before it: a program that \
      stores what a line says together with its token, and starts again with the last token that it stored, misses \
      nothing, whoever was killed and when. It may get again what it did not store in time. A last line without its end \
      does not count.

      A token expires when the history does not reach back to it (30 days or 10,000 changes, whichever is more, in at \
      most 64 MiB), and when the library was rebuilt or restored. That is an error (65), as is what is no token: take a \
      token, read all anew, and go on from there. With a query it is none: the line is the whole list, and its 'reload' \
      says why.

      With a query photod also has to know the list at the token. It does for some minutes; later, and when it was started \
      since, the first line is the whole list, unless --since-ids has the ids as they were stored, or --since-digest the \
      'digest' of their line and the list has the same ids now.

      --reconnect waits when photod ends or is not there, and goes on where it was; without it that ends the command (69).

      EXAMPLES
        photoctl watch
        photoctl watch --album Favorites
        photoctl watch --taken 2024.. --camera 'X-T5'
        photoctl watch --format jsonl | jq --unbuffered .insertedAssets
        photoctl watch --since "$(photoctl sync)"
        photoctl watch --favorite --since "$TOKEN" --since-ids ids.txt --reconnect
      """)

  @OptionGroup var connection: ConnectionOptions
  @OptionGroup var query: QueryOptions

  @Option(help: ArgumentHelp("Go on from this token.", valueName: "token"))
  var since: String?

  @Option(
    help: ArgumentHelp(
      "With a query: the ids of the list at the token of --since; - is standard input.", valueName: "file"),
    completion: .file())
  var sinceIds: String?

  @Option(help: ArgumentHelp("With a query: the digest of the list at the token of --since.", valueName: "digest"))
  var sinceDigest: String?

  @Flag(help: "When photod ends, or is not there, wait for it and go on.")
  var reconnect = false

  @Option(help: "How to print: text or jsonl (default: text on a terminal, else jsonl).")
  var format: WatchFormat?

  func validate() throws {
    for (option, value) in [("--since-ids", sinceIds), ("--since-digest", sinceDigest)] where value != nil {
      if since == nil { throw ValidationError("\(option) is of the list at a token; --since names it.") }
      if query.isEmpty { throw ValidationError("\(option) is of a list; without a query there is none.") }
    }
    if sinceIds != nil && sinceDigest != nil {
      throw ValidationError("--since-ids has the list itself; leave --since-digest out.")
    }
  }

  func run() async throws {
    if let since, ChangeToken(since) == nil {
      throw Failure(
        .data, "'\(Printable.text(since))' is no token",
        remedy: "'photoctl sync' and 'photoctl status --json' print one; leave --since out to begin now.")
    }
    let ids = try sinceIds.map { path in
      try ListedIDs.parse(
        try Input.readAll(path: path, remedy: "It has the ids of the list, one a line or as a JSON array."),
        name: path == "-" ? "standard input" : Printable.text(path))
    }
    Output.endQuietlyWithReader()
    let library = connection.library
    let format = format ?? (Output.isTerminal ? .text : .jsonl)
    if query.isEmpty {
      var history = WatchedHistory(token: since, format: format, style: connection.style)
      try await untilItEnds {
        try await history.follow(library)
      } place: {
        history.token
      }
    } else {
      let options = try query.fetchOptions()
      var text = ObservationText(style: connection.style)
      var list = WatchedList(since: since, digest: sinceDigest, ids: ids)
      try await query.explaining(in: "watch", library) {
        try await untilItEnds {
          for try await observation in list.observe(options, in: library) {
            guard let told = try list.take(observation) else { continue }
            switch format {
            case .jsonl: try Output.put(try JSONText.line(told) + [UInt8(ascii: "\n")])
            case .text:
              try Output.put(text.text(told))
              if told.complete == true { text.remember(try await library.assets(text.unseen)) }
            }
          }
        } place: {
          list.token
        }
      }
    }
  }

  /// Runs a watch, which ends when photod does. With `--reconnect`, it is repeated after each outage.
  ///
  /// - Parameter place: returns the token of the last printed line.
  private func untilItEnds(_ watch: () async throws -> Void, place: () -> String?) async throws {
    var outage = Outage()
    while true {
      let (before, began) = (place(), ContinuousClock.now)
      do {
        try await watch()
        return
      } catch let error as PhotoLibraryError {
        guard reconnect, Self.isOutage(error) else { throw Self.failure(error, after: place()) }
        // There was progress, or the connection lasted for a while. So this is a new outage.
        if place() != before || .now - began > Outage.longest { outage = Outage() }
        try await outage.wait(because: error)
      }
    }
  }

  /// photod stops, died, or does not run. Any other error is no reason to wait.
  private static func isOutage(_ error: PhotoLibraryError) -> Bool {
    switch error {
    case .connectionClosed, .libraryUnavailable, .unreachable: true
    default: false
    }
  }

  /// photod stops or died. The remedy names the token from which the next watch continues.
  private static func failure(_ error: PhotoLibraryError, after token: String?) -> any Error {
    switch error {
    case .connectionClosed, .libraryUnavailable:
      guard let token else { return error }
      return Failure(
        .unavailable, error.message, remedy: "--reconnect waits; or when it runs again, go on with --since \(token).",
        command: "watch")
    default: return error
    }
  }
}

/// Prints the library's history as it happens.
private struct WatchedHistory {
  /// Everything up to this token was printed.
  private(set) var token: String?
  private let format: WatchFormat
  private var text: HistoryText

  init(token: String?, format: WatchFormat, style: Style) {
    self.token = token
    self.format = format
    text = HistoryText(style: style)
  }

  mutating func follow(_ library: PhotoLibrary) async throws {
    for try await page in library.persistentChanges(since: token, follow: true) {
      for change in page.changes {
        switch format {
        case .jsonl: try Output.put(try JSONText.line(change) + [UInt8(ascii: "\n")])
        case .text:
          let touched = change.insertedAssets + change.updatedAssets
          let few = touched.count <= HistoryText.maximumRemembered
          try Output.put(text.text(change, named: few ? try await library.assets(touched) : []))
        }
        // The token advances with each change, so that no change of a page is printed twice.
        token = change.token
      }
      token = page.token
    }
  }
}

/// The pauses while photod is away: short at first, then two seconds.
private struct Outage {
  static let longest = Duration.seconds(2)

  private var pause = Duration.milliseconds(50)
  private var isTold = false

  /// - Throws: `CancellationError`.
  mutating func wait(because error: PhotoLibraryError) async throws {
    // systemd restarts photod in less than a second, which needs no message.
    if pause > .seconds(1), !isTold {
      isTold = true
      Output.complain("photoctl: \(Printable.text(error.message)); waiting for it\n")
    }
    try await Task.sleep(for: pause)
    pause = min(pause * 2, Self.longest)
  }
}

enum WatchFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, jsonl
}
