import Synchronization

/// A value that comes once and that one task waits for; the waiting ends early when the task is cancelled.
///
/// It is how tasks wait for what happens on an event loop. The first to complete it wins; `complete` tells whether it
/// was this one, so that what a cancelled waiter did not take is not lost.
final class OneShot<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case waiting(CheckedContinuation<Value, any Error>)
    case full(Result<Value, any Error>)
    case over
  }
  private let state = Mutex(State.empty)

  /// False once it is complete, or its waiter was cancelled.
  var isWanted: Bool {
    state.withLock { state in
      switch state {
      case .empty, .waiting: true
      case .full, .over: false
      }
    }
  }

  /// Returns false when it was complete before, or its waiter was cancelled.
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

  /// Waits; at most one task, once.
  ///
  /// - Throws: what it was completed with, or `CancellationError`.
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
