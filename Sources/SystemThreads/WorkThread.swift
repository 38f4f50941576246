import CThread
import Dispatch
import NIOCore
import Synchronization

/// A thread for work that may take long, or that blocks. It does one piece of work at a time, in the order of their
/// arrival.
///
/// Work that takes long lowers the priority of its thread (``lowerPriority()``), so that it does not take processor time
/// from short work. Linux does not let an unprivileged thread raise its priority again. So a lowered thread ends after
/// this work, and another one replaces it. A thread of libdispatch would keep the low priority, and libdispatch would use
/// it for other work.
///
/// A new thread gets the priority of the thread that starts it. So a lowered thread must start none. Its replacement is
/// started before, and does what comes after the work (``finish(_:)``).
///
/// A lowered thread may hold a lock for which another thread waits. It still gets a share of a busy processor, so it
/// releases the lock soon. With the policy SCHED_IDLE it would hardly get any.
package final class WorkThread: Sendable {
  package typealias Work = @Sendable () -> Void

  /// How much higher the nice value of a lowered thread is. It gets about a tenth of the processor time of a thread with
  /// the standard priority.
  package static let niceness: Int32 = 10
  /// A thread without work ends after this time.
  private static let idleTime = DispatchTimeInterval.seconds(10)
  private static let startRetry = DispatchTimeInterval.milliseconds(100)

  private struct State {
    var waiting = CircularBuffer<Work>()
    /// Whether there is a thread, or one is being started.
    var hasThread = false
    /// Whether the thread waits for the semaphore, and no earlier work will wake it.
    var isIdle = false
  }

  private let name: String
  private let slice: UInt64?
  private let state = Mutex(State())
  private let semaphore = DispatchSemaphore(value: 0)
  /// Only the present work changes it. While its thread is lowered, the next thread waits for this semaphore.
  private let replaced = Mutex<DispatchSemaphore?>(nil)

  /// - Parameters:
  ///   - name: the name of the thread. The kernel keeps 15 bytes.
  ///   - slice: the time slice of the thread, as in ``TimeSlice``; nil for the default.
  package init(name: String, slice: UInt64? = nil) { (self.name, self.slice) = (name, slice) }

  /// Whether the present work has lowered the priority of the thread. Only this work may ask.
  package var isLowered: Bool { replaced.withLock { $0 != nil } }

  /// Lowers the priority of this thread until the end of the present work, and gives it a long time slice, so that other
  /// threads preempt it when they wake. It must be called by that work.
  ///
  /// If the process has as many threads as it may have, or a seccomp filter refuses it, the priority stays.
  package func lowerPriority() {
    guard !isLowered else { return }
    let isOver = DispatchSemaphore(value: 0)
    guard start(after: isOver) else { return }
    replaced.withLock { $0 = isOver }
    _ = cthread_raise_nice(Self.niceness)
    TimeSlice.request(TimeSlice.long)
  }

  /// Runs the last part of the present work with the standard priority, now or on the thread that replaces this one. It
  /// is for code that may start threads. To resume a task may start one of libdispatch.
  package func finish(_ work: @escaping Work) {
    guard isLowered else { return work() }
    state.withLock { $0.waiting.prepend(work) }
  }

  package func add(_ work: @escaping Work) {
    let (starts, wakes) = state.withLock { state -> (Bool, Bool) in
      state.waiting.append(work)
      guard state.hasThread else {
        state.hasThread = true
        return (true, false)
      }
      defer { state.isIdle = false }
      return (false, state.isIdle)
    }
    if starts { startUntilDone() }
    if wakes { semaphore.signal() }
  }

  /// If the process has as many threads as it may have, this is tried again.
  private func startUntilDone() {
    guard !start(after: nil) else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.startRetry) { self.startUntilDone() }
  }

  /// What a new thread gets.
  private final class Start: Sendable {
    let thread: WorkThread
    /// Is signaled when the thread before this one has ended its work.
    let isOver: DispatchSemaphore?

    init(_ thread: WorkThread, after isOver: DispatchSemaphore?) { (self.thread, self.isOver) = (thread, isOver) }
  }

  /// - Returns: whether the thread was started.
  private func start(after isOver: DispatchSemaphore?) -> Bool {
    let start = Unmanaged.passRetained(Start(self, after: isOver))
    let errorNumber = cthread_start(
      { context in
        if let context {
          let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
          start.isOver?.wait()
          start.thread.run()
        }
        return nil
      }, start.toOpaque())
    if errorNumber != 0 { start.release() }
    return errorNumber == 0
  }

  private func run() {
    cthread_set_name(name)
    if let slice { TimeSlice.request(slice) }
    while let work = next() {
      work()
      let isOver = replaced.withLock { replaced in
        defer { replaced = nil }
        return replaced
      }
      guard let isOver else { continue }
      isOver.signal()
      return
    }
  }

  /// The next work; nil if none came for a while, and the thread ends.
  private func next() -> Work? {
    while true {
      let work = state.withLock { state in
        let work = state.waiting.popFirst()
        state.isIdle = work == nil
        return work
      }
      if let work { return work }
      guard semaphore.wait(timeout: .now() + Self.idleTime) == .timedOut else { continue }
      let ends = state.withLock { state in
        guard state.isIdle else { return false }
        (state.isIdle, state.hasThread) = (false, false)
        return true
      }
      if ends { return nil }
    }
  }
}
