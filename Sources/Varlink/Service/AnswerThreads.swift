import CThread
import Dispatch
import NIOCore
import Synchronization
import SystemThreads

/// The threads on which services answer calls. All services of a process share them.
///
/// Between a call and its reply, several threads wake one after the other. These threads have short time slices, so
/// that they run at once when they wake (``TimeSlice``).
///
/// The pool of Swift's tasks is not used, because libdispatch starts and ends its threads, and uses them for other work
/// as well. A setting of one of them would not last.
final class AnswerThreads: TaskExecutor {
  static let shared = AnswerThreads(count: min(max(2, System.coreCount), 4))

  /// The name of each thread. The kernel keeps 15 bytes.
  static let name = "varlink-answer"

  private struct State {
    var jobs = CircularBuffer<UnownedJob>()
    /// The threads that wait for the semaphore and will not be woken by an earlier job.
    var sleepingCount = 0
  }

  private let state = Mutex(State())
  private let semaphore = DispatchSemaphore(value: 0)

  /// Starts the threads. They run until the process ends.
  private init(count: Int) {
    for _ in 0..<count {
      let errorNumber = cthread_start(
        { context in
          if let context { Unmanaged<AnswerThreads>.fromOpaque(context).takeRetainedValue().run() }
          return nil
        }, Unmanaged.passRetained(self).toOpaque())
      precondition(errorNumber == 0, "no thread can be started (errno \(errorNumber))")
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let wakesThread = state.withLock { state in
      state.jobs.append(job)
      guard state.sleepingCount > 0 else { return false }
      state.sleepingCount -= 1
      return true
    }
    if wakesThread { semaphore.signal() }
  }

  private func run() -> Never {
    cthread_set_name(Self.name)
    TimeSlice.request(TimeSlice.short)
    while true {
      let job = state.withLock { state in
        let job = state.jobs.popFirst()
        if job == nil { state.sleepingCount += 1 }
        return job
      }
      if let job { job.runSynchronously(on: asUnownedTaskExecutor()) } else { semaphore.wait() }
    }
  }
}
