import Dispatch
import PhotoCatalog
import PhotoModel
import Synchronization

/// Runs the long work on one catalog, one job at a time, on its own thread.
///
/// 1. A rescue goes first, then photod's other work, then the work of clients.
/// 2. Clients have one job at a time, which waits or runs. Another one is refused. Otherwise a thousand connections
///    could each ask for a check, and backups and rescues would wait for hours.
/// 3. If the task of a client's job is cancelled, as when its connection closes, the job is not begun. A job that has
///    begun ends when it checks its ``WorkBudget``.
final class BackupQueue: Sendable {
  enum Priority: Int { case rescue, ownWork, client }

  private struct Job: Sendable {
    let priority: Priority
    let run: @Sendable () -> Void
  }

  private struct State {
    /// In the order of their arrival.
    var waiting: [Job] = []
    var hasClient = false
  }

  private let queue = DispatchQueue(label: "photod.backups")
  private let state = Mutex(State())

  /// The number of jobs that have not begun.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Runs work of photod itself. It runs to its end even if the task is cancelled.
  func run<Value: Sendable>(
    _ priority: Priority, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let job = Job(priority: priority) { continuation.resume(with: Result { try work() }) }
      state.withLock { $0.waiting.append(job) }
      queue.async { self.runNext() }
    }
  }

  /// Runs work for a client.
  ///
  /// - Throws: ``BackupError`` `busy`; `CancellationError` if the task was cancelled before the work was done; or an
  ///   error from `work`.
  func runForClient<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    let isBusy = state.withLock { state in
      defer { state.hasClient = true }
      return state.hasClient
    }
    guard !isBusy else {
      throw BackupError.busy(message: "Another backup, restore or check is under way. Try again when it has ended.")
    }
    defer { state.withLock { $0.hasClient = false } }
    // Its clock stands still, so it is spent only by a cancellation.
    let budget = WorkBudget(.seconds(1)) { 0 }
    do {
      return try await withTaskCancellationHandler {
        try await run(.client) {
          try budget.check()
          return try WorkBudget.$current.withValue(budget) { try work() }
        }
      } onCancel: {
        budget.cancel()
      }
    } catch WorkBudget.Spent.cancelled {
      throw CancellationError()
    }
  }

  /// Each job has one turn of the queue, and each turn takes the most urgent job.
  private func runNext() {
    let job = state.withLock { state -> Job? in
      let index = state.waiting.indices.min {
        state.waiting[$0].priority.rawValue < state.waiting[$1].priority.rawValue
      }
      return index.map { state.waiting.remove(at: $0) }
    }
    job?.run()
  }
}
