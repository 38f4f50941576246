import Dispatch

/// A dispatch queue as an actor's executor: the actor may block on SQLite and the disk without taking a thread from the
/// tasks that serve clients.
final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label) }

  /// Runs something between two jobs of the actor. It needs no thread of the tasks' pool.
  func run(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
