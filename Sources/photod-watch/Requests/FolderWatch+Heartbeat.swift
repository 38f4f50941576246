// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// The signs of life for photod.
struct Heartbeat {
  /// When `alive` was last sent.
  var sentAt: Int64 = 0
  /// When long work last looked for an order to end.
  var endCheckedAt: Int64 = 0
}

// If a photod-watch sends nothing for 30 s, photod considers it hung and starts another.
extension FolderWatch {
  /// The silence after which a regular check sends `alive`. Regular checks come every two or every ten seconds.
  static let usualSilence = silenceForTests() ?? 8_000_000_000
  /// The silence after which a requested check sends `alive`, because it postpones the next regular one.
  static let shortestSilence: Int64 = 1_000_000_000
  /// If no check comes for this long, photod-watch wakes only to send `alive`.
  static let longestSilence: Int64 = 15_000_000_000
  /// How often long work looks for an order to end. photod waits only 0.6 s for the end (`Worker.Configuration`).
  static let endCheckInterval: Int64 = 100_000_000

  /// From PHOTOD_WATCH_SILENCE in the environment, in milliseconds. Tests set it in order to wait less.
  private static func silenceForTests() -> Int64? {
    guard let text = getenv("PHOTOD_WATCH_SILENCE"), let milliseconds = Int64(String(cString: text)) else { return nil }
    return milliseconds * 1_000_000
  }

  func reportAlive(ifSilentFor silence: Int64) {
    let now = watchshim_now()
    guard now - heartbeat.sentAt >= silence else { return }
    heartbeat.sentAt = now
    report(.alive)
  }

  /// Called before each step that may wait for a disk, since a turn may last minutes on a slow one. It costs one reading
  /// of the clock. It does not return if photod-watch is to end.
  func breathe() {
    let now = watchshim_now()
    if now - heartbeat.endCheckedAt >= Self.endCheckInterval {
      heartbeat.endCheckedAt = now
      if isToEnd {
        cleanUp()
        exit(0)
      }
    }
    guard now - heartbeat.sentAt >= Self.usualSilence else { return }
    reportAlive(ifSilentFor: 0)
    output.cutIfDue(quiet: true)
    do throws(SystemError) {
      try output.write(to: socket)
    } catch {
      // The write at the end of the turn fails with the same error and handles it.
    }
  }

  /// Whether photod has closed its end, or a signal has come.
  private var isToEnd: Bool {
    // poll(2) reports a closed end unasked.
    var waited = [pollfd(fd: socket, events: 0, revents: 0)]
    return watchshim_poll(&waited, 1, 0) > 0 || watchshim_termination_noted() != 0
  }
}
