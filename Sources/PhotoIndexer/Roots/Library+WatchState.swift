import Logging
import PhotoModel
import WatchRecords

/// The state of how photod-watch sees changes: which folders it polls, and why.
struct WatchState {
  private var polled: [UInt16: [PollingReason: Int]] = [:]
  private var directories: [UInt16: Int] = [:]
  private(set) var budget: WatchBudget?
  /// The watchers that ended and were not started again yet, by their lane.
  var deaths: [Int: (reason: String, roots: [[UInt8]])] = [:]
  /// Whether the kernel's queue overflowed, and the scans that follow have not ended.
  var hasOverflowed = false

  /// - Parameters:
  ///   - count: how many folders of a root are polled for this reason.
  ///   - total: how many folders the root has.
  mutating func note(polled count: UInt32, because reason: PollingReason, of total: UInt32, in root: UInt16) {
    polled[root, default: [:]][reason] = count == 0 ? nil : Int(count)
    directories[root] = Int(total)
  }

  mutating func note(_ budget: WatchBudget) { self.budget = budget }

  /// Forgets a root that is offline.
  mutating func forget(_ root: UInt16) {
    polled[root] = nil
    directories[root] = nil
  }

  func polledCount(of root: UInt16) -> Int { polled[root]?.values.reduce(0, +) ?? 0 }

  func watch(of root: UInt16) -> LibraryStatus.Root.Watch {
    let count = polledCount(of: root)
    return count == 0 ? .inotify : count >= directories[root] ?? 0 ? .polling : .mixed
  }

  /// Keeps the state of the roots that are still watched.
  mutating func keep(_ roots: some Sequence<UInt16>) {
    let kept = Set(roots)
    polled = polled.filter { kept.contains($0.key) }
    directories = directories.filter { kept.contains($0.key) }
    if polled.isEmpty { budget = nil }
  }

  func count(_ reason: PollingReason) -> Int { polled.values.reduce(0) { $0 + ($1[reason] ?? 0) } }

  /// The numbers of folders on file systems that report too little, by the kind of file system.
  var fileSystems: [(name: String, count: Int)] {
    var counts: [String: Int] = [:]
    for reasons in polled.values {
      for case (.fileSystem(let name), let count) in reasons {
        counts[String(decoding: name, as: UTF8.self), default: 0] += count
      }
    }
    return counts.sorted { $0.key < $1.key }.map { (name: $0.key, count: $0.value) }
  }
}

// Folders that are polled: how many, and why.
extension Library {
  func noteWatchState(_ note: @Sendable (inout WatchState) -> Void) {
    let before = problems.watching
    note(&problems.watching)
    let (unwatched, uninstanced) = (problems.watching.count(.watchLimit), problems.watching.count(.noInstance))
    // photod-watch reports how many folders it polls before it first reports the limit.
    if unwatched > 0, let budget = problems.watching.budget, before.count(.watchLimit) == 0 || before.budget == nil {
      logger.warning("watches exhausted", metadata: ["polled": "\(unwatched)", "limit": "\(budget.limit)"])
    }
    if uninstanced > 0, before.count(.noInstance) == 0 {
      logger.warning("no inotify instance", metadata: ["polled": "\(uninstanced)"])
    }
  }

  func forgetWatchState(ofAllBut roots: some Sequence<UInt16>) {
    problems.watching.keep(roots)
  }

  /// Forgets the state of roots with a new photod-watch, which reports anew what it polls.
  func forgetWatchState(of roots: Set<UInt16>) {
    problems.watching.keep(reconciler.roots.numbers.filter { !roots.contains($0) })
  }
}
