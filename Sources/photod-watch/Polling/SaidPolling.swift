// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

/// The state of polling that was last reported to photod.
struct SaidPolling {
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
  fileprivate var at = Int64.min / 2

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
  func sayPolling(_ now: Int64?) {
    guard polling.directories.count > 0 || !polling.said.counts.isEmpty else { return }
    if let now, now - polling.said.at < Self.checkInterval { return }
    let budget = budget()
    if polling.directories.revision != polling.said.revision || tree.count != polling.said.directoryCount {
      let counts = countPolled()
      for (key, count) in counts.sorted(by: { $0.key.root < $1.key.root }) where polling.said.counts[key] != count {
        say(.polling(root: key.root, reason: key.reason, polled: count.polled, directories: count.directories))
      }
      polling.said.counts = counts.filter { $0.value.polled > 0 }
      (polling.said.revision, polling.said.directoryCount) = (polling.directories.revision, tree.count)
      if let now { polling.said.at = now }
    }
    if budget != polling.said.budget {
      polling.said.budget = budget
      say(.watchBudget(budget))
    }
  }

  private func budget() -> WatchBudget {
    WatchBudget(
      watched: UInt32(watches.byDescriptor.count), allowed: watches.share.allowed, limit: watches.share.limit,
      isNamespaceLimit: watches.share.isNamespaceLimit, isRefused: watches.share.refusedAt != nil,
      instanceError: inotify.errorNumber)
  }

  /// Counts for every root that is online, by reason. Reasons of the last report are included, with 0 if none is left.
  private func countPolled() -> [SaidPolling.Key: SaidPolling.Count] {
    var counts: [SaidPolling.Key: SaidPolling.Count] = [:]
    for (number, root) in roots {
      guard let top = root.top else { continue }
      for key in polling.said.counts.keys where key.root == number { counts[key] = SaidPolling.Count() }
      var directories: UInt32 = 0
      for index in tree.subtree(top) {
        directories += 1
        guard let reason = polling.directories[index]?.reason else { continue }
        counts[SaidPolling.Key(root: number, reason: reason), default: SaidPolling.Count()].polled += 1
      }
      for key in counts.keys where key.root == number { counts[key]?.directories = directories }
    }
    return counts
  }
}
