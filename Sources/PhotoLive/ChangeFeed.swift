import Synchronization

/// Says that there is something newer: a number that only rises, and those who wait for it to rise.
///
/// Nothing is queued for anybody. Who was busy meanwhile sees the newest number, and takes one step to it.
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

  /// Nothing comes any more.
  package var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Called after COMMIT, never before.
  package func publish(_ sequence: Int64) {
    let woken = state.withLock { state in
      state.sequence = max(state.sequence, sequence)
      let ready = state.waiters.filter { $0.value.after < state.sequence }
      for key in ready.keys { state.waiters[key] = nil }
      return ready.values.map { ($0.continuation, state.sequence) }
    }
    for (continuation, sequence) in woken { continuation.resume(returning: sequence) }
  }

  /// Everybody who waits, now or later, is told that nothing comes any more.
  package func finish() {
    let woken = state.withLock { state in
      state.isFinished = true
      defer { state.waiters = [:] }
      return state.waiters.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume(returning: nil) }
  }

  /// The newest sequence, once it is above `sequence`; nil when the feed has ended or the task is cancelled.
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
