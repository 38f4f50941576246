import ArgumentParser
import PhotoClient
import PhotoModel
import Synchronization

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows the state of photod and of the library.",
    discussion: """
      The state is 'opening' until the catalog is open. In the state 'scanning', lists have the photos that were found \
      so far. 'live' means that all changes in the folders are in the library, or will be at once. 'recovering' means \
      that events were lost, and that a scan finds the changes. If it is 'degraded', the warnings have the reason. \
      Pending is work that photod knows of and has not done yet.

      Each folder has a state of its own, which is explained below.

      'with unreadable content' counts assets: their file is damaged, or may not be opened, or its content could not be \
      read. The warnings count the files and folders that can't be opened or read, and the files in which \
      the disk fails. So the numbers may differ. --unreadable lists the files and folders of both, each once. In --json, the number of \
      assets is failedCount.

      'since its start' counts from the start of photod, not of the library. It counts photos that were inserted, \
      updated (each time) and removed, and files whose content was read (each time). It also counts scans of a folder \
      with all below it, and overflows of the kernel's event queue. Starts of photod-watch are shown from the second on. \
      The counters of --json are assetsInserted, assetsUpdated, assetsRemoved, filesRead, scans, overflows and \
      watcherStarts.

      'to make while idle' counts the files of which photod still makes samples or hashes. They let it recognise a \
      photo that was deleted or moved. A sample is made of six blocks of 16 KiB, and a hash of the whole content. \
      Photos with user data get hashes, and so do files that share size and beginning. photod reads them while the \
      library is idle, never on battery, and on a network only after `photoctl rescan` with the path of the folder. In \
      --json, this is hashing.

      --unreadable lists instead the files and folders that can't be read, each with the time, the kind, the reason \
      and the path. The kind is damaged if the content can't be parsed, failing if the disk fails, and unreadable if \
      the file or folder can't be opened. The remedies are below the table. With --format jsonl, a line is an \
      UnreadableFile of org.photod.manage.

      'connections' counts the connected programs, with photoctl itself, and 'observers' the lists that they observe. \
      `photoctl watch` without a query follows the history, and observes no list.

      --wait also waits for photod to start. If the time of --timeout is over, it exits with 75, or with 69 if photod \
      does not run.

      STATES OF A FOLDER
        online    it is watched
        scanning  it is being scanned
        offline   it can't be opened, or another file system or folder is in its
                  place; its photos are kept, but are not available
        missing   it does not exist, and the library never had a photo of it
        suspect   a scan missed more than 100 of its photos, and more than a fifth;
                  none of them was removed yet, and the warning has the remedy

      EXAMPLES
        photoctl status
        photoctl status --wait && photoctl query      after the first scan
        photoctl status --json | jq .pendingCount
        photoctl status --json | jq .counters.filesRead
        photoctl status --unreadable
        photoctl status --unreadable --format paths0 | xargs -0 ls -l
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Print the status as one JSON object.")
  var json = false

  @Flag(help: "List the files and folders that can't be read.")
  var unreadable = false

  @Option(
    help: """
      The output format of --unreadable: table, json, jsonl, csv, tsv, paths or paths0 (default: table on a terminal, \
      else jsonl).
      """)
  var format: OutputFormat?

  @Flag(help: "Wait until the library is live and nothing is pending. On a terminal, a bar shows the progress.")
  var wait = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The time limit of --wait (default: 30 for the start of photod, none after it).",
      valueName: "seconds"),
    transform: { try NumberArgument.real($0, "a number of seconds from 0 to 86,400") })
  var timeout: Double?

  func validate() throws {
    if format != nil && !unreadable { throw ValidationError("--format can only be used with --unreadable.") }
    if format != nil && json { throw ValidationError("--json means --format json. Give only one of them.") }
    guard let timeout else { return }
    if !wait { throw ValidationError("--timeout can only be used with --wait.") }
    guard (0...86_400).contains(timeout) else {
      throw ValidationError("--timeout is \(roundedText(timeout)); it must be 0 to 86,400 seconds.")
    }
  }

  func run() async throws {
    let library = connection.library
    if unreadable {
      if wait { _ = try await Self.settled(library, within: timeout) }
      return try await listUnreadable(library)
    }
    let status = wait ? try await Self.settled(library, within: timeout) : try await library.status()
    try Output.put(json ? JSONText.indented(status) : Array(StatusText.text(status, style: connection.style).utf8))
  }

  private func listUnreadable(_ library: PhotoLibrary) async throws {
    var list = UnreadableList(format: format ?? (json ? .json : .standard), columns: Output.terminalColumns)
    for try await files in PhotoDaemonManagement(of: library).unreadableFiles() { try Output.put(try list.page(files)) }
    try Output.put(list.end())
  }

  /// The first status in which all work is done. It also waits for a photod that is only starting.
  private static func settled(_ library: PhotoLibrary, within timeout: Double?) async throws -> LibraryStatus {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(timeout ?? 30)
    let absence = Absence()
    return try await withThrowingTaskGroup(of: LibraryStatus?.self) { group in
      group.addTask {
        var end = end
        while true {
          do {
            return try await settled(library) { status in
              absence.error.withLock { $0 = nil }
              absence.wasOpening.store(status.state == .opening, ordering: .relaxed)
            }
          } catch let error as PhotoLibraryError {
            // photod answers while it opens its catalog, and then closes these connections.
            if absence.wasOpening.exchange(false, ordering: .relaxed) {
              end = max(end, clock.now + .seconds(30))
            } else {
              guard error.isWithoutDaemon, clock.now < end else { throw error }
            }
            absence.error.withLock { $0 = error }
            // No event reports a new socket in a folder that may be missing as well, so the socket is polled.
            try await clock.sleep(for: .milliseconds(100))
          }
        }
      }
      if timeout != nil {
        group.addTask {
          try await clock.sleep(until: end)
          return nil
        }
      }
      defer { group.cancelAll() }
      if let status = try await group.next() ?? nil { return status }
      throw absence.error.withLock { $0 as (any Error)? }
        ?? Failure(
          .tryAgain, "the library still had pending work after \(roundedText(timeout ?? 0)) s",
          remedy: "`photoctl status` shows the progress. A longer --timeout waits for it.")
    }
  }

  /// - Parameter receive: called with each status, before the status is checked.
  private static func settled(
    _ library: PhotoLibrary, receive: (LibraryStatus) -> Void
  ) async throws -> LibraryStatus {
    var bar = ProgressBar()
    defer { bar.clear() }
    for try await status in library.statusUpdates() {
      receive(status)
      if status.state == .live && status.pendingCount == 0 { return status }
      if status.state == .degraded {
        bar.clear()
        Output.complain(StatusText.warnings(status))
        throw Failure(
          .unavailable, "the library is degraded, so waiting does not help",
          remedy: "Follow the warnings above.")
      }
      bar.show(status)
    }
    throw PhotoLibraryError.connectionClosed
  }
}

/// Why the last attempt to reach photod failed.
private final class Absence: Sendable {
  let error = Mutex<PhotoLibraryError?>(nil)
  /// Whether the last status said that photod was opening its catalog.
  let wasOpening = Atomic(false)
}
