// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import SystemErrors
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
  static let goneGrace = Interval.milliseconds(200)
  /// How long the second half of a file's rename may take. In measurements, at most 54 events came between the halves.
  static let moveGrace = Interval.milliseconds(20)
  /// The grace period if a sync or the end of a scan waits.
  static let forcedGrace = Interval.milliseconds(5)
  /// After this time without an empty queue, decisions that wait for one are made without it.
  static let longestWaitForQuiet = Interval.milliseconds(500)
  /// How long one part of a turn may take before the others get their time.
  static let slice = Interval.milliseconds(5)
  /// How often roots are checked and polled directories get their share of time.
  static let checkInterval = checkIntervalForTests() ?? .seconds(2)
  /// The interval while every root is online and everything is watched. In that state, only the rename of a directory
  /// above a root causes no event.
  static let restInterval = 5 * checkInterval

  var connection: Connection
  var events = EventQueue()
  var watches = Watches()

  var rules = NameRules()
  var mounts = Mounts()

  var roots: [UInt16: WatchedRoot] = [:]
  var tree = WatchedTree()
  var directories = OpenDirectories()
  var unsettled = UnsettledDirectories()

  var walk = Walk()
  var scans = RunningScans()
  var files = FileChanges()
  var polling = Polling()
  var syncing = Syncing()
  var schedule = Schedule()

  /// Whether PHOTOD_WATCH_CHECKS is in the environment. Tests set it to have every settled state checked.
  let checksInvariants = getenv("PHOTOD_WATCH_CHECKS") != nil

  init(socket: Int32) {
    connection = Connection(socket: socket)
    // This comes first: libinotifytools can store only a small descriptor number.
    openInotify()
    _ = watches.share.readLimit()
  }

  /// Works until photod closes its end of the socket or a signal ends the process.
  /// - Returns: the exit status.
  func run() -> Int32 {
    connection.output.begin()
    schedule.checks.last = Moment.now
    schedule.heartbeat.sentAt = schedule.checks.last
    var status: Int32 = 0
    do throws(WatchFailure) {
      while watchshim_termination_noted() == 0 {
        if !connection.output.isPaused { turn() }
        connection.output.cutIfDue(quiet: !canList && events.backlog.isEmpty)
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
    events.inotify.close()
  }

  private func turn() {
    let drained = handleEvents()
    if drained || files.pending.isDue { reportPending() }
    noteSyncsWithoutCookie(drained: drained)
    listSome()
    rebalance()
    pollSome()
    let now = Moment.now
    if now >= nextCheck {
      let wasAsked = schedule.checks.mustRun
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
    let end = Moment.now + Self.slice
    events.progress.clock = FileTime.now.seconds
    while true {
      let drained = events.inotify.read(into: &events.backlog)
      if drained, events.backlog.isEmpty {
        events.progress.quietAt = Moment.now
        return true
      }
      while let event = events.backlog.next() {
        handle(event)
        if files.pending.isDue { reportPending() }
        if events.progress.eventCount % 64 == 0, Moment.now >= end { return false }
      }
    }
  }

  /// - Returns: false if photod has closed its end.
  private func sendOutput() throws(WatchFailure) -> Bool {
    do throws(SystemError) {
      try connection.output.write(to: connection.socket)
      return true
    } catch {
      if error.number == EPIPE || error.number == ECONNRESET { return false }
      throw WatchFailure(message: "records can't be written: \(errorText(error.number))", status: 1)
    }
  }

  // MARK: - Sleeping

  /// Waits for an order, an event, room to write, or the next thing that is due.
  /// - Returns: false if photod has closed its end.
  private func wait() throws(WatchFailure) -> Bool {
    let paused = connection.output.isPaused
    let timeout = paused ? -1 : millisecondsUntilDue()
    if timeout != 0 {
      // A drive with an open directory can't be unmounted. The listings of a scan may wait for photod.
      directories.closeAll()
      walk.closeAll()
    }
    var waited = [
      pollfd(
        fd: connection.socket, events: Int16(POLLIN) | (connection.output.wantsToWrite ? Int16(POLLOUT) : 0), revents: 0
      ),
      pollfd(fd: paused ? -1 : events.inotify.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: paused ? -1 : mounts.points.descriptor, events: Int16(POLLPRI), revents: 0),
    ]
    guard watchshim_poll(&waited, UInt32(waited.count), timeout) >= 0 else {
      if errno == EINTR { return true }
      throw WatchFailure(message: "poll failed: \(errorText(errno))", status: 1)
    }
    if waited[2].revents != 0 {
      mounts.points.noteChange()
      leaveOutShares()
      schedule.checks.mustRun = true
    }
    guard waited[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { return true }
    return try readOrders()
  }

  private func millisecondsUntilDue() -> Int32 {
    guard !canList, events.backlog.isEmpty, !events.progress.hasOverflowed else { return 0 }
    if scans.running.isEmpty, polling.rounds.hasWork || (polling.mustRebalance && events.inotify.isOpen) { return 0 }
    let due = min(nextCheck, nextSettling(), schedule.heartbeat.sentAt + Self.longestSilence)
    let now = Moment.now
    return due <= now ? 0 : Int32(min(((due - now).nanoseconds + 999_999) / 1_000_000, 60_000))
  }

  func report(_ record: WatchRecord) { connection.output.report(record) }
}

/// An error that ends photod-watch.
struct WatchFailure: Error {
  var message: String
  var status: Int32
}

/// Writes a line to standard error. photod logs it.
func complain(_ message: String) {
  let line = Array("photod-watch: \(message)\n".utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
