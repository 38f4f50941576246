// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

/// A scan that photod ordered, or that follows from an event.
struct ScanOrder {
  /// 0 if photod did not request it.
  var request: UInt32
  var reason: ScanReason
  /// The directory to scan; nil for the whole root.
  var directory: DirectoryNumber?
}

/// A running scan. A root has at most one.
struct Scan {
  var root: UInt16
  var request: UInt32
  var reason: ScanReason
  /// The number of listings that it still waits for.
  var remaining = 0
  var complete = true
}

/// The scans that are running.
struct RunningScans {
  /// By the number that `last` counts.
  var running: [UInt32: Scan] = [:]
  var last: UInt32 = 0
  var pace = ScanPace()
}

/// Keeps a requested scan close to photod's own progress.
///
/// photod takes records in their order, so an event waits behind all files that a scan has reported before it. A scan
/// that clients request may come at any time, and as often as they like. It therefore reports only a few hundred files
/// ahead of photod, and the largest folder more. Scans that follow from a loss of events are not delayed.
struct ScanPace {
  /// The number of files from one checkpoint to the next, about one frame.
  private static let filesPerCheckpoint = 250
  /// While photod works on the files before one checkpoint, those before the next are read.
  private static let mostAhead: UInt32 = 2

  private var files = 0
  private var written: UInt32 = 0
  private var passed: UInt32 = 0

  var mustWait: Bool { written - passed >= Self.mostAhead }

  /// Counts the files of a folder that a requested scan has reported.
  /// - Returns: the checkpoint to report, or nil.
  mutating func reported(files count: Int) -> UInt32? {
    // An empty folder has its records as well.
    files += count + 1
    guard files >= Self.filesPerCheckpoint else { return nil }
    files = 0
    written += 1
    return written
  }

  /// A number that was not reported is one that photod got from an earlier photod-watch.
  mutating func pass(_ checkpoint: UInt32) { passed = min(max(passed, checkpoint), written) }
}
