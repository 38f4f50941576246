import Logging
import PhotoCatalog
import PhotoIndexer
import PhotoModel
import Synchronization

/// Backups, restores and checks of one open catalog. They take long, so they run on a ``BackupQueue`` while the library
/// works.
final class BackupService: LibraryBackups {
  /// How often it checks for work to do.
  static let interval = Duration.seconds(60)
  /// The history keeps the commits of so many days, and so many of the last commits however old they are, so that
  /// clients can resume. But it takes no more than so many bytes. A commit of one photo takes some 60 bytes, and one of
  /// a million photos some millions.
  private static let historyDays = 30
  private static let historyCommits: Int64 = 10_000
  static let historyBytes: Int64 = 64 << 20

  private let catalog: Catalog
  private let statusStore: StatusStore
  private let logger: Logger
  /// Asks the daemon to open the library again.
  private let reopen: @Sendable (ReopenReason) -> Void
  private let queue = BackupQueue()
  private let historyBytes: Int64

  /// The problems of the catalog's files.
  private struct Problems {
    var mark: String?
    var notices: [String] = []
    /// Why the removed catalog could not be written again.
    var rescue: String?
    var backup: String?

    var warnings: [Warning] {
      [rescue.map { .catalogFileRemoved(problem: $0) }, mark.map { .lastCommitNotRemembered(problem: $0) }]
        .compactMap { $0 } + notices.map { .catalogNotice($0) }
        + [backup.map { .backupFailed(problem: $0) }].compactMap { $0 }
    }
  }

  private let problems = Mutex(Problems())

  /// - Parameter historyBytes: how many bytes the history may take. It is pruned each day, and when it has grown by an
  ///   eighth of that.
  init(
    catalog: Catalog, statusStore: StatusStore, logger: Logger, historyBytes: Int64 = BackupService.historyBytes,
    reopen: @escaping @Sendable (ReopenReason) -> Void
  ) {
    self.catalog = catalog
    self.historyBytes = historyBytes
    self.statusStore = statusStore
    self.logger = logger
    self.reopen = reopen
  }

  func backup(to path: String?) async throws -> BackupReport {
    let path = try path.map(Self.filePath)
    let report = try await runForClient { try $0.backup(to: path) }
    logger.notice("backup", metadata: ["path": "\(report.path)", "assets": "\(report.assetCount ?? 0)"])
    return report
  }

  func backups() throws -> [BackupReport] { try catalog.backups() }

  func restore(from path: String) async throws -> RestoreReport {
    let path = try Self.filePath(path)
    let report = try await runForClient { try $0.prepareRestore(from: path) }
    logger.notice("restored", metadata: ["path": "\(path)", "previous": "\(report.previous.path)"])
    reopen(.restored)
    return report
  }

  func check(deep: Bool) async throws -> CheckReport {
    let report = try await runForClient { catalog in
      var report = try catalog.check(deep: deep)
      guard report.isOK else { return report }
      report.findings += try catalog.noticesOfCheck().map {
        .init(
          .warning, $0, place: catalog.files.catalog,
          remedy: "No action is needed. The status does not show this warning any more.")
      }
      try catalog.acknowledgeNotices()
      return report
    }
    for finding in report.findings {
      logger.log(
        level: finding.severity == .error ? .error : .warning, "check",
        metadata: ["what": "\(finding.what)", "place": "\(finding.place)"])
    }
    await showNotices()
    return report
  }

  // MARK: - Regular work

  /// Adds the notices about the catalog to the status, and removes those that were acknowledged.
  func showNotices() async {
    note { $0.mark = catalog.markProblem }
    do {
      let messages = try await run { try $0.notices() }
      note { $0.notices = messages }
    } catch {
      logger.debug("notices not read", metadata: ["error": "\(error)"])
    }
  }

  /// Changes the problems and reports them under one lock, so that the status gets them in the same order.
  private func note(_ change: (inout Problems) -> Void) {
    problems.withLock { problems in
      change(&problems)
      statusStore.report(problems.warnings, by: .catalog)
    }
  }

  /// Makes the daily backup and prunes the history, until it is cancelled. It does so only at turns when the library is
  /// live, and was live at the turn before.
  ///
  /// - Parameters:
  ///   - now: the wall clock, for the dates of backups and the age of commits.
  ///   - instant: the monotonic clock, for the times of the next attempt and the next pruning.
  ///   - turn: returns when the next turn is due.
  func keep(
    now: @escaping @Sendable () -> WallTime = { .now },
    instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    turn: () async throws -> Void = { try await SuspendingClock().sleep(for: interval) }
  ) async {
    var wasLive = false
    // When to try a backup or a pruning again after a failure. There may be room again in an hour.
    var (backUpAt, pruneAt): (ContinuousClock.Instant?, ContinuousClock.Instant?)
    var prunedAt: ContinuousClock.Instant?
    func isPast(_ time: ContinuousClock.Instant?) -> Bool { time.map { instant() >= $0 } ?? true }
    while !Task.isCancelled {
      do { try await turn() } catch { return }
      await showNotices()
      if catalog.isReplaced {
        await standIn()
        continue
      }
      let isLive = statusStore.status.state == .live
      defer { wasLive = isLive }
      guard isLive, wasLive else { continue }
      if isPast(backUpAt) { backUpAt = await backUpToday(now()) ? nil : instant() + .seconds(3600) }
      // The history must not grow without bound while backups fail.
      let hasGrown = Int64(catalog.historyGrowthBytes) > historyBytes / 8
      if isPast(pruneAt), hasGrown || isPast(prunedAt.map { $0 + .seconds(86_400) }) {
        let isPruned = await pruneHistory(now())
        (prunedAt, pruneAt) = isPruned ? (instant(), nil) : (prunedAt, instant() + .seconds(3600))
      }
    }
  }

  /// - Returns: false if it failed.
  private func pruneHistory(_ now: WallTime) async -> Bool {
    let before = now - .seconds(86_400) * Self.historyDays
    do {
      try await run { [historyBytes] in
        try $0.pruneHistory(olderThan: before, keeping: Self.historyCommits, maximumBytes: historyBytes)
      }
      return true
    } catch {
      logger.warning("history not pruned", metadata: ["error": "\(error)"])
      return false
    }
  }

  /// - Returns: false if it failed.
  private func backUpToday(_ now: WallTime) async -> Bool {
    do {
      let report = try await run { catalog in
        try catalog.hasFreshBackup(at: now) ? nil : try catalog.dailyBackup(date: now)
      }
      note { $0.backup = nil }
      guard let report else { return true }
      logger.notice("backup", metadata: ["path": "\(report.path)", "assets": "\(report.assetCount ?? 0)"])
      return true
    } catch {
      let message = (error as? BackupError)?.message ?? "\(error)"
      logger.warning("no backup", metadata: ["error": "\(message)"])
      note { $0.backup = message }
      return false
    }
  }

  /// Handles a catalog that SQLite reports as damaged, or whose file was removed or replaced.
  func catalogFailed(_ why: String) async {
    if catalog.isReplaced {
      await standIn()
    } else {
      logger.error("catalog damaged", metadata: ["error": "\(why)"])
      reopen(.damaged)
    }
  }

  private func standIn() async {
    do {
      let other = try await run(.rescue) { try $0.rescue() }
      logger.error(
        "catalog file gone",
        metadata: [
          "path": "\(catalog.files.catalog)", "next": "photod has written it again", "other": "\(other ?? "none")",
        ])
      note { $0.rescue = nil }
      reopen(.rescued)
    } catch {
      let message = (error as? BackupError)?.message ?? "\(error)"
      logger.error("catalog file gone", metadata: ["path": "\(catalog.files.catalog)", "error": "\(message)"])
      note { $0.rescue = message }
    }
  }

  // MARK: -

  private func run<Value: Sendable>(
    _ priority: BackupQueue.Priority = .ownWork, _ body: @escaping @Sendable (Catalog) throws -> Value
  ) async throws -> Value {
    try await queue.run(priority) { [catalog] in try body(catalog) }
  }

  private func runForClient<Value: Sendable>(
    _ body: @escaping @Sendable (Catalog) throws -> Value
  ) async throws -> Value {
    try await queue.runForClient { [catalog] in try body(catalog) }
  }

  /// - Throws: `cannotWrite` for a path that is not UTF-8, which SQLite can't open.
  private static func filePath(_ text: String) throws -> String {
    guard let path = String(validating: FilePath.bytes(text), as: UTF8.self) else {
      throw BackupError.cannotWrite(path: text, message: "The path \(text) is not UTF-8. Choose another one.")
    }
    return path
  }
}

extension BackupError {
  fileprivate var message: String {
    switch self {
    case .notABackup(_, let message), .cannotWrite(_, let message), .storageFull(let message), .busy(let message):
      message
    }
  }
}
