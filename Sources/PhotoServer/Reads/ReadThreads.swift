import Dispatch
import PhotoModel
import Synchronization
import Varlink

/// The threads that read the catalog for clients, and work on lists in memory.
///
/// Such work blocks and takes long. On the few threads that answer calls, it would delay every other call. Here each
/// job has a ``WorkBudget``, and processes take turns (``ProcessTurns``). A job ends at once when its connection is
/// closed.
package final class ReadThreads: Sendable {
  /// The catalog has eight readers. The others are for the library's own work, which must never wait for clients.
  package static let standardCount = 4
  package static let standardBudget = Duration.seconds(2)

  private final class Job: Sendable {
    let budget = Mutex<WorkBudget?>(nil)
    let isCancelled = Atomic(false)
    /// Runs the work, or reports that it was cancelled before. `start` is the thread's processor time.
    let run: @Sendable (Job, _ start: Int64) -> Void
    /// Answers the caller before the work has ended; nil if the caller must wait for the end.
    private let leave: (@Sendable () -> Void)?

    init(leave: (@Sendable () -> Void)?, _ run: @escaping @Sendable (Job, _ start: Int64) -> Void) {
      self.leave = leave
      self.run = run
    }

    func cancel() {
      isCancelled.store(true, ordering: .sequentiallyConsistent)
      budget.withLock { $0 }?.cancel()
      leave?()
    }

    /// The budget counts from `start`, on the thread that does the work.
    func begin(_ time: Duration, _ start: Int64) -> WorkBudget {
      let budget = WorkBudget(time, from: start)
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
    /// Threads without work. Each is a serial queue, which has a thread of its own while it works.
    var idle: [DispatchQueue]
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
        turns: ProcessTurns(threadCount: count), idle: (0..<count).map { DispatchQueue(label: "photod.read.\($0)") }))
  }

  /// The number of jobs that wait for a thread.
  var waitingCount: Int { state.withLock { $0.turns.waitingCount } }

  /// The number of jobs that have begun since the start.
  var begunCount: Int { state.withLock { $0.begunCount } }

  /// Runs `work` on one of the threads when its process has its turn.
  ///
  /// - Parameter budget: replaces the common budget.
  /// - Throws: `WorkBudget.Spent.timedOut`; `CancellationError` if the task was cancelled, as when its connection
  ///   closes; or an error from `work`.
  package func run<Value: Sendable>(
    for peer: VarlinkPeer, budget: Duration? = nil, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let time = budget ?? self.time
    let place = Mutex<(job: Job, number: Int)?>(nil)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
        let job = job(for: Caller(continuation), time, work)
        let number = state.withLock { $0.turns.append(job, of: peer.pid) }
        place.withLock { $0 = (job, number) }
        if Task.isCancelled { cancel(job, number, peer) } else { startThreads() }
      }
    } onCancel: {
      if let (job, number) = place.withLock({ $0 }) { cancel(job, number, peer) }
    }
  }

  private func job<Value: Sendable>(
    for caller: Caller<Value>, _ time: Duration, _ work: @escaping @Sendable () throws -> Value
  ) -> Job {
    let leave: @Sendable () -> Void = { caller.resume(with: .failure(CancellationError())) }
    return Job(leave: waitsForCancelled ? nil : leave) { job, start in
      guard !job.isCancelled.load(ordering: .sequentiallyConsistent) else {
        return caller.resume(with: .failure(CancellationError()))
      }
      let result: Result<Value, any Error> = Result { try Self.perform(work, with: job.begin(time, start)) }
      caller.resume(with: result)
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
    if let waiting = state.withLock({ $0.turns.remove(number, of: peer.pid) }) { waiting.run(waiting, 0) }
  }

  private func startThreads() {
    while true {
      let started = state.withLock { state -> (DispatchQueue, ProcessTurns<Job>.Turn)? in
        guard let thread = state.idle.last, let turn = state.turns.next(at: .now) else { return nil }
        state.idle.removeLast()
        state.begunCount += 1
        return (thread, turn)
      }
      guard let (thread, turn) = started else { return }
      thread.async { self.work(on: thread, turn) }
    }
  }

  /// Runs jobs until no further one may run.
  ///
  /// The jobs of heavy processes have long time slices. So the threads of other clients and of the library run at once
  /// when they wake.
  private func work(on thread: DispatchQueue, _ first: ProcessTurns<Job>.Turn) {
    var next: ProcessTurns<Job>.Turn? = first
    var isLong = false
    // This clock is a system call, which takes as long as a short job. The end of a job is the start of the next.
    var start = WorkBudget.threadTime()
    while let turn = next {
      if turn.isHeavy != isLong {
        isLong = turn.isHeavy
        if isLong { TimeSlice.request(TimeSlice.long) } else { TimeSlice.requestDefault() }
      }
      turn.job.run(turn.job, start)
      let end = WorkBudget.threadTime()
      let used = end - start
      start = end
      next = state.withLock { state in
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
    // The thread also does other work of libdispatch.
    if isLong { TimeSlice.requestDefault() }
    // If a process is light again, or a job of another one has ended, several jobs may begin.
    startThreads()
  }
}
