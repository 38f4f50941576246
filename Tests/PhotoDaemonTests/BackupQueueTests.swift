import Dispatch
import PhotoCatalog
import PhotoModel
import Synchronization
import Testing

@testable import PhotoDaemon

/// The order of backups, checks, restores and rescues.
@Suite(.timeLimit(.minutes(10))) struct BackupQueueTests {
  private let queue = BackupQueue()
  private let log = Log()

  private final class Log: Sendable {
    private let begun = Mutex<[String]>([])
    private let gate = DispatchSemaphore(value: 0)

    var names: [String] { begun.withLock { $0 } }
    func note(_ name: String) { begun.withLock { $0.append(name) } }

    /// Work that lasts until the test ends it.
    func work(_ name: String) {
      note(name)
      gate.wait()
    }
    func endOne() { gate.signal() }
  }

  /// Occupies the queue, and returns when the work has begun.
  private func occupy(_ name: String) async -> Task<Void, any Error> {
    let task = Task { [queue, log] in try await queue.run(.ownWork) { log.work(name) } }
    while log.names.last != name { await Task.yield() }
    return task
  }

  /// Returns when the work waits, or its task has ended.
  private func add(_ work: @escaping @Sendable () async throws -> Void) async -> Task<Void, any Error> {
    let (before, ended) = (queue.waitingCount, Flag())
    let task = Task {
      defer { ended.raise() }
      try await work()
    }
    while queue.waitingCount == before, !ended.isRaised { await Task.yield() }
    return task
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
  }

  @Test func aRescueComesBeforeTheJobsOfClients() async throws {
    var tasks = [await occupy("daily backup")]
    tasks.append(await add { [queue, log] in try await queue.runForClient { log.note("check") } })
    tasks.append(await add { [queue, log] in try await queue.run(.ownWork) { log.note("pruning") } })
    tasks.append(await add { [queue, log] in try await queue.run(.rescue) { log.note("rescue") } })
    log.endOne()
    for task in tasks { try await task.value }
    #expect(log.names == ["daily backup", "rescue", "pruning", "check"])
  }

  @Test func clientsHaveOneJobAtATime() async throws {
    let daily = await occupy("daily backup")
    let first = await add { [queue, log] in try await queue.runForClient { log.note("first") } }
    let second = await add { [queue, log] in try await queue.runForClient { log.note("second") } }
    log.endOne()
    try await daily.value
    try await first.value
    let error = await #expect(throws: BackupError.self) { try await second.value }
    if case .busy = error {} else { Issue.record("\(String(describing: error))") }
    try await queue.runForClient { [log] in log.note("third") }
    #expect(log.names == ["daily backup", "first", "third"])
  }

  @Test func aJobOfADisconnectedClientIsNotBegun() async throws {
    let daily = await occupy("daily backup")
    let restore = await add { [queue, log] in try await queue.runForClient { log.note("restore") } }
    restore.cancel()
    log.endOne()
    try await daily.value
    await #expect(throws: CancellationError.self) { try await restore.value }
    #expect(log.names == ["daily backup"])
  }

  @Test func aRunningJobOfADisconnectedClientIsCancelled() async throws {
    let check = Task { [queue, log] in
      try await queue.runForClient {
        log.note("check")
        while WorkBudget.mayGoOn {}
        try WorkBudget.check()
      }
    }
    while log.names.isEmpty { await Task.yield() }
    check.cancel()
    await #expect(throws: CancellationError.self) { try await check.value }
  }

  /// A stop must not leave a removed catalog unwritten.
  @Test func aRescueIsMadeEvenIfItsTaskIsCancelled() async throws {
    let daily = await occupy("daily backup")
    let rescue = await add { [queue, log] in try await queue.run(.rescue) { log.note("rescue") } }
    rescue.cancel()
    log.endOne()
    try await daily.value
    try await rescue.value
    #expect(log.names == ["daily backup", "rescue"])
  }
}
