import Synchronization

/// Those who wait until photod-watch has said all that happened before they asked.
final class SyncBarrier: Sendable {
  private struct State {
    var nextNumber: UInt64 = 1
    var waiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
  }

  private let state = Mutex(State())

  /// The requests that are not answered yet.
  var numbers: [UInt64] { state.withLock { Array($0.waiters.keys) } }

  /// Makes a request with `ask` and returns when it is answered.
  func wait(ask: @Sendable (UInt64) -> Void) async throws {
    let number = state.withLock { state in
      defer { state.nextNumber += 1 }
      return state.nextNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          state.waiters[number] = continuation
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) } else { ask(number) }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(throwing: CancellationError())
    }
  }

  func answer(_ number: UInt64) { state.withLock { $0.waiters.removeValue(forKey: number) }?.resume() }

  func fail(with error: any Error) {
    let waiters = state.withLock { state in
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume(throwing: error) }
  }
}
