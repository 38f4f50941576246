import GRDB
import Glibc
import PhotoModel

// Copies of the catalog, by SQLite's online backup: one reader's snapshot, page by page, while the writer goes on.

extension Catalog {
  static let keptDaily = 7
  static let keptWeekly = 4

  /// Copies the catalog to a file that isn't there; verified before it gets its name.
  ///
  /// - Parameters:
  ///   - path: nil: into the folder of backups, with the date in its name.
  ///   - date: microseconds since 1970.
  /// - Throws: ``KeepingError``.
  package func backup(to path: String?, date: Int64 = CatalogFiles.now()) throws -> BackupReport {
    let target =
      path ?? CatalogFiles.free { files.backup(CatalogFiles.text(date) + $0) }
    return try keeping(target) {
      if path == nil { try makeBackupsFolder() }
      guard !PrivateFile.exists(target) else {
        throw KeepingError.cannotWrite(path: target, message: "\(target) is there already. Name a file that is not.")
      }
      try copy(to: target)
      return try report(target)
    }
  }

  /// The backup of the day, in place of an earlier one of that day; the oldest are dropped once it is there.
  ///
  /// - Returns: nil where nothing was committed since the last.
  package func dailyBackup(date: Int64 = CatalogFiles.now()) throws -> BackupReport? {
    try keeping(files.backups) {
      try makeBackupsFolder()
      if let last = try dailyBackups().first, try state(of: last.path) == read({ try Self.state($0.database) }) {
        return nil
      }
      let path = files.backup(String(CatalogFiles.text(date).prefix(10)))
      try copy(to: path)
      for path in Self.superfluous(try dailyBackups()) { try PrivateFile.remove(path) }
      return try report(path)
    }
  }

  /// When the newest of the daily backups was made, in microseconds since 1970.
  package func lastDailyBackup() throws -> Int64? {
    try dailyBackups().first.map { try PrivateFile.date(of: $0.path) }
  }

  /// Those in the folder of backups, newest first.
  package func backups() throws -> [BackupReport] {
    try keeping(files.backups) {
      try files.backupPaths().map { try report($0) }.sorted { $0.date.microseconds > $1.date.microseconds }
    }
  }

  // MARK: - Restoring

  /// Verifies a backup and decides for it: the next opening of this catalog gives it the catalog's place. Until then
  /// nothing can be written here any more.
  ///
  /// - Throws: ``KeepingError``; the library goes on then.
  package func prepareRestore(from path: String, date: Int64 = CatalogFiles.now()) throws -> RestoreReport {
    let temporary = files.restored + ".new"
    return try keeping(temporary) {
      guard !file.isAlso(path) else {
        throw KeepingError.notABackup(path: path, message: "\(path) is the catalog itself. Name a backup of it.")
      }
      do { try Self.copyFile(path, to: temporary) } catch let error as PrivateFileError where error.path == path {
        throw KeepingError.notABackup(
          path: path, message: "\(error). `photoctl backup --list` names the backups that there are.")
      }
      defer { _ = Result { try Self.removeDatabase(temporary) } }
      try Self.verifyBackup(temporary, named: path)
      let number = try freeze()
      do {
        let previous = try backup(to: nil, date: date)
        let counts = try prepare(temporary, isOtherState: true, number: number)
        try PrivateFile.rename(temporary, to: files.restored)
        return RestoreReport(path: path, assetCount: counts.assets, userDataCount: counts.typed, previous: previous)
      } catch {
        frozen.store(false, ordering: .releasing)
        throw error
      }
    }
  }

  /// The catalog's file was removed, or another put in its place, while it is in use: what is still open is written to a
  /// new file, which the next opening gives the place. Nothing is lost.
  ///
  /// - Returns: what the other file is called now, if there is one; a notice says so too.
  @discardableResult
  package func rescue(date: Int64 = CatalogFiles.now()) throws -> String? {
    let temporary = files.restored + ".new"
    return try keeping(temporary) {
      let number = try freeze()
      do {
        try copy(to: temporary, onlyFromWhatIsOpen: true)
        let aside = try files.nameForStranger(date: date)
        var notices: [(message: String, file: String)] = []
        if let aside {
          notices.append(
            (
              "Another file was put in the catalog's place while photod had that open. photod went on with its own, and the "
                + "other is \(aside). `photoctl restore '\(aside)'` goes on with that one, if it is a catalog.", aside
            ))
        }
        _ = try prepare(temporary, isOtherState: false, number: number, notices)
        if let aside { try PrivateFile.rename(files.catalog, to: aside) }
        do { try PrivateFile.rename(temporary, to: files.restored) } catch {
          // The next try finds it again, and says so.
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

  /// - Returns: a number beyond every batch that the journal may still get: it is written anew then.
  private func freeze() throws -> Int64 {
    try pool.write { _ in
      guard !frozen.exchange(true, ordering: .acquiringAndReleasing) else {
        throw KeepingError.busy(message: "The catalog is being replaced already. Try again in a moment.")
      }
      return (journal?.number ?? 0) + 1000
    }
  }

  /// Makes a copy the catalog to go on with.
  ///
  /// - Parameter isOtherState: not what is open now.
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
            arguments: [CatalogFiles.now(), notice.message, notice.file])
        }
        try database.execute(
          sql: "UPDATE library SET epoch = max(epoch, ?) + ?, boot_id = ?, is_clean = 1, journal_number = ?",
          arguments: [epoch, isOtherState ? 1 : 0, Self.currentBootID(), number])
        // What is kept for deleted photos is of none that a person would find.
        let typed = try Int.fetchOne(database, sql: "SELECT count(*) FROM asset WHERE is_favorite OR is_hidden")
        return (try Int.fetchOne(database, sql: "SELECT count(*) FROM asset") ?? 0, typed ?? 0)
      }
    }
  }

  private static func verifyBackup(_ path: String, named name: String) throws {
    func refuse(_ why: String) -> KeepingError {
      .notABackup(path: name, message: "\(name) \(why). `photoctl backup --list` names the backups that there are.")
    }
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
      throw refuse("is no catalog, or damaged (\(error.message ?? "unknown"))")
    }
  }

  // MARK: - Copies

  /// A whole file of its own, verified, on disk, and then under its name.
  ///
  /// - Parameter onlyFromWhatIsOpen: by the writer's connection, which nobody can use meanwhile. Readers are connections
  ///   that may be opened just now, and then are of the file that has the name now.
  private func copy(to path: String, onlyFromWhatIsOpen: Bool = false) throws {
    let temporary = path + ".new"
    try Self.removeDatabase(temporary)
    Glibc.close(try PrivateFile.open(temporary, O_CREAT | O_EXCL))
    do {
      try Self.withQueue(temporary) { queue in
        if onlyFromWhatIsOpen {
          try pool.writeWithoutTransaction { source in try queue.writeWithoutTransaction { try source.backup(to: $0) } }
        } else {
          try pool.backup(to: queue)
        }
        let report = try queue.write { database in
          // Put back by hand, it is known for what it is: commits came after it.
          try database.execute(sql: "UPDATE library SET boot_id = 'backup', is_clean = 0")
          return try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        }
        guard report == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report) }
      }
      try PrivateFile.sync(temporary)
      try PrivateFile.rename(temporary, to: path)
    } catch {
      _ = Result { try Self.removeDatabase(temporary) }
      throw error
    }
  }

  /// One connection to a file that then needs nothing beside it.
  private static func withQueue<Value>(_ path: String, _ body: (DatabaseQueue) throws -> Value) throws -> Value {
    var configuration = Configuration()
    configuration.prepareDatabase { try SQLFunctions.register(in: $0) }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let value = try body(queue)
    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
    try queue.close()
    return value
  }

  /// With what SQLite left beside it where it was killed: that would be taken for the next one's.
  private static func removeDatabase(_ path: String) throws {
    for suffix in ["-journal", "-wal", "-shm", ""] { try PrivateFile.remove(path + suffix) }
  }

  private static func copyFile(_ path: String, to target: String) throws {
    try removeDatabase(target)
    for suffix in ["", "-wal"] {
      guard let bytes = try PrivateFile.read(path + suffix) else {
        if suffix.isEmpty { throw PrivateFile.failure(path, "opened", ENOENT) }
        continue
      }
      Glibc.close(try PrivateFile.replace(target + suffix, with: bytes))
    }
  }

  private func report(_ path: String) throws -> BackupReport {
    var configuration = Configuration()
    configuration.readonly = true
    // One that can't be read is listed all the same.
    let count = Result { () throws -> Int? in
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      defer { _ = Result { try queue.close() } }
      return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM asset") }
    }
    let assets: Int? = if case .success(let count) = count { count } else { nil }
    return BackupReport(
      path: path, byteCount: PrivateFile.byteCount(path) ?? 0, assetCount: assets,
      date: PhotoDate(microseconds: try PrivateFile.date(of: path)), isKept: files.dayOfBackup(path) == nil)
  }

  // MARK: - The daily ones

  private struct State: Equatable {
    let library: String
    let epoch: Int64
    let sequence: Int64
  }

  private static func state(_ database: Database) throws -> State? {
    try Row.fetchOne(
      database, sql: "SELECT uuid, epoch, ifnull((SELECT max(sequence) FROM history), 0) FROM library"
    ).map { State(library: $0[0], epoch: $0[1], sequence: $0[2]) }
  }

  /// Nil also for one that can't be read: then another is made.
  private func state(of path: String) throws -> State? {
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

  private func makeBackupsFolder() throws {
    guard mkdir(files.backups, 0o700) == 0 || errno == EEXIST else {
      throw PrivateFile.failure(files.backups, "made", errno)
    }
  }

  /// Newest first, with the day of each.
  private func dailyBackups() throws -> [(path: String, day: Int)] {
    try files.backupPaths().compactMap { path in files.dayOfBackup(path).map { (path, $0) } }.sorted { $0.1 > $1.1 }
  }

  /// What is kept: the newest few, and of the weeks before them one each.
  static func superfluous(_ backups: [(path: String, day: Int)]) -> [String] {
    var weeks: Set<Int> = []
    return backups.dropFirst(keptDaily).filter { backup in
      weeks.count >= keptWeekly || !weeks.insert(backup.day / 7).inserted
    }.map(\.path)
  }

  /// Says what went wrong in the words of ``KeepingError``.
  private func keeping<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    do {
      return try noticing(body)
    } catch let error as KeepingError {
      throw error
    } catch  where Self.isFull(error) {
      throw KeepingError.storageFull(message: "There is no room for \(path). Make some, and try again.")
    } catch let error as PrivateFileError {
      throw KeepingError.cannotWrite(path: error.path, message: "\(error). Name a place that you can write to.")
    } catch {
      throw KeepingError.cannotWrite(path: path, message: "\(path) can't be written: \(error).")
    }
  }
}
