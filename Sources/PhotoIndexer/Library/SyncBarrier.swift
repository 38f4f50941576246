import Synchronization

/// The callers that wait until each lane has reported everything that happened before their request.
final class SyncBarrier: Sendable {
  private struct Waiter {
    /// The number of its latest request.
    var number: UInt64
    /// The lanes that answer that request.
    var asked: Set<Int> = []
    /// The lanes whose answer was applied.
    var answered: Set<Int> = []
    let continuation: CheckedContinuation<Void, any Error>

    var isAnswered: Bool { answered.isSuperset(of: asked) }
  }

  private struct State {
    var lastNumber: UInt64 = 0
    /// Requests up to this number were made before photod-watch was ordered to look again at doubtful files. Their answers
    /// come too early.
    var doubtfulThrough: UInt64 = 0
    /// The callers by the number of their first request.
    var waiters: [UInt64: Waiter] = [:]

    func key(_ number: UInt64) -> UInt64? { waiters.first { $0.value.number == number }?.key }

    mutating func renumber(_ key: UInt64) {
      waiters[key]!.number = nextNumber()
      (waiters[key]!.asked, waiters[key]!.answered) = ([], [])
    }

    mutating func takeIfAnswered(_ key: UInt64) -> Waiter? {
      waiters[key]!.isAnswered ? waiters.removeValue(forKey: key) : nil
    }

    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state = Mutex(State())

  /// Makes a request with `ask`, which returns the lanes that answer, and returns when all of them have.
  func wait(ask: @Sendable (UInt64) -> Set<Int>) async throws {
    let number = state.withLock { $0.nextNumber() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          // Within the lock: no answer is taken before it is known which lanes are to answer.
          state.waiters[number] = Waiter(number: number, asked: ask(number), continuation: continuation)
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }

  /// The greatest number of a request.
  var lastNumber: UInt64 { state.withLock { $0.lastNumber } }

  /// Returns those of the requests for which callers wait.
  func awaited(among numbers: [UInt64]) -> Set<UInt64> {
    if numbers.isEmpty { return [] }
    return state.withLock { state in Set(state.waiters.values.map(\.number)).intersection(numbers) }
  }

  /// Makes the number of a request for whose answer no caller waits.
  func makeNumber() -> UInt64 { state.withLock { $0.nextNumber() } }

  /// Gives every request that is not answered a new number, so that an answer to the old one does not count.
  ///
  /// - Returns: the new numbers, to be asked anew.
  func renumber() -> [UInt64] {
    state.withLock { state in
      for key in state.waiters.keys { state.renumber(key) }
      return state.waiters.values.map(\.number).sorted()
    }
  }

  /// Gives one request a new number, to be asked anew; nil if no caller waits for it.
  func renumber(_ number: UInt64) -> UInt64? {
    state.withLock { state in
      guard let key = state.key(number) else { return nil }
      state.renumber(key)
      return state.waiters[key]!.number
    }
  }

  /// Notes that the request was made anew, of these lanes. No answer to it may be given before.
  func note(_ lanes: Set<Int>, asked number: UInt64) {
    state.withLock { state in
      if let key = state.key(number) { state.waiters[key]!.asked = lanes }
    }
  }

  /// Notes that photod-watch was ordered to look again. The answers to all requests so far come too early.
  func doubt() { state.withLock { $0.doubtfulThrough = $0.lastNumber } }

  /// One lane has answered.
  ///
  /// - Returns: the number of a new request, if this is the last answer and came too early.
  func answer(_ number: UInt64, by lane: Int) -> UInt64? {
    let isTooEarly = state.withLock { state in
      guard let key = state.key(number) else { return false }
      state.waiters[key]!.answered.insert(lane)
      return state.waiters[key]!.isAnswered && number <= state.doubtfulThrough
    }
    if isTooEarly, let next = renumber(number) { return next }
    let waiter = state.withLock { state in state.key(number).flatMap { state.takeIfAnswered($0) } }
    waiter?.continuation.resume()
    return nil
  }

  func fail(with error: any Error) {
    let waiters = state.withLock { state in
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.continuation.resume(throwing: error) }
  }
}
