import Dispatch
import Logging
import PhotoCatalog
import PhotoIndexer
import PhotoModel
import Synchronization

/// Backups, restores and checks of one open catalog, on a queue of its own: they take long, and the library goes on.
final class BackupService: LibraryBackups {
  /// How often it looks whether there is something to do.
  static let interval = Duration.seconds(60)
  private static let day: Int64 = 86_400_000_000
  /// History is kept for so many days, and so many of its last commits however old they are: a client that was away finds
  /// its way back. But it takes no more than so many bytes; a commit of one photo takes some 60, of a million some millions.
  private static let historyDays: Int64 = 30
  private static let historyCommits: Int64 = 10_000
  static let historyBytes: Int64 = 64 << 20

  private let catalog: Catalog
  private let board: StatusStore
  private let logger: Logger
  /// Asks the daemon to open the library anew.
  private let reopen: @Sendable (ReopenReason) -> Void
  private let queue = DispatchQueue(label: "photod.keeping")
  private let historyBytes: Int64

  /// What is wrong with the catalog's files.
  private struct Problems {
    var mark: String?
    var notices: [String] = []
    /// Why the removed catalog could not be written anew.
    var rescue: String?
    var backup: String?

    var warnings: [Warning] {
      [rescue.map { .catalogFileRemoved(problem: $0) }, mark.map { .lastCommitNotRemembered(problem: $0) }]
        .compactMap { $0 } + notices.map { .catalogNotice($0) }
        + [backup.map { .backupFailed(problem: $0) }].compactMap { $0 }
    }
  }

  private let problems = Mutex(Problems())

  /// - Parameter historyBytes: what the history may take; an eighth more before it is looked at again.
  init(
    catalog: Catalog, board: StatusStore, logger: Logger, historyBytes: Int64 = BackupService.historyBytes,
    reopen: @escaping @Sendable (ReopenReason) -> Void
  ) {
    self.catalog = catalog
    self.historyBytes = historyBytes
    self.board = board
    self.logger = logger
    self.reopen = reopen
  }

  func backup(to path: String?) async throws -> BackupReport {
    let path = try path.map(Self.filePath)
    let report = try await run { try $0.backup(to: path) }
    logger.notice("backup", metadata: ["path": "\(report.path)", "assets": "\(report.assetCount ?? 0)"])
    return report
  }

  func backups() async throws -> [BackupReport] { try await run { try $0.backups() } }

  func restore(from path: String) async throws -> RestoreReport {
    let path = try Self.filePath(path)
    let report = try await run { try $0.prepareRestore(from: path) }
    logger.notice("restored", metadata: ["path": "\(path)", "previous": "\(report.previous.path)"])
    reopen(.restored)
    return report
  }

  func check(deep: Bool) async throws -> CheckReport {
    let report = try await run { catalog in
      var report = try catalog.check(deep: deep)
      guard report.isOK else { return report }
      report.findings += try catalog.notices().map {
        .init(
          .warning, $0, place: catalog.files.catalog,
          remedy: "It is said here for the last time; the status says it no more.")
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

  // MARK: - What time brings

  /// Puts up what a person must be told of the catalog, and takes down what they know.
  func showNotices() async {
    note { $0.mark = catalog.markProblem }
    do {
      let messages = try await run { try $0.notices() }
      note { $0.notices = messages }
    } catch {
      logger.debug("notices not read", metadata: ["error": "\(error)"])
    }
  }

  /// The status follows in the same order as the problems.
  private func note(_ change: (inout Problems) -> Void) {
    problems.withLock { problems in
      change(&problems)
      board.report(problems.warnings, by: .catalog)
    }
  }

  /// Until cancelled: once the library was live for a turn, the backup of the day and what history need not keep.
  ///
  /// - Parameters:
  ///   - now: microseconds since 1970, for what is dated; somebody may set it.
  ///   - instant: for what is to be done again after a time.
  ///   - turn: returns when it is time to look.
  func keep(
    now: @escaping @Sendable () -> Int64 = { CatalogFiles.now() },
    instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    turn: () async throws -> Void = { try await SuspendingClock().sleep(for: interval) }
  ) async {
    var wasLive = false
    var (prunedAt, retryAt): (ContinuousClock.Instant?, ContinuousClock.Instant?)
    while !Task.isCancelled {
      do { try await turn() } catch { return }
      await showNotices()
      if catalog.isReplaced {
        await standIn()
        continue
      }
      let isLive = board.status.state == .live
      defer { wasLive = isLive }
      guard isLive, wasLive, retryAt.map({ instant() >= $0 }) ?? true else { continue }
      do {
        try await backUpToday(now())
        let isDue = prunedAt.map { instant() >= $0 + .seconds(86_400) } ?? true
        if isDue || Int64(catalog.historyGrowthBytes) > historyBytes / 8 {
          let before = now() - Self.historyDays * Self.day
          try await run { [historyBytes] in
            try $0.pruneHistory(olderThan: before, keeping: Self.historyCommits, maximumBytes: historyBytes)
          }
          prunedAt = instant()
        }
        retryAt = nil
      } catch {
        // Warned of; an hour later there may be room.
        retryAt = instant() + .seconds(3600)
      }
    }
  }

  private func backUpToday(_ now: Int64) async throws {
    do {
      let report = try await run { catalog in
        try catalog.hasFreshBackup(at: now) ? nil : try catalog.dailyBackup(date: now)
      }
      note { $0.backup = nil }
      guard let report else { return }
      logger.notice("backup", metadata: ["path": "\(report.path)", "assets": "\(report.assetCount ?? 0)"])
    } catch {
      let message = (error as? BackupError)?.message ?? "\(error)"
      logger.warning("no backup", metadata: ["error": "\(message)"])
      note { $0.backup = message }
      throw error
    }
  }

  /// SQLite said that the catalog is damaged, or the file was taken away.
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
      let other = try await run { try $0.rescue() }
      logger.error(
        "catalog file gone",
        metadata: [
          "path": "\(catalog.files.catalog)", "next": "written anew", "other": "\(other ?? "none in its place")",
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

  private func run<Value: Sendable>(_ body: @escaping @Sendable (Catalog) throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [catalog] in continuation.resume(with: Result { try body(catalog) }) }
    }
  }

  /// - Throws: for a path that is not UTF-8, which SQLite can't open.
  private static func filePath(_ text: String) throws -> String {
    guard let path = String(validating: FilePath.bytes(text), as: UTF8.self) else {
      throw BackupError.cannotWrite(path: text, message: "\(text) is not UTF-8. Name another file.")
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
