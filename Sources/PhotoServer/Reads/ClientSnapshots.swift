import PhotoContract
import PhotoLive
import PhotoModel
import Synchronization

/// Descriptions of all connections, which the calls of Clients share.
///
/// Making a snapshot examines every socket, on the thread that serves all connections, and every process in /proc. If a
/// thousand connections each made their own, examining a million sockets would delay all clients. So a call waits for a
/// snapshot that is begun after the call, and the next one is begun only after an interval.
package final class ClientSnapshots: Sendable {
  /// Waits until the next snapshot may begin. The last one began at `begunAt`.
  package typealias Interval = @Sendable (_ begunAt: ContinuousClock.Instant) async throws -> Void

  struct Snapshot: Sendable {
    /// Later snapshots have larger numbers.
    let number: Int
    /// No client in the list is marked as the caller.
    let clients: [ConnectedClient]
  }

  private struct State {
    var begunCount = 0
    var begunAt: ContinuousClock.Instant?
    var latest: Snapshot?
    /// Whether a caller makes a snapshot, or waits until it may. The other callers wait for it.
    var isTaken = false
  }

  private let state = Mutex(State())
  /// The number of attempts that have ended, with a snapshot or an error.
  private let attempts = ChangeFeed(sequence: 0)
  private let interval: Interval

  init(interval: @escaping Interval) { self.interval = interval }

  /// - Parameters:
  ///   - number: the snapshot that the caller has. nil: the snapshot must be begun after this call.
  ///   - describe: describes the connections. Only one caller at a time runs it.
  func next(
    after number: Int? = nil, _ describe: () async throws -> [ConnectedClient]
  ) async throws -> Snapshot {
    let number = number ?? state.withLock { $0.begunCount }
    while true {
      let attempt = attempts.sequence
      let (latest, isTaken) = state.withLock { state -> (Snapshot?, Bool) in
        if let latest = state.latest, latest.number > number { return (latest, true) }
        defer { state.isTaken = true }
        return (nil, state.isTaken)
      }
      if let latest { return latest }
      guard isTaken else { return try await take(describe) }
      _ = await attempts.next(after: attempt)
      try Task.checkCancellation()
    }
  }

  private func take(_ describe: () async throws -> [ConnectedClient]) async throws -> Snapshot {
    defer {
      state.withLock { $0.isTaken = false }
      attempts.publish(attempts.sequence + 1)
    }
    if let begunAt = state.withLock({ $0.begunAt }) { try await interval(begunAt) }
    let number = state.withLock { state in
      state.begunCount += 1
      state.begunAt = .now
      return state.begunCount
    }
    let snapshot = Snapshot(number: number, clients: try await describe())
    state.withLock { $0.latest = snapshot }
    return snapshot
  }
}
