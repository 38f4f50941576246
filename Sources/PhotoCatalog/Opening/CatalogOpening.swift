import GRDB
import Migrations
import PhotoModel

/// Opens a catalog and its journal of user data so that both agree, whatever became of either.
///
///     catalog      journal        action
///     intact       agrees         continue
///     intact       ahead          write the missing data to the catalog; more than one request means an older copy
///     intact       behind, gone   write a new journal
///     intact       damaged        use the newest readable entries, then write a new journal
///     damaged      any            move the catalog aside, then continue with the next row
///     gone         any            make a new catalog with the journal's library name and its entries as tombstones
///     gone         gone           begin a new library
///
/// Both may be old copies that agree with each other. The ``HighWaterMark`` outside of their folder shows it. In that
/// case the epoch rises, so that tokens issued meanwhile expire, and no id assigned meanwhile is used again.
///
/// Nothing with content is deleted. A damaged catalog, a log without its catalog and an unusable journal are moved
/// aside. Notices name them to the user, even if only a later opening succeeds.
struct CatalogOpening {
  let files: CatalogFiles
  let bootID: String
  /// The last step of the schema to apply, or nil for all steps. With a step there is no journal.
  let lastStep: String?
  /// Whether the catalog failed while it was in use. If so, it is checked completely.
  let isSuspect: Bool
  /// The folder of the high-water marks. nil if none is kept.
  let stateFolder: String?
  /// When the opening began.
  let date: WallTime
  let onProgress: @Sendable (CatalogUpgradeProgress) throws -> Void
  let hook: @Sendable (UserDataJournal.Step) throws -> Void

  struct Opened {
    let pool: DatabasePool
    let uuid: String
    let epoch: Int64
    /// Whether this opening began the epoch.
    let isNewEpoch: Bool
    let journal: UserDataJournal?
  }

  struct Row {
    var uuid: String
    var epoch: Int64
    var number: Int64
    /// The sequence of the last commit.
    var sequence: Int64
    /// Whether the last commits may be lost, because the catalog was not closed and the machine may have gone down
    /// since.
    var mayLackCommits: Bool
  }

  /// Why the catalog was moved aside, and its new path.
  var damage: (why: String, aside: String?)?
  /// Messages to the user.
  var notices: [(message: String, file: String?)] = []
  /// The second names of the journal that this opening made.
  var keptJournals: [String] = []
  private(set) var mark: HighWaterMark?
  /// Why there is no mark.
  private(set) var markProblem: String?

  init(
    files: CatalogFiles, bootID: String, lastStep: String?, isSuspect: Bool, stateFolder: String? = nil, date: WallTime,
    onProgress: @escaping @Sendable (CatalogUpgradeProgress) throws -> Void = { _ in },
    hook: @escaping @Sendable (UserDataJournal.Step) throws -> Void
  ) {
    self.files = files
    self.bootID = bootID
    self.lastStep = lastStep
    self.isSuspect = isSuspect
    self.stateFolder = stateFolder
    self.date = date
    self.onProgress = onProgress
    self.hook = hook
  }

  mutating func open() throws -> Opened {
    for target in [files.catalog, files.journal, files.restored] { try TemporaryFile.removeAll(of: target) }
    try finishRestore()
    let pool = try openPool()
    let row = try pool.read { try read($0) }
    guard lastStep == nil else {
      let (uuid, epoch) = try openWithoutJournal(pool, row)
      return Opened(pool: pool, uuid: uuid, epoch: epoch, isNewEpoch: epoch != row?.epoch, journal: nil)
    }
    let contents = try UserDataJournal.read(files.journal, after: row?.number ?? .max)
    let found = contents == nil ? nil : try HeldFile(files.journal)
    do {
      return try agree(pool, row, contents)
    } catch {
      // While a disk is full, the opening is repeated again and again. If the journal is still the original one, its
      // second names are superfluous.
      if found?.hasItsName == true { _ = Result { for kept in keptJournals { try PrivateFile.remove(kept) } } }
      // The next opening recognizes this file because it is newer than the journal.
      if let aside = damage?.aside { _ = Result { try PrivateFile.touchStatus(aside) } }
      throw error
    }
  }

  private mutating func agree(_ pool: DatabasePool, _ row: Row?, _ contents: UserDataContents?) throws -> Opened {
    try Catalog.durably(pool) { database in
      let writer = CatalogWriter(connection: database)
      let opened =
        if let row { try agree(pool, row, contents, writer) } else { try rebuild(pool, contents, writer) }
      try writer.recordMigratedAssets()
      try database.execute(
        sql: "UPDATE library SET epoch = ?, boot_id = ?, is_clean = 0, journal_number = ?",
        arguments: [opened.epoch, bootID, opened.journal?.number ?? 0])
      for notice in notices {
        try database.execute(
          sql: "INSERT INTO notice (date, message, file) VALUES (?, ?, ?)",
          arguments: [date.microseconds, notice.message, notice.file])
      }
      return opened
    }
  }

  // MARK: - The catalog and its journal

  /// Brings an intact catalog and its journal into agreement.
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
    let found = findMark(of: row.uuid)
    let verdict = found.verdict(
      epoch: row.epoch, sequence: row.sequence, file: try HeldFile(files.catalog).numbers, bootID: bootID)
    var (isOlder, lackedSome) = (false, false)
    if let contents { (isOlder, lackedSome) = try catchUp(contents, row, writer) }
    let mayLackCommits = isOlder || row.mayLackCommits || verdict != .current
    let epoch = mayLackCommits ? max(row.epoch, contents?.epoch ?? 0, found.record?.epoch ?? 0) + 1 : row.epoch
    // A restore of a backup raises the epoch above that of its mark. The mark alone has the ids given since the backup,
    // if another library was open in between.
    let isRestored = found.record.map { row.epoch > $0.epoch } ?? false
    if mayLackCommits || isRestored { try reserveIDs(contents, found, writer) }
    if verdict == .older {
      notices.append(
        (
          "The catalog is an older copy than the one that photod had open last. Clients load their lists again. User data "
            + "that is newer than the copy is lost if the journal beside it is as old. `photoctl backup --list` lists the backups.",
          nil
        ))
    } else if isOlder, lackedSome {
      notices.append(
        (
          "The catalog was older than its journal of user data, and was updated from it. Clients load their lists again.",
          nil
        ))
    }
    let goesOn = contents.map { !$0.isDamaged && $0.number >= row.number } ?? false
    let journal: UserDataJournal
    if let contents, goesOn {
      journal = try UserDataJournal(files.journal, continuing: contents, hook: hook)
      // An upgrade may have given ids to smart albums.
      try journal.append([.opened(epoch: epoch)] + writer.reservation(in: journal), durable: true)
    } else {
      let number = max(row.number, contents?.number ?? 0) + 1
      journal = try newJournal(row.uuid, epoch, number, contents, writer)
    }
    return Opened(pool: pool, uuid: row.uuid, epoch: epoch, isNewEpoch: mayLackCommits, journal: journal)
  }

  /// Writes to the catalog whatever the journal has and the catalog lacks.
  ///
  /// - Returns: Whether the catalog is an older copy, because it lacks more than a killed process can leave out, and
  ///   whether it lacked anything.
  private func catchUp(_ contents: UserDataContents, _ row: Row, _ writer: CatalogWriter) throws -> (
    isOlder: Bool, lackedSome: Bool
  ) {
    guard contents.number > row.number else { return (contents.epoch > row.epoch, false) }
    let isMissingBase = contents.baseNumber > row.number
    try writer.freeIDs(of: contents, isMissingBase: isMissingBase)
    if isMissingBase {
      try restoreAll(contents, writer)
    } else {
      for record in contents.newer.flatMap(\.records) { try apply(record, contents, writer) }
      if contents.isDamaged { try writer.resolveCycles() }
    }
    let records = isMissingBase ? contents.entries.values.map(UserDataRecord.asset) : contents.newer.flatMap(\.records)
    let lackedSome = !writer.record.isEmpty || records.contains { if case .asset = $0 { true } else { false } }
    if !writer.record.isEmpty { try writer.append(origin: "client:unknown", date: date) }
    let isOneRequest =
      contents.newer.count == 1
      && contents.newer[0].records.allSatisfy {
        switch $0 {
        case .asset, .collection, .deleted, .placed, .removed, .moved, .ids: true
        case .library, .opened, .closed, .all, .other, .otherCollection: false
        }
      }
    return (isMissingBase || !isOneRequest || contents.epoch > row.epoch, lackedSome)
  }

  /// Writes one record to a catalog that has all records before it.
  private func apply(_ record: UserDataRecord, _ contents: UserDataContents, _ writer: CatalogWriter) throws {
    switch record {
    // A later rename of a folder changes the path only in the newest entry. An entry that lost its user data is not there.
    case .asset(let entry): try writer.apply(contents.entries[entry.id] ?? entry)
    case .collection(let collection): try writer.apply([collection])
    case .deleted(let id): try writer.applyDeletion(of: id)
    case .placed(let album, let before, let assets):
      try writer.applyPlacement(of: assets, inAlbum: album, before: before)
    case .removed(let album, let assets): try writer.applyRemoval(of: assets, fromAlbum: album)
    case .library, .opened, .closed, .ids, .all, .moved, .other, .otherCollection: break
    }
  }

  /// Writes everything that the journal has.
  private func restoreAll(_ contents: UserDataContents, _ writer: CatalogWriter) throws {
    // User data that the journal lacks was removed since. A damaged journal proves nothing.
    if !contents.isDamaged {
      for var held in try writer.userData(others: { _ in [] }, alsoOf: []) where contents.entries[held.id] == nil {
        held.data = AssetUserData()
        try writer.apply(held)
      }
      for held in try writer.userCollections() where contents.collections[held.id] == nil {
        try writer.applyDeletion(of: held.id)
      }
    }
    for entry in contents.entries.values.sorted(by: { $0.id < $1.id }) { try writer.apply(entry) }
    try writer.apply(contents.collections.values.sorted { $0.id < $1.id })
    if contents.isDamaged { try writer.resolveCycles() }
    for (id, members) in contents.albums.sorted(by: { $0.key < $1.key }) {
      try writer.applyMembers(members.ids, ofAlbum: id)
    }
    if !contents.isDamaged {
      for (id, collection) in contents.collections where collection.kind == .album && contents.albums[id] == nil {
        try writer.applyMembers([], ofAlbum: id)
      }
    }
  }

  /// Sets up a catalog without a library, from the journal if there is one.
  private mutating func rebuild(
    _ pool: DatabasePool, _ contents: UserDataContents?, _ writer: CatalogWriter
  ) throws -> Opened {
    noteRebuild(contents)
    if let contents, contents.isDamaged { try keepDamagedJournal(contents) }
    let uuid = contents?.library ?? Self.newName()
    let found = findMark(of: uuid)
    let epoch = max(contents?.epoch ?? 0, found.record?.epoch ?? 0) + 1
    try writer.database.execute(
      sql: "INSERT INTO library (id, uuid, epoch, boot_id, is_clean) VALUES (1, ?, ?, ?, 0)",
      arguments: [uuid, epoch, bootID])
    try reserveIDs(contents, found, writer)
    // The new catalog gave smart albums the first ids. A collection of the journal may have them.
    try writer.renumberSmartAlbums()
    if let contents { try restoreAll(contents, writer) }
    writer.record = CommitRecord()
    let journal = try newJournal(uuid, epoch, (contents?.number ?? 0) + 1, contents, writer)
    return Opened(pool: pool, uuid: uuid, epoch: epoch, isNewEpoch: true, journal: journal)
  }

  /// Finds the mark. If no mark can be kept, the catalog is opened all the same, and ``markProblem`` says why.
  private mutating func findMark(of library: String) -> HighWaterMark.Found {
    guard let stateFolder else { return .nothing }
    do {
      let mark = try HighWaterMark(of: library, in: stateFolder)
      let found = try mark.read()
      self.mark = mark
      return found
    } catch {
      markProblem = "\(error)"
      return .nothing
    }
  }

  /// Keeps new assets and collections from ids that lost commits may have assigned.
  private func reserveIDs(
    _ contents: UserDataContents?, _ found: HighWaterMark.Found, _ writer: CatalogWriter
  ) throws {
    try writer.reserve(
      assets: max(contents?.reservedAssets ?? 0, found.record?.reservedAssets ?? 0),
      collections: max(contents?.reservedCollections ?? 0, found.record?.reservedCollections ?? 0))
  }

  private func newJournal(
    _ uuid: String, _ epoch: Int64, _ number: Int64, _ contents: UserDataContents?, _ writer: CatalogWriter
  ) throws -> UserDataJournal {
    let last = try writer.lastIDs()
    let entries = contents?.entries ?? [:]
    let state = UserDataJournal.State(
      library: uuid, epoch: epoch, number: number, reservedAssets: max(last.assets, contents?.reservedAssets ?? 0),
      reservedCollections: max(last.collections, contents?.reservedCollections ?? 0),
      entries: try writer.userData(
        others: { entries[$0]?.others ?? [] }, alsoOf: entries.keys,
        keeping: Set((contents?.otherAlbums.values ?? [:].values).flatMap(\.ids))),
      collections: try writer.userCollections().map {
        var collection = $0
        collection.others = contents?.collections[$0.id]?.others ?? []
        return collection
      },
      albums: try writer.albums(),
      otherAlbums: (contents?.otherAlbums ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value.ids) },
      others: contents?.others ?? [])
    return try UserDataJournal(writing: state, to: files.journal, hook: hook)
  }

  static func newName() -> String {
    let hex = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - hex.count) + hex
  }
}
