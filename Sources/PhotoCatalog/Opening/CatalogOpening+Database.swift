import GRDB
import Migrations
import PhotoModel

// The database file: whether it is a catalog, and whether it is intact.
extension CatalogOpening {
  /// Completes a restore that the user started: the restored catalog takes the name of the catalog. If the process ends
  /// in between, the next start continues.
  func finishRestore() throws {
    guard try PrivateFile.certainByteCount(files.restored) != nil else { return }
    try PrivateFile.remove(files.log)
    try PrivateFile.remove(files.index)
    try PrivateFile.rename(files.restored, to: files.catalog)
  }

  mutating func openPool() throws -> DatabasePool {
    let hasJournal = try PrivateFile.certainByteCount(files.journal) != nil
    var byteCount = try PrivateFile.certainByteCount(files.catalog)
    if byteCount == 0, hasJournal, try PrivateFile.certainByteCount(files.log) ?? 0 == 0 {
      // A full disk leaves an empty file while a new catalog is being made. There is nothing in it to keep.
      try files.removeCatalog()
      byteCount = nil
    }
    do {
      // SQLite treats an empty file as a new database. An empty catalog beside a journal of user data was truncated.
      if byteCount == 0, hasJournal {
        throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "the file is empty")
      }
      if byteCount != nil {
        // SQLite also reports damage if a disk can't read a page for a moment. Only damage that is reported twice
        // counts.
        do { return try existingPool(hasJournal) } catch  where Catalog.isDamage(error) {
          return try existingPool(hasJournal)
        }
      }
    } catch  where Catalog.isDamage(error) {
      // A file without these marks may be a photo or a document that was named by mistake. It stays where it is.
      guard hasJournal || files.catalog.hasSuffix(".sqlite") else {
        throw Catalog.isNoDatabase(error) ? noCatalog : error
      }
      damage = (Self.short(error), try files.moveCatalogAside(because: "damaged", date: date))
    }
    try moveLogAside()
    let pool = try Catalog.makePool(files.catalog)
    // The file gets all tables at once, so that no other process sees a part of them.
    try Self.emptyDatabase(lastStep).backup(to: pool)
    return pool
  }

  /// Makes a catalog without a library, in memory.
  ///
  /// - Parameter lastStep: the last step of the schema, if that is not the last one of all.
  static func emptyDatabase(_ lastStep: String?) throws -> DatabaseQueue {
    let empty = try DatabaseQueue(configuration: Catalog.configuration)
    guard lastStep == nil else {
      try migrator(lastStep).migrate(empty)
      return empty
    }
    try empty.write { database in
      try database.execute(sql: Migrations.schema)
      for step in Migrations.steps {
        try database.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES (?)", arguments: [step.name])
      }
    }
    return empty
  }

  private var noCatalog: PhotoError {
    PhotoError("catalogUnreadable", "\(files.catalog) is no catalog. Give another file with --catalog.")
  }

  /// Moves a log without a catalog aside. Otherwise the new catalog would adopt it.
  private mutating func moveLogAside() throws {
    // SQLite rebuilds this file from the log.
    try PrivateFile.remove(files.index)
    guard let aside = try files.moveLogAside(date: date) else { return }
    notices.append(
      (
        "A log of changes was left beside a catalog that is gone. It can't be read without that catalog. It is \(aside).",
        aside
      ))
  }

  private func existingPool(_ hasJournal: Bool) throws -> DatabasePool {
    if try !usesLog() {
      // A pool would switch the database to a log before it is known to be photod's.
      var configuration = Configuration()
      configuration.readonly = true
      let queue = try DatabaseQueue(path: files.catalog, configuration: configuration)
      _ = try queue.read { try isOurs($0, hasJournal) }
      try queue.close()
    }
    let pool = try Catalog.makePool(files.catalog)
    do {
      try pool.read { database in
        guard try !Self.migrator(nil).hasBeenSuperseded(database) else { throw Self.tooNew(files.catalog) }
        let isOurs = try isOurs(database, hasJournal)
        try verify(database, isOurs: isOurs)
      }
      try CatalogUpgrade(files: files, lastStep: lastStep, date: date, onProgress: onProgress).run(pool)
      _ = try pool.read { try read($0) }
      // The check of a suspect catalog covers all tables. Only the data inside of FTS5's own tables can still be
      // damaged.
      if lastStep == nil, try pool.read({ try !TextIndex.isOfTheseRules($0) }) || isSuspect {
        try pool.write { if try !TextIndex.isOfTheseRules($0) || !TextIndex.isWhole($0) { try TextIndex.reset($0) } }
      }
      return pool
    } catch {
      // A pool that can't be closed is abandoned.
      _ = Result { try pool.close() }
      if let error = error as? DatabaseError, Self.lacksTables(error) {
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: error.message)
      }
      throw error
    }
  }

  /// Whether tables or columns are missing, which is damage in a catalog. SQLite has no code for it, and its general code
  /// has other causes, too.
  private static func lacksTables(_ error: DatabaseError) -> Bool {
    guard error.resultCode == .SQLITE_ERROR, let message = error.message else { return false }
    return message.contains("no such table") || message.contains("no such column")
      || message.contains("has no column named")
  }

  /// - Throws: ``PhotoError`` `catalogUnreadable` if the database belongs to another program.
  private func isOurs(_ database: Database, _ hasJournal: Bool) throws -> Bool {
    let isOurs = try database.tableExists("grdb_migrations") && database.tableExists("library")
    guard try isOurs || hasJournal || Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0 else {
      throw PhotoError(
        "catalogUnreadable", "\(files.catalog) is a database of another program. Give another file with --catalog.")
    }
    return isOurs
  }

  /// Whether the database uses a log (WAL). Byte 18 tells it
  /// (https://www.sqlite.org/fileformat.html#file_format_version_numbers).
  private func usesLog() throws -> Bool {
    let header = try PrivateFile.read(files.catalog, first: 20) ?? []
    return header.count == 20 && header[18] == 2
  }

  /// Checks the catalog if it is suspect or was not closed in order. `quick_check` reads every page, which shows what a
  /// broken disk or another program destroyed.
  private func verify(_ database: Database, isOurs: Bool) throws {
    let isClean = try isOurs && Bool.fetchOne(database, sql: "SELECT is_clean FROM library") ?? false
    guard isSuspect || !isClean else { return }
    let report = try String.fetchOne(database, sql: isSuspect ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)")
    guard report == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report) }
  }

  /// - Parameter check: Called with the name of a step when it begins, and every few milliseconds during the step. If
  ///   it throws, the step is rolled back.
  static func migrator(
    _ lastStep: String?, check: @escaping @Sendable (String) throws -> Void = { _ in }
  ) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for step in Migrations.steps {
      migrator.registerMigration(step.name) { database in
        try check(step.name)
        try CatalogUpgrade.interruptible(database, by: { try check(step.name) }) {
          try database.execute(sql: step.sql)
        }
      }
      if step.name == lastStep { break }
    }
    return migrator
  }

  static func tooNew(_ path: String) -> PhotoError {
    PhotoError(
      "catalogTooNew",
      "The catalog \(path) was written by a newer photod. Install that version again, or give another file with --catalog."
    )
  }

  static func short(_ error: any Error) -> String {
    Catalog.oneLine((error as? DatabaseError)?.message ?? "\(error)")
  }

  /// The sequence of the last commit in the history.
  static func sequence(_ database: Database) throws -> Int64 {
    try Int64.fetchOne(database, sql: "SELECT ifnull(max(sequence), 0) FROM history") ?? 0
  }

  func read(_ database: Database) throws -> Row? {
    let number = lastStep == nil ? "journal_number" : "0"
    return try GRDB.Row.fetchOne(
      database,
      sql: "SELECT uuid, epoch, \(number), ifnull((SELECT max(sequence) FROM history), 0), "
        + "is_clean = 0 AND (boot_id <> ? OR boot_id = ?) FROM library",
      arguments: [bootID, Catalog.unknownBootID]
    ).map { Row(uuid: $0[0], epoch: $0[1], number: $0[2], sequence: $0[3], mayLackCommits: $0[4]) }
  }

  func openWithoutJournal(_ pool: DatabasePool, _ row: Row?) throws -> (String, Int64) {
    let (uuid, epoch) = (row?.uuid ?? Self.newName(), row.map { $0.mayLackCommits ? $0.epoch + 1 : $0.epoch } ?? 1)
    try pool.write { database in
      try database.execute(
        sql: "INSERT OR REPLACE INTO library (id, uuid, epoch, boot_id, is_clean) VALUES (1, ?, ?, ?, 0)",
        arguments: [uuid, epoch, bootID])
    }
    return (uuid, epoch)
  }
}
