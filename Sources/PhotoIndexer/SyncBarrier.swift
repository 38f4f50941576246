import Synchronization

/// Those who wait until photod-watch has said all that happened before they asked.
final class SyncBarrier: Sendable {
  private struct Waiter {
    /// Of its latest request.
    var number: UInt64
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var lastNumber: UInt64 = 0
    /// By the number of its first request.
    var waiters: [UInt64: Waiter] = [:]

    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state = Mutex(State())

  /// Of the newest request.
  var lastNumber: UInt64 { state.withLock { $0.lastNumber } }

  /// Makes a request with `ask` and returns when it is answered.
  func wait(ask: @Sendable (UInt64) -> Void) async throws {
    let number = state.withLock { $0.nextNumber() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          state.waiters[number] = Waiter(number: number, continuation: continuation)
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) } else { ask(number) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Gives every request that is not answered a new number, so that an answer to the old one is none.
  ///
  /// - Returns: the new numbers, to be asked anew.
  func renumber() -> [UInt64] {
    state.withLock { state in
      for key in state.waiters.keys { state.waiters[key]!.number = state.nextNumber() }
      return state.waiters.values.map(\.number).sorted()
    }
  }

  /// Gives one request a new number, to be asked anew; nil when nobody waits for it.
  func renumber(_ number: UInt64) -> UInt64? {
    state.withLock { state in
      guard let key = state.waiters.first(where: { $0.value.number == number })?.key else { return nil }
      state.waiters[key]!.number = state.nextNumber()
      return state.waiters[key]!.number
    }
  }

  func answer(_ number: UInt64) {
    let waiter = state.withLock { state in
      state.waiters.first { $0.value.number == number }.flatMap { state.waiters.removeValue(forKey: $0.key) }
    }
    waiter?.continuation.resume()
  }

  func fail(with error: any Error) {
    let waiters = state.withLock { state in
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.continuation.resume(throwing: error) }
  }
}
