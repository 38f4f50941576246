import Dispatch
import Glibc
import Logging
import Synchronization
import WorkerProcess

/// The processes of photod-extract: started when they are needed, and ended when they have not been used for a while.
final class ExtractorPool: Sendable {
  /// How long a process may be idle. One stays, so that the next photo needs no start.
  private static let longestIdleness = DispatchTimeInterval.seconds(30)

  private static let pauseAfterFailedStart = Duration.seconds(2)

  private struct State {
    /// The idle processes. The one that was used last is used next.
    var idle: [(worker: ExtractWorker, since: SuspendingClock.Instant)] = []
    /// The processes that read a file now.
    var busy: Set<pid_t> = []
    var restarts = 0
    /// Why the last process did not start its work, and until when no other is started.
    var failedStart: (reason: String, end: SuspendingClock.Instant)?

    var running: Int { idle.count + busy.count }
    var isEnding = false
    var isCleanupScheduled = false
  }

  enum Taken {
    case worker(ExtractWorker)
    /// All processes are busy.
    case busy
    case unavailable(String)
  }

  private static let place = "photod-extract"

  let executable: String
  let mostProcesses: Int
  let logger: Logger
  /// Counts the processes until they are reaped, also those that hang in the kernel.
  private let slots = ProcessSlots()
  private let state = Mutex(State())
  /// Counts the processes that may still be taken.
  private let free: DispatchSemaphore
  private let cleanup = DispatchQueue(label: "photod.extract-cleanup")

  init(executable: String, mostProcesses: Int, logger: Logger) {
    self.executable = executable
    self.mostProcesses = mostProcesses
    self.logger = logger
    free = DispatchSemaphore(value: mostProcesses)
  }

  deinit {
    for (worker, _) in state.withLock({ $0.idle }) { worker.end(isKilled: false) }
  }

  /// Takes a process for a while. Each one must be given to ``putBack(_:)`` or ``discard(_:isKilled:)``.
  ///
  /// - Parameter limit: how long to wait while all processes are busy; nil without a limit.
  func take(within limit: Duration?) -> Taken {
    if let limit {
      let (seconds, attoseconds) = limit.components
      let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
      guard free.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return .busy }
    } else {
      free.wait()
    }
    let (idle, isEnding) = state.withLock { state in
      let worker = state.isEnding ? nil : state.idle.popLast()?.worker
      if let worker { state.busy.insert(worker.processID) }
      return (worker, state.isEnding)
    }
    if let idle { return .worker(idle) }
    guard !isEnding else {
      free.signal()
      return .unavailable("photod is stopping")
    }
    return start()
  }

  private func start() -> Taken {
    if let reason = state.withLock({ $0.failedStart.flatMap { $0.end > SuspendingClock().now ? $0.reason : nil } }) {
      free.signal()
      return .unavailable(reason)
    }
    guard slots.take(Self.place, maximum: mostProcesses) else {
      free.signal()
      return .busy
    }
    do {
      let worker = try ExtractWorker(executable: executable, logger: logger)
      state.withLock { _ = $0.busy.insert(worker.processID) }
      logger.debug("photod-extract started", metadata: ["pid": "\(worker.processID)"])
      return .worker(worker)
    } catch {
      slots.release(Self.place)
      free.signal()
      return .unavailable("\(error)")
    }
  }

  func putBack(_ worker: ExtractWorker) {
    let (isEnding, schedules) = state.withLock { state in
      if state.isEnding { return (true, false) }
      state.busy.remove(worker.processID)
      state.idle.append((worker, SuspendingClock().now))
      defer { state.isCleanupScheduled = state.isCleanupScheduled || state.idle.count > 1 }
      return (false, state.idle.count > 1 && !state.isCleanupScheduled)
    }
    if isEnding {
      discard(worker, isKilled: false)
      return
    }
    free.signal()
    if schedules { scheduleCleanup() }
  }

  /// Ends a process.
  ///
  /// - Parameter isKilled: whether it may be in the middle of a file, and must not go on.
  /// - Returns: how it ended. nil if it hangs in the kernel.
  @discardableResult
  func discard(_ worker: ExtractWorker, isKilled: Bool) -> String? {
    state.withLock { _ = $0.busy.remove(worker.processID) }
    let end = worker.end(isKilled: isKilled)
    if end == nil { slots.abandon(worker.processID, Self.place) } else { slots.release(Self.place) }
    free.signal()
    return end
  }

  /// Notes that a process did not start its work. For a while, no other is started.
  func noteFailedStart(_ reason: String) {
    state.withLock { $0.failedStart = (reason, SuspendingClock().now + Self.pauseAfterFailedStart) }
  }

  func noteRestart() { state.withLock { $0.restarts += 1 } }

  var running: Int { state.withLock { $0.running } }
  var restarts: Int { state.withLock { $0.restarts } }

  /// Starts processes before they are needed, because their start takes some milliseconds.
  func prepare(_ count: Int) {
    var workers: [ExtractWorker] = []
    for _ in 0..<count {
      guard case .worker(let worker) = take(within: .zero) else { break }
      workers.append(worker)
    }
    for worker in workers { putBack(worker) }
  }

  /// Whether photod is stopping.
  var isEnding: Bool { state.withLock { $0.isEnding } }

  /// Ends all processes. The busy ones are killed, so that no caller waits for them.
  func end() {
    let idle = state.withLock { state in
      state.isEnding = true
      defer { state.idle = [] }
      // The lock holds, so that none of them is reaped and its number is that of another process.
      for processID in state.busy { kill(processID, SIGKILL) }
      return state.idle
    }
    for (worker, _) in idle {
      // discard gives back a place that was not taken for an idle process.
      free.wait()
      discard(worker, isKilled: false)
    }
  }

  private func scheduleCleanup() {
    cleanup.asyncAfter(deadline: .now() + Self.longestIdleness) { [weak self] in self?.endIdle() }
  }

  /// Ends the processes that were idle for long, except the one that was used last.
  private func endIdle() {
    let (ended, hasMore) = state.withLock { state -> ([ExtractWorker], Bool) in
      let now = SuspendingClock().now
      let old = state.idle.dropLast().filter { now - $0.since >= .seconds(25) }.map(\.worker)
      state.idle.removeAll { entry in old.contains { $0 === entry.worker } }
      state.isCleanupScheduled = state.idle.count > 1
      return (old, state.isCleanupScheduled)
    }
    for worker in ended {
      free.wait()
      discard(worker, isKilled: false)
    }
    if hasMore { scheduleCleanup() }
  }
}
