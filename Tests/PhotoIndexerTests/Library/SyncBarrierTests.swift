import Synchronization
import Testing

@testable import PhotoIndexer

@Suite struct SyncBarrierTests {
  /// A sync that waits at a barrier.
  private struct Waiting {
    let number: UInt64
    let task: Task<Void, any Error>
    let isDone: Flag
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
  }

  private struct TimeIsOver: Error {}

  /// - Parameter time: ends when the time for the sync is over.
  private func wait(
    at barrier: SyncBarrier, for lanes: Set<Int>, _ time: AsyncStream<Void> = AsyncStream { _ in }
  ) async throws -> Waiting {
    let (numbers, continuation) = AsyncStream.makeStream(of: UInt64.self)
    let isDone = Flag()
    let task = Task {
      try await barrier.wait {
        for await _ in time {}
        try Task.checkCancellation()
        return TimeIsOver()
      } ask: { number in
        continuation.yield(number)
        return lanes
      }
      isDone.set()
    }
    var iterator = numbers.makeAsyncIterator()
    return Waiting(number: try #require(await iterator.next()), task: task, isDone: isDone)
  }

  @Test func syncWaitsForEveryLaneThatWasAsked() async throws {
    let barrier = SyncBarrier()
    let waiting = try await wait(at: barrier, for: [0, 4])
    barrier.doubt()
    // Only the last answer shows that the request came too early.
    #expect(barrier.answer(waiting.number, by: 4) == nil)
    #expect(barrier.answer(waiting.number, by: 4) == nil)
    let next = try #require(barrier.answer(waiting.number, by: 0))
    barrier.note([0, 4], asked: next)
    #expect(barrier.answer(waiting.number, by: 0) == nil)
    #expect(barrier.answer(next, by: 0) == nil)
    #expect(!waiting.isDone.isSet)
    #expect(barrier.answer(next, by: 4) == nil)
    try await waiting.task.value
  }

  @Test func onlyTheAnswerToItsOwnRequestEndsASync() async throws {
    let barrier = SyncBarrier()
    let (first, second) = (try await wait(at: barrier, for: [0]), try await wait(at: barrier, for: [0]))
    #expect(barrier.awaited(among: [first.number, second.number, 99]) == [first.number, second.number])
    #expect(barrier.answer(second.number, by: 0) == nil)
    try await second.task.value
    #expect(!first.isDone.isSet)
    #expect(barrier.awaited(among: [first.number, second.number]) == [first.number])
    #expect(barrier.answer(first.number, by: 0) == nil)
    try await first.task.value
  }

  @Test func syncEndsWhenItsTimeIsOver() async throws {
    let barrier = SyncBarrier()
    let (time, clock) = AsyncStream.makeStream(of: Void.self)
    let waiting = try await wait(at: barrier, for: [0], time)
    clock.finish()
    await #expect(throws: TimeIsOver.self) { try await waiting.task.value }
    #expect(barrier.awaited(among: [waiting.number]).isEmpty)
    #expect(barrier.answer(waiting.number, by: 0) == nil)
  }

  @Test func syncWhoseRequestWasMadeAnewEndsWhenItIsCancelledOrItsTimeIsOver() async throws {
    let barrier = SyncBarrier()
    let (time, clock) = AsyncStream.makeStream(of: Void.self)
    let late = try await wait(at: barrier, for: [0], time)
    let cancelled = try await wait(at: barrier, for: [0])
    let numbers = barrier.renumber()
    #expect(numbers.count == 2)
    cancelled.task.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.task.value }
    clock.finish()
    await #expect(throws: TimeIsOver.self) { try await late.task.value }
    #expect(barrier.awaited(among: numbers).isEmpty)
  }
}

extension SyncBarrier {
  /// Waits without a timeout.
  func wait(ask: @Sendable (UInt64) -> Set<Int>) async throws {
    try await wait(
      timeout: {
        for await _ in AsyncStream<Void>(bufferingPolicy: .unbounded, { _ in }) {}
        throw CancellationError()
      }, ask: ask)
  }
}
