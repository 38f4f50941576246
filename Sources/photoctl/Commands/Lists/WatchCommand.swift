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

      With --format text, which is the default on a terminal, a line has the time, the origin, the numbers of photos, \
      and what changed in them. The legend is below. If they are few, their paths follow, and the \
      albums that came or went. For a removed or moved photo, that is the former path, if this watch knows it. It \
      reads the paths of the newest 50,000 photos when it starts, and those of the photos that change later. With \
      --format jsonl, a line is a PersistentChange, or with a query an Observation, of org.photod.library. The first \
      Observation is the list itself. A PersistentChange has only the ids of photos. --paths adds 'paths', an object \
      of paths by id. Those of inserted and updated photos are the present ones. Those of deleted photos are the last \
      ones that this watch knows. A photo that it has not seen has none.

      --since continues from a token, so that no change is missed. Each line of jsonl, `photoctl sync` and `photoctl \
      status --json` have one. The token of a line covers this line and all lines before it. A program that stores the \
      content of a line together with its token can start again with the last stored token. It misses nothing, even \
      after a crash. It may get a change again that it did not store in time. A last line without a line break does \
      not count.

      A token expires when the history does not reach back to it, and when the library was rebuilt or restored. The \
      history has 30 days or 10,000 changes, whichever is more, but at most 64 MiB. An expired token is an error (65), \
      and so is a text that is no token. Take a new token, read everything again, and continue from there. With a \
      query, there is no such error: the line is the whole list, and its 'reload' has the reason.

      If the album of a query is deleted, its list is empty, and 'collectionDeleted' is true until the deletion is \
      undone. With --since, an album that was deleted in the meantime is found only by its id, as in --album id:42. \
      An unknown title, and an id that no album ever had, are errors.

      With a query, photod also needs the list at the token, which it keeps for some minutes. Later, or after a \
      restart of photod, the first line is the whole list. There are two exceptions. --since-ids gives photod the ids \
      as they were stored. --since-digest gives it the 'digest' of their line, which suffices if the list has the same \
      ids now.

      With --reconnect, it waits while photod does not run, and then continues. Without it, the command exits with 69 \
      when photod ends.

      LINES OF --format text
        10:15:02  watcher  +3 ~1 -0  metadata

        +3           the number of photos that were added
        ~1           the number of photos that changed
        -0           the number of photos that were removed
        >2           with a query: how many photos have another place in the list
        metadata     what changed in the photos, as explained below
        albums       the numbers after this word count albums
        (a deleted photo is back)
                     a file is there again, and has its former id, edits and albums
        (another photo has this path now)
                     the file is there, but it was replaced, or it is that of a
                     photo that is back, or whose other copy was deleted

      WHAT CHANGED
        content       a file was written: its bytes or its modification time differ,
                      so also after `touch`
        metadata      a date, place, title, rating, size or another fact, by the file
                      or by a person
        favorite, hidden, keywords
                      a person or the file changed them
        path          a file was renamed or moved
        availability  the drive of the photos came or went
        resources     a photo gained or lost a file, such as a RAW file

      ORIGINS
        watcher      photod-watch noticed a change in the folders
        rescan       a scan found the change, or a comparison of contents, as for
                     the album Duplicates
        mount        a drive or folder came or went
        migration    a newer photod changed its catalog
        client:NAME  a program made the change, such as client:photoctl
        several      changes with several origins are one line

      COMMANDS
        --exec runs a command at least once for each commit with photos, renamed
        folders or drives. It also runs it for each commit in which a program
        changed albums. It waits for the end of the command. A line of JSON for
        each photo is its standard input: 'change' (inserted, updated, deleted),
        'id', and 'path'. A photo that moved may have a 'fromPath'. A renamed
        folder is one line with 'renamed', and a drive or folder that comes or goes
        is one with 'online' or 'offline'. The photos in it have no lines. A
        deleted photo has its path only if this watch knows it. The environment has
        PHOTOD_INSERTED, PHOTOD_UPDATED and PHOTOD_DELETED (the numbers of photos),
        PHOTOD_TOKEN, PHOTOD_ORIGIN and PHOTOD_DATE.

        With --each, it runs once for each line, which it also gets as
        PHOTOD_CHANGE, PHOTOD_ID, PHOTOD_PATH and PHOTOD_FROM_PATH.

        With a query, the command gets only inserted and updated photos that the
        query selects at that time, and no deleted photos and no folders.

        The token of the last commit whose commands succeeded is in the file of
        --state. The next start continues there, so that no commit is missed if
        photoctl or the command was killed. The first start begins at --since, or
        now. Without --state, the file is in $XDG_STATE_HOME/photoctl, or in
        ~/.local/state/photoctl. Each command line has a file of its own. If the
        command, the query or the socket is written in another way, that is another
        file, and it begins anew. So a script should give --state.

        If a command fails, photoctl ends with 1, and the next start runs it again.
        With --retry, photoctl runs it again itself after 1, 2, 4 and at most 60
        seconds. With --each, photos of the same commit that were handled before
        the failure come again after a start, but not with --retry.

      EXAMPLES
        photoctl watch
        photoctl watch --album Favorites
        photoctl watch --taken 2024.. --camera 'X-T5'
        photoctl watch --format jsonl | jq --unbuffered .insertedAssets
        photoctl watch --since "$(photoctl sync)"
        photoctl watch --exec 'rsync -a ~/Pictures/ nas:photos/' --reconnect
        photoctl watch --type image --each --exec 'echo "$PHOTOD_PATH"' --retry
        photoctl watch --state ~/.mirror --exec 'jq -r .path >> ~/changed.txt'
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

  @Flag(help: "Without a query, in jsonl: add the paths of the photos to each line.")
  var paths = false

  @OptionGroup var exec: ExecOptions

  @OptionGroup var formats: FormatOptions<WatchFormat>

  func validate() throws {
    if exec.command != nil {
      if formats.chosen != nil { throw ValidationError("--exec prints nothing itself, so it takes no format.") }
      if !query.sort.isEmpty || query.limit != nil {
        throw ValidationError("--exec handles commits in their order, so it takes no --sort and no --limit.")
      }
      if paths { throw ValidationError("The command of --exec gets the paths without --paths.") }
      if sinceIds != nil || sinceDigest != nil {
        throw ValidationError("--exec follows the history, and no list. Leave out --since-ids and --since-digest.")
      }
    }
    if paths && (!query.isEmpty || formats.chosen == .text) {
      throw ValidationError("--paths is for the history in jsonl. The other lines have paths, or whole photos.")
    }
    for (option, value) in [("--since-ids", sinceIds), ("--since-digest", sinceDigest)] where value != nil {
      if since == nil {
        throw ValidationError("\(option) describes the list at a token. Give that token with --since.")
      }
      if query.isEmpty { throw ValidationError("\(option) describes a list. Give the query of that list, too.") }
    }
    try TextBound.check("--since-digest", sinceDigest, "Observe.sinceDigest")
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
    if let command = exec.command { return try await execute(command, library) }
    let format = formats.chosen ?? (Output.isTerminal && !paths ? .text : .jsonl)
    if query.isEmpty {
      var history = WatchedHistory(token: since, format: format, style: connection.style, withPaths: paths)
      try await untilItEnds {
        try await history.follow(library)
      } place: {
        history.token
      }
    } else {
      var text = ObservationText(style: connection.style, since: since, ids: ids)
      var knowsPaths = false
      var isGreeted = false
      var list = WatchedList(since: since, digest: sinceDigest, ids: ids)
      try await query.explaining(in: "watch", library) {
        try await untilItEnds {
          let options = try await query.inFolders(of: library, mayAppear: true).fetchOptions()
          for try await observation in list.observe(options, in: library) {
            guard let printed = try list.take(observation) else { continue }
            switch format {
            case .jsonl: try Output.put(try JSONText.line(printed) + [UInt8(ascii: "\n")])
            case .text:
              // The paths must be those at this observation or after it, so that no later change is missed.
              if !knowsPaths {
                text.remember(try await SeenPaths(readingFrom: library))
                await library.disconnect()
                knowsPaths = true
              }
              try Output.put(text.text(printed))
              if !isGreeted { Self.greet(format) }
              isGreeted = true
              if printed.complete == true {
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

  private func execute(_ command: String, _ library: PhotoLibrary) async throws {
    let path = try exec.state.map(AbsolutePath.bytes) ?? StateFile.standardPath(for: CommandLineBytes.arguments())
    let file = StateFile(path)
    try file.lock()
    if exec.state == nil {
      let start = Self.start(continues: try file.token() != nil, since: since)
      Output.complain("photoctl: \(start); the token is kept in \(file.name)\n")
    }
    let filter = query.isEmpty ? nil : query.filter
    var execution = WatchExecution(command, exec, file, filter: filter, since: since)
    // A mistake in the query must be found before the first commit.
    if !reconnect, let filter {
      try await filter.explaining(in: "watch", library) {
        _ = try await library.fetchPage(
          try await filter.inFolders(of: library, mayAppear: true).fetchOptions(), count: 0)
      }
    }
    try await query.explaining(in: "watch", library) {
      try await untilItEnds {
        try await execution.follow(library)
      } place: {
        execution.token
      }
    }
  }

  /// The place at which a watch with `--exec` begins, for a message.
  private static func start(continues: Bool, since: String?) -> String {
    if continues { return "the watch continues from an earlier run" }
    return since == nil ? "the watch begins now" : "the watch begins at the token of --since"
  }

  /// Tells a person that a watch has begun, which prints nothing before the first change.
  fileprivate static func greet(_ format: WatchFormat) {
    if format == .text, Output.isTerminal { Output.complain("Waiting for changes. Ctrl-C ends the command.\n") }
  }

  /// Runs a watch, which ends when photod does. With `--reconnect`, it is repeated after each outage.
  ///
  /// - Parameter place: returns the token of the last printed line.
  private func untilItEnds(_ watch: () async throws -> Void, place: () -> String?) async throws {
    do {
      guard reconnect else { return try await watch() }
      var reconnection = Reconnection()
      try await reconnection.repeating(watch, place: place) { error in
        Output.complain("photoctl: \(Printable.text(error.message)); photoctl waits for it\n")
      }
    } catch let error as PhotoLibraryError {
      throw failure(error, after: place())
    }
  }

  /// photod stops or died. The remedy names the token from which the next watch continues.
  private func failure(_ error: PhotoLibraryError, after token: String?) -> any Error {
    switch error {
    case .connectionClosed, .libraryUnavailable:
      if exec.command != nil {
        return Failure(
          .unavailable, error.message,
          remedy: "When photod runs again, the same command line continues. --reconnect does so by itself.",
          command: "watch")
      }
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
  /// The paths that lines of JSON have; nil if they have none.
  private var paths: CommitPaths?

  init(token: String?, format: WatchFormat, style: Style, withPaths: Bool) {
    self.token = token
    self.format = format
    text = HistoryText(style: style)
    paths = withPaths ? CommitPaths() : nil
  }

  mutating func follow(_ library: PhotoLibrary) async throws {
    // Changes that happen while the paths are read come after this token.
    if token == nil, format == .text || paths != nil { token = try await library.status().token }
    try await paths?.load(from: library)
    if format == .text, !knowsPaths {
      text.remember(try await SeenPaths(readingFrom: library))
      text.remember(try await library.collections())
      await library.disconnect()
      knowsPaths = true
      WatchCommand.greet(format)
    }
    for try await page in library.persistentChanges(since: token, follow: true) {
      for change in page.changes {
        switch format {
        case .jsonl: try Output.put(try await line(change, library) + [UInt8(ascii: "\n")])
        case .text:
          let touched = change.insertedAssets + change.updatedAssets
          let few = touched.count <= HistoryText.maximumRemembered
          let named = few ? try await library.assets(touched) : []
          let albums = HistoryText.needsAlbums(change) ? try await library.collections() : []
          try Output.put(text.text(change, named: named, albums: albums))
          await library.disconnect()
        }
        // The token advances with each change, so that no change of a page is printed twice.
        token = change.token
      }
      token = page.token
    }
  }

  private mutating func line(_ change: PersistentChange, _ library: PhotoLibrary) async throws -> [UInt8] {
    let touched = change.insertedAssets + change.updatedAssets
    guard let found = try await paths?.advance(over: change, touching: touched, in: library) else {
      return try JSONText.line(change)
    }
    await library.disconnect()
    let all = found.now.merging(change.deletedAssets.compactMap { id in found.before[id].map { (id, $0) } }) { $1 }
    return try JSONText.line(change, adding: "paths", all)
  }
}

enum WatchFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, jsonl
}

extension WatchFormat: PrintedFormat {
  static var json: WatchFormat { .jsonl }
  static var help: ArgumentHelp { "The output format (default: text on a terminal, else jsonl)." }
}
