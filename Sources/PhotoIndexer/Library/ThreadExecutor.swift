import SystemThreads

/// A thread as an actor's executor: the actor may block on SQLite and the disk without taking a thread from the tasks that
/// serve clients.
///
/// Callers of a sync and of changes wait for it, and it mostly runs for less than a millisecond. So it has short time
/// slices, which libdispatch would not keep for the threads of its queues (``TimeSlice``).
///
/// A task that prefers it is resumed on the thread. Otherwise, a thread of the tasks' pool would be woken first, and would
/// only wake this one.
final class ThreadExecutor: SerialExecutor, TaskExecutor {
  private let thread: WorkThread

  /// - Parameter name: the name of the thread. The kernel keeps 15 bytes.
  init(name: String) { thread = WorkThread(name: name, slice: TimeSlice.short) }

  /// Runs something between two jobs of the actor. It needs no thread of the tasks' pool.
  func run(_ body: @escaping @Sendable () -> Void) { thread.add(body) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    thread.add {
      job.runSynchronously(isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
    }
  }
}
