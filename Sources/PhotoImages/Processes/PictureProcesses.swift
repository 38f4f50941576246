import Dispatch
import Glibc
import ImageRecords
import Logging
import Synchronization
import WorkerProcess

/// The processes of one program that decodes pictures. They are started when they are needed, and ended when they were idle for 30 s.
///
/// Each caller uses one process, so there are as many as threads that call ``make(_:from:)``. If ``keepReady(_:)`` was
/// called, so many processes are started before a caller needs them, and stay.
///
/// If a file ends its process, it is tried once more in a new one, and blamed only if it ends that one too. If it takes
/// longer than `deadline`, the process is killed and the file is blamed, unless the limits say otherwise. A file is not to blame if the process did not
/// start its work, if a signal from outside ended it, or if it was stopped. Nor is it if the process waits for a disk,
/// or if the disk failed.
final class PictureProcesses: PictureMaker {
  struct Limits: Sendable {
    /// How long one picture may take.
    var deadline = Duration.seconds(20)
    /// Whether a file is to blame if it takes longer than that.
    var blamesLateFile = true
    /// How long a process may take to start before a caller needs it.
    var startDeadline = Duration.seconds(20)
    var longestIdleness = Duration.seconds(30)
    /// How long no process is started after one that did not start its work. While processes are to be ready, each
    /// further failure doubles the time until the next attempt, up to 64 times.
    var pauseAfterFailedStart = Duration.seconds(2)

    /// An immediate picture that takes longer is of no use, and holds up others.
    static let immediate = Limits(deadline: .seconds(2), blamesLateFile: false)
  }

  private struct State {
    /// The process that was used last is used next.
    var idle: [(process: PictureProcess, since: SuspendingClock.Instant)] = []
    var busy: Set<pid_t> = []
    /// Why the last process did not start its work, and until when no other is started.
    var failedStart: (reason: String, end: SuspendingClock.Instant)?
    var isEnding = false
    var isCleanupScheduled = false
    /// How many processes are to be there, also without a caller.
    var readyCount = 0
    /// Whether a thread starts the processes that are missing.
    var isStarting = false
    /// When that thread may try again, and how many attempts have failed one after another. Nil after any process
    /// worked.
    var startPause: (end: SuspendingClock.Instant, failureCount: Int)?
    var isStartScheduled = false
    /// The callers that wait for a process that starts.
    var waiting: [DispatchSemaphore] = []

    var isMissingProcesses: Bool { !isEnding && idle.count + busy.count < readyCount }
  }

  private enum Taken {
    case process(PictureProcess)
    case unavailable(PictureFailureKind, String)
  }

  /// The ends that a signal from outside causes: of a service manager, a terminal, or the kernel without memory.
  private static let endsFromOutside = [SIGHUP, SIGINT, SIGTERM, SIGKILL].map { "signal \($0) ended it" }

  /// The decoders map large files. The kernel ends a process that reads a mapped page of a failing disk, or behind the
  /// end of the file.
  private static let endByDisk = "signal \(SIGBUS) ended it"

  private let program: PictureProgram
  private let niceness: Int32
  private let limits: Limits
  private let logger: Logger
  private let slots = ProcessSlots()
  private let state = Mutex(State())
  private let cleanup = DispatchQueue(label: "photod.picture-cleanup")
  private let starting: DispatchQueue

  /// - Parameters:
  ///   - niceness: how much higher the nice value of the processes is than that of photod.
  ///   - starting: starts the processes that are to be ready. Two pools that share it start them one after another.
  init(
    program: PictureProgram, niceness: Int32 = 0, limits: Limits = Limits(),
    starting: DispatchQueue = DispatchQueue(label: "photod.picture-start"), logger: Logger
  ) {
    self.program = program
    self.niceness = niceness
    self.limits = limits
    self.starting = starting
    self.logger = logger
  }

  /// The processes that have started their work and serve no caller.
  var readyIDs: Set<pid_t> { state.withLock { state in Set(state.idle.map(\.process.processID)) } }
  /// The processes that run now.
  var processIDs: [pid_t] { state.withLock { state in state.idle.map { $0.process.processID } + state.busy } }

  func make(_ request: PictureRequest, from descriptor: Int32) -> PictureMaking {
    var isSecondTry = false
    while true {
      let process: PictureProcess
      switch take(isFresh: isSecondTry) {
      case .process(let taken): process = taken
      case .unavailable(let kind, let reason): return .unavailable(kind, reason)
      }
      switch process.make(request, from: descriptor, within: limits.deadline) {
      case .picture(let picture):
        putBack(process)
        return .picture(picture)
      case .failed(let failure, let message):
        putBack(process)
        return .failed(failure, message: message)
      case .late: return giveUp(process)
      case .broken(let reason):
        let end = discard(process, isKilled: false) ?? "it hangs in the kernel"
        if let making = judge(reason, end, process, isSecondTry: isSecondTry) { return making }
        isSecondTry = true
      }
    }
  }

  /// Sets how many processes are there although no caller needs them now.
  func keepReady(_ count: Int) {
    let (starts, schedules) = state.withLock { state in
      state.readyCount = count
      let schedules = state.idle.count > count && !state.isCleanupScheduled
      if schedules { state.isCleanupScheduled = true }
      return (Self.takeStart(&state), schedules)
    }
    if starts { startMissing() }
    if schedules { scheduleCleanup() }
  }

  func shutDown() {
    let (idle, waiting) = state.withLock { state in
      state.isEnding = true
      defer { (state.idle, state.waiting) = ([], []) }
      // The lock holds, so that none of them is reaped and its number is that of another process.
      for processID in state.busy { kill(processID, SIGKILL) }
      return (state.idle, state.waiting)
    }
    for semaphore in waiting { semaphore.signal() }
    for (process, _) in idle { discard(process, isKilled: false) }
  }

  // MARK: - Failures

  /// - Returns: nil if the file is to be tried once more.
  private func judge(_ reason: String, _ end: String, _ process: PictureProcess, isSecondTry: Bool) -> PictureMaking? {
    guard !isEnding else { return Self.stopping }
    logger.notice(
      "a decoder failed", metadata: ["program": "\(program.name)", "reason": "\(reason)", "end": "\(end)"])
    guard process.hasGreeted else {
      return .unavailable(.unsupported, noteFailedStart(reason, end))
    }
    guard end != Self.endByDisk else {
      return .unavailable(
        .unavailable,
        "the file can't be read: its disk failed, or a program cut the file off meanwhile. Check its disk, and try again."
      )
    }
    guard isSecondTry else { return nil }
    guard !Self.endsFromOutside.contains(end) else {
      return .unavailable(.unreadable, "\(program.name) ended (\(reason): \(end))")
    }
    return .blamed("decoding it ended \(program.name) twice (\(reason): \(end)); the file may be damaged")
  }

  /// - Returns: the problem.
  @discardableResult
  private func noteFailedStart(_ reason: String, _ end: String) -> String {
    let problem = "\(program.name) does not start (\(reason): \(end)); its lines in the log of photod have the reason"
    state.withLock { $0.failedStart = (problem, SuspendingClock().now + limits.pauseAfterFailedStart) }
    return problem
  }

  /// Ends a process whose file takes too long.
  private func giveUp(_ process: PictureProcess) -> PictureMaking {
    let state = process.processState
    let end = discard(process, isKilled: true)
    let time = limits.deadline.components.seconds
    logger.notice("a decoder took too long", metadata: ["program": "\(program.name)", "seconds": "\(time)"])
    guard !isEnding else { return Self.stopping }
    guard process.hasGreeted else {
      return .unavailable(.unsupported, "\(program.name) does not start within \(time) s")
    }
    guard end != nil, state != UInt8(ascii: "D") else {
      return .unavailable(.unavailable, "its disk does not answer within \(time) s")
    }
    guard state != UInt8(ascii: "T"), state != UInt8(ascii: "t") else {
      return .unavailable(.unreadable, "\(program.name) was stopped by a signal for \(time) s")
    }
    let message = "the decoder took longer than \(time) s"
    return limits.blamesLateFile ? .blamed(message) : .late(message)
  }

  private static let stopping = PictureMaking.unavailable(.unavailable, "photod is stopping")

  // MARK: - The pool

  private var isEnding: Bool { state.withLock { $0.isEnding } }

  private enum Idle {
    case process(PictureProcess)
    /// A process starts. The semaphore is signalled when it, or another one, is idle, and when none starts any more.
    case wait(DispatchSemaphore)
    case none
  }

  private func take(isFresh: Bool) -> Taken {
    while !isFresh {
      switch state.withLock({ Self.takeIdle(&$0) }) {
      case .process(let idle):
        if idle.isReady { return .process(idle) }
        discard(idle, isKilled: true)
      case .wait(let semaphore):
        guard semaphore.wait(timeout: .now() + Self.interval(limits.deadline)) == .timedOut,
          state.withLock({ Self.stopWaiting(semaphore, &$0) })
        else { continue }
        return .unavailable(.unavailable, "\(program.name) does not start in time")
      case .none: return start()
      }
    }
    return start()
  }

  private static func takeIdle(_ state: inout State) -> Idle {
    guard !state.isEnding else { return .none }
    if let process = state.idle.popLast()?.process {
      state.busy.insert(process.processID)
      return .process(process)
    }
    // A process that was started already is there sooner than another one.
    guard state.isStarting else { return .none }
    let semaphore = DispatchSemaphore(value: 0)
    state.waiting.append(semaphore)
    return .wait(semaphore)
  }

  /// - Returns: false if the semaphore was signalled meanwhile. Then a process may be idle for the caller.
  private static func stopWaiting(_ semaphore: DispatchSemaphore, _ state: inout State) -> Bool {
    guard let index = state.waiting.firstIndex(where: { $0 === semaphore }) else { return false }
    state.waiting.remove(at: index)
    return true
  }

  /// - Returns: whether the caller must call ``startMissing()``.
  private static func takeStart(_ state: inout State) -> Bool {
    guard state.isMissingProcesses, !state.isStarting else { return false }
    state.isStarting = true
    return true
  }

  /// Starts the missing processes one after another, because two would start slower together.
  private func startMissing() {
    starting.async { [self] in
      while takeMissing() {
        guard !startReady() else { continue }
        state.withLock { state in
          let failureCount = (state.startPause?.failureCount ?? 0) + 1
          let pause = limits.pauseAfterFailedStart * (1 << min(6, failureCount - 1))
          state.startPause = (SuspendingClock().now + pause, failureCount)
        }
      }
    }
  }

  /// Whether the thread that starts processes has to start one now. Otherwise it ends in the same lock section, so that
  /// a process that is discarded right after that is replaced by another thread. It also ends after a failure, and goes
  /// on after a pause.
  private func takeMissing() -> Bool {
    let (isMissing, waiting, pause) = state.withLock { state -> (Bool, [DispatchSemaphore], Duration?) in
      let pause = state.startPause.map { SuspendingClock().now.duration(to: $0.end) }.flatMap { $0 > .zero ? $0 : nil }
      guard !state.isMissingProcesses || pause != nil else { return (true, [], nil) }
      state.isStarting = false
      let schedules = state.isMissingProcesses && !state.isStartScheduled
      if schedules { state.isStartScheduled = true }
      defer { state.waiting = [] }
      return (false, state.waiting, schedules ? pause : nil)
    }
    for semaphore in waiting { semaphore.signal() }
    if let pause {
      starting.asyncAfter(deadline: .now() + Self.interval(pause)) { [weak self] in self?.endPause() }
    }
    return isMissing
  }

  private func endPause() {
    let starts = state.withLock { state in
      state.isStartScheduled = false
      return Self.takeStart(&state)
    }
    if starts { startMissing() }
  }

  /// - Returns: false if the process did not start its work.
  private func startReady() -> Bool {
    guard case .process(let process) = start() else { return false }
    guard process.waitForGreeting(within: limits.startDeadline) else {
      let end = discard(process, isKilled: true) ?? "it hangs in the kernel"
      noteFailedStart("it sends no greeting", end)
      return false
    }
    putBack(process)
    return true
  }

  private func start() -> Taken {
    let (isEnding, failedStart) = state.withLock { ($0.isEnding, $0.failedStart) }
    guard !isEnding else { return .unavailable(.unavailable, "photod is stopping") }
    if let failedStart, failedStart.end > SuspendingClock().now {
      return .unavailable(.unsupported, failedStart.reason)
    }
    let path: String
    do {
      path = try program.executable()
    } catch {
      return .unavailable(
        .unsupported,
        "\(program.product) need the program \(program.name), which the package \(program.package) installs (\(error))")
    }
    do {
      let process = try PictureProcess(program.name, executable: path, niceness: niceness, logger: logger)
      let isLate = state.withLock { state in
        if !state.isEnding { state.busy.insert(process.processID) }
        return state.isEnding
      }
      guard !isLate else {
        discard(process, isKilled: true)
        return .unavailable(.unavailable, "photod is stopping")
      }
      logger.debug("a decoder started", metadata: ["program": "\(program.name)", "pid": "\(process.processID)"])
      return .process(process)
    } catch {
      return .unavailable(.unsupported, "\(error)")
    }
  }

  private func putBack(_ process: PictureProcess) {
    let (isEnding, schedules, waiting) = state.withLock { state -> (Bool, Bool, DispatchSemaphore?) in
      guard !state.isEnding else { return (true, false, nil) }
      state.busy.remove(process.processID)
      state.idle.append((process, SuspendingClock().now))
      state.startPause = nil
      let schedules = state.idle.count > state.readyCount && !state.isCleanupScheduled
      if schedules { state.isCleanupScheduled = true }
      return (false, schedules, state.waiting.popLast())
    }
    waiting?.signal()
    if isEnding { discard(process, isKilled: false) }
    if schedules { scheduleCleanup() }
  }

  /// - Returns: how it ended. Nil if it hangs in the kernel.
  @discardableResult
  private func discard(_ process: PictureProcess, isKilled: Bool) -> String? {
    let starts = state.withLock { state in
      state.busy.remove(process.processID)
      return Self.takeStart(&state)
    }
    if starts { startMissing() }
    let end = process.end(isKilled: isKilled)
    if end == nil, slots.take(program.name, maximum: .max) { slots.abandon(process.processID, program.name) }
    return end
  }

  private func scheduleCleanup() {
    cleanup.asyncAfter(deadline: .now() + Self.interval(limits.longestIdleness)) { [weak self] in self?.endIdle() }
  }

  private static func interval(_ duration: Duration) -> DispatchTimeInterval {
    let (seconds, attoseconds) = duration.components
    return .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
  }

  /// Ends the processes that were idle for long, except `readyCount` of them. The next check is when another may have
  /// been idle for as long.
  private func endIdle() {
    let (ended, hasMore) = state.withLock { state -> ([PictureProcess], Bool) in
      let limit = SuspendingClock().now - limits.longestIdleness
      // The list begins with the processes that were idle for longest.
      let old = state.idle.prefix(max(0, state.idle.count - state.readyCount)).prefix { $0.since <= limit }
      state.idle.removeFirst(old.count)
      state.isCleanupScheduled = state.idle.count > state.readyCount
      return (old.map(\.process), state.isCleanupScheduled)
    }
    for process in ended { discard(process, isKilled: false) }
    if hasMore { scheduleCleanup() }
  }
}
