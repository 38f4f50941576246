import Dispatch
import Glibc
import ImageRecords
import Logging
import Synchronization
import WorkerProcess

/// The processes of one program that decodes pictures. They are started when they are needed, and ended when they were idle for 30 s.
///
/// Each caller uses one process, so there are as many as threads that call ``make(_:from:)``.
///
/// If a file ends its process, it is tried once more in a new one, and blamed only if it ends that one too. If it takes
/// longer than `deadline`, the process is killed and the file is blamed. A file is not to blame if the process did not
/// start its work, if a signal from outside ended it, if it was stopped, or if it waits for a disk.
final class PictureProcesses: PictureMaker {
  struct Limits: Sendable {
    /// How long one picture may take.
    var deadline = Duration.seconds(20)
    var longestIdleness = Duration.seconds(30)
  }

  private struct State {
    /// The process that was used last is used next.
    var idle: [(process: PictureProcess, since: SuspendingClock.Instant)] = []
    var busy: Set<pid_t> = []
    /// Why the last process did not start its work, and until when no other is started.
    var failedStart: (reason: String, end: SuspendingClock.Instant)?
    var isEnding = false
    var isCleanupScheduled = false
  }

  private enum Taken {
    case process(PictureProcess)
    case unavailable(PictureFailureKind, String)
  }

  private static let pauseAfterFailedStart = Duration.seconds(2)
  /// The ends that a signal from outside causes: of a service manager, a terminal, or the kernel without memory.
  private static let endsFromOutside = [SIGHUP, SIGINT, SIGTERM, SIGKILL].map { "signal \($0) ended it" }

  private let program: PictureProgram
  private let limits: Limits
  private let logger: Logger
  private let slots = ProcessSlots()
  private let state = Mutex(State())
  private let cleanup = DispatchQueue(label: "photod.picture-cleanup")

  init(program: PictureProgram, limits: Limits = Limits(), logger: Logger) {
    self.program = program
    self.limits = limits
    self.logger = logger
  }

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

  func shutDown() {
    let idle = state.withLock { state in
      state.isEnding = true
      defer { state.idle = [] }
      // The lock holds, so that none of them is reaped and its number is that of another process.
      for processID in state.busy { kill(processID, SIGKILL) }
      return state.idle
    }
    for (process, _) in idle { discard(process, isKilled: false) }
  }

  // MARK: - Failures

  /// - Returns: nil if the file is to be tried once more.
  private func judge(_ reason: String, _ end: String, _ process: PictureProcess, isSecondTry: Bool) -> PictureMaking? {
    guard !isEnding else { return Self.stopping }
    logger.notice(
      "a decoder failed", metadata: ["program": "\(program.name)", "reason": "\(reason)", "end": "\(end)"])
    guard process.hasGreeted else {
      let problem = "\(program.name) does not start (\(reason): \(end)); its lines in the log of photod have the reason"
      state.withLock { $0.failedStart = (problem, SuspendingClock().now + Self.pauseAfterFailedStart) }
      return .unavailable(.unsupported, problem)
    }
    guard isSecondTry else { return nil }
    guard !Self.endsFromOutside.contains(end) else {
      return .unavailable(.unreadable, "\(program.name) ended (\(reason): \(end))")
    }
    return .blamed("decoding it ended \(program.name) twice (\(reason): \(end)); the file may be damaged")
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
    return .blamed("the decoder took longer than \(time) s")
  }

  private static let stopping = PictureMaking.unavailable(.unavailable, "photod is stopping")

  // MARK: - The pool

  private var isEnding: Bool { state.withLock { $0.isEnding } }

  private func take(isFresh: Bool) -> Taken {
    while !isFresh {
      let idle = state.withLock { state -> PictureProcess? in
        guard !state.isEnding, let process = state.idle.popLast()?.process else { return nil }
        state.busy.insert(process.processID)
        return process
      }
      guard let idle else { break }
      if idle.isReady { return .process(idle) }
      discard(idle, isKilled: true)
    }
    return start()
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
      let process = try PictureProcess(program.name, executable: path, logger: logger)
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
    let (isEnding, schedules) = state.withLock { state in
      guard !state.isEnding else { return (true, false) }
      state.busy.remove(process.processID)
      state.idle.append((process, SuspendingClock().now))
      defer { state.isCleanupScheduled = true }
      return (false, !state.isCleanupScheduled)
    }
    if isEnding { discard(process, isKilled: false) }
    if schedules { scheduleCleanup() }
  }

  /// - Returns: how it ended. Nil if it hangs in the kernel.
  @discardableResult
  private func discard(_ process: PictureProcess, isKilled: Bool) -> String? {
    state.withLock { _ = $0.busy.remove(process.processID) }
    let end = process.end(isKilled: isKilled)
    if end == nil, slots.take(program.name, maximum: .max) { slots.abandon(process.processID, program.name) }
    return end
  }

  private func scheduleCleanup() {
    let (seconds, attoseconds) = limits.longestIdleness.components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    cleanup.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in self?.endIdle() }
  }

  /// Ends the processes that were idle for long. The next check is when another may have been idle for as long.
  private func endIdle() {
    let (ended, hasMore) = state.withLock { state -> ([PictureProcess], Bool) in
      let limit = SuspendingClock().now - limits.longestIdleness
      let old = state.idle.filter { $0.since <= limit }.map(\.process)
      state.idle.removeAll { $0.since <= limit }
      state.isCleanupScheduled = !state.idle.isEmpty
      return (old, state.isCleanupScheduled)
    }
    for process in ended { discard(process, isKilled: false) }
    if hasMore { scheduleCleanup() }
  }
}
