import PhotoModel
import Synchronization
import SystemThreads
import Varlink

/// The threads that read the catalog for clients, and work on lists in memory.
///
/// Such work blocks and takes long. On the few threads that answer calls, it would delay every other call. Here each
/// job has a ``WorkBudget``, and processes take turns (``ProcessTurns``). A job ends at once when its connection is
/// closed. A job that has taken ``WorkBudget/longTime`` goes on with a lower priority, so that short jobs and the
/// library's queue are hardly slower beside it (``WorkThread``).
package final class ReadThreads: Sendable {
  /// The catalog has eight readers. The others are for the library's own work, which must never wait for clients.
  package static let standardCount = 4
  package static let standardBudget = Duration.seconds(2)

  private final class Job: Sendable {
    let budget = Mutex<WorkBudget?>(nil)
    let isCancelled = Atomic(false)
    /// Runs the work on this thread, unless it was cancelled before. Without a thread, it must have been. `start` is the
    /// thread's processor time. The result answers the caller.
    let run: Run
    /// Answers the caller before the work has ended; nil if the caller must wait for the end.
    private let leave: (@Sendable () -> Void)?

    typealias Run = @Sendable (Job, WorkThread?, _ start: Int64) -> WorkThread.Work

    init(leave: (@Sendable () -> Void)?, _ run: @escaping Run) {
      self.leave = leave
      self.run = run
    }

    func cancel() {
      isCancelled.store(true, ordering: .sequentiallyConsistent)
      budget.withLock { $0 }?.cancel()
      leave?()
    }

    /// The budget counts from `start`, on the thread that does the work.
    func begin(_ time: Duration, on thread: WorkThread?, _ start: Int64) -> WorkBudget {
      let budget = WorkBudget(time, from: start, onLong: { thread?.lowerPriority() })
      self.budget.withLock { $0 = budget }
      if isCancelled.load(ordering: .sequentiallyConsistent) { budget.cancel() }
      return budget
    }
  }

  /// The caller of a job. It is resumed only once: by the job's end, or by a cancellation that does not wait for the
  /// end.
  private final class Caller<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, any Error>?>

    init(_ continuation: CheckedContinuation<Value, any Error>) { self.continuation = Mutex(continuation) }

    func resume(with result: Result<Value, any Error>) {
      let continuation = continuation.withLock { continuation in
        defer { continuation = nil }
        return continuation
      }
      continuation?.resume(with: result)
    }
  }

  private struct State {
    var turns: ProcessTurns<Job>
    /// Threads without work.
    var idle: [WorkThread]
    var begunCount = 0
  }

  private let time: Duration
  private let waitsForCancelled: Bool
  private let state: Mutex<State>

  /// - Parameters:
  ///   - budget: the processor time for each job. A page of a reply is one job.
  ///   - waitsForCancelled: false for work that uses only its own values and does not check its budget. Such work
  ///     continues after its cancellation, and its caller does not wait for it. Otherwise photod could not stop in
  ///     time.
  package init(
    count: Int = ReadThreads.standardCount, budget: Duration = ReadThreads.standardBudget,
    waitsForCancelled: Bool = true
  ) {
    time = budget
    self.waitsForCancelled = waitsForCancelled
    state = Mutex(
      State(
        turns: ProcessTurns(threadCount: count), idle: (0..<count).map { _ in WorkThread(name: "photod-read") }))
  }

  /// The number of jobs that wait for a thread.
  var waitingCount: Int { state.withLock { $0.turns.waitingCount } }

  /// The number of jobs that have begun since the start.
  var begunCount: Int { state.withLock { $0.begunCount } }

  /// Runs `work` on one of the threads when its process has its turn.
  ///
  /// - Parameters:
  ///   - budget: replaces the common budget.
  ///   - isLong: whether the work has a low priority from its beginning. This is for long work that does not check its
  ///     budget.
  /// - Throws: `WorkBudget.Spent.timedOut`; `CancellationError` if the task was cancelled, as when its connection
  ///   closes; or an error from `work`.
  package func run<Value: Sendable>(
    for peer: VarlinkPeer, budget: Duration? = nil, isLong: Bool = false,
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let time = budget ?? self.time
    let place = Mutex<(job: Job, number: Int)?>(nil)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
        let job = job(for: Caller(continuation), time, isLong: isLong, work)
        let number = state.withLock { $0.turns.append(job, of: peer.pid) }
        place.withLock { $0 = (job, number) }
        if Task.isCancelled { cancel(job, number, peer) } else { startThreads() }
      }
    } onCancel: {
      if let (job, number) = place.withLock({ $0 }) { cancel(job, number, peer) }
    }
  }

  private func job<Value: Sendable>(
    for caller: Caller<Value>, _ time: Duration, isLong: Bool, _ work: @escaping @Sendable () throws -> Value
  ) -> Job {
    let leave: @Sendable () -> Void = { caller.resume(with: .failure(CancellationError())) }
    return Job(leave: waitsForCancelled ? nil : leave) { job, thread, start in
      guard !job.isCancelled.load(ordering: .sequentiallyConsistent) else {
        return { caller.resume(with: .failure(CancellationError())) }
      }
      if isLong { thread?.lowerPriority() }
      let result: Result<Value, any Error> = Result {
        try Self.perform(work, with: job.begin(time, on: thread, start))
      }
      return { caller.resume(with: result) }
    }
  }

  private static func perform<Value>(_ work: () throws -> Value, with budget: WorkBudget) throws -> Value {
    do {
      return try WorkBudget.$current.withValue(budget) {
        let value = try work()
        // Work that was stopped may have returned any value.
        try budget.check()
        return value
      }
    } catch WorkBudget.Spent.cancelled {
      throw CancellationError()
    }
  }

  private func cancel(_ job: Job, _ number: Int, _ peer: VarlinkPeer) {
    job.cancel()
    // A job that has begun is ended by its budget.
    if let waiting = state.withLock({ $0.turns.remove(number, of: peer.pid) }) { waiting.run(waiting, nil, 0)() }
  }

  private func startThreads() {
    while true {
      let started = state.withLock { state -> (WorkThread, ProcessTurns<Job>.Turn)? in
        guard let thread = state.idle.last, let turn = state.turns.next(at: .now) else { return nil }
        state.idle.removeLast()
        state.begunCount += 1
        return (thread, turn)
      }
      guard let (thread, turn) = started else { return }
      thread.add { self.work(on: thread, turn) }
    }
  }

  /// Runs jobs until no further one may run.
  ///
  /// The jobs of heavy processes have longer time slices, so that the threads of other clients and of the library run at
  /// once when they wake.
  private func work(on thread: WorkThread, _ first: ProcessTurns<Job>.Turn) {
    var next: ProcessTurns<Job>.Turn? = first
    var isHeavy = false
    // This clock is a system call, which takes as long as a short job. The end of a job is the start of the next.
    var start = WorkBudget.threadTime()
    while let turn = next {
      if turn.isHeavy != isHeavy {
        isHeavy = turn.isHeavy
        if isHeavy { TimeSlice.request(TimeSlice.medium) } else { TimeSlice.requestDefault() }
      }
      let answer = turn.job.run(turn.job, thread, start)
      let end = WorkBudget.threadTime()
      let used = end - start
      start = end
      if thread.isLowered {
        // The thread that replaces this one answers, and runs the next jobs.
        return thread.finish {
          answer()
          if let next = self.next(on: thread, after: turn, used) {
            self.work(on: thread, next)
          } else {
            self.startThreads()
          }
        }
      }
      answer()
      next = self.next(on: thread, after: turn, used)
    }
    // The next jobs of this thread may be of another process.
    if isHeavy { TimeSlice.requestDefault() }
    // If a process is light again, or a job of another one has ended, several jobs may begin.
    startThreads()
  }

  /// Ends a job that used this much processor time.
  ///
  /// - Returns: the next job of the thread. If there is none, the thread is idle.
  private func next(on thread: WorkThread, after turn: ProcessTurns<Job>.Turn, _ used: Int64) -> ProcessTurns<Job>.Turn?
  {
    state.withLock { state in
      let now = MonotonicTime.now
      state.turns.end(of: turn.process, processorTime: used, at: now)
      guard let next = state.turns.next(at: now) else {
        state.idle.append(thread)
        return nil
      }
      state.begunCount += 1
      return next
    }
  }
}
