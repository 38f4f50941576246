import GRDB
import Migrations
import PhotoModel

/// Opens a catalog and its journal of user data so that both agree, whatever became of either.
///
///     catalog      journal        what is done
///     whole        agrees         go on
///     whole        is ahead       what the catalog lacks is written to it; more than a crash explains: it is an older copy
///     whole        behind, gone   the journal is written anew
///     whole        damaged        what can be read of the newest is used, then it is written anew
///     damaged      any            the catalog is moved aside, then as the next
///     gone         any            a new catalog, with the journal's name and its entries as tombstones
///     gone         gone           a new library
struct CatalogOpening {
  let files: CatalogFiles
  let bootID: String
  /// Of the schema; before the last, there is no journal.
  let lastStep: String?
  /// It failed while it was in use: it is looked at in full.
  let isSuspect: Bool
  /// Microseconds since 1970.
  let date: Int64
  let hook: @Sendable (UserDataJournal.Step) throws -> Void

  struct Opened {
    let pool: DatabasePool
    let uuid: String
    let epoch: Int64
    let journal: UserDataJournal?
  }

  private struct Row {
    var uuid: String
    var epoch: Int64
    var number: Int64
    /// It was not closed, and the machine went down meanwhile, or may have: the last commits may be lost.
    var mayLackCommits: Bool
  }

  /// Why the catalog was moved aside, and where to.
  private var damage: (why: String, aside: String?)?
  /// What a person is told.
  private var notices: [(message: String, file: String?)] = []
  /// Second names of the journal that this opening made.
  private var keptJournals: [String] = []

  init(
    files: CatalogFiles, bootID: String, lastStep: String?, isSuspect: Bool, date: Int64,
    hook: @escaping @Sendable (UserDataJournal.Step) throws -> Void
  ) {
    self.files = files
    self.bootID = bootID
    self.lastStep = lastStep
    self.isSuspect = isSuspect
    self.date = date
    self.hook = hook
  }

  mutating func open() throws -> Opened {
    try finishRestore()
    let pool = try openPool()
    let row = try pool.read { try read($0) }
    guard lastStep == nil else {
      let (uuid, epoch) = try openWithoutJournal(pool, row)
      return Opened(pool: pool, uuid: uuid, epoch: epoch, journal: nil)
    }
    let contents = try UserDataJournal.read(files.journal, after: row?.number ?? .max)
    let found = contents == nil ? nil : try HeldFile(files.journal)
    do {
      return try agree(pool, row, contents)
    } catch {
      // It is tried again and again while a disk is full. Where the journal is still the one that was found, nothing else
      // is needed of it.
      if found?.hasItsName == true { _ = Result { for kept in keptJournals { try PrivateFile.remove(kept) } } }
      throw error
    }
  }

  private mutating func agree(_ pool: DatabasePool, _ row: Row?, _ contents: UserDataContents?) throws -> Opened {
    try Catalog.durably(pool) { database in
      let writer = CatalogWriter(connection: database)
      let opened =
        if let row { try agree(pool, row, contents, writer) } else { try rebuild(pool, contents, writer) }
      try database.execute(
        sql: "UPDATE library SET epoch = ?, boot_id = ?, is_clean = 0, journal_number = ?",
        arguments: [opened.epoch, bootID, opened.journal?.number ?? 0])
      for notice in notices {
        try database.execute(
          sql: "INSERT INTO notice (date, message, file) VALUES (?, ?, ?)",
          arguments: [date, notice.message, notice.file])
      }
      return opened
    }
  }

  // MARK: - The database

  /// A person decided for another catalog, and it is ready: it takes the name. What is done of it stays done if this ends
  /// in between.
  private func finishRestore() throws {
    guard try PrivateFile.certainByteCount(files.restored) != nil else { return }
    try PrivateFile.remove(files.log)
    try PrivateFile.remove(files.index)
    try PrivateFile.rename(files.restored, to: files.catalog)
  }

  private mutating func openPool() throws -> DatabasePool {
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
    // A log without its database is of no use, and would be taken for the new one's.
    for path in [files.log, files.index] { try PrivateFile.remove(path) }
    let pool = try Catalog.makePool(files.catalog)
    try Self.migrator(lastStep).migrate(pool)
    return pool
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

  private static func short(_ error: any Error) -> String {
    (error as? DatabaseError)?.message ?? "\(error)"
  }

  private func read(_ database: Database) throws -> Row? {
    let number = lastStep == nil ? "journal_number" : "0"
    return try GRDB.Row.fetchOne(
      database, sql: "SELECT uuid, epoch, \(number), is_clean = 0 AND (boot_id <> ? OR boot_id = ?) FROM library",
      arguments: [bootID, Catalog.unknownBootID]
    ).map { Row(uuid: $0[0], epoch: $0[1], number: $0[2], mayLackCommits: $0[3]) }
  }

  private func openWithoutJournal(_ pool: DatabasePool, _ row: Row?) throws -> (String, Int64) {
    let (uuid, epoch) = (row?.uuid ?? Self.newName(), row.map { $0.mayLackCommits ? $0.epoch + 1 : $0.epoch } ?? 1)
    try pool.write { database in
      try database.execute(
        sql: "INSERT OR REPLACE INTO library (id, uuid, epoch, boot_id, is_clean) VALUES (1, ?, ?, ?, 0)",
        arguments: [uuid, epoch, bootID])
    }
    return (uuid, epoch)
  }

  // MARK: - The catalog and its journal

  /// A catalog that is whole.
  private mutating func agree(
    _ pool: DatabasePool, _ row: Row, _ contents: UserDataContents?, _ writer: CatalogWriter
  ) throws -> Opened {
    var contents = contents
    if let other = contents, let library = other.library, library != row.uuid {
      let aside = try files.keepJournal(because: "other", date: date)
      keptJournals.append(aside)
      notices.append(
        ("The journal of user data beside the catalog was another library's. It is kept as \(aside).", aside))
      contents = nil
    }
    if let contents, contents.isDamaged { try keepDamagedJournal(contents) }
    var (isOlder, lackedSome) = (false, false)
    if let contents { (isOlder, lackedSome) = try catchUp(contents, row, writer) }
    let mayLackCommits = isOlder || row.mayLackCommits
    let epoch = mayLackCommits ? max(row.epoch, contents?.epoch ?? 0) + 1 : row.epoch
    if mayLackCommits, let contents {
      // Ids that the lost commits gave must not be given to others.
      try writer.reserve(assets: contents.reservedAssets, collections: contents.reservedCollections)
    }
    if isOlder, lackedSome {
      notices.append(
        (
          "The catalog was older than what was typed since: it was brought up to date from the journal. Clients load anew.",
          nil
        ))
    }
    let goesOn = contents.map { !$0.isDamaged && $0.number >= row.number } ?? false
    let journal: UserDataJournal
    if let contents, goesOn {
      journal = try UserDataJournal(files.journal, continuing: contents, hook: hook)
      try journal.append([.opened(epoch: epoch)], durable: true)
    } else {
      let number = max(row.number, contents?.number ?? 0) + 1
      journal = try newJournal(row.uuid, epoch, number, contents, writer)
    }
    return Opened(pool: pool, uuid: row.uuid, epoch: epoch, journal: journal)
  }

  /// Writes to the catalog what the journal has and it lacks.
  ///
  /// - Returns: whether the catalog is further behind than a process that was killed leaves it, so that it is a copy of
  ///   another day; and whether it lacked anything.
  private func catchUp(_ contents: UserDataContents, _ row: Row, _ writer: CatalogWriter) throws -> (
    isOlder: Bool, lackedSome: Bool
  ) {
    guard contents.number > row.number else { return (contents.epoch > row.epoch, false) }
    var record = CommitRecord()
    let isMissingBase = contents.baseNumber > row.number
    var entries: [UserDataEntry] = []
    if isMissingBase {
      entries = Array(contents.entries.values)
      // What the journal doesn't have, was taken back since; one that is damaged proves nothing.
      if !contents.isDamaged {
        for var held in try writer.userData(others: { _ in [] }, alsoOf: []) where contents.entries[held.id] == nil {
          (held.isFavorite, held.isHidden) = (false, false)
          entries.append(held)
        }
      }
    } else {
      for case .asset(let entry) in contents.newer.flatMap(\.records) { entries.append(entry) }
    }
    for entry in entries { try writer.apply(entry, &record) }
    if !record.isEmpty { _ = try writer.append(record, origin: "client:unknown", date: date) }
    let isOneRequest =
      contents.newer.count == 1
      && contents.newer[0].records.allSatisfy {
        switch $0 {
        case .asset, .moved, .ids: true
        case .library, .opened, .closed, .all, .other: false
        }
      }
    return (isMissingBase || !isOneRequest || contents.epoch > row.epoch, !entries.isEmpty)
  }

  /// A catalog without a library: a new one, with what the journal says.
  private mutating func rebuild(
    _ pool: DatabasePool, _ contents: UserDataContents?, _ writer: CatalogWriter
  ) throws -> Opened {
    noteRebuild(contents)
    if let contents, contents.isDamaged { try keepDamagedJournal(contents) }
    let uuid = contents?.library ?? Self.newName()
    let epoch = (contents?.epoch ?? 0) + 1
    try writer.database.execute(
      sql: "INSERT INTO library (id, uuid, epoch, boot_id, is_clean) VALUES (1, ?, ?, ?, 0)",
      arguments: [uuid, epoch, bootID])
    if let contents {
      try writer.reserve(assets: contents.reservedAssets, collections: contents.reservedCollections)
      var record = CommitRecord()
      for entry in contents.entries.values { try writer.apply(entry, &record) }
    }
    let journal = try newJournal(uuid, epoch, (contents?.number ?? 0) + 1, contents, writer)
    return Opened(pool: pool, uuid: uuid, epoch: epoch, journal: journal)
  }

  /// Says what becomes of what was typed, and what else there is to go back to.
  private mutating func noteRebuild(_ contents: UserDataContents?) {
    let count = contents?.entries.count ?? 0
    let isAllThere = contents?.isDamaged == false
    // A first start, or one after nothing was typed.
    guard damage != nil || count > 0 || (!isAllThere && (contents != nil || files.newestBackup != nil)) else { return }
    var fate =
      switch (count, contents) {
      case (0, nil): "what you typed is not in it, as there was no journal of user data."
      case (0, _) where isAllThere: "nothing that you typed is lost: the journal of user data holds nothing."
      case (0, _): "what you typed is not in it, as nothing of it could be read from the journal."
      default: "what you typed for \(counted(count, "photo", "photos")) comes back from the journal as files are found."
      }
    if !isAllThere {
      fate +=
        files.newestBackup.map { " The newest backup is \($0); `photoctl restore '\($0)'` goes back to it." }
        ?? " There is no backup."
    }
    if let damage {
      notices.append(
        (
          "The catalog was damaged (\(damage.why)) and was made anew; \(fate) The damaged one is \(damage.aside ?? "gone"). "
            + "`photoctl check` takes this warning away.", damage.aside
        ))
    } else {
      notices.append(("The catalog was gone and was made anew; \(fate) `photoctl check` takes this warning away.", nil))
    }
  }

  private func newJournal(
    _ uuid: String, _ epoch: Int64, _ number: Int64, _ contents: UserDataContents?, _ writer: CatalogWriter
  ) throws -> UserDataJournal {
    let last = try writer.lastIDs()
    let entries = contents?.entries ?? [:]
    let state = UserDataJournal.State(
      library: uuid, epoch: epoch, number: number, reservedAssets: max(last.assets, contents?.reservedAssets ?? 0),
      reservedCollections: max(last.collections, contents?.reservedCollections ?? 0),
      entries: try writer.userData(others: { entries[$0]?.others ?? [] }, alsoOf: entries.keys),
      others: contents?.others ?? [])
    return try UserDataJournal(writing: state, to: files.journal, hook: hook)
  }

  private mutating func keepDamagedJournal(_ contents: UserDataContents) throws {
    let aside = try files.keepJournal(because: "damaged", date: date)
    keptJournals.append(aside)
    notices.append(
      (
        "The journal of user data was damaged; "
          + (contents.readableLineCount == 0 ? "nothing of it could be read." : "what could be read of it was used.")
          + " The damaged one is \(aside).", aside
      ))
  }

  private static func newName() -> String {
    let hex = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - hex.count) + hex
  }
}
