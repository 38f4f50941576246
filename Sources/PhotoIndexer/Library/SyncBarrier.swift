import Synchronization

/// The callers that wait until each lane has reported everything that happened before their request.
final class SyncBarrier: Sendable {
  private struct Waiter {
    /// The number of its first request.
    let first: UInt64
    /// The lanes that answer its latest request.
    var asked: Set<Int> = []
    /// The lanes whose answer was applied.
    var answered: Set<Int> = []
    let continuation: CheckedContinuation<Void, any Error>
    /// Ends the wait after the timeout.
    let timer: Task<Void, any Error>

    func resume(with result: Result<Void, any Error>) {
      timer.cancel()
      continuation.resume(with: result)
    }

    var isAnswered: Bool { answered.isSuperset(of: asked) }
  }

  private struct State {
    var lastNumber: UInt64 = 0
    /// Requests up to this number were made before photod-watch was ordered to look again at doubtful files. Their answers
    /// come too early.
    var doubtfulThrough: UInt64 = 0
    /// The callers by the number of their latest request.
    private(set) var waiters: [UInt64: Waiter] = [:]
    /// The latest numbers of the requests that were made anew, by their first numbers.
    private var latest: [UInt64: UInt64] = [:]

    mutating func add(_ waiter: Waiter) { waiters[waiter.first] = waiter }

    mutating func update(_ number: UInt64, _ change: (inout Waiter) -> Void) {
      guard let index = waiters.index(forKey: number) else { return }
      change(&waiters.values[index])
    }

    mutating func remove(_ number: UInt64) -> Waiter? {
      guard let waiter = waiters.removeValue(forKey: number) else { return nil }
      latest[waiter.first] = nil
      return waiter
    }

    mutating func remove(first: UInt64) -> Waiter? { remove(latest[first] ?? first) }

    /// - Returns: the new number, or nil if no caller waits for the request.
    mutating func renumber(_ number: UInt64) -> UInt64? {
      guard var waiter = waiters.removeValue(forKey: number) else { return nil }
      (waiter.asked, waiter.answered) = ([], [])
      let next = nextNumber()
      waiters[next] = waiter
      latest[waiter.first] = next
      return next
    }

    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state = Mutex(State())

  /// Makes a request with `ask`, which returns the lanes that answer, and returns when all of them have.
  ///
  /// The caller is resumed by the last answer itself. A group of tasks for the wait and for the timeout would need threads
  /// of the tasks' pool in between, for which it may have to wait.
  ///
  /// - Parameter timeout: returns after the timeout, with the error that is thrown then. It throws only if it is cancelled:
  ///   if it threw before, the wait would have no timeout.
  func wait(
    timeout: @escaping @Sendable () async throws -> any Error, ask: @Sendable (UInt64) -> Set<Int>
  ) async throws {
    let number = makeNumber()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          let timer = Task { self.end(number, with: try await timeout()) }
          // Within the lock: no answer is taken before it is known which lanes are to answer.
          state.add(Waiter(first: number, asked: ask(number), continuation: continuation, timer: timer))
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      end(number, with: CancellationError())
    }
  }

  /// Ends the wait of one caller.
  ///
  /// - Parameter number: that of its first request.
  private func end(_ number: UInt64, with error: any Error) {
    state.withLock { $0.remove(first: number) }?.resume(with: .failure(error))
  }

  /// The greatest number of a request.
  var lastNumber: UInt64 { state.withLock { $0.lastNumber } }

  /// Returns those of the requests for which callers wait.
  func awaited(among numbers: [UInt64]) -> Set<UInt64> {
    if numbers.isEmpty { return [] }
    return state.withLock { state in Set(numbers.filter { state.waiters[$0] != nil }) }
  }

  /// Makes the number of a request for whose answer no caller waits.
  func makeNumber() -> UInt64 { state.withLock { $0.nextNumber() } }

  /// Gives every request that is not answered a new number, so that an answer to the old one does not count.
  ///
  /// - Returns: the new numbers, to be asked anew.
  func renumber() -> [UInt64] {
    state.withLock { state in state.waiters.keys.sorted().compactMap { state.renumber($0) } }
  }

  /// Gives one request a new number, to be asked anew; nil if no caller waits for it.
  func renumber(_ number: UInt64) -> UInt64? { state.withLock { $0.renumber(number) } }

  /// Notes that the request was made anew, of these lanes. No answer to it may be given before.
  func note(_ lanes: Set<Int>, asked number: UInt64) {
    state.withLock { $0.update(number) { $0.asked = lanes } }
  }

  /// Notes that photod-watch was ordered to look again. The answers to all requests so far come too early.
  func doubt() { state.withLock { $0.doubtfulThrough = $0.lastNumber } }

  /// One lane has answered.
  ///
  /// - Returns: the number of a new request, if this is the last answer and came too early.
  func answer(_ number: UInt64, by lane: Int) -> UInt64? {
    let (waiter, next) = state.withLock { state -> (Waiter?, UInt64?) in
      state.update(number) { $0.answered.insert(lane) }
      guard state.waiters[number]?.isAnswered == true else { return (nil, nil) }
      return number <= state.doubtfulThrough ? (nil, state.renumber(number)) : (state.remove(number), nil)
    }
    waiter?.resume(with: .success(()))
    return next
  }

  func fail(with error: any Error) {
    let waiters = state.withLock { state in state.waiters.keys.sorted().compactMap { state.remove($0) } }
    for waiter in waiters { waiter.resume(with: .failure(error)) }
  }
}
