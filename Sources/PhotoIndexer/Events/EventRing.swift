import PhotoModel
import Synchronization

/// The last events of the library, for clients that ask for them or follow them.
///
/// Appending takes one lock and allocates nothing. An overwritten event is gone, also for a reader that was busy.
package final class EventRing: Sendable {
  /// The number of the newest event that was announced to followers.
  package let feed = ChangeFeed(sequence: 0)
  /// Whether the library ends so that another can take its place at the same socket. It is set before ``feed`` ends.
  package let isReopened = Atomic(false)

  private struct State {
    /// Number n is at index (n − 1) mod capacity.
    var entries: [LibraryEvent] = []
    var last: Int64 = 0
  }

  private let clock: any LibraryClock
  private let capacity: Int
  private let state: Mutex<State>

  package convenience init(capacity: Int = 1_000) { self.init(capacity: capacity, clock: SystemClock()) }

  init(capacity: Int = 1_000, clock: any LibraryClock) {
    precondition(capacity > 0)
    self.clock = clock
    self.capacity = capacity
    var state = State()
    state.entries.reserveCapacity(capacity)
    self.state = Mutex(state)
  }

  func append(_ fact: LibraryEvent.Fact) {
    let time = clock.wallTime
    // The overwritten event is freed after the lock is released.
    let pushedOut = state.withLock { state -> LibraryEvent? in
      let index = Int(state.last % Int64(capacity))
      state.last += 1
      let event = LibraryEvent(number: state.last, time: time, fact: fact)
      guard index < state.entries.count else {
        state.entries.append(event)
        return nil
      }
      let old = state.entries[index]
      state.entries[index] = event
      return old
    }
    _ = consume pushedOut
  }

  /// Wakes the followers after each batch, and not after each event.
  func announce() { feed.publish(state.withLock { $0.last }) }

  /// The events after `number` that are kept, oldest first, and the number of those that are not kept.
  ///
  /// - Complexity: O(`limit`), under the lock that appending takes: some microseconds a thousand.
  package func events(after number: Int64, limit: Int) -> (events: [LibraryEvent], missed: Int) {
    state.withLock { state in
      let oldest = state.last - Int64(state.entries.count) + 1
      let first = max(number + 1, oldest)
      guard first <= state.last else { return ([], 0) }
      let count = min(Int64(limit), state.last - first + 1)
      let events = (first..<first + count).map { state.entries[Int(($0 - 1) % Int64(capacity))] }
      return (events, Int(first - number - 1))
    }
  }
}
