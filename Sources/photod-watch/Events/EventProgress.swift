// SPDX-License-Identifier: GPL-2.0-or-later

/// How far photod-watch has come in the kernel's queue of events.
struct EventProgress {
  /// The number of events handled so far. Postponed work carries the count at its cause (`stamp`), so that a sync knows
  /// which work is older than itself.
  var eventCount: UInt64 = 0
  /// The stamp of the work that is being done.
  var stamp: UInt64 = 0
  /// CLOCK_REALTIME in seconds when the queue was read last.
  var clock: UInt32 = 0
  /// When the queue was last seen empty.
  var quietAt = Moment.start
  /// The kernel dropped events, and the scans that follow have not started yet.
  var hasOverflowed = false
}
