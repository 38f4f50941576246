import Synchronization

/// A value that is set once and that one task waits for. If the task is cancelled, the wait ends early.
///
/// Tasks use it to wait for an event loop. Only the first completion counts. `complete` returns whether its value was
/// accepted, so that a value which a cancelled waiter did not take is not lost.
final class OneShot<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case waiting(CheckedContinuation<Value, any Error>)
    case full(Result<Value, any Error>)
    case over
  }
  private let state = Mutex(State.empty)

  /// False after completion, or after its waiter was cancelled.
  var isWanted: Bool {
    state.withLock { state in
      switch state {
      case .empty, .waiting: true
      case .full, .over: false
      }
    }
  }

  /// Returns false if it was already complete, or if its waiter was cancelled.
  @discardableResult
  func complete(_ result: Result<Value, any Error>) -> Bool {
    let (won, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
      switch state {
      case .empty:
        state = .full(result)
        return (true, nil)
      case .waiting(let continuation):
        state = .over
        return (true, continuation)
      case .full, .over:
        return (false, nil)
      }
    }
    waiter?.resume(with: result)
    return won
  }

  /// Waits for the value. At most one task may wait, and only once.
  ///
  /// - Throws: the error with which it was completed, or `CancellationError`.
  func value() async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state -> Result<Value, any Error>? in
          switch state {
          case .full(let result):
            state = .over
            return result
          case .empty:
            state = .waiting(continuation)
            return nil
          case .waiting, .over:
            return .failure(CancellationError())
          }
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      complete(.failure(CancellationError()))
    }
  }
}
