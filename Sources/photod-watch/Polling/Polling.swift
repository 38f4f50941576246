// SPDX-License-Identifier: GPL-2.0-or-later

/// The directories without a watch, and the times at which they are looked at.
struct Polling {
  var directories = PolledDirectories()
  var rounds = PollRounds()
  /// The stamp for whatever the running pass over all polled directories finds.
  var passStamp: UInt64 = 0
  /// There are too many watches, or other directories need them more.
  var mustRebalance = false
  /// A polled directory changed: at the next check it may get a watch.
  var wantsExchange = false
  var reported = ReportedPolling()
}
