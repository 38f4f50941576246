import CThread
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import SystemThreads

/// The threads for work that may take long.
@Suite(.timeLimit(.minutes(1))) struct WorkThreadTests {
  private func value<Value: Sendable>(
    on thread: WorkThread, _ work: @escaping @Sendable () -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in thread.add { continuation.resume(returning: work()) } }
  }

  @Test func workRunsInItsOrderOnOneThread() async {
    let thread = WorkThread(name: "test-work")
    let done = Mutex<[(number: Int, thread: pthread_t)]>([])
    for number in 0..<1_000 { thread.add { done.withLock { $0.append((number, pthread_self())) } } }
    let last = await value(on: thread) { pthread_self() }
    let all = done.withLock { $0 }
    #expect(all.map(\.number) == Array(0..<1_000))
    #expect(Set(all.map(\.thread)) == [last])
  }

  /// Each addition may find the thread at the moment at which it begins to wait. Two threads add to each other, so that
  /// no addition waits for the tests of other suites.
  @Test func noAdditionIsMissed() async {
    let (thread, other) = (WorkThread(name: "test-work"), WorkThread(name: "test-other"))
    let turns = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
      @Sendable func turn(_ number: Int) {
        guard number < 2_000 else { return continuation.resume(returning: number) }
        (number.isMultiple(of: 2) ? thread : other).add { turn(number + 1) }
      }
      turn(0)
    }
    #expect(turns == 2_000)
  }

  @Test func aLoweredThreadEndsAfterItsWork() async {
    let thread = WorkThread(name: "test-work")
    let standard = cthread_nice()
    let order = Mutex<[String]>([])
    for number in 0..<100 {
      let isLong = number.isMultiple(of: 3)
      thread.add {
        if isLong {
          thread.lowerPriority()
          thread.lowerPriority()
        }
        #expect(thread.isLowered == isLong)
        #expect(cthread_nice() == standard + (isLong ? WorkThread.niceness : 0))
        order.withLock { $0.append("\(number)") }
        thread.finish {
          #expect(cthread_nice() == standard && !thread.isLowered)
          order.withLock { $0.append("end of \(number)") }
        }
      }
    }
    #expect(await value(on: thread) { cthread_nice() } == standard)
    #expect(order.withLock { $0 } == (0..<100).flatMap { ["\($0)", "end of \($0)"] })
  }

  /// A new thread gets the nice value of the thread that starts it.
  @Test func theEndOfLongWorkStartsThreadsOfTheStandardPriority() async {
    let thread = WorkThread(name: "test-work")
    let standard = cthread_nice()
    let started = await withCheckedContinuation { continuation in
      thread.add {
        thread.lowerPriority()
        thread.finish { WorkThread(name: "test-other").add { continuation.resume(returning: cthread_nice()) } }
      }
    }
    #expect(started == standard)
  }

  @Test func onlyItsOwnThreadIsLowered() async {
    let (thread, other) = (WorkThread(name: "test-work"), WorkThread(name: "test-other"))
    let standard = Mutex<Int32>(0)
    let (isLowered, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let beside = await withCheckedContinuation { continuation in
      // The other thread is at work all the time, so that the lowered one does not start it.
      other.add {
        standard.withLock { $0 = cthread_nice() }
        isLowered.wait()
        continuation.resume(returning: cthread_nice())
        isDone.signal()
      }
      thread.add {
        thread.lowerPriority()
        isLowered.signal()
        isDone.wait()
      }
    }
    #expect(beside == standard.withLock { $0 })
  }
}
