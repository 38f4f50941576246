// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

// photod takes a photod-watch that says nothing for 30 s for hung, and starts another.
extension FolderWatch {
  /// `alive` goes with every check: those that nothing asks for come every ten seconds, or every two.
  static let usualSilence = silenceForTests() ?? 8_000_000_000
  /// A check that something asked for puts off the next one.
  static let shortestSilence: Int64 = 1_000_000_000
  /// Should no check have come for so long, photod-watch wakes for `alive` alone.
  static let longestSilence: Int64 = 15_000_000_000

  /// PHOTOD_WATCH_SILENCE is in the environment: tests are less patient. Milliseconds.
  private static func silenceForTests() -> Int64? {
    guard let text = getenv("PHOTOD_WATCH_SILENCE"), let milliseconds = Int64(String(cString: text)) else { return nil }
    return milliseconds * 1_000_000
  }

  func sayAlive(ifSilentFor silence: Int64) {
    let now = watchshim_now()
    guard now - aliveAt >= silence else { return }
    aliveAt = now
    say(.alive)
  }

  /// Called between the steps of all that may take long on a slow disk, where a turn may last minutes. Costs one reading of
  /// the clock.
  func breathe() {
    guard watchshim_now() - aliveAt >= Self.usualSilence else { return }
    sayAlive(ifSilentFor: 0)
    output.cutIfDue(quiet: true)
    do throws(SystemError) {
      try output.write(to: socket)
    } catch {
      // The turn's own writing meets the same.
    }
  }
}
