import ArgumentParser
import PhotoClient
import PhotoContract
import PhotoModel

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Prints changes of the library as they happen.",
    discussion: """
      Without a query, it prints the history of the library. With a query, it prints how that list changes. It \
      continues until Ctrl-C or SIGTERM, or until the reader of the pipe has gone, and then exits with 0. Each line is \
      printed at once.

      With --format text, a line has the time, the origin, and the numbers of assets that were added (+), changed (~), \
      removed (-) or moved (>). If they are few, their paths follow. For a removed or moved asset, that is the former \
      path, if this watch knows it. It reads the paths of the newest 10,000 photos when it starts, and those of the \
      photos that change later. With --format jsonl, a line is a PersistentChange, or with a query an \
      Observation, of org.photod.library. The first Observation is the list itself.

      --since continues from a token, so that no change is missed. Each line of jsonl, `photoctl sync` and `photoctl \
      status --json` have one. The token of a line covers this line and all lines before it. A program that stores the \
      content of a line together with its token, and starts again with the last stored token, misses nothing, even \
      after a crash. It may get a change again that it did not store in time. A last line without a line break does \
      not count.

      A token expires when the history does not reach back to it, and when the library was rebuilt or restored. The \
      history has 30 days or 10,000 changes, whichever is more, but at most 64 MiB. An expired token is an error (65), \
      and so is a text that is no token. Take a new token, read everything again, and continue from there. With a \
      query, there is no such error: the line is the whole list, and its 'reload' has the reason.

      With a query, photod also needs the list at the token, which it keeps for some minutes. Later, or after a \
      restart of photod, the first line is the whole list. There are two exceptions: --since-ids has the ids as they \
      were stored, or --since-digest has the 'digest' of their line and the list has the same ids now.

      With --reconnect, it waits while photod does not run, and then continues. Without it, the command exits with 69 \
      when photod ends.

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

  @Option(help: ArgumentHelp("Continue from this token.", valueName: "token"))
  var since: String?

  @Option(
    help: ArgumentHelp(
      "With a query: the ids of the list at the token of --since; - is standard input.", valueName: "file"),
    completion: .file())
  var sinceIds: String?

  @Option(help: ArgumentHelp("With a query: the digest of the list at the token of --since.", valueName: "digest"))
  var sinceDigest: String?

  @Flag(help: "When photod ends or does not run, wait for it and continue.")
  var reconnect = false

  @OptionGroup var formats: FormatOptions<WatchFormat>

  func validate() throws {
    for (option, value) in [("--since-ids", sinceIds), ("--since-digest", sinceDigest)] where value != nil {
      if since == nil {
        throw ValidationError("\(option) describes the list at a token. Give that token with --since.")
      }
      if query.isEmpty { throw ValidationError("\(option) describes a list. Give the query of that list, too.") }
    }
    if sinceIds != nil && sinceDigest != nil {
      throw ValidationError("--since-ids has the list itself. Leave out --since-digest.")
    }
  }

  func run() async throws {
    if let since, ChangeToken(since) == nil {
      throw Failure(
        .data, "'\(Printable.text(since))' is no token",
        remedy: "`photoctl sync` and `photoctl status --json` print one. Leave out --since to begin now.")
    }
    let ids = try sinceIds.map { path in
      try ListedIDs.parse(
        try Input.readAll(
          path: path, remedy: "The file must have the ids of the list, one on each line or as a JSON array."),
        name: path == "-" ? "standard input" : Printable.text(path))
    }
    Output.endQuietlyWithReader()
    let library = connection.library
    let format = formats.chosen ?? (Output.isTerminal ? .text : .jsonl)
    if query.isEmpty {
      var history = WatchedHistory(token: since, format: format, style: connection.style)
      try await untilItEnds {
        try await history.follow(library)
      } place: {
        history.token
      }
    } else {
      var text = ObservationText(style: connection.style)
      var list = WatchedList(since: since, digest: sinceDigest, ids: ids)
      try await query.explaining(in: "watch", library) {
        try await untilItEnds {
          let options = try await query.inFolders(of: library).fetchOptions()
          for try await observation in list.observe(options, in: library) {
            guard let told = try list.take(observation) else { continue }
            switch format {
            case .jsonl: try Output.put(try JSONText.line(told) + [UInt8(ascii: "\n")])
            case .text:
              try Output.put(text.text(told))
              if told.complete == true {
                text.remember(try await library.assets(text.unseen))
                await library.disconnect()
              }
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
        .unavailable, error.message,
        remedy:
          "When photod runs again, continue with `--since \(token)`. --reconnect does so by itself. A restore ends all "
          + "tokens from before it.",
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
  /// Whether the paths of the present assets were read, so that removed ones can be named.
  private var knowsPaths = false

  init(token: String?, format: WatchFormat, style: Style) {
    self.token = token
    self.format = format
    text = HistoryText(style: style)
  }

  mutating func follow(_ library: PhotoLibrary) async throws {
    if format == .text, !knowsPaths {
      // Changes that happen while the paths are read come after this token.
      if token == nil { token = try await library.status().token }
      let newest = FetchOptions(fetchLimit: SeenPaths.standardCapacity, includeHidden: true)
      try await QueriedAssets(library: library, options: newest).forEachPage { text.remember($0) }
      await library.disconnect()
      knowsPaths = true
    }
    for try await page in library.persistentChanges(since: token, follow: true) {
      for change in page.changes {
        switch format {
        case .jsonl: try Output.put(try JSONText.line(change) + [UInt8(ascii: "\n")])
        case .text:
          let touched = change.insertedAssets + change.updatedAssets
          let few = touched.count <= HistoryText.maximumRemembered
          try Output.put(text.text(change, named: few ? try await library.assets(touched) : []))
          await library.disconnect()
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
      Output.complain("photoctl: \(Printable.text(error.message)); photoctl waits for it\n")
    }
    try await Task.sleep(for: pause)
    pause = min(pause * 2, Self.longest)
  }
}

enum WatchFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, jsonl
}

extension WatchFormat: PrintedFormat {
  static var json: WatchFormat { .jsonl }
  static var help: ArgumentHelp { "The output format (default: text on a terminal, else jsonl)." }
}
