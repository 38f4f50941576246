import Dispatch
import Synchronization

/// The room for copies of files on shares: a number of copies, and of bytes.
///
/// A copy takes all of its room before it begins, and takes no more later. So copies can't wait for each other in a circle.
final class CopySpace: Sendable {
  private struct State {
    var count = 0
    var bytes: Int64 = 0
    var waiting: [DispatchSemaphore] = []
  }

  /// How long a copy waits until it is asked again whether it is wanted.
  private static let interval = DispatchTimeInterval.milliseconds(200)

  private let maximumCount: Int
  private let maximumBytes: Int64
  private let state = Mutex(State())

  /// - Parameter maximumBytes: the most bytes of all copies. No copy may have more.
  init(maximumCount: Int = 16, maximumBytes: Int64 = 1 << 30) {
    self.maximumCount = maximumCount
    self.maximumBytes = maximumBytes
  }

  /// The copies that have room, and the bytes of them.
  var used: (count: Int, bytes: Int64) { state.withLock { ($0.count, $0.bytes) } }

  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Waits until there is room for a copy, and takes it.
  /// - Returns: false if the copy is not wanted any more.
  func take(_ bytes: Int64, isWanted: () -> Bool) -> Bool {
    precondition(bytes <= maximumBytes)
    while isWanted() {
      let semaphore = state.withLock { state -> DispatchSemaphore? in
        guard state.count < maximumCount, state.bytes + bytes <= maximumBytes else {
          let semaphore = DispatchSemaphore(value: 0)
          state.waiting.append(semaphore)
          return semaphore
        }
        state.count += 1
        state.bytes += bytes
        return nil
      }
      guard let semaphore else { return true }
      _ = semaphore.wait(timeout: .now() + Self.interval)
      state.withLock { $0.waiting.removeAll { $0 === semaphore } }
    }
    return false
  }

  func release(_ bytes: Int64) {
    let waiting = state.withLock { state in
      state.count -= 1
      state.bytes -= bytes
      return state.waiting
    }
    for semaphore in waiting { semaphore.signal() }
  }
}
