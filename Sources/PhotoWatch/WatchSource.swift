// SPDX-License-Identifier: Apache-2.0

import WatchRecords

/// The inputs of the indexer about the disk, in order.
package enum WatchInput: Hashable, Sendable {
  /// A new photod-watch runs. All earlier directory numbers of its roots are void, and full scans of the roots follow.
  case started(session: Int)
  /// One ordered batch.
  case batch([WatchRecord])
  /// photod-watch ended without an order. Another one follows.
  case died(session: Int, reason: String)
}

/// The inputs of one photod-watch and of its successors, in order.
///
/// Inputs of different lanes have no order among each other. No directory number occurs in two lanes.
package struct WatchLane: Sendable {
  package let number: Int
  /// The roots that it watches now; nil for all roots.
  package let roots: @Sendable () -> Set<UInt16>?
  /// The next input, for one consumer; nil after the last one, or if the task is cancelled. It stays in the consumer's
  /// executor: each photo would wake another thread otherwise.
  package let nextInput: nonisolated(nonsending) @Sendable () async -> WatchInput?

  package init(
    number: Int, roots: @escaping @Sendable () -> Set<UInt16>?,
    nextInput: nonisolated(nonsending) @escaping @Sendable () async -> WatchInput?
  ) {
    self.number = number
    self.roots = roots
    self.nextInput = nextInput
  }
}

/// The origin of everything that the indexer knows of the disk: `WatcherGroup`, or a script in tests.
package protocol WatchSource: Sendable {
  /// Each lane once, when it begins. The sequence ends after `stop()`. For one consumer.
  var lanes: AsyncStream<WatchLane> { get }

  /// - Throws: `WorkerError` if there is no program to start.
  func start() throws
  /// Scans a root again, or only the given directory with everything below it.
  /// - Returns: the request number that `scanStarted` and `scanEnded` repeat.
  @discardableResult func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32
  /// Has each lane send `synced(number)` after everything that happened until now. Numbers are not reused.
  ///
  /// A lane whose share does not answer sends it at once, because a sync waits only for roots that answer.
  /// - Returns: the numbers of the lanes.
  @discardableResult func sync(number: UInt64) -> Set<Int>
  /// Replaces the roots. Roots that are no longer in the list are not watched any more, and new ones are scanned.
  func setRoots(_ roots: [WatchRoot])
  /// Replaces the ignored patterns of the configuration (`IgnorePattern`). Newly ignored files leave, and files that
  /// are no longer ignored are found.
  func setIgnoredPatterns(_ patterns: [[UInt8]])
  /// How photod may look at a path.
  func access(to path: [UInt8]) -> FileAccess
  /// Returns when each photod-watch has ended or was abandoned.
  func stop() async
}

/// How photod may look at a path.
package enum FileAccess: Sendable {
  case direct
  /// photod looks only through this process, because the share may not answer.
  case share(ShareFileWorker)
  /// photod does not look, because the path is on a share without a root.
  case none
}

extension WatchSource {
  package func access(to path: [UInt8]) -> FileAccess { .direct }

  /// Does nothing, for a script in tests that decides itself which files it reports.
  package func setIgnoredPatterns(_ patterns: [[UInt8]]) {}
}

/// A source with one lane for all roots.
package protocol SingleLaneSource: WatchSource {
  /// The next input, for one consumer; nil after `stop()`, or if the task is cancelled.
  nonisolated(nonsending) func nextInput() async -> WatchInput?
}

extension SingleLaneSource {
  package var lanes: AsyncStream<WatchLane> {
    AsyncStream { continuation in
      continuation.yield(WatchLane(number: 0, roots: { nil }, nextInput: { await self.nextInput() }))
      continuation.finish()
    }
  }
}

/// A folder that is watched with everything below it.
package struct WatchRoot: Hashable, Sendable {
  /// The number of the root in records.
  package var number: UInt16
  /// Absolute, with symbolic links resolved. Roots neither repeat nor contain one another.
  package var path: [UInt8]
  /// Each of its directories without a watch is polled at most once in so many seconds; 0 for the usual intervals.
  package var pollSeconds: UInt32

  package init(number: UInt16, path: [UInt8], pollSeconds: UInt32 = 0) {
    self.number = number
    self.path = path
    self.pollSeconds = pollSeconds
  }
}
