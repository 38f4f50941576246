import GRDB
import Migrations
import PhotoModel

// The catalog's own file: whether it is one, and whole.
extension CatalogOpening {
  /// A person decided for another catalog, and it is ready: it takes the name. What is done of it stays done if this ends
  /// in between.
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
      // A disk that was full leaves this where a new one was to be made. It holds nothing that could be kept.
      try files.removeCatalog()
      byteCount = nil
    }
    do {
      // SQLite takes an empty file for a new database; one beside a journal and with a log was cut off.
      if byteCount == 0, hasJournal {
        throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "the file is empty")
      }
      if byteCount != nil {
        // SQLite also says so of a page that a disk could not read for a moment: what is damaged is so twice.
        do { return try existingPool(hasJournal) } catch  where Catalog.isDamage(error) {
          return try existingPool(hasJournal)
        }
      }
    } catch  where Catalog.isDamage(error) && (hasJournal || files.catalog.hasSuffix(".sqlite")) {
      damage = (Self.short(error), try files.moveCatalogAside(because: "damaged", date: date))
    }
    try moveLogAside()
    let pool = try Catalog.makePool(files.catalog)
    try Self.migrator(lastStep).migrate(pool)
    return pool
  }

  /// A log without its catalog would be taken for the new one's.
  private mutating func moveLogAside() throws {
    // SQLite makes it anew.
    try PrivateFile.remove(files.index)
    guard let aside = try files.moveLogAside(date: date) else { return }
    notices.append(
      (
        "A log of changes was left beside a catalog that is gone: nothing can be read from it alone. It is \(aside).",
        aside
      ))
  }

  private func existingPool(_ hasJournal: Bool) throws -> DatabasePool {
    if try !usesLog() {
      // A pool would make it one with a log, before it is known whose it is.
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
      try Self.migrator(lastStep).migrate(pool)
      _ = try pool.read { try read($0) }
      // Where it is suspect, all tables are whole. What is left to be damaged is what FTS5 keeps in its own.
      if lastStep == nil, try pool.read({ try !TextIndex.isOfTheseRules($0) }) || isSuspect {
        try pool.write { if try !TextIndex.isOfTheseRules($0) || !TextIndex.isWhole($0) { try TextIndex.reset($0) } }
      }
      return pool
    } catch {
      // What can't be closed is let go of.
      _ = Result { try pool.close() }
      // Tables that should be there and are not: that is damage here.
      if let error = error as? DatabaseError, error.resultCode == .SQLITE_ERROR {
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: error.message)
      }
      throw error
    }
  }

  /// - Throws: for a database of another program.
  private func isOurs(_ database: Database, _ hasJournal: Bool) throws -> Bool {
    let isOurs = try database.tableExists("grdb_migrations") && database.tableExists("library")
    guard try isOurs || hasJournal || Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0 else {
      throw PhotoError(
        "catalogUnreadable", "\(files.catalog) is a database of another program. Name another file with --catalog.")
    }
    return isOurs
  }

  /// Byte 18 of the file (https://www.sqlite.org/fileformat.html#file_format_version_numbers).
  private func usesLog() throws -> Bool {
    let header = try PrivateFile.read(files.catalog, first: 20) ?? []
    return header.count == 20 && header[18] == 2
  }

  /// After an unclean end: of the file, every page is looked at (quick_check), which is what a broken disk or a stranger's
  /// write shows in.
  private func verify(_ database: Database, isOurs: Bool) throws {
    let isClean = try isOurs && Bool.fetchOne(database, sql: "SELECT is_clean FROM library") ?? false
    guard isSuspect || !isClean else { return }
    let report = try String.fetchOne(database, sql: isSuspect ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)")
    guard report == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report) }
  }

  static func migrator(_ lastStep: String?) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for step in Migrations.steps {
      migrator.registerMigration(step.name) { try $0.execute(sql: step.sql) }
      if step.name == lastStep { break }
    }
    return migrator
  }

  static func tooNew(_ path: String) -> PhotoError {
    PhotoError(
      "catalogTooNew",
      "The catalog \(path) was written by a newer photod. Install that version again, or name another file with --catalog."
    )
  }

  static func short(_ error: any Error) -> String {
    Catalog.oneLine((error as? DatabaseError)?.message ?? "\(error)")
  }

  func read(_ database: Database) throws -> Row? {
    let number = lastStep == nil ? "journal_number" : "0"
    return try GRDB.Row.fetchOne(
      database, sql: "SELECT uuid, epoch, \(number), is_clean = 0 AND (boot_id <> ? OR boot_id = ?) FROM library",
      arguments: [bootID, Catalog.unknownBootID]
    ).map { Row(uuid: $0[0], epoch: $0[1], number: $0[2], mayLackCommits: $0[3]) }
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
