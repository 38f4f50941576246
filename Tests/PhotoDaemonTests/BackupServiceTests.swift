import Glibc
import Logging
import PhotoIndexer
import PhotoModel
import Synchronization
import Testing

@testable import PhotoCatalog
@testable import PhotoDaemon

/// The work that the backup service does over time, with a time that the test sets.
@Suite struct BackupServiceTests {
  private let scratch: Scratch
  private let catalog: Catalog
  private let statusStore: StatusStore
  private let keeper: BackupService
  private let reopened = Seen()

  private final class Seen: Sendable {
    let reasons = Mutex<[ReopenReason]>([])
    let time = Mutex(WallTime(seconds: 1_763_720_100))
    let instant = Mutex(ContinuousClock.now)
  }

  private struct Ended: Error {}

  init() throws {
    scratch = try Scratch()
    catalog = try Catalog(path: "\(scratch.path)/catalog.sqlite")
    statusStore = StatusStore(LibraryStatus(state: .scanning, library: "l", token: "", version: "1"))
    keeper = BackupService(
      catalog: catalog, statusStore: statusStore, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      historyBytes: 100 * 64
    ) { [reopened] reason in reopened.reasons.withLock { $0.append(reason) } }
  }

  private func change() throws {
    try catalog.write { writer in
      writer.record.update(collection: 1)
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
  }

  private func pass(hours: Int64) {
    setClock(byHours: hours)
    reopened.instant.withLock { $0 += .seconds(hours * 3600) }
  }

  private func setClock(byHours hours: Int64) { reopened.time.withLock { $0 = $0 + .seconds(hours * 3_600) } }

  /// Runs the service, with one of these steps before each turn.
  private func keep(_ turns: [() throws -> Void]) async {
    var rest = turns[...]
    let turn = {
      guard let next = rest.popFirst() else { throw Ended() }
      try next()
    }
    await keeper.keep(
      now: { [reopened] in reopened.time.withLock { $0 } },
      instant: { [reopened] in reopened.instant.withLock { $0 } }, turn: turn)
    #expect(rest.isEmpty)
  }

  private func expectBackups(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let names = try catalog.backups().map(\.path)
    #expect(names.count == count, "\(names)", sourceLocation: sourceLocation)
  }

  @Test func aBackupIsMadeOnceADayOfALiveLibraryThatChanged() async throws {
    try change()
    await keep([
      {},
      { statusStore.update { $0.state = .live } },
      // The library became live after the last turn, so it was not live for a whole turn.
      { try expectBackups(0) },
      { try expectBackups(1) },
      {
        try change()
        pass(hours: 1)
      },
      {
        try expectBackups(1)
        try change()
        // The time counts from the modification time of the backup's file, which is now.
        reopened.time.withLock { $0 = .now + .seconds(25 * 3_600) }
      },
      { try expectBackups(2) },
      { pass(hours: 25) },
      { try expectBackups(2) },
    ])
    try catalog.close()
  }

  @Test(arguments: [0, -8760, 2]) func aFailedBackupCausesAWarningAndIsRetriedAfterAnHour(clockSet: Int64) async throws
  {
    try change()
    try scratch.file("backups", "in the way")
    statusStore.update { $0.state = .live }
    await keep([
      {}, {},
      {
        #expect(statusStore.status.warnings.first?.contains("The daily backup failed") == true)
        #expect(unlink("\(scratch.path)/backups") == 0)
        setClock(byHours: clockSet)
      },
      { #expect(statusStore.status.warnings.count == 1, "tried again at once") },
      { pass(hours: 1) },
      {
        #expect(statusStore.status.warnings.isEmpty)
        try expectBackups(1)
      },
    ])
    try catalog.close()
  }

  @Test func historyThatGrowsIsPrunedBetweenTheDays() async throws {
    func oldest() throws -> Int64? { try catalog.read { try $0.oldestSequence() } }
    for _ in 0..<1_000 { try change() }
    statusStore.update { $0.state = .live }
    await keep([
      {}, {},
      {
        // Each commit takes about 60 bytes.
        let first = try #require(try oldest())
        #expect((880...920).contains(first))
        for _ in 0..<5 { try change() }
      },
      {
        let first = try #require(try oldest())
        #expect(first < 930, "five more are no reason to look")
        for _ in 0..<1_000 { try change() }
      },
      {
        let first = try #require(try oldest())
        #expect(first > 1_880)
      },
    ])
    #expect(try catalog.read { try $0.sequence() } == 2_005)
    try catalog.close()
  }

  @Test func historyIsPrunedWhileBackupsFail() async throws {
    for _ in 0..<1_000 { try change() }
    try scratch.file("backups", "in the way")
    statusStore.update { $0.state = .live }
    await keep([
      {}, {},
      {
        #expect(statusStore.status.warnings.first?.contains("The daily backup failed") == true)
        let first = try #require(try catalog.read { try $0.oldestSequence() })
        #expect((880...920).contains(first))
      },
    ])
    try catalog.close()
  }

  @Test func aRestoreOfADisconnectedClientIsNotCarriedOut() async throws {
    try change()
    let backup = try await keeper.backup(to: nil)
    func whenGone(_ call: @escaping @Sendable (BackupService) async throws -> Void) async {
      let task = Task { [keeper] in
        withUnsafeCurrentTask { $0?.cancel() }
        try await call(keeper)
      }
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    await whenGone { _ = try await $0.restore(from: backup.path) }
    await whenGone { _ = try await $0.backup(to: nil) }
    await whenGone { _ = try await $0.check(deep: true) }
    #expect(reopened.reasons.withLock { $0 }.isEmpty)
    try expectBackups(1)
    try change()
    try catalog.close()
  }

  @Test func aRemovedCatalogIsWrittenAnewAndReopened() async throws {
    try change()
    for suffix in ["", "-wal", "-shm"] { unlink("\(scratch.path)/catalog.sqlite\(suffix)") }
    await keep([{}, { #expect(reopened.reasons.withLock { $0 } == [.rescued]) }])
    try catalog.close()
    let again = try Catalog(path: "\(scratch.path)/catalog.sqlite")
    #expect(again.uuid == catalog.uuid && again.epoch == catalog.epoch)
    #expect(try again.read { try $0.sequence() } == 1)
    try again.close()
  }

  @Test func aRestoreAsksForTheLibraryToBeOpenedAnew() async throws {
    try change()
    let backup = try await keeper.backup(to: nil)
    _ = try await keeper.restore(from: backup.path)
    #expect(reopened.reasons.withLock { $0 } == [.restored])
    await #expect(throws: BackupError.self) { try await keeper.restore(from: backup.path) }
    try catalog.close()
  }

  @Test func theCatalogItselfIsNoBackup() async throws {
    await #expect(throws: BackupError.self) { try await keeper.restore(from: "\(scratch.path)/catalog.sqlite") }
    try change()
    #expect(reopened.reasons.withLock { $0 }.isEmpty)
    try catalog.close()
  }
}
