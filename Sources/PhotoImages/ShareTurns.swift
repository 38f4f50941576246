import Synchronization

/// Limits how many threads work on files of shares at a time, so that one thread is left for other files: a share that
/// does not answer blocks its threads without a limit.
final class ShareTurns<Work: Sendable>: Sendable {
  private struct State {
    var running = 0
    var parked: [Work] = []
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter threads: how many threads serve the lane. A single thread serves shares too.
  init(threads: Int) { limit = max(1, threads - 1) }

  /// Begins to work on a file of a share, if there is a turn. ``end()`` gives the turn back.
  func begin() -> Bool { state.withLock { take(&$0) } }

  /// Begins to work on a file of a share, or parks the work until there is a turn.
  /// - Returns: false if the work was parked.
  func begin(orPark work: Work) -> Bool {
    state.withLock { state in
      if take(&state) { return true }
      state.parked.append(work)
      return false
    }
  }

  func end() { state.withLock { $0.running -= 1 } }

  /// Takes parked work if there is a turn for it. The turn is not taken.
  func takeParked() -> Work? {
    state.withLock { $0.running < limit && !$0.parked.isEmpty ? $0.parked.removeFirst() : nil }
  }

  private func take(_ state: inout State) -> Bool {
    guard state.running < limit else { return false }
    state.running += 1
    return true
  }
}
