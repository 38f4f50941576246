import Synchronization
import SystemThreads

/// One thread for work of all connections. Processes take turns, so that the messages of one process delay another by one
/// message. The work of one process runs in the order of its arrival. Long work has a low priority.
final class ScanQueue: Sendable {
  private struct Work {
    let isLong: Bool
    let run: @Sendable () -> WorkThread.Work?
  }

  private struct State {
    var waiting: [Int32: [Work]] = [:]
    /// The processes that have work. The first one has the next turn.
    var turns: [Int32] = []
  }

  let thread = WorkThread(name: "varlink-scan")
  private let state = Mutex(State())

  /// - Parameter work: returns what is to be done with its result.
  func add(of process: Int32, isLong: Bool, _ work: @escaping @Sendable () -> WorkThread.Work?) {
    state.withLock { state in
      state.waiting[process, default: []].append(Work(isLong: isLong, run: work))
      if state.waiting[process]?.count == 1 { state.turns.append(process) }
    }
    thread.add { self.runNext() }
  }

  /// Runs once for each added work, and takes the work whose turn it is.
  private func runNext() {
    let work = state.withLock { state -> Work? in
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
    if work.isLong { thread.lowerPriority() }
    if let end = work.run() { thread.finish(end) }
  }
}
