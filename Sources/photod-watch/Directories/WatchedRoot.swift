// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

/// A directory that photod ordered to be watched, with everything below it.
struct WatchedRoot {
  enum State: Equatable {
    /// Its top is in the tree.
    case online(top: NodeIndex)
    /// It cannot be opened. The tree contains nothing of it.
    case offline(errorNumber: Int32)
    /// Not tried yet.
    case new
  }

  /// Absolute. photod has resolved symbolic links in it.
  var path: [UInt8]
  var state = State.new
  /// `none` for the usual intervals.
  var pollInterval = Interval.none
  var activeScan: UInt32?
  /// Scans that begin when the active one has ended, in order.
  var waitingScans: [ScanOrder] = []

  init(path: [UInt8]) { self.path = path }

  var top: NodeIndex? {
    if case .online(let top) = state { top } else { nil }
  }
}
