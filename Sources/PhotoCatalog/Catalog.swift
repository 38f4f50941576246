import GRDB
import Glibc
import PhotoModel
import Synchronization

/// The SQLite database of one library: the only place with SQL.
///
/// One writer beside many readers (WAL). Every method blocks; the `Library` actor, whose executor may be blocked, is the
/// only writer.
package final class Catalog: Sendable {
  /// Which library this is, and of which epoch its tokens are.
  package let uuid: String
  package let epoch: Int64

  package let files: CatalogFiles
  /// SQLite says that the catalog is damaged: an element each time, the newest kept. It can't be used much longer.
  package let damage: AsyncStream<String>
  let damaged: AsyncStream<String>.Continuation

  let pool: DatabasePool
  /// Used by write transactions alone, of which there is one at a time; nil for a schema that knows of none.
  nonisolated(unsafe) let journal: UserDataJournal?
  private let hook: @Sendable (UserDataJournal.Step) throws -> Void
  /// Another catalog is about to take the place of this one: what was written now would be lost.
  let frozen = Atomic(false)
  package var isFrozen: Bool { frozen.load(ordering: .acquiring) }
  /// About the bytes that came to history since it was last measured, or the catalog was opened.
  let historyGrowth = Atomic(0)
  let file: HeldFile

  /// Opens the catalog, or makes it with its directory (0700); brings an older schema up to date. One that is damaged is
  /// moved aside and made anew from the journal of user data beside it (see ``CatalogOpening``).
  ///
  /// The epoch rises when the catalog was not closed in order before the machine went down: SQLite may then have lost
  /// its last commits (`synchronous = NORMAL`), and tokens that speak of them must not be believed; and when the catalog
  /// is made anew, restored, or found to be an older copy.
  ///
  /// - Parameters:
  ///   - lastStep: of the schema, by name, for tests of what an older photod left behind.
  ///   - isSuspect: it failed while it was in use: every page and index is verified.
  /// - Throws: ``PhotoError`` `catalogUnreadable` or `catalogTooNew`.
  package convenience init(
    path: String, bootID: String = Catalog.currentBootID(), lastStep: String? = nil, isSuspect: Bool = false
  ) throws {
    try self.init(path: path, bootID: bootID, lastStep: lastStep, isSuspect: isSuspect) { _ in }
  }

  /// - Parameter hook: called before each step, where a test makes it fail.
  init(
    path: String, bootID: String = Catalog.currentBootID(), lastStep: String? = nil, isSuspect: Bool = false,
    date: Int64 = CatalogFiles.now(), hook: @escaping @Sendable (UserDataJournal.Step) throws -> Void
  ) throws {
    files = CatalogFiles(catalog: path)
    self.hook = hook
    (damage, damaged) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    do {
      var opening = CatalogOpening(
        files: files, bootID: bootID, lastStep: lastStep, isSuspect: isSuspect, date: date, hook: hook)
      let opened = try opening.open()
      (pool, uuid, epoch, journal) = (opened.pool, opened.uuid, opened.epoch, opened.journal)
      file = try HeldFile(path)
    } catch let error as PhotoError {
      throw error
    } catch {
      throw PhotoError(
        "catalogUnreadable",
        "The catalog \(path) can't be opened. Check that its folder is yours and has room.",
        cause: Self.withoutStatement(error))
    }
  }

  static func makePool(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.label = "catalog"
    configuration.maximumReaderCount = 8
    configuration.prepareDatabase { database in
      // A first scan writes the pages of its indexes again and again: the WAL takes 16 MB before they are copied.
      try database.execute(
        sql: """
          PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY;
          PRAGMA wal_autocheckpoint = 4000
          """)
      try SQLFunctions.register(in: database)
    }
    return try DatabasePool(path: path, configuration: configuration)
  }

  /// Of a boot that can't be told from another.
  static let unknownBootID = "unknown"

  /// The kernel's name of the running boot (random(4)).
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

  /// One transaction. Readers see all of it or none.
  ///
  /// What a person typed, and the places of files that have such words, go to the journal before COMMIT: what is
  /// acknowledged is there, even if SQLite loses the commit when the power fails (it never breaks).
  ///
  /// - Parameter durable: what goes to the journal is on disk before COMMIT.
  package func write<Value>(durable: Bool = false, _ body: (CatalogWriter) throws -> Value) throws -> Value {
    try noticing {
      try pool.writeWithoutTransaction { database in
        var value: Value?
        var change = JournalChange.none
        do {
          var historyBytes = 0
          try database.inTransaction(.immediate) {
            guard !isFrozen else { throw Self.isBeingReplaced }
            let writer = CatalogWriter(connection: database, journal: journal)
            value = try body(writer)
            historyBytes = writer.historyBytes
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
        compactJournal(database)
        if durable, isReplaced { damaged.yield("the file is gone") }
        return value!
      }
    }
  }

  /// Reads in one snapshot, beside the writer.
  package func read<Value>(_ body: (CatalogReader) throws -> Value) throws -> Value {
    try noticing { try pool.read { try body(CatalogReader(database: $0, catalog: self)) } }
  }

  /// A snapshot that stays as it is for any number of reads. It holds a connection and keeps the WAL from shrinking: let
  /// go of it soon.
  package func snapshot() throws -> CatalogSnapshot {
    try noticing {
      let snapshot = try pool.makeSnapshot()
      // Each client that reads a long list has one: a list is passed through once, and little of it is met again.
      try snapshot.read { try $0.execute(sql: "PRAGMA cache_size = -4000") }
      return CatalogSnapshot(snapshot: snapshot, catalog: self)
    }
  }

  /// `PRAGMA integrity_check`: "ok", or what is damaged.
  package func integrityReport() throws -> String {
    try noticing { try pool.read { try String.fetchAll($0, sql: "PRAGMA integrity_check").joined(separator: "\n") } }
  }

  /// Marks the catalog as closed in order and closes it. All of it is in its one file then, so that it can be copied.
  package func close() throws {
    let marked = Result { try markClosed() }
    // Where somebody still reads, or the disk is full, the log stays: the next opening has both.
    _ = Result { try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
    try noticing {
      try pool.close()
      try marked.get()
    }
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

  // MARK: - The journal

  private enum JournalChange {
    case none, appended
    /// Or it was tried; with the number that it had before.
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
      // Before it is tried: where it fails, the new one may have the name already.
      change = .rewritten(from: journal.number)
      try rewrite(journal, writer, number: journal.number + 1)
    } else {
      try journal.append(records, durable: durable || reserves)
      change = .appended
    }
    let update = try RawStatement(writer.database, "UPDATE library SET journal_number = ?")
    update.bind(1, journal.number)
    try update.run()
  }

  /// The transaction failed: what it wrote to the journal must not be believed.
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
    try journal.rewrite(
      UserDataJournal.State(
        library: uuid, epoch: epoch, number: number, reservedAssets: max(journal.reservedAssets, last.assets),
        reservedCollections: max(journal.reservedCollections, last.collections),
        entries: try writer.userData(others: journal.others(of:), alsoOf: journal.idsWithOthers),
        others: journal.otherLines))
  }

  private func compactJournal(_ database: Database) {
    guard let journal, journal.wantsCompaction else { return }
    do {
      try rewrite(journal, CatalogWriter(connection: database, journal: journal), number: journal.number)
    } catch {
      // The long one is as good.
      journal.putOffCompaction()
    }
  }

  private static let isBeingReplaced = PhotoError(
    "catalogReplaced", "The catalog is being replaced. Try again in a moment, when the library is open again.")

  /// Somebody certainly removed the file that is open, or put another in its place.
  package var isReplaced: Bool { !isFrozen && file.hasLostItsName }

  // MARK: - What SQLite says

  /// Whether this says that the disk is full.
  package static func isFull(_ error: any Error) -> Bool {
    if let error = error as? PrivateFileError { return error.isFull }
    guard let error = error as? DatabaseError else { return false }
    return error.resultCode == .SQLITE_FULL || error.extendedResultCode == .SQLITE_IOERR_SHMSIZE
  }

  /// Whether this says itself which file it is about: maybe the journal of user data, or a backup.
  package static func namesItsFile(_ error: any Error) -> Bool { error is PrivateFileError }

  /// Whether this says that the catalog is damaged, or no catalog at all.
  package static func isDamage(_ error: any Error) -> Bool {
    guard let error = error as? DatabaseError else { return false }
    return error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB
  }

  /// Everything that a caller asks of SQLite goes through this.
  func noticing<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch {
      let error = Self.withoutStatement(error)
      if Self.isDamage(error) { damaged.yield("\(error)") }
      throw error
    }
  }

  /// What goes to the status, the log and clients says what SQLite says, not what it was asked.
  static func withoutStatement(_ error: any Error) -> any Error {
    guard let error = error as? DatabaseError, error.sql != nil else { return error }
    return DatabaseError(resultCode: error.extendedResultCode, message: error.message)
  }

  /// One transaction that is on disk when it returns.
  static func durably<Value>(_ pool: DatabasePool, _ body: (Database) throws -> Value) throws -> Value {
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = FULL")
      defer {
        // Where this fails it stays FULL: slower, not wrong.
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
    try catalog.noticing { try snapshot.read { try body(CatalogReader(database: $0, catalog: catalog)) } }
  }
}
