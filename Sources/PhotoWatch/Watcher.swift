// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import Synchronization
import WatchRecords
import WorkerProcess

/// One photod-watch. A `Worker` sends it the orders from the calls here, and its records go into a channel.
package final class Watcher: SingleLaneSource {
  package struct Configuration: Sendable {
    package var roots: [WatchRoot]
    /// The extensions of wanted files: lower-case ASCII, without the dot.
    package var extensions: [[UInt8]]
    /// Directories with these names are not entered, and neither are hidden ones.
    package var ignoredDirectoryNames: [[UInt8]]
    /// The ignored patterns of the configuration (`IgnorePattern`), until `setIgnoredPatterns` replaces them.
    package var ignoredPatterns: [[UInt8]]
    /// The path of the program; nil for that of `HelperProgram.watch.find()`.
    package var executable: String?
    /// The number of frames that may wait for the consumer. At this number, the socket is no longer read. A frame has
    /// at most about 1,000 records.
    package var maximumWaitingFrames: Int
    /// A photod-watch that sends nothing for this long while photod reads is late, and the first one is killed and
    /// replaced. Later ones get more time (`SilenceLimit`). A healthy one sends something every ten seconds.
    package var longestSilence: Duration
    /// The kind of file system of its roots.
    package var place: Place
    /// The slots for its process, and the place whose slots it takes.
    package var slots = ProcessSlots()
    package var slotPlace = ""

    package init(
      roots: [WatchRoot], extensions: [[UInt8]], ignoredDirectoryNames: [[UInt8]] = [],
      ignoredPatterns: [[UInt8]] = [], executable: String? = nil, maximumWaitingFrames: Int = 64,
      longestSilence: Duration = .seconds(30), place: Place = .anywhere
    ) {
      self.roots = roots
      self.extensions = extensions
      self.ignoredDirectoryNames = ignoredDirectoryNames
      self.ignoredPatterns = ignoredPatterns
      self.executable = executable
      self.maximumWaitingFrames = maximumWaitingFrames
      self.longestSilence = longestSilence
      self.place = place
    }
  }

  /// The kind of file system of a photod-watch's roots.
  package enum Place: Sendable {
    case anywhere
    /// Drives of this machine. A root on a share is reported as offline (EREMOTE) and not touched.
    case drives
    /// A share, which may not answer. As long as it does not, its roots are offline, and no caller waits for them.
    case share
  }

  /// The state that callers share with the worker's thread.
  struct State {
    var orders: [WatchOrder] = []
    var roots: [WatchRoot]
    var ignoredPatterns: [[UInt8]]
    /// Syncs without an answer. They are sent again to a photod-watch that replaces a dead one.
    var openSyncs: [UInt64] = []
    var openRescans: [UInt32: UInt16] = [:]
    /// A photod-watch runs and has its roots, so it can take orders.
    var isConnected = false
    var presence = Presence.answers
  }

  /// Whether callers can wait for a share.
  enum Presence {
    case answers
    /// photod-watch has sent nothing for a while. It may be in a slow call, and goes on when that call ends. So its roots
    /// and rescans stay with it, but no sync waits for it.
    case late
    /// The share did not answer a photod-watch, which was replaced. Its roots are offline, and no caller waits for them
    /// until a photod-watch sends something. Its session is announced only then; nil if none runs.
    case silent(unannounced: Int?)

    var isSilent: Bool { if case .silent = self { true } else { false } }
  }

  let configuration: Configuration
  let logger: Logger
  let lane: Int
  private let requests: RequestNumbers
  let state: Mutex<State>
  let channel: InputChannel
  private let worker: Worker
  /// Only the worker's thread uses it.
  let assembler = Mutex(FrameAssembler())

  package convenience init(configuration: Configuration, logger: Logger) {
    self.init(configuration: configuration, lane: 0, requests: RequestNumbers(), logger: logger)
  }

  /// - Parameters:
  ///   - lane: the first part of its directory numbers.
  ///   - requests: shared by all watchers of a library.
  init(configuration: Configuration, lane: Int, requests: RequestNumbers, logger: Logger) {
    self.configuration = configuration
    self.lane = lane
    self.requests = requests
    self.logger = logger
    state = Mutex(State(roots: configuration.roots, ignoredPatterns: configuration.ignoredPatterns))
    let worker = Worker()
    self.worker = worker
    channel = InputChannel(capacity: max(configuration.maximumWaitingFrames, 1)) { worker.wake() }
  }

  package nonisolated(nonsending) func nextInput() async -> WatchInput? {
    let input = await channel.next()
    if let checkpoint = channel.takePassed() {
      state.withLock { if $0.isConnected { $0.orders.append(.passed(checkpoint: checkpoint)) } }
      worker.wake()
    }
    return input
  }

  /// The photod-watch that runs now, or nil.
  package var processID: pid_t? { worker.processID }

  package func start() throws {
    try worker.start(
      Worker.Configuration(
        name: "photod-watch", executable: try configuration.executable ?? HelperProgram.watch.find(),
        longestSilence: configuration.longestSilence, slots: configuration.slots, place: configuration.slotPlace),
      dialogue: self, logger: logger)
  }

  @discardableResult
  package func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32 {
    let request = requests.next()
    state.withLock { state in
      if state.presence.isSilent {
        channel.add(.batch([.scanEnded(root: root, request: request, complete: false)]))
        return
      }
      state.openRescans[request] = root
      if state.isConnected { state.orders.append(.rescan(root: root, directory: directory, request: request)) }
    }
    worker.wake()
    return request
  }

  @discardableResult
  package func sync(number: UInt64) -> Set<Int> {
    state.withLock { state in
      guard case .answers = state.presence else {
        channel.add(.batch([.synced(number: number)]))
        return
      }
      state.openSyncs.append(number)
      if state.isConnected { state.orders.append(.sync(number: number)) }
    }
    worker.wake()
    return [lane]
  }

  package func setRoots(_ roots: [WatchRoot]) {
    state.withLock { state in
      if state.isConnected {
        // A root whose interval changes stays, because a root that is added is scanned.
        func places(_ roots: [WatchRoot]) -> [WatchRoot: UInt32] {
          let pairs = roots.map { (WatchRoot(number: $0.number, path: $0.path), $0.pollSeconds) }
          return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        }
        let (before, after) = (places(state.roots), places(roots))
        for root in state.roots where after[WatchRoot(number: root.number, path: root.path)] == nil {
          state.orders.append(.removeRoot(root: root.number))
        }
        for root in roots {
          let former = before[WatchRoot(number: root.number, path: root.path)]
          if former == nil { state.orders.append(.addRoot(root: root.number, path: root.path)) }
          if root.pollSeconds != former ?? 0 {
            state.orders.append(.setPollInterval(root: root.number, seconds: root.pollSeconds))
          }
        }
      }
      state.roots = roots
    }
    worker.wake()
  }

  package func setIgnoredPatterns(_ patterns: [[UInt8]]) {
    state.withLock { state in
      guard state.ignoredPatterns != patterns else { return }
      state.ignoredPatterns = patterns
      if state.isConnected { state.orders.append(configureOrder(patterns)) }
    }
    worker.wake()
  }

  func configureOrder(_ ignoredPatterns: [[UInt8]]) -> WatchOrder {
    .configure(
      extensions: configuration.extensions, ignoredDirectoryNames: configuration.ignoredDirectoryNames,
      ignoredPatterns: ignoredPatterns)
  }

  /// Ends it without waiting. Syncs that it has not answered are answered.
  func endSoon() { if !worker.endSoon() { finish() } }

  /// Whether `stop()` would return at once.
  var isOver: Bool { worker.isOver }

  package func stop() async {
    await worker.stop()
    channel.finish()
  }
}

/// Numbers of rescans, which are not reused in the life of a library.
final class RequestNumbers: Sendable {
  private let last = Mutex<UInt32>(0)

  func next() -> UInt32 {
    last.withLock { last in
      // 0 is the number of a scan without a request.
      last = last == .max ? 1 : last + 1
      return last
    }
  }
}
