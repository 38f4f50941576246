// SPDX-License-Identifier: Apache-2.0

import WatchRecords

/// What the indexer is told of the disk, in order.
package enum WatchInput: Hashable, Sendable {
  /// A fresh photod-watch: everything known of directory numbers is void, full scans of all roots follow.
  case started(session: Int)
  /// One ordered batch.
  case batch([WatchRecord])
  /// It ended without being told to; another follows.
  case died(session: Int, reason: String)
}

/// Where the indexer's knowledge of the disk comes from: `Watcher`, or a script in tests.
package protocol WatchSource: Sendable {
  /// The next input, for one consumer; nil after `stop()`, or when the task is cancelled.
  func nextInput() async -> WatchInput?

  /// - throws: when there is no program to start.
  func start() throws
  /// Scans a root again, or with a directory only that and what is below.
  /// - returns: the request number that `scanStarted` and `scanEnded` repeat.
  @discardableResult func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32
  /// Makes `synced(number)` come after everything that happened until now. Numbers are not used twice.
  func sync(number: UInt64)
  /// Replaces the roots: what is not among them is no longer watched, what is new is scanned.
  func setRoots(_ roots: [WatchRoot])
  /// Replaces what the configuration ignores (`IgnorePattern`): what it names from now on leaves, what it names no longer
  /// is found.
  func setIgnoredPatterns(_ patterns: [[UInt8]])
  /// Returns when photod-watch has ended.
  func stop() async
}

extension WatchSource {
  /// For a script in tests, which says what it likes.
  package func setIgnoredPatterns(_ patterns: [[UInt8]]) {}
}

/// A folder that is watched with all below it.
package struct WatchRoot: Hashable, Sendable {
  /// What records call it.
  package var number: UInt16
  /// Absolute, links resolved; roots neither repeat nor contain one another.
  package var path: [UInt8]

  package init(number: UInt16, path: [UInt8]) {
    self.number = number
    self.path = path
  }
}
