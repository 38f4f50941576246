// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Logging
import Synchronization
import WatchRecords
import WorkerProcess

/// All watched roots. Roots on drives of this machine share one photod-watch, and each root on a share has its own.
///
/// A share is a network or FUSE file system. Only the mount table decides, because a look at the root itself could
/// block. If a share does not answer, only its own photod-watch waits.
package final class WatcherGroup: WatchSource {
  private struct Share {
    let path: [UInt8]
    let watcher: Watcher
    let files: ShareFileWorker

    /// Whether both of its processes have ended.
    var isOver: Bool { watcher.isOver && files.isOver }
  }

  private struct State {
    /// The shares by root number.
    var shares: [UInt16: Share] = [:]
    var roots: [WatchRoot] = []
    var ignoredPatterns: [[UInt8]]
    /// Shares whose roots were removed. Each is dropped at the first change of the roots after its processes have ended,
    /// which closes its descriptors.
    var ending: [Share] = []
    var lastLane = 0
    var isStarted = false
    var isStopped = false
  }

  /// A share does not answer if its photod-watch sends nothing for this long. A healthy one sends something every ten
  /// seconds.
  package static let longestShareSilence = Duration.seconds(20)
  /// The pause before the processes of a share are started again, if there was no thread or descriptor for them.
  private static let startInterval = DispatchTimeInterval.seconds(2)

  package let lanes: AsyncStream<WatchLane>
  private let newLanes: AsyncStream<WatchLane>.Continuation
  private let configuration: Watcher.Configuration
  private let logger: Logger
  private let requests = RequestNumbers()
  private let mountTable: @Sendable () -> MountTable?
  private let slots: ProcessSlots
  private let drives: Watcher
  private let state: Mutex<State>

  /// - Parameters:
  ///   - configuration: for each photod-watch. Its roots are ignored; `setRoots` sets them.
  ///   - mountTable: returns the current mount table; nil if it could never be read. Every path counts as on a share
  ///     then.
  ///   - slots: for all processes.
  package init(
    configuration: Watcher.Configuration, logger: Logger,
    mountTable: @escaping @Sendable () -> MountTable? = { CurrentMounts.shared.table }, slots: ProcessSlots = .shared
  ) {
    var common = configuration
    common.roots = []
    common.place = .drives
    common.slots = slots
    common.slotPlace = "drives"
    self.configuration = common
    self.logger = logger
    self.mountTable = mountTable
    self.slots = slots
    (lanes, newLanes) = AsyncStream.makeStream()
    drives = Watcher(configuration: common, lane: 0, requests: requests, logger: logger)
    state = Mutex(State(ignoredPatterns: common.ignoredPatterns))
    open(drives)
  }

  private func open(_ watcher: Watcher) {
    newLanes.yield(
      WatchLane(
        number: watcher.lane, roots: { Set(watcher.state.withLock { $0.roots.map(\.number) }) },
        nextInput: { await watcher.nextInput() }))
  }

  package func start() throws {
    try drives.start()
    state.withLock { state in
      state.isStarted = true
      for (number, share) in state.shares { start(share, number) }
    }
  }

  /// Starts the processes of a share. If that is impossible, its root is offline, and they are started later.
  private func start(_ share: Share, _ number: UInt16) {
    do {
      try share.watcher.start()
      try share.files.start(executable: try configuration.executable ?? HelperProgram.watch.find())
    } catch {
      logger.error("share not watched", metadata: ["error": "\(error)"])
      // If its photod-watch runs, only its files can't be read.
      if share.watcher.isOver { share.watcher.noteNotStarted((error as? WorkerError)?.errorNumber ?? EAGAIN) }
      share.files.noteNotStarted()
      DispatchQueue.global().asyncAfter(deadline: .now() + Self.startInterval) { [weak self] in
        self?.startAgain(share, number)
      }
    }
  }

  private func startAgain(_ share: Share, _ number: UInt16) {
    state.withLock { state in
      // Its root may have been removed meanwhile.
      guard !state.isStopped, state.shares[number]?.watcher === share.watcher else { return }
      start(share, number)
    }
  }

  package func setRoots(_ roots: [WatchRoot]) {
    let mounts = mountTable()
    state.withLock { state in
      guard !state.isStopped else { return }
      state.ending.removeAll(where: \.isOver)
      let (before, after) = (Set(state.roots.map(\.number)), Set(roots.map(\.number)))
      for (number, share) in state.shares where !after.contains(number) {
        state.shares[number] = nil
        share.watcher.endSoon()
        share.files.endSoon()
        state.ending.append(share)
      }
      // A root that is already watched stays with its photod-watch, because its records must keep their order.
      for root in roots where !before.contains(root.number) && mounts?.isOnShare(root.path) ?? true {
        addShare(root, &state)
      }
      // The interval of a share may have changed.
      for root in roots { state.shares[root.number]?.watcher.setRoots([root]) }
      state.roots = roots
      drives.setRoots(roots.filter { state.shares[$0.number] == nil })
    }
  }

  private func addShare(_ root: WatchRoot, _ state: inout State) {
    var configuration = configuration
    configuration.roots = [root]
    configuration.ignoredPatterns = state.ignoredPatterns
    configuration.place = .share
    configuration.longestSilence = min(configuration.longestSilence, Self.longestShareSilence)
    configuration.slotPlace = "watch of \(String(decoding: root.path, as: UTF8.self))"
    state.lastLane += 1
    let share = Share(
      path: root.path,
      watcher: Watcher(configuration: configuration, lane: state.lastLane, requests: requests, logger: logger),
      files: ShareFileWorker(root: root.path, slots: slots, logger: logger))
    state.shares[root.number] = share
    open(share.watcher)
    if state.isStarted { start(share, root.number) }
  }

  /// The photod-watch that watches a root now, or nil.
  package func watchProcessID(ofRoot number: UInt16) -> pid_t? {
    (state.withLock { $0.shares[number]?.watcher } ?? drives).processID
  }

  /// Whether photod itself or a share's process must look at a path.
  package func access(to path: [UInt8]) -> FileAccess {
    let share = state.withLock { state in
      let root = state.roots.filter { Self.contains($0.path, path) }.max { $0.path.count < $1.path.count }
      return root.flatMap { state.shares[$0.number] }
    }
    if let share { return .share(share.files) }
    // It may be on a share that is no longer configured, or on one that is mounted below a root on a drive.
    return mountTable()?.isOnShare(path) ?? true ? .none : .direct
  }

  private static func contains(_ root: [UInt8], _ path: [UInt8]) -> Bool {
    path.starts(with: root)
      && (path.count == root.count || root.last == UInt8(ascii: "/") || path[root.count] == UInt8(ascii: "/"))
  }

  @discardableResult
  package func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32 {
    (state.withLock { $0.shares[root]?.watcher } ?? drives).rescan(root: root, directory: directory)
  }

  @discardableResult
  package func sync(number: UInt64) -> Set<Int> {
    state.withLock { state in
      state.shares.values.reduce(into: drives.sync(number: number)) { $0.formUnion($1.watcher.sync(number: number)) }
    }
  }

  package func setIgnoredPatterns(_ patterns: [[UInt8]]) {
    state.withLock { state in
      state.ignoredPatterns = patterns
      for share in state.shares.values { share.watcher.setIgnoredPatterns(patterns) }
    }
    drives.setIgnoredPatterns(patterns)
  }

  /// Ends every photod-watch without waiting for it.
  package func endSoon() {
    let shares = state.withLock { state in
      state.isStopped = true
      return state.shares.values + state.ending
    }
    newLanes.finish()
    drives.endSoon()
    for share in shares {
      share.watcher.endSoon()
      share.files.endSoon()
    }
  }

  package func stop() async {
    // All of them are requested to end before any is awaited, because each may hang.
    endSoon()
    await drives.stop()
    let shares = state.withLock { state in
      defer { state.ending = [] }
      return state.shares.values + state.ending
    }
    for share in shares {
      await share.watcher.stop()
      await share.files.stop()
    }
  }
}
