import GRDB
import GRDBSQLite
import Glibc
import Migrations
import PhotoModel

/// The progress in upgrading the catalog of an older photod.
package enum CatalogUpgradeProgress: Hashable, Sendable {
  /// The pages of the copy that is made first.
  case copying(done: Int, total: Int)
  /// The steps of the schema.
  case upgrading(done: Int, total: Int)
}

/// Upgrades the catalog of an older photod.
///
/// 1. The necessary space is compared with the free space. If that is too little, the upgrade ends before its first
/// change.
/// 2. The catalog is copied to the folder of backups, as `photod-DATE-before-STEP.sqlite`. An older photod can open the
///    copy, and `photoctl restore` accepts it.
/// 3. Each step of the schema is one transaction.
///
/// If the process is killed, the next one continues. It recognizes the copy by its state and does not make it again. If
/// a step requires files to be read again, the first scan does so in batches, after the library is open.
struct CatalogUpgrade {
  /// The number of copies that stay: those of the last two upgrades.
  static let keptCopies = 2
  private static let spareBytes: Int64 = 64 << 20
  private static let word = "-before-"

  let files: CatalogFiles
  let lastStep: String?
  /// When the upgrade began, for the name of the backup.
  let date: WallTime
  /// Called with each piece of the copy and each step, and every few milliseconds during a step. If it throws, the
  /// upgrade ends with that error and continues at the next opening.
  let onProgress: @Sendable (CatalogUpgradeProgress) throws -> Void
  /// Returns the free bytes of a folder, or nil if its file system does not report them.
  var freeBytes: (String) -> Int64? = PrivateFile.freeBytes

  func run(_ pool: DatabasePool) throws {
    let migrator = CatalogOpening.migrator(lastStep)
    let (applied, state) = try pool.read { database in
      let applied = try migrator.appliedIdentifiers(database)
      return (applied, applied.isEmpty ? nil : try Catalog.state(database))
    }
    let pending = migrator.migrations.filter { !applied.contains($0) }
    guard let first = pending.first else { return }
    // A catalog without a library needs no copy.
    if let state { try keepCopy(of: state, pool, before: first) }
    try CatalogOpening.migrator(lastStep) { [onProgress] step in
      try onProgress(.upgrading(done: pending.firstIndex(of: step) ?? 0, total: pending.count))
    }.migrate(pool)
    try onProgress(.upgrading(done: pending.count, total: pending.count))
    for path in try copies().dropFirst(Self.keptCopies) { try PrivateFile.remove(path) }
  }

  // MARK: - The copy

  /// The copies, newest first.
  private func copies() throws -> [String] {
    try files.backupPaths().filter { PrivateFile.name(of: $0).contains(Self.word) }.sorted(by: >)
  }

  private func keepCopy(of state: Catalog.State, _ pool: DatabasePool, before step: String) throws {
    try files.makeBackupsFolder()
    try TemporaryFile.removeAll(in: files.backups, ofTarget: files.isBackup)
    let isKept = try copies().contains { Catalog.state(of: $0) == state }
    let byteCount = try [files.catalog, files.log].reduce(Int64(0)) {
      $0 + (try PrivateFile.certainByteCount(followed: $1) ?? 0)
    }
    // The steps may write each page once more, to the log.
    let need = (isKept ? 1 : 2) * byteCount + Self.spareBytes
    let folder = PrivateFile.folder(of: files.catalog)
    if let free = freeBytes(folder), free < need {
      throw PhotoError(
        "catalogNeedsRoom",
        "The catalog \(files.catalog) is of an older photod and must be upgraded first. That takes \(byteText(need)) in "
          + "\(folder), and \(byteText(free)) are free. Nothing has been changed. Make room there.")
    }
    if isKept { return }
    let target = CatalogFiles.free { files.backup(CatalogFiles.text(date) + Self.word + step + $0) }
    let temporary = try TemporaryFile(beside: target)
    Glibc.close(temporary.descriptor)
    do {
      try Catalog.withQueue(temporary.path) { queue in
        try pool.backup(to: queue, pagesPerStep: 2_000) {
          try onProgress(.copying(done: $0.completedPageCount, total: $0.totalPageCount))
        }
        try queue.write { try Catalog.markAsBackup($0) }
      }
      try PrivateFile.sync(temporary.path)
      try PrivateFile.renameWithoutReplacing(temporary.path, to: target)
    } catch {
      _ = Result { try temporary.remove() }
      throw error
    }
  }

  // MARK: - Interrupting

  private final class Interruption {
    let check: () throws -> Void
    var error: (any Error)?
    init(_ check: @escaping () throws -> Void) { self.check = check }
  }

  /// Runs `body`. If `check` throws, the statements of `body` on this connection are interrupted.
  static func interruptible(
    _ database: Database, by check: @escaping () throws -> Void, _ body: () throws -> Void
  ) throws {
    let interruption = Interruption(check)
    try withExtendedLifetime(interruption) {
      sqlite3_progress_handler(
        database.sqliteConnection, 500_000,
        { pointer in
          guard let pointer else { return 0 }
          let interruption = Unmanaged<Interruption>.fromOpaque(pointer).takeUnretainedValue()
          do { try interruption.check() } catch {
            interruption.error = error
            return 1
          }
          return 0
        }, Unmanaged.passUnretained(interruption).toOpaque())
      defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
      do { try body() } catch {
        throw interruption.error ?? error
      }
    }
  }
}
