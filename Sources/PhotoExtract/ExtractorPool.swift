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
  /// The most processes that may hang on one drive. With so many, no file of the drive is read until one has ended.
  private static let mostHanging = 2

  let executable: String
  let mostProcesses: Int
  let logger: Logger
  /// Counts the processes until they are reaped. A process that hangs in the kernel counts for its drive.
  private let slots: ProcessSlots
  private let state = Mutex(State())
  /// Counts the processes that may still be taken.
  private let free: DispatchSemaphore
  private let permits: ExtractorPermits
  private let cleanup = DispatchQueue(label: "photod.extract-cleanup")

  /// - Parameters:
  ///   - readerCount: how many files of one drive are read at a time.
  ///   - slots: tests give others, to make processes hang.
  init(executable: String, readerCount: Int, logger: Logger, slots: ProcessSlots = ProcessSlots()) {
    self.executable = executable
    mostProcesses = readerCount + ExtractorPermits.spareProcesses
    self.logger = logger
    self.slots = slots
    permits = ExtractorPermits(readerCount: readerCount)
    free = DispatchSemaphore(value: mostProcesses)
  }

  deinit {
    for (worker, _) in state.withLock({ $0.idle }) { worker.end(isKilled: false) }
  }

  /// Takes a process for files of one file system. Each one must be given to ``putBack(_:)`` or ``discard(_:isKilled:)``.
  ///
  /// - Parameter limit: how long to wait while all processes are busy, or those that this file system may have.
  func take(for fileSystem: MediaSource.FileSystem, within limit: Duration) -> Taken {
    guard slots.count(of: Self.hangingPlace(fileSystem)) < Self.mostHanging else {
      return .unavailable("its disk does not answer")
    }
    let (seconds, attoseconds) = limit.components
    let deadline = DispatchTime.now() + .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    guard permits.take(fileSystem, until: deadline) else { return .busy }
    guard free.wait(timeout: deadline) == .success else {
      permits.putBack(fileSystem)
      return .busy
    }
    let taken = takeFree()
    if case .worker(let worker) = taken {
      worker.fileSystem = fileSystem
    } else {
      permits.putBack(fileSystem)
    }
    return taken
  }

  /// The place of the slots of processes that hang on a file system.
  ///
  /// It is needed for each call, and the description of an enumeration takes 10 µs.
  static func hangingPlace(_ fileSystem: MediaSource.FileSystem) -> String {
    switch fileSystem {
    case .drive(let number): "drive " + String(number)
    case .share(let share): "share " + String(UInt(bitPattern: share.hashValue))
    }
  }

  /// Takes a process for which `free` has been lowered.
  private func takeFree() -> Taken {
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
    putBackPermit(of: worker)
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
    slots.release(Self.place)
    if end == nil {
      let place = worker.fileSystem.map { Self.hangingPlace($0) } ?? Self.place
      _ = slots.take(place, maximum: .max)
      slots.abandon(worker.processID, place)
    }
    putBackPermit(of: worker)
    free.signal()
    return end
  }

  private func putBackPermit(of worker: ExtractWorker) {
    if let fileSystem = worker.fileSystem.take() { permits.putBack(fileSystem) }
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
      guard free.wait(timeout: .now()) == .success, case .worker(let worker) = takeFree() else { break }
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
