import Synchronization

/// Places for tests that have a photod or a photod-watch: a user has 128 inotify instances by default, tests all start at
/// once, and some need to see what happens within some milliseconds.
package final class InotifyPlaces: Sendable {
  package static let shared = InotifyPlaces(count: 16)

  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  private init(count: Int) { state = Mutex(State(free: count)) }

  /// Waits for a place; each call needs one of ``leave()``.
  package func enter() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  package func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.waiting.isEmpty {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
