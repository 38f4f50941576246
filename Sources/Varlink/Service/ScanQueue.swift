import Dispatch
import Synchronization

/// One thread for work of all connections. Processes take turns, so that the messages of one process delay another by one
/// message. The work of one process runs in the order of its arrival.
final class ScanQueue: Sendable {
  private struct State {
    var waiting: [Int32: [@Sendable () -> Void]] = [:]
    /// The processes that have work. The first one has the next turn.
    var turns: [Int32] = []
  }

  /// The thread. Tests suspend it.
  let queue = DispatchQueue(label: "varlink.scan")
  private let state = Mutex(State())

  func add(of process: Int32, _ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.waiting[process, default: []].append(work)
      if state.waiting[process]?.count == 1 { state.turns.append(process) }
    }
    queue.async { self.runNext() }
  }

  /// Runs once for each added work, and takes the work whose turn it is.
  private func runNext() {
    let work = state.withLock { state -> (@Sendable () -> Void)? in
      guard !state.turns.isEmpty else { return nil }
      let process = state.turns.removeFirst()
      let work = state.waiting[process]?.removeFirst()
      if state.waiting[process]?.isEmpty == false {
        state.turns.append(process)
      } else {
        state.waiting[process] = nil
      }
      return work
    }
    guard let work else { return }
    TimeSlice.request(TimeSlice.long)
    work()
    TimeSlice.requestDefault()
  }
}
