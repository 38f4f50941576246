import CThread
import Dispatch
import Synchronization
import SystemThreads
import Testing

@testable import Varlink

/// The thread that scans long messages.
struct ScanQueueTests {
  /// Adds work while the thread waits, and returns when all of it is done.
  private func run(_ queue: ScanQueue, _ add: () -> Void) async {
    let mayGoOn = DispatchSemaphore(value: 0)
    queue.thread.add { mayGoOn.wait() }
    add()
    mayGoOn.signal()
    await withCheckedContinuation { continuation in queue.thread.add { continuation.resume() } }
  }

  @Test func processesTakeTurns() async {
    let queue = ScanQueue()
    let order = Mutex<[String]>([])
    await run(queue) {
      for (process, name) in [(1, "a1"), (1, "a2"), (1, "a3"), (2, "b1"), (2, "b2"), (3, "c1")] {
        queue.add(of: Int32(process), isLong: name == "a2") {
          order.withLock { $0.append(name) }
          return nil
        }
      }
    }
    #expect(order.withLock { $0 } == ["a1", "b1", "c1", "a2", "b2", "a3"])
  }

  @Test func onlyLongScansHaveALowPriority() async {
    let queue = ScanQueue()
    let priorities = Mutex<[Int32]>([])
    let ends = Mutex<[Int32]>([])
    await run(queue) {
      for isLong in [false, true, false, true, true, false] {
        queue.add(of: 1, isLong: isLong) {
          priorities.withLock { $0.append(cthread_nice()) }
          // A thread that is started here gets the priority of this one.
          return { ends.withLock { $0.append(cthread_nice()) } }
        }
      }
    }
    let (standard, low) = (cthread_nice(), cthread_nice() + WorkThread.niceness)
    #expect(priorities.withLock { $0 } == [standard, low, standard, low, low, standard])
    #expect(ends.withLock { $0 } == Array(repeating: standard, count: 6))
  }
}
