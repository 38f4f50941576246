// SPDX-License-Identifier: GPL-2.0-or-later

/// The times of the work that photod-watch does without an event or an order.
struct Schedule {
  var checks = Checks()
  var heartbeat = Heartbeat()
}

/// The regular checks of roots, watches and polled directories.
struct Checks {
  var last = Moment.start
  /// Something happened that a check should handle at once.
  var mustRun = false
}
