import Synchronization

/// Announces commits: a sequence that only rises, and the tasks that wait for it to rise.
///
/// The feed queues nothing for a waiting task. A task that was busy during several commits gets the newest sequence,
/// and takes one step to it.
package final class ChangeFeed: Sendable {
  private struct State {
    var sequence: Int64
    var isFinished = false
    var nextWaiter: UInt64 = 0
    var waiters: [UInt64: (after: Int64, continuation: CheckedContinuation<Int64?, Never>)] = [:]
  }

  private let state: Mutex<State>

  package init(sequence: Int64) { state = Mutex(State(sequence: sequence)) }

  package var sequence: Int64 { state.withLock { $0.sequence } }

  /// Whether the feed has ended, so that no further sequence follows.
  package var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Must be called after COMMIT, never before.
  package func publish(_ sequence: Int64) {
    let woken = state.withLock { state in
      state.sequence = max(state.sequence, sequence)
      let ready = state.waiters.filter { $0.value.after < state.sequence }
      for key in ready.keys { state.waiters[key] = nil }
      return ready.values.map { ($0.continuation, state.sequence) }
    }
    for (continuation, sequence) in woken { continuation.resume(returning: sequence) }
  }

  /// Ends the feed. Every task that waits, now or later, gets nil.
  package func finish() {
    let woken = state.withLock { state in
      state.isFinished = true
      defer { state.waiters = [:] }
      return state.waiters.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume(returning: nil) }
  }

  /// Waits until the newest sequence is above `sequence`, and returns it. Returns nil when the feed has ended or the
  /// task is cancelled.
  package func next(after sequence: Int64) async -> Int64? {
    let key = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let immediate: Int64?? = state.withLock { state in
          if state.isFinished || Task.isCancelled { return .some(nil) }
          if state.sequence > sequence { return .some(state.sequence) }
          state.waiters[key] = (sequence, continuation)
          return .none
        }
        if case .some(let value) = immediate { continuation.resume(returning: value) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: key) }
      waiter?.continuation.resume(returning: nil)
    }
  }
}
