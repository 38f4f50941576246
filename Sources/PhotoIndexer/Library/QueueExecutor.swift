import Dispatch

/// A dispatch queue as an actor's executor: the actor may block on SQLite and the disk without taking a thread from the
/// tasks that serve clients.
///
/// A task that prefers it is resumed on the queue. Otherwise, a thread of the tasks' pool would be woken first, and would
/// only wake the queue's thread.
final class QueueExecutor: SerialExecutor, TaskExecutor {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label) }

  /// Runs something between two jobs of the actor. It needs no thread of the tasks' pool.
  func run(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      job.runSynchronously(isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
    }
  }
}
