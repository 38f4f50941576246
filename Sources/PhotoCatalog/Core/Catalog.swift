import CSQLiteSettings
import GRDB
import Glibc
import PhotoModel
import Synchronization

/// The SQLite database of one library. All SQL of photod is in this module.
///
/// There is one writer beside many readers (WAL). Every method blocks. The only writer is the `Library` actor, whose
/// executor may be blocked.
package final class Catalog: Sendable {
  /// The library, and the epoch of its tokens.
  package let uuid: String
  package var epoch: Int64 { currentEpoch.withLock { $0.number } }
  private let currentEpoch: Mutex<Epoch>

  private struct Epoch {
    let number: Int64
    /// The newest commit when the epoch began, if it began while the catalog was open.
    var firstSequence: Int64 = 0
  }

  /// Whether every token of this epoch was issued after the catalog was opened.
  private let isNewEpoch: Atomic<Bool>

  package let files: CatalogFiles
  /// An element for each report of SQLite that the catalog is damaged. Only the newest is kept. The catalog is soon
  /// unusable.
  package let damage: AsyncStream<String>
  let damaged: AsyncStream<String>.Continuation

  let pool: DatabasePool
  /// Used only by write transactions, which run one at a time. nil for a schema without a journal.
  nonisolated(unsafe) let journal: UserDataJournal?
  /// Used like the journal. nil if its folder is unknown or unusable.
  nonisolated(unsafe) private let mark: HighWaterMark?
  nonisolated(unsafe) private var marked: HighWaterMark.Record?
  private let currentMarkProblem: Mutex<String?>
  /// Why no high-water mark can be kept. Until it can, an old copy of the catalog's folder would go unnoticed.
  package var markProblem: String? { currentMarkProblem.withLock { $0 } }
  private let hook: @Sendable (UserDataJournal.Step) throws -> Void
  /// Another catalog is about to replace this one. Later writes would be lost.
  let frozen = Atomic(false)
  package var isFrozen: Bool { frozen.load(ordering: .acquiring) }
  /// The approximate size of the history that was added since the last measurement, or since the opening, in bytes.
  let historyGrowth = Atomic(0)
  let file: HeldFile

  /// Opens the catalog, or creates it with its directory (0700). An older schema is upgraded. A damaged catalog is
  /// moved aside and rebuilt from the journal of user data beside it (see ``CatalogOpening``).
  ///
  /// The epoch increases if the catalog was not closed properly before the machine went down. SQLite may then have lost
  /// its last commits (`synchronous = NORMAL`), and tokens for them must not be accepted. The epoch also increases if
  /// the catalog is rebuilt, restored, or found to be an older copy, by its journal or by its ``HighWaterMark``.
  ///
  /// - Parameters:
  ///   - lastStep: the last step of the schema, by name, for tests of catalogs that an older photod left.
  ///   - isSuspect: the catalog failed while in use, so every page and index is verified.
  ///   - stateFolder: the folder for the high-water marks of libraries; nil to keep none.
  ///   - onProgress: called while the catalog of an older photod is upgraded (see ``CatalogUpgrade``). If it throws a
  ///     `CancellationError`, the opening ends with that error.
  /// - Throws: ``PhotoError`` `catalogUnreadable`, `catalogTooNew` or `catalogNeedsRoom`.
  package convenience init(
    path: String, bootID: String = Catalog.currentBootID(), lastStep: String? = nil, isSuspect: Bool = false,
    stateFolder: String? = nil, onProgress: @escaping @Sendable (CatalogUpgradeProgress) throws -> Void = { _ in }
  ) throws {
    try self.init(
      path: path, bootID: bootID, lastStep: lastStep, isSuspect: isSuspect, stateFolder: stateFolder,
      onProgress: onProgress
    ) { _ in }
  }

  /// The settings of the process. They are made before it uses SQLite for the first time.
  private static let settings: Void = sqlitesettings_count_no_memory()

  /// - Parameter hook: called before each step. Tests make steps fail with it.
  init(
    path: String, bootID: String = Catalog.currentBootID(), lastStep: String? = nil, isSuspect: Bool = false,
    stateFolder: String? = nil, date: WallTime = .now,
    onProgress: @escaping @Sendable (CatalogUpgradeProgress) throws -> Void = { _ in },
    hook: @escaping @Sendable (UserDataJournal.Step) throws -> Void
  ) throws {
    _ = Self.settings
    files = CatalogFiles(catalog: path)
    self.hook = hook
    (damage, damaged) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    do {
      var opening = CatalogOpening(
        files: files, bootID: bootID, lastStep: lastStep, isSuspect: isSuspect, stateFolder: stateFolder, date: date,
        onProgress: onProgress, hook: hook)
      let opened = try opening.open()
      (pool, uuid, journal) = (opened.pool, opened.uuid, opened.journal)
      currentEpoch = Mutex(Epoch(number: opened.epoch))
      isNewEpoch = Atomic(opened.isNewEpoch)
      mark = opening.mark
      currentMarkProblem = Mutex(opening.markProblem)
      file = try HeldFile(path)
      marked = HighWaterMark.Record(
        epoch: opened.epoch, sequence: try opened.pool.read { try CatalogOpening.sequence($0) },
        reservedAssets: opened.journal?.reservedAssets ?? 0,
        reservedCollections: opened.journal?.reservedCollections ?? 0, file: try file.numbers, isClosed: false,
        bootID: bootID)
      writeMark(durable: true)
    } catch let error as PhotoError {
      throw error
    } catch let error as CancellationError {
      throw error
    } catch  where !isSuspect && Self.isDamage(error) {
      // The caller opens the catalog again as a suspect. That verifies all of it and moves it aside.
      throw error
    } catch {
      throw PhotoError(
        "catalogUnreadable",
        "The catalog \(path) can't be opened. Check that its folder belongs to your user, and that its disk has room.",
        cause: Self.withoutStatement(error))
    }
  }

  static func makePool(_ path: String) throws -> DatabasePool {
    try DatabasePool(path: path, configuration: configuration)
  }

  /// The settings of the connections to a catalog.
  static var configuration: Configuration {
    var configuration = Configuration()
    configuration.label = "catalog"
    configuration.maximumReaderCount = 8
    configuration.prepareDatabase { database in
      // A first scan writes the pages of its indexes again and again, so the WAL takes 16 MB before they are copied. A
      // long snapshot makes it grow. Once it can be written from its beginning again, it is cut to 32 MB.
      try database.execute(
        sql: """
          PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY;
          PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 33554432
          """)
      try SQLFunctions.register(in: database)
    }
    return configuration
  }

  /// The id of a boot whose own id can't be read. Two such boots may differ, so the catalog assumes that the machine was
  /// restarted between them.
  static let unknownBootID = "unknown"

  /// The kernel's id of the running boot (random(4)).
  package static func currentBootID() -> String {
    guard let file = fopen("/proc/sys/kernel/random/boot_id", "re") else { return unknownBootID }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 64)
    guard fgets(&line, 64, file) != nil else { return unknownBootID }
    return String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  package func token(_ sequence: Int64) -> ChangeToken {
    ChangeToken(library: uuid, epoch: epoch, sequence: sequence)
  }

  /// The token of an observed list that was read at this commit.
  ///
  /// An epoch may end between the reading of a list and its token. A list that is older than the epoch gets the epoch
  /// before, so a token of a later epoch never has a lower sequence. Clients rely on that order.
  package func token(ofListAt sequence: Int64) -> ChangeToken {
    let epoch = currentEpoch.withLock { sequence < $0.firstSequence ? $0.number - 1 : $0.number }
    return ChangeToken(library: uuid, epoch: epoch, sequence: sequence)
  }

  /// Runs one transaction. Readers see all of it or nothing.
  ///
  /// User data, and the places of files that have some, are written to the journal before COMMIT. So acknowledged
  /// changes survive even if SQLite loses the commit in a power failure. SQLite loses commits then, but never damages
  /// the catalog.
  ///
  /// - Parameters:
  ///   - durable: whether the journal's new lines must be on disk before COMMIT.
  ///   - date: the time of the transaction.
  package func write<Value>(
    durable: Bool = false, date: WallTime = .now, _ body: (CatalogWriter) throws -> Value
  ) throws -> Value {
    try noticing {
      try pool.writeWithoutTransaction { database in
        var value: Value?
        var change = JournalChange.none
        var sequence: Int64?
        do {
          var historyBytes = 0
          try database.inTransaction(.immediate) {
            guard !isFrozen else { throw Self.isBeingReplaced }
            let writer = CatalogWriter(connection: database, journal: journal, date: date)
            value = try body(writer)
            (historyBytes, sequence) = (writer.historyBytes, writer.lastSequence)
            try writer.finish()
            try writeJournal(writer, durable: durable, &change)
            try hook(.commit)
            return .commit
          }
          historyGrowth.add(historyBytes, ordering: .relaxed)
        } catch {
          takeBack(change, database)
          throw error
        }
        try hook(.committed)
        if let sequence { raiseMark(to: sequence) }
        compactJournal(database)
        if durable, isReplaced { damaged.yield("the file is gone") }
        return value!
      }
    }
  }

  /// Reads in one snapshot, beside the writer. The read ends early when ``WorkBudget/current`` is spent.
  ///
  /// - Throws: `WorkBudget.Spent`, or an error from SQLite or `body`.
  package func read<Value>(_ body: (CatalogReader) throws -> Value) throws -> Value {
    try noticing {
      try pool.read { database in
        try ReadInterruption.watching(database) { try body(CatalogReader(database: database, catalog: self)) }
      }
    }
  }

  /// A snapshot that does not change, for any number of reads. It holds a connection and keeps the WAL from shrinking,
  /// so release it soon.
  package func snapshot() throws -> CatalogSnapshot {
    try noticing {
      let snapshot = try pool.makeSnapshot()
      // Each client that reads a long list has a snapshot. It passes through the list once, so it needs little cache.
      try snapshot.read { try $0.execute(sql: "PRAGMA cache_size = -4000") }
      return CatalogSnapshot(snapshot: snapshot, catalog: self)
    }
  }

  /// Marks the catalog as properly closed, and closes it. Then its one file has everything and can be copied.
  package func close() throws {
    let closed = Result { try markClosed() }
    // If a reader is still active, or the disk is full, the log stays. The next opening uses both files.
    _ = Result { try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
    try noticing {
      try pool.close()
      try closed.get()
    }
    marked?.isClosed = true
    writeMark(durable: true)
  }

  private func markClosed() throws {
    try pool.writeWithoutTransaction { database in
      var change = JournalChange.none
      do {
        try database.inTransaction(.immediate) {
          try database.execute(sql: "UPDATE library SET is_clean = 1")
          guard let journal, !journal.mustRewrite else { return .commit }
          try journal.append([.closed], durable: false)
          change = .appended
          try database.execute(sql: "UPDATE library SET journal_number = ?", arguments: [journal.number])
          return .commit
        }
      } catch {
        takeBack(change, database)
        throw error
      }
    }
  }

  // MARK: - The high-water mark

  /// Raises the mark before any client learns of the commit.
  private func raiseMark(to sequence: Int64) {
    marked?.epoch = epoch
    marked?.sequence = sequence
    if let journal {
      marked?.reservedAssets = journal.reservedAssets
      marked?.reservedCollections = journal.reservedCollections
    }
    writeMark(durable: false)
  }

  /// If the mark can't be written, the commit succeeds all the same. The mark is then too low, so photod might not
  /// recognise an old copy of the catalog. A warning says so.
  private func writeMark(durable: Bool) {
    guard let mark, let marked else { return }
    do {
      try mark.write(marked, durable: durable)
      currentMarkProblem.withLock { $0 = nil }
    } catch {
      currentMarkProblem.withLock { $0 = "\(error)" }
    }
  }

  /// Expires all tokens issued so far. A token of this epoch refers to commits that the catalog does not have. So the
  /// catalog may be an old copy whose mark was lost as well.
  ///
  /// - Returns: false if the epoch began with this opening or with this method. Then photod issued every token of it,
  ///   and this one is invented. A client that invents tokens must not make others reload.
  package func endTokens() throws -> Bool {
    guard isNewEpoch.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else {
      return false
    }
    let next = epoch + 1
    let sequence: Int64
    do {
      // The only writer is the caller, so no commit comes before the new epoch.
      sequence = try read { try $0.sequence() }
      try write(durable: true) { writer in
        try writer.database.execute(sql: "UPDATE library SET epoch = ?", arguments: [next])
        writer.journalRecords.append(.opened(epoch: next))
      }
    } catch {
      isNewEpoch.store(false, ordering: .releasing)
      throw error
    }
    currentEpoch.withLock { $0 = Epoch(number: next, firstSequence: sequence) }
    pool.writeWithoutTransaction { _ in
      marked?.epoch = next
      writeMark(durable: true)
    }
    return true
  }

  // MARK: - The journal

  private enum JournalChange {
    case none, appended
    /// The journal was rewritten, or that was at least attempted. `from` is its number before the rewrite.
    case rewritten(from: Int64)
  }

  private func writeJournal(_ writer: CatalogWriter, durable: Bool, _ change: inout JournalChange) throws {
    guard let journal else { return }
    try writer.noteReservation()
    let records = writer.journalRecords
    guard !records.isEmpty || journal.mustRewrite else { return }
    let reserves = records.contains { if case .ids = $0 { true } else { false } }
    if durable || reserves, !journal.hasItsName { journal.mustRewrite = true }
    if journal.mustRewrite {
      // This is set before the attempt. If that fails, the new journal may already have the name.
      change = .rewritten(from: journal.number)
      try rewrite(journal, writer, number: journal.number + 1)
    } else {
      try journal.append(records, releasing: writer.releasedAssets, durable: durable || reserves)
      change = .appended
    }
    let update = try RawStatement(writer.database, "UPDATE library SET journal_number = ?")
    update.bind(1, journal.number)
    try update.run()
  }

  /// Reverts the journal after a failed transaction.
  private func takeBack(_ change: JournalChange, _ database: Database) {
    guard let journal else { return }
    switch change {
    case .none: break
    case .appended: journal.revert()
    case .rewritten(let number):
      do {
        try rewrite(journal, CatalogWriter(connection: database, journal: journal), number: number)
      } catch {
        journal.mustRewrite = true
      }
    }
  }

  private func rewrite(_ journal: UserDataJournal, _ writer: CatalogWriter, number: Int64) throws {
    let last = try writer.lastIDs()
    // The transaction may begin a new epoch.
    let epoch = try RawStatement(writer.database, "SELECT epoch FROM library")
    try journal.rewrite(
      UserDataJournal.State(
        library: uuid, epoch: try epoch.firstRow { epoch.int64(0) } ?? self.epoch, number: number,
        reservedAssets: max(journal.reservedAssets, last.assets),
        reservedCollections: max(journal.reservedCollections, last.collections),
        entries: try writer.userData(
          others: journal.others(of:), alsoOf: journal.idsWithOthers, keeping: journal.otherMembers),
        collections: try writer.userCollections().map {
          var collection = $0
          collection.others = journal.others(of: $0.id)
          return collection
        },
        albums: try writer.albums(), otherAlbums: journal.otherAlbums, others: journal.otherLines))
  }

  private func compactJournal(_ database: Database) {
    guard let journal, journal.wantsCompaction else { return }
    do {
      try rewrite(journal, CatalogWriter(connection: database, journal: journal), number: journal.number)
    } catch {
      // A long journal does no harm. The next attempt comes when it has grown by half.
      journal.putOffCompaction()
    }
  }

  private static let isBeingReplaced = PhotoError(
    "catalogReplaced", "The catalog is being replaced. Try again in a moment, when the library is open again.")

  /// Whether the open file has certainly been removed, or another put in its place.
  package var isReplaced: Bool { !isFrozen && file.hasLostItsName }

  // MARK: - Errors of SQLite

  /// Whether the error means that the disk is full.
  package static func isFull(_ error: any Error) -> Bool {
    if let error = error as? PrivateFileError { return error.isFull }
    guard let error = error as? DatabaseError else { return false }
    return error.resultCode == .SQLITE_FULL || error.extendedResultCode == .SQLITE_IOERR_SHMSIZE
  }

  /// Whether the error names its file itself, which may be the journal of user data or a backup.
  package static func namesItsFile(_ error: any Error) -> Bool { error is PrivateFileError }

  /// Whether the error means that the catalog is damaged, or is no catalog at all.
  package static func isDamage(_ error: any Error) -> Bool {
    isNoDatabase(error) || (error as? DatabaseError)?.resultCode == .SQLITE_CORRUPT
  }

  /// Whether the error means that the file does not begin as a database does.
  static func isNoDatabase(_ error: any Error) -> Bool { (error as? DatabaseError)?.resultCode == .SQLITE_NOTADB }

  /// Every use of SQLite by a caller goes through this function, so that damage is noticed.
  func noticing<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch {
      let error = Self.withoutStatement(error)
      if Self.isDamage(error) { damaged.yield("\(error)") }
      throw error
    }
  }

  /// Removes the statement from an error. Status, log and clients get SQLite's message, but not the statement.
  static func withoutStatement(_ error: any Error) -> any Error {
    guard let error = error as? DatabaseError, error.sql != nil else { return error }
    return DatabaseError(resultCode: error.extendedResultCode, message: error.message)
  }

  /// Runs one transaction that is on disk when this returns.
  static func durably<Value>(_ pool: DatabasePool, _ body: (Database) throws -> Value) throws -> Value {
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = FULL")
      defer {
        // If this fails, the setting stays FULL, which is slower but not wrong.
        _ = Result { try database.execute(sql: "PRAGMA synchronous = NORMAL") }
      }
      var value: Value?
      try database.inTransaction(.immediate) {
        value = try body(database)
        return .commit
      }
      return value!
    }
  }
}

/// One state of the catalog, for a reply in several pages.
package final class CatalogSnapshot: Sendable {
  private let snapshot: DatabaseSnapshot
  private let catalog: Catalog

  init(snapshot: DatabaseSnapshot, catalog: Catalog) {
    self.snapshot = snapshot
    self.catalog = catalog
  }

  package func read<Value>(_ body: (CatalogReader) throws -> Value) throws -> Value {
    try catalog.noticing {
      try snapshot.read { database in
        try ReadInterruption.watching(database) { try body(CatalogReader(database: database, catalog: catalog)) }
      }
    }
  }
}
