// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// The signs of life for photod.
struct Heartbeat {
  /// When `alive` was last sent.
  var sentAt = Moment.start
  /// When a long operation last checked whether photod-watch must end.
  var endCheckedAt = Moment.start
}

// If a photod-watch sends nothing for 30 s, photod considers it hung and starts another.
extension FolderWatch {
  /// The silence after which a regular check sends `alive`. Regular checks come every two or every ten seconds.
  static let usualSilence = silenceForTests() ?? .seconds(8)
  /// The silence after which a requested check sends `alive`, because it postpones the next regular one.
  static let shortestSilence = Interval.seconds(1)
  /// If no check comes for this long, photod-watch wakes only to send `alive`.
  static let longestSilence = Interval.seconds(15)
  /// How often a long operation checks whether photod-watch must end. photod waits only 0.6 s for the end (`Worker.Configuration`).
  static let endCheckInterval = Interval.milliseconds(100)

  /// From PHOTOD_WATCH_SILENCE in the environment.
  private static func silenceForTests() -> Interval? { intervalForTests("PHOTOD_WATCH_SILENCE") }
  /// From PHOTOD_WATCH_CHECK in the environment.
  static func checkIntervalForTests() -> Interval? { intervalForTests("PHOTOD_WATCH_CHECK") }

  /// An interval from the environment, in milliseconds. Tests set it in order to wait less.
  private static func intervalForTests(_ variable: String) -> Interval? {
    guard let text = getenv(variable), let milliseconds = Int64(String(cString: text)), milliseconds > 0 else {
      return nil
    }
    return .milliseconds(milliseconds)
  }

  func reportAlive(ifSilentFor silence: Interval) {
    let now = Moment.now
    guard now - schedule.heartbeat.sentAt >= silence else { return }
    schedule.heartbeat.sentAt = now
    report(.alive)
  }

  /// Called before each step that may wait for a disk, since a turn may last minutes on a slow one. It costs one reading
  /// of the clock. It does not return if photod-watch is to end.
  func keepAlive() {
    let now = Moment.now
    if now - schedule.heartbeat.endCheckedAt >= Self.endCheckInterval {
      schedule.heartbeat.endCheckedAt = now
      if isToEnd {
        cleanUp()
        exit(0)
      }
    }
    guard now - schedule.heartbeat.sentAt >= Self.usualSilence else { return }
    reportAlive(ifSilentFor: .none)
    connection.output.cutIfDue(quiet: true)
    do throws(SystemError) {
      try connection.output.write(to: connection.socket)
    } catch {
      // The write at the end of the turn fails with the same error and handles it.
    }
  }

  /// Whether photod has closed its end, or a signal has come.
  private var isToEnd: Bool {
    // poll(2) reports a closed end even if `events` is 0.
    var waited = [pollfd(fd: connection.socket, events: 0, revents: 0)]
    return watchshim_poll(&waited, 1, 0) > 0 || watchshim_termination_noted() != 0
  }
}
