// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// Walks and watches the roots, and reports what is there. One thread works in turns: orders, events, some listing,
/// decisions that have waited long enough, output.
///
/// The rules that keep it right:
/// 1. A directory is watched first and listed second, both through one descriptor.
/// 2. The number that inotify_add_watch(2) gives is a directory's identity: a known number means that it moved here.
/// 3. A path built from the tree is never trusted: the directory is opened and its identity compared
///    (`OpenDirectories`). If it is another directory, the node is listed again once the queue is empty.
/// 4. Events are hints. The records report what statx(2) finds in the verified directory.
/// 5. A directory is gone only when the queue was empty and a grace period has passed.
/// 6. After an overflow all roots are scanned again; known directories keep their numbers.
final class FolderWatch {
  /// How long a missing directory may take to turn up elsewhere.
  static let goneGrace: Int64 = 200_000_000
  /// How long the second half of a file's rename may take. In measurements, at most 54 events came between the halves.
  static let moveGrace: Int64 = 20_000_000
  /// The grace period if a sync or the end of a scan waits.
  static let forcedGrace: Int64 = 5_000_000
  /// After this time without an empty queue, decisions that wait for one are made without it.
  static let longestWaitForQuiet: Int64 = 500_000_000
  /// How long one part of a turn may take before the others get their time.
  static let slice: Int64 = 5_000_000
  /// How often roots are checked and polled directories get their share of time.
  static let checkInterval: Int64 = 2_000_000_000
  /// The interval while every root is online and everything is watched. In that state, only the rename of a directory
  /// above a root causes no event.
  static let restInterval: Int64 = 10_000_000_000

  let socket: Int32
  /// If it is not open, everything is polled.
  var inotify = InotifyInstance()
  var watches = Watches()
  var backlog = EventBacklog()
  var progress = EventProgress()

  var rules = NameRules()
  var mounts = MountPoints()
  var fileSystems = FileSystems()
  /// A root on a share is not touched, because it could block for ever, and all other roots with it.
  var refusesShares = false

  var roots: [UInt16: Root] = [:]
  var tree = WatchedTree()
  var directories = OpenDirectories()
  var unsettled = UnsettledDirectories()

  var walk = Walk()
  var scans = RunningScans()
  var pending = PendingFiles()
  var unreported = UnreportedFiles()
  var held = HeldMoves()
  var polling = Polling()
  var syncing = Syncing()
  var checks = Checks()

  var heartbeat = Heartbeat()
  var output = Output()
  var orders = FrameAssembler()

  /// Whether PHOTOD_WATCH_CHECKS is in the environment. Tests set it to have every settled state checked.
  let checksInvariants = getenv("PHOTOD_WATCH_CHECKS") != nil

  init(socket: Int32) {
    self.socket = socket
    // This comes first: libinotifytools can store only a small descriptor number.
    openInotify()
    _ = watches.share.readLimit()
  }

  /// Works until photod closes its end of the socket or a signal ends the process.
  /// - Returns: the exit status.
  func run() -> Int32 {
    output.begin()
    checks.last = watchshim_now()
    heartbeat.sentAt = checks.last
    var status: Int32 = 0
    do throws(Failure) {
      while watchshim_termination_noted() == 0 {
        if !output.isPaused { turn() }
        output.cutIfDue(quiet: !canList && backlog.isEmpty)
        guard try sendOutput(), try wait() else { break }
      }
    } catch {
      complain(error.message)
      status = error.status
    }
    cleanUp()
    return status
  }

  func cleanUp() {
    syncing.cookies?.remove()
    inotify.close()
  }

  private func turn() {
    let drained = handleEvents()
    if drained || pending.isDue { reportPending() }
    noteSyncsWithoutCookie(drained: drained)
    listSome()
    rebalance()
    pollSome()
    let now = watchshim_now()
    if now >= nextCheck {
      let wasAsked = checks.mustRun
      check(now)
      reportAlive(ifSilentFor: wasAsked ? Self.shortestSilence : Self.usualSilence)
    } else {
      reportAlive(ifSilentFor: Self.longestSilence)
    }
    settle(drained: drained, now: now)
  }

  /// Handles queued events for one slice of time.
  /// - Returns: whether the queue was empty at the end.
  func handleEvents() -> Bool {
    let end = watchshim_now() + Self.slice
    progress.clock = UInt32(clamping: realTime() / 1_000_000_000)
    while true {
      let drained = inotify.read(into: &backlog)
      if drained, backlog.isEmpty {
        progress.quietAt = watchshim_now()
        return true
      }
      while let event = backlog.next() {
        handle(event)
        if pending.isDue { reportPending() }
        if progress.eventCount % 64 == 0, watchshim_now() >= end { return false }
      }
    }
  }

  /// - Returns: false if photod has closed its end.
  private func sendOutput() throws(Failure) -> Bool {
    do throws(SystemError) {
      try output.write(to: socket)
      return true
    } catch {
      if error.number == EPIPE || error.number == ECONNRESET { return false }
      throw Failure(message: "records can't be written: \(describe(error.number))", status: 1)
    }
  }

  // MARK: - Sleeping

  /// Waits for an order, an event, room to write, or the next thing that is due.
  /// - Returns: false if photod has closed its end.
  private func wait() throws(Failure) -> Bool {
    let paused = output.isPaused
    let timeout = paused ? -1 : millisecondsUntilDue()
    if timeout != 0 { directories.closeAll() }
    var waited = [
      pollfd(fd: socket, events: Int16(POLLIN) | (output.wantsToWrite ? Int16(POLLOUT) : 0), revents: 0),
      pollfd(fd: paused ? -1 : inotify.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: paused ? -1 : mounts.descriptor, events: Int16(POLLPRI), revents: 0),
    ]
    guard watchshim_poll(&waited, UInt32(waited.count), timeout) >= 0 else {
      if errno == EINTR { return true }
      throw Failure(message: "poll failed: \(describe(errno))", status: 1)
    }
    if waited[2].revents != 0 {
      mounts.noteChange()
      leaveOutShares()
      checks.mustRun = true
    }
    guard waited[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { return true }
    return try readOrders()
  }

  private func millisecondsUntilDue() -> Int32 {
    guard !canList, backlog.isEmpty, !progress.hasOverflowed else { return 0 }
    if scans.running.isEmpty, polling.rounds.hasWork || (polling.mustRebalance && inotify.isOpen) { return 0 }
    let due = min(nextCheck, nextSettling(), heartbeat.sentAt + Self.longestSilence)
    let now = watchshim_now()
    return due <= now ? 0 : Int32(min((due - now + 999_999) / 1_000_000, 60_000))
  }

  func report(_ record: WatchRecord) { output.report(record) }
}

/// An error that ends photod-watch.
struct Failure: Error {
  var message: String
  var status: Int32
}

/// Writes a line to standard error. photod logs it.
func complain(_ message: String) {
  let line = Array("photod-watch: \(message)\n".utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
