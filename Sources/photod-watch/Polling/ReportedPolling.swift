// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

/// The state of polling that was last reported to photod.
struct ReportedPolling {
  struct Key: Hashable {
    var root: UInt16
    var reason: PollingReason
  }

  struct Count: Equatable {
    var polled: UInt32 = 0
    var directories: UInt32 = 0
  }

  fileprivate var counts: [Key: Count] = [:]
  fileprivate var budget: WatchBudget?
  fileprivate var revision = 0
  fileprivate var directoryCount = 0
  fileprivate var at = Moment.longAgo

  /// Whether the last report says that no directory is polled.
  var isEmpty: Bool { counts.isEmpty }

  /// Forgets a root that goes offline, so that everything is reported again if it comes back.
  mutating func forget(_ root: UInt16) {
    counts = counts.filter { $0.key.root != root }
    revision = -1
  }
}

extension FolderWatch {
  /// Reports for each root how many directories are polled, and the watch budget, if that has changed.
  /// - Parameter now: the current time, which limits the reports to one every two seconds. nil reports without this
  ///   limit.
  /// - Complexity: O(directories) if any of them came, went or changed its state since the last report.
  func reportPolling(_ now: Moment?) {
    guard polling.directories.count > 0 || !polling.reported.counts.isEmpty else { return }
    if let now, now - polling.reported.at < Self.checkInterval { return }
    let budget = budget()
    if polling.directories.revision != polling.reported.revision || tree.count != polling.reported.directoryCount {
      let counts = countPolled()
      for (key, count) in counts.sorted(by: { $0.key.root < $1.key.root }) where polling.reported.counts[key] != count {
        report(.polling(root: key.root, reason: key.reason, polled: count.polled, directories: count.directories))
      }
      polling.reported.counts = counts.filter { $0.value.polled > 0 }
      (polling.reported.revision, polling.reported.directoryCount) = (polling.directories.revision, tree.count)
      if let now { polling.reported.at = now }
    }
    if budget != polling.reported.budget {
      polling.reported.budget = budget
      report(.watchBudget(budget))
    }
  }

  private func budget() -> WatchBudget {
    WatchBudget(
      watched: UInt32(watches.byDescriptor.count), allowed: watches.share.allowed, limit: watches.share.limit,
      isNamespaceLimit: watches.share.isNamespaceLimit, isRefused: watches.share.refusedAt != nil,
      instanceError: events.inotify.errorNumber)
  }

  /// Counts for every root that is online, by reason. Reasons of the last report are included, with 0 if none is left.
  private func countPolled() -> [ReportedPolling.Key: ReportedPolling.Count] {
    var counts: [ReportedPolling.Key: ReportedPolling.Count] = [:]
    for (number, root) in roots {
      guard let top = root.top else { continue }
      for key in polling.reported.counts.keys where key.root == number { counts[key] = ReportedPolling.Count() }
      var directories: UInt32 = 0
      for index in tree.subtree(top) {
        directories += 1
        guard let reason = polling.directories[index]?.reason else { continue }
        counts[ReportedPolling.Key(root: number, reason: reason), default: ReportedPolling.Count()].polled += 1
      }
      for key in counts.keys where key.root == number { counts[key]?.directories = directories }
    }
    return counts
  }
}
