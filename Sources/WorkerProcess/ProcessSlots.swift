// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// Bounds the processes that work at one place, such as a share. A process holds its slot until it was reaped, even if
/// its worker has gone. So a place that hangs never has more processes, however often its worker is made anew.
package final class ProcessSlots: Sendable {
  private struct State {
    /// The taken slots of each place.
    var counts: [String: Int] = [:]
    /// How often each place had no free slot.
    var refusals: [String: Int] = [:]
    /// Processes that were killed but did not end, with their places. They hang in the kernel.
    var abandoned: [(processID: pid_t, place: String)] = []
  }

  /// The slots of this program.
  package static let shared = ProcessSlots()
  /// How often abandoned processes are checked for their end.
  private static let reapingInterval = DispatchTimeInterval.seconds(1)

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "photod.reaper")

  package init() {}

  /// Takes a slot for a process that is about to be started.
  ///
  /// - Returns: false if `maximum` slots of the place are taken.
  package func take(_ place: String, maximum: Int) -> Bool {
    state.withLock { state in
      let count = state.counts[place, default: 0]
      guard count < maximum else {
        state.refusals[place, default: 0] += 1
        return false
      }
      state.counts[place] = count + 1
      return true
    }
  }

  /// The taken slots of a place.
  package func count(of place: String) -> Int { state.withLock { $0.counts[place, default: 0] } }

  /// How often ``take(_:maximum:)`` found no free slot at a place.
  package func refusalCount(of place: String) -> Int { state.withLock { $0.refusals[place, default: 0] } }

  /// Returns the slot of a process that was reaped, or could not be started.
  package func release(_ place: String) { state.withLock { Self.release(place, &$0) } }

  /// Takes over a process that does not end. Its slot is free once it has ended.
  package func abandon(_ processID: pid_t, _ place: String) {
    let isFirst = state.withLock { state in
      state.abandoned.append((processID, place))
      return state.abandoned.count == 1
    }
    if isFirst { reapLater() }
  }

  private func reapLater() {
    queue.asyncAfter(deadline: .now() + Self.reapingInterval) {
      let hasMore = self.state.withLock { state in
        var left: [(processID: pid_t, place: String)] = []
        for process in state.abandoned {
          if waitpid(process.processID, nil, WNOHANG) == 0 {
            left.append(process)
          } else {
            Self.release(process.place, &state)
          }
        }
        state.abandoned = left
        return !left.isEmpty
      }
      if hasMore { self.reapLater() }
    }
  }

  private static func release(_ place: String, _ state: inout State) {
    let count = state.counts[place, default: 0] - 1
    state.counts[place] = count > 0 ? count : nil
  }
}
