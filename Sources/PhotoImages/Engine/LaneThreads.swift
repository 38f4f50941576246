import CThread
import Dispatch
import Glibc
import Synchronization

/// Threads that look for work, and sleep while there is none. They may block for long, so they are none of Swift's
/// cooperative pool.
final class LaneThreads: Sendable {
  private struct State {
    var isStarted = false
    var isEnding = false
    /// Grows with each ``wake()``, so that no thread sleeps over one that came while it looked for work.
    var generation: UInt64 = 0
    var sleeping = 0
  }

  /// The name of the threads, for ps(1) and top(1). Otherwise, they would have the name of the thread that starts them.
  private static let name = "photod-picture"

  private let state = Mutex(State())
  private let semaphore = DispatchSemaphore(value: 0)
  private let running = DispatchGroup()

  /// Starts the threads, but only once.
  ///
  /// - Parameters:
  ///   - isShort: whether the work is short, and a client waits for it. Then the threads run as soon as they wake, although
  ///     a decoder runs. Otherwise, they would wait until its time slice is over, up to 4 ms.
  ///   - work: does one piece of work. It returns false if there is none.
  func start(_ count: Int, isShort: Bool = false, work: @escaping @Sendable () -> Bool) {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && !state.isEnding
    }
    guard isFirst else { return }
    for _ in 0..<count {
      running.enter()
      let body = Body { [self] in
        cthread_set_name(Self.name)
        // If the kernel refuses the slice, the work is done later on a busy machine.
        if isShort { _ = cthread_request_slice(cthread_shortest_slice) }
        run(work)
        running.leave()
      }
      let context = Unmanaged.passRetained(body)
      var thread = pthread_t()
      let number = pthread_create(
        &thread, nil,
        { context in
          if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
          return nil
        }, context.toOpaque())
      if number == 0 {
        pthread_detach(thread)
      } else {
        // The other threads do the work of this one. Without any, requests wait until the session ends.
        context.release()
        running.leave()
      }
    }
  }

  func wake() {
    let count = state.withLock { state in
      state.generation += 1
      defer { state.sleeping = 0 }
      return state.sleeping
    }
    for _ in 0..<count { semaphore.signal() }
  }

  /// Orders the threads to end after their piece of work.
  func end() {
    state.withLock { $0.isEnding = true }
    wake()
  }

  /// Waits for the end of the threads, but not beyond the deadline.
  func waitForEnd(until deadline: DispatchTime) { _ = running.wait(timeout: deadline) }

  private func run(_ work: () -> Bool) {
    while true {
      let (generation, isEnding) = state.withLock { ($0.generation, $0.isEnding) }
      guard !isEnding else { return }
      if work() { continue }
      let sleeps = state.withLock { state in
        guard state.generation == generation, !state.isEnding else { return false }
        state.sleeping += 1
        return true
      }
      if sleeps { semaphore.wait() }
    }
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
