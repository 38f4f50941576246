// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

/// A directory that is missing from its place. It stays in `UnsettledDirectories.missing` until photod-watch decides
/// whether it is gone.
struct Missing {
  var since: Moment
  /// The earliest time of the next attempt to decide.
  var retryAt: Moment
  var evidence: Evidence
  var stamp: UInt64
  /// The kernel has removed its watch, so it cannot turn up anywhere else.
  var isDead = false
  /// The kernel has reported that it was deleted.
  var isDeleted = false
  /// The user excludes its name.
  var isExcluded = false
  /// The cookie of the rename that took it away; 0 if unknown.
  var moveCookie: UInt32 = 0
  /// How often its parent could not be read. After the first such attempt, scans and syncs no longer wait for it.
  var attempts = 0
}
