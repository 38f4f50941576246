import Synchronization

/// A value that arrives once, for any number of tasks that wait for it.
final class PendingValue<Value: Sendable>: Sendable {
  private struct State {
    var result: Result<Value, any Error>?
    var waiters: [UInt64: CheckedContinuation<Value, any Error>] = [:]
    var lastWaiter: UInt64 = 0
  }

  private let state = Mutex(State())

  /// Sets the value, and resumes the tasks that wait. A second call has no effect.
  func resolve(_ result: Result<Value, any Error>) {
    let waiters = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
      guard state.result == nil else { return [] }
      state.result = result
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(with: result) }
  }

  /// Waits for the value. If the task is cancelled, it throws `CancellationError` at once, and other tasks wait on.
  func value() async throws -> Value {
    let key = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state -> Result<Value, any Error>? in
          // The handler below ran before this if the task was cancelled by then. It found no continuation.
          if Task.isCancelled { return .failure(CancellationError()) }
          if let result = state.result { return result }
          state.waiters[key] = continuation
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: key) }?.resume(throwing: CancellationError())
    }
  }
}
