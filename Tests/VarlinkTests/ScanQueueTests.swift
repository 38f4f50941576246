import CThread
import Synchronization
import Testing

@testable import Varlink

/// The thread that scans long messages.
struct ScanQueueTests {
  @Test func processesTakeTurns() async {
    let queue = ScanQueue()
    let order = Mutex<[String]>([])
    queue.queue.suspend()
    for (process, name) in [(1, "a1"), (1, "a2"), (1, "a3"), (2, "b1"), (2, "b2"), (3, "c1")] {
      queue.add(of: Int32(process)) { order.withLock { $0.append(name) } }
    }
    queue.queue.resume()
    await withCheckedContinuation { continuation in queue.queue.async { continuation.resume() } }
    #expect(order.withLock { $0 } == ["a1", "b1", "c1", "a2", "b2", "a3"])
  }

  @Test(.enabled(if: cthread_slice_of(0) > 0, "Linux before 6.12 has no time slices of threads"))
  func scansHaveLongTimeSlices() async {
    let queue = ScanQueue()
    let slices = Mutex<[UInt64]>([])
    let standard = queue.queue.sync { cthread_slice_of(0) }
    queue.queue.suspend()
    queue.add(of: 1) { slices.withLock { $0.append(cthread_slice_of(0)) } }
    queue.queue.async { slices.withLock { $0.append(cthread_slice_of(0)) } }
    queue.queue.resume()
    await withCheckedContinuation { continuation in queue.queue.async { continuation.resume() } }
    #expect(slices.withLock { $0 } == [TimeSlice.long, standard])
  }
}
