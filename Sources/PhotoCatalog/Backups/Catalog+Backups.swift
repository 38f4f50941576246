import GRDB
import Glibc
import PhotoModel

// Copies of the catalog, and the replacement of the catalog by a copy. SQLite's online backup copies one snapshot page
// by page, while the writer continues (https://www.sqlite.org/backup.html).

extension Catalog {
  /// How many of the newest daily backups are kept.
  static let keptDaily = 7
  /// For how many of the weeks before these one backup each is kept.
  static let keptWeekly = 4

  /// Copies the catalog to a new file. The copy is verified before it gets its name.
  ///
  /// - Parameters:
  ///   - path: nil for a file in the folder of backups, with the date in its name.
  ///   - date: the date in the name.
  /// - Throws: ``BackupError``.
  package func backup(to path: String?, date: WallTime = .now) throws -> BackupReport {
    let target =
      path ?? CatalogFiles.free { files.backup(CatalogFiles.text(date) + $0) }
    return try translatingErrors(target) {
      if path == nil { try files.makeBackupsFolder() }
      guard !PrivateFile.exists(target) else {
        throw BackupError.cannotWrite(
          path: target, message: "\(target) exists already. Choose a file that does not exist.")
      }
      try copy(to: target) { try PrivateFile.renameWithoutReplacing($0, to: $1) }
      return try report(target)
    }
  }

  /// Makes the backup of the day, which replaces an earlier one of that day. When it exists, the superfluous daily
  /// backups are removed (``superfluous(_:)``).
  ///
  /// - Returns: nil if nothing was committed since the last backup.
  package func dailyBackup(date: WallTime = .now) throws -> BackupReport? {
    try translatingErrors(files.backups) {
      try files.makeBackupsFolder()
      try TemporaryFile.removeAll(in: files.backups, ofTarget: files.isBackup)
      if let last = try dailyBackups(at: date).past.first,
        try Self.state(of: last.path) == read({ try Self.state($0.database) })
      {
        return nil
      }
      let path = files.backup(String(CatalogFiles.text(date).prefix(10)))
      try copy(to: path) { try PrivateFile.rename($0, to: $1) }
      let (past, future) = try dailyBackups(at: date)
      for path in Self.superfluous(past + future) { try PrivateFile.remove(path) }
      return try report(path)
    }
  }

  /// Whether the newest daily backup was made within the last 24 hours.
  ///
  /// A backup with a date up to a day in the future counts, because the clock of a file server may be ahead. If its date is
  /// later, either clock was wrong. It then counts only on the day in its name. Otherwise a file server whose clock is days
  /// ahead would cause a backup each minute.
  package func hasFreshBackup(at date: WallTime) throws -> Bool {
    let today = Self.dayNumber(date)
    return try dailyBackups(at: date).past.contains { backup in
      let age = date - (try PrivateFile.date(of: backup.path))
      return age <= -Self.day ? backup.day == today : age < Self.day
    }
  }

  /// The number of a day in UTC, as the names of daily backups have it.
  private static func dayNumber(_ date: WallTime) -> Int { Int(date.microseconds / 86_400_000_000) }

  private static let day = Duration.seconds(86_400)

  /// The backups in the folder of backups, newest first. A backup that is removed meanwhile is left out.
  package func backups() throws -> [BackupReport] {
    try translatingErrors(files.backups) {
      try files.backupPaths().compactMap { path in
        try WorkBudget.check()
        do { return try report(path) } catch  where !PrivateFile.exists(path) { return nil }
      }.sorted { $0.date.microseconds > $1.date.microseconds }
    }
  }

  // MARK: - Restoring

  /// Verifies a copy of a backup, and prepares it to be the catalog: the next opening puts it in the catalog's place.
  /// After that, nothing can be written to the open catalog.
  ///
  /// - Throws: ``BackupError``. If the preparation failed, the open catalog can be written again.
  package func prepareRestore(from path: String, date: WallTime = .now) throws -> RestoreReport {
    try translatingErrors(files.restored) {
      guard !file.isAlso(path) else {
        throw BackupError.notABackup(path: path, message: "\(path) is the catalog itself. Choose a backup of it.")
      }
      try requireRoom(toRestore: path)
      let temporary = try TemporaryFile(beside: files.restored)
      defer { _ = Result { try temporary.remove() } }
      try Self.copyDatabase(path, to: temporary)
      try Self.verifyBackup(temporary.path, named: path)
      let number = try freeze()
      do {
        let previous = try backup(to: nil, date: date)
        let counts = try prepare(temporary.path, isOtherState: true, number: number)
        try PrivateFile.rename(temporary.path, to: files.restored)
        return RestoreReport(path: path, assetCount: counts.assets, userDataCount: counts.typed, previous: previous)
      } catch {
        frozen.store(false, ordering: .releasing)
        throw error
      }
    }
  }

  /// Rescues a catalog whose file another program removed or replaced while photod had it open. SQLite can still read
  /// the removed file. It is copied to a new file, which the next opening puts in the catalog's place. So all data
  /// stays.
  ///
  /// - Returns: the new path of the file that was in the catalog's place, or nil if there was none. A notice also
  ///   reports this path.
  @discardableResult
  package func rescue(date: WallTime = .now) throws -> String? {
    try translatingErrors(files.restored) {
      let number = try freeze()
      do {
        let temporary = try copy(beside: files.restored, onlyFromWhatIsOpen: true)
        defer { _ = Result { try temporary.remove() } }
        let aside = try files.nameForOtherFile(date: date)
        var notices: [(message: String, file: String)] = []
        if let aside {
          notices.append(
            (
              "Another file was put in the catalog's place while photod had that open. photod continued with its "
                + "own, and moved the other to \(aside). If that is a catalog, `photoctl restore \(ShellWord.inQuotes(aside))` uses it.",
              aside
            ))
        }
        _ = try prepare(temporary.path, isOtherState: false, number: number, notices)
        if let aside { try PrivateFile.rename(files.catalog, to: aside) }
        do { try PrivateFile.rename(temporary.path, to: files.restored) } catch {
          // The other file gets its name back, so that the next attempt finds and reports it.
          if let aside { try PrivateFile.rename(aside, to: files.catalog) }
          throw error
        }
        return aside
      } catch {
        frozen.store(false, ordering: .releasing)
        throw error
      }
    }
  }

  /// Refuses all further writes to the open catalog.
  ///
  /// - Returns: the journal number for the next catalog. It is larger than that of any batch in the journal of user
  ///   data. So the next opening does not take the journal's entries for data that the catalog lacks, and writes a new
  ///   journal.
  private func freeze() throws -> Int64 {
    try pool.write { _ in
      guard !frozen.exchange(true, ordering: .acquiringAndReleasing) else {
        throw BackupError.busy(message: "The catalog is being replaced already. Try again in a moment.")
      }
      return (journal?.number ?? 0) + 1000
    }
  }

  /// Prepares a copy to be the next catalog: it gets the newest schema, the reserved ids, the epoch and the journal
  /// number.
  ///
  /// - Parameters:
  ///   - isOtherState: whether the copy is of another state than the open catalog. If it is, the epoch rises, so that
  ///     clients load their lists again.
  ///   - number: the result of ``freeze()``.
  private func prepare(
    _ path: String, isOtherState: Bool, number: Int64, _ notices: [(message: String, file: String)] = []
  ) throws -> (assets: Int, typed: Int) {
    let reserved = (journal?.reservedAssets ?? 0, journal?.reservedCollections ?? 0)
    return try Self.withQueue(path) { queue in
      try CatalogOpening.migrator(nil).migrate(queue)
      return try queue.write { database in
        let writer = CatalogWriter(connection: database)
        try writer.reserve(assets: reserved.0, collections: reserved.1)
        if isOtherState { try database.execute(sql: "DELETE FROM notice") }
        for notice in notices {
          try database.execute(
            sql: "INSERT INTO notice (date, message, file) VALUES (?, ?, ?)",
            arguments: [WallTime.now.microseconds, notice.message, notice.file])
        }
        try database.execute(
          sql: "UPDATE library SET epoch = max(epoch, ?) + ?, boot_id = ?, is_clean = 1, journal_number = ?",
          arguments: [epoch, isOtherState ? 1 : 0, Self.currentBootID(), number])
        // The count excludes the user data of deleted photos, because the user would not find these photos.
        let typed = try Int.fetchOne(
          database,
          sql: """
            SELECT count(*) FROM asset WHERE is_favorite OR is_hidden OR id IN (SELECT asset_id FROM asset_edit)
              OR id IN (SELECT asset_id FROM album_asset)
            """)
        return (try Int.fetchOne(database, sql: "SELECT count(*) FROM asset") ?? 0, typed ?? 0)
      }
    }
  }

  private static func refusal(_ path: String, _ why: String) -> BackupError {
    .notABackup(path: path, message: "\(path) \(why). `photoctl backup --list` lists the backups.")
  }

  /// The error to report if SQLite fails while it verifies the copy of a backup. A full disk or an I/O error does not
  /// mean that the backup is damaged, so it is reported as it is.
  static func fault(_ error: DatabaseError, in path: String) -> any Error {
    if isFull(error) || error.resultCode == .SQLITE_IOERR { return error }
    return refusal(path, "is no catalog, or damaged (\(error.message ?? "unknown"))")
  }

  private static func verifyBackup(_ path: String, named name: String) throws {
    func refuse(_ why: String) -> BackupError { refusal(name, why) }
    do {
      try withQueue(path) { queue in
        try queue.read { database in
          guard try database.tableExists("grdb_migrations"), try database.tableExists("library"),
            try Int.fetchOne(database, sql: "SELECT count(*) FROM library") == 1
          else { throw refuse("is no catalog of photod") }
          guard try !CatalogOpening.migrator(nil).hasBeenSuperseded(database) else {
            throw refuse("was written by a newer photod")
          }
          let report = try String.fetchOne(database, sql: "PRAGMA integrity_check(1)") ?? ""
          guard report == "ok" else { throw refuse("is damaged (\(report))") }
        }
      }
    } catch let error as DatabaseError {
      throw fault(error, in: name)
    }
  }

  // MARK: - Copies

  /// Makes a verified copy, syncs it to the disk, and then gives it its name with `rename`.
  private func copy(to path: String, rename: (_ temporary: String, _ path: String) throws -> Void) throws {
    let temporary = try copy(beside: path)
    do { try rename(temporary.path, path) } catch {
      _ = Result { try temporary.remove() }
      throw error
    }
  }

  /// Makes a verified copy in a temporary file, and syncs it to the disk. The descriptor of the temporary file is
  /// closed.
  ///
  /// - Parameter onlyFromWhatIsOpen: whether to copy through the writer's connection. This is needed if the catalog's
  ///   file was replaced: a reader may open a new connection, which would read the other file. The catalog cannot be
  ///   written during such a copy.
  private func copy(beside path: String, onlyFromWhatIsOpen: Bool = false) throws -> TemporaryFile {
    let temporary = try TemporaryFile(beside: path)
    Glibc.close(temporary.descriptor)
    do {
      try Self.withQueue(temporary.path) { queue in
        if onlyFromWhatIsOpen {
          try pool.writeWithoutTransaction { source in try queue.writeWithoutTransaction { try source.backup(to: $0) } }
        } else {
          try pool.backup(to: queue)
        }
        let report = try queue.write { database in
          try Self.markAsBackup(database)
          return try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        }
        guard report == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report) }
      }
      try PrivateFile.sync(temporary.path)
      return temporary
    } catch {
      _ = Result { try temporary.remove() }
      throw error
    }
  }

  /// Runs `body` with a temporary copy of the catalog. Other threads can read and write the catalog in the meantime.
  func withCopy<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try translatingErrors(files.catalog) {
      let temporary = try TemporaryFile(beside: files.catalog)
      Glibc.close(temporary.descriptor)
      defer { _ = Result { try temporary.remove() } }
      return try Self.withQueue(temporary.path) { queue in
        try pool.backup(to: queue)
        return try queue.write(body)
      }
    }
  }

  /// Marks a copy as one that commits of the original may have followed. If a person puts it in the catalog's place,
  /// the next opening begins a new epoch.
  static func markAsBackup(_ database: Database) throws {
    try database.execute(sql: "UPDATE library SET boot_id = 'backup', is_clean = 0")
  }

  /// Opens a database, runs `body`, and closes the database without a write-ahead log. So the file is complete by
  /// itself and can be renamed.
  static func withQueue<Value>(_ path: String, _ body: (DatabaseQueue) throws -> Value) throws -> Value {
    var configuration = Configuration()
    configuration.prepareDatabase { try SQLFunctions.register(in: $0) }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let value = try body(queue)
    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
    try queue.close()
    return value
  }

  /// The first bytes of every SQLite file (https://www.sqlite.org/fileformat.html#magic_header_string).
  private static let magic = Array("SQLite format 3\0".utf8)

  /// Throws an error if the file is no database, or if there is too little room. It is called before the file is
  /// copied, because the file may be anything, even a sparse file of 4 TB.
  private func requireRoom(toRestore path: String) throws {
    func readable<Value>(_ body: () throws -> Value) throws -> Value {
      do { return try body() } catch let error as PrivateFileError where error.code != EIO {
        throw BackupError.notABackup(
          path: path, message: "\(error). `photoctl backup --list` lists the backups.")
      }
    }
    let header = try readable {
      guard let header = try PrivateFile.read(path, first: Self.magic.count) else {
        throw PrivateFile.failure(path, "opened", ENOENT)
      }
      return header
    }
    guard header == Self.magic else { throw Self.refusal(path, "is no catalog of photod") }
    // A restore copies the backup, and it also makes a backup of the open catalog.
    var need: Int64 = 0
    for file in [path, path + "-wal", files.catalog, files.log] {
      let (sum, overflows) = need.addingReportingOverflow(
        try readable { try PrivateFile.certainByteCount(followed: file) } ?? 0)
      need = overflows ? .max : sum
    }
    let folder = PrivateFile.folder(of: files.catalog)
    guard let free = PrivateFile.freeBytes(in: folder), free < need else { return }
    throw BackupError.storageFull(
      message:
        "A restore of \(path) takes \(byteText(need)) in \(folder), and \(byteText(free)) are free. Make room, and try again."
    )
  }

  /// Copies a database and its write-ahead log, and closes the descriptor of the temporary file.
  private static func copyDatabase(_ path: String, to temporary: TemporaryFile) throws {
    defer { Glibc.close(temporary.descriptor) }
    guard try PrivateFile.copy(path, to: temporary.descriptor, temporary.path) else {
      throw refusal(path, "is gone")
    }
    let log = temporary.path + "-wal"
    let descriptor = try PrivateFile.open(log, O_CREAT | O_EXCL)
    defer { Glibc.close(descriptor) }
    if try !PrivateFile.copy(path + "-wal", to: descriptor, log) { try PrivateFile.remove(log) }
  }

  private func report(_ path: String) throws -> BackupReport {
    var configuration = Configuration()
    configuration.readonly = true
    // A backup that cannot be read is also listed, but without a count.
    let count = Result { () throws -> Int? in
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      defer { _ = Result { try queue.close() } }
      return try queue.read { database in
        try ReadInterruption.watching(database) { try Int.fetchOne(database, sql: "SELECT count(*) FROM asset") }
      }
    }
    let assets: Int? = if case .success(let count) = count { count } else { nil }
    return BackupReport(
      path: path, byteCount: PrivateFile.byteCount(path) ?? 0, assetCount: assets,
      date: PhotoDate(try PrivateFile.date(of: path)), isKept: files.dayOfBackup(path) == nil)
  }

  // MARK: - Daily backups

  /// The last commit of a catalog. Equal states mean that nothing was committed in between.
  struct State: Equatable {
    let library: String
    let epoch: Int64
    let sequence: Int64
  }

  static func state(_ database: Database) throws -> State? {
    try Row.fetchOne(
      database, sql: "SELECT uuid, epoch, ifnull((SELECT max(sequence) FROM history), 0) FROM library"
    ).map { State(library: $0[0], epoch: $0[1], sequence: $0[2]) }
  }

  /// The state of a backup. It is also nil if the backup cannot be read, so that another one is made.
  static func state(of path: String) -> State? {
    var configuration = Configuration()
    configuration.readonly = true
    let state = Result { () throws -> State? in
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      defer { _ = Result { try queue.close() } }
      return try queue.read { try Self.state($0) }
    }
    if case .success(let state) = state { return state }
    return nil
  }

  private typealias Daily = (path: String, day: Int)

  /// The daily backups, newest first, with the day of each. Backups that are dated more than one day ahead are in
  /// `future`, because they were made while the clock was wrong. Callers put them last, so that they are removed first.
  private func dailyBackups(at date: WallTime) throws -> (past: [Daily], future: [Daily]) {
    let all = try files.backupPaths().compactMap { path in files.dayOfBackup(path).map { (path: path, day: $0) } }
      .sorted { $0.day > $1.day }
    let today = Self.dayNumber(date)
    return (all.filter { $0.day <= today + 1 }, all.filter { $0.day > today + 1 })
  }

  /// The backups to remove. The first ``keptDaily`` are kept, and then one for each of ``keptWeekly`` weeks.
  static func superfluous(_ backups: [(path: String, day: Int)]) -> [String] {
    var weeks: Set<Int> = []
    return backups.dropFirst(keptDaily).filter { backup in
      weeks.count >= keptWeekly || !weeks.insert(backup.day / 7).inserted
    }.map(\.path)
  }

  /// Runs `body` and translates its errors to ``BackupError``.
  private func translatingErrors<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    do {
      return try noticing(body)
    } catch  where error is BackupError || error is WorkBudget.Spent {
      throw error
    } catch  where Self.isFull(error) {
      throw BackupError.storageFull(message: "There is no room for \(path). Make room, and try again.")
    } catch let error as PrivateFileError {
      // The message names the file that the caller requested, and not the temporary file beside it.
      let error = PrivateFileError(
        path: TemporaryFile.target(ofPath: error.path), verb: error.verb, code: error.code, reason: error.reason)
      throw BackupError.cannotWrite(path: error.path, message: "\(error). Choose a folder in which you may write.")
    } catch {
      throw BackupError.cannotWrite(path: path, message: "\(path) can't be written: \(error).")
    }
  }
}
