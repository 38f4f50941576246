import PhotoTestSupport
import Synchronization
import Testing

@testable import PhotoIndexer

/// Values pass from one task to another, in order and one at a time, until one side ends.
///
/// The tasks do not run in the pool of threads. It is busy while all tests run, so a task might get its next turn after a
/// minute.
@Suite struct HandoverTests {
  /// Runs its tasks only during ``runAll()``, until each of them has ended or waits. So a test knows that a task waits, and a
  /// task that should have ended is found at once.
  private final class SteppedExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0.append(job) }
    }

    func runAll() {
      while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }

  /// A task whose result can be read without waiting for it.
  private final class ObservedTask<Value: Sendable>: Sendable {
    private final class Result: Sendable {
      let results = Mutex<[Value]>([])
    }

    private let result = Result()
    private let task: Task<Void, Never>

    init(executor: some TaskExecutor, _ body: @escaping @Sendable () async -> Value) {
      task = Task(executorPreference: executor) { [result] in
        let value = await body()
        result.results.withLock { $0 = [value] }
      }
    }

    /// One value, or none while the task has not ended.
    var results: [Value] { result.results.withLock { $0 } }
    var hasEnded: Bool { !results.isEmpty }

    func cancel() { task.cancel() }
  }

  private let executor = SteppedExecutor()
  private let values = Handover<Int>()

  /// A task that puts a value. It has ended or waits, unless `isNew`: then it has not begun.
  private func put(_ value: Int, isNew: Bool = false) -> ObservedTask<Void> {
    defer { if !isNew { executor.runAll() } }
    return ObservedTask(executor: executor) { [values] in await values.put(value) }
  }

  /// A task that takes a value. It has ended or waits, unless `isNew`: then it has not begun.
  private func take(isNew: Bool = false) -> ObservedTask<Int?> {
    defer { if !isNew { executor.runAll() } }
    return ObservedTask(executor: executor) { [values] in await values.take() }
  }

  /// Each side has a thread, as in the library.
  @Test func valuesArriveInTheirOrderAndThenNil() async throws {
    let count = 300
    let giver = ObservedTask(executor: ThreadExecutor(name: "giver")) { [values] in
      for value in 0..<count { await values.put(value) }
      values.finish()
    }
    let taker = ObservedTask(executor: ThreadExecutor(name: "taker")) { [values] in
      var taken: [Int?] = []
      // The last two takes find the end.
      for _ in 0..<count + 2 { taken.append(await values.take()) }
      return taken
    }
    try await eventually("both tasks end") { giver.hasEnded && taker.hasEnded }
    #expect(taker.results == [Array(0..<count) + [nil, nil]])
  }

  @Test func putReturnsWhenItsValueIsTaken() {
    let giver = put(1)
    #expect(!giver.hasEnded)
    let taker = take()
    #expect(taker.results == [1])
    #expect(giver.hasEnded)
  }

  @Test func takeWaitsForAValue() {
    let taker = take()
    #expect(!taker.hasEnded)
    let giver = put(2)
    #expect(giver.hasEnded)
    #expect(taker.results == [2])
  }

  /// The other side must not wait for a task that has gone.
  @Test(arguments: [true, false]) func cancelledTakerEndsBothSides(isWaiting: Bool) {
    let taker = take(isNew: !isWaiting)
    taker.cancel()
    executor.runAll()
    #expect(taker.results == [nil])
    for value in 1...2 { #expect(put(value).hasEnded) }
    #expect(take().results == [nil])
  }

  @Test(arguments: [true, false]) func cancelledGiverEndsBothSides(isWaiting: Bool) {
    let giver = put(1, isNew: !isWaiting)
    giver.cancel()
    executor.runAll()
    #expect(giver.hasEnded)
    // A value that was given before the cancellation is still there.
    #expect(take().results == [isWaiting ? 1 : nil])
    #expect(take().results == [nil])
    #expect(put(2).hasEnded)
  }

  @Test func finishReleasesATakerThatWaits() {
    let taker = take()
    #expect(!taker.hasEnded)
    values.finish()
    executor.runAll()
    #expect(taker.results == [nil])
  }

  @Test func finishReleasesAGiverThatWaits() {
    let giver = put(1)
    #expect(!giver.hasEnded)
    values.finish()
    executor.runAll()
    #expect(giver.hasEnded)
    // A value that was given before the end is still there.
    #expect(take().results == [1])
    #expect(take().results == [nil])
  }
}
