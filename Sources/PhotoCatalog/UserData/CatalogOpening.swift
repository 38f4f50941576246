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
///
/// Nothing is dropped that holds anything: a damaged catalog, a log without its catalog and a journal that is not gone on
/// with are moved aside, under names that a person is told, also where an opening after this one is the first to succeed.
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

  struct Row {
    var uuid: String
    var epoch: Int64
    var number: Int64
    /// It was not closed, and the machine went down meanwhile, or may have: the last commits may be lost.
    var mayLackCommits: Bool
  }

  /// Why the catalog was moved aside, and where to.
  var damage: (why: String, aside: String?)?
  /// What a person is told.
  var notices: [(message: String, file: String?)] = []
  /// Second names of the journal that this opening made.
  var keptJournals: [String] = []

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
      // The next opening finds what this one moved aside by its being newer than the journal.
      if let aside = damage?.aside { _ = Result { try PrivateFile.touchStatus(aside) } }
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

  static func newName() -> String {
    let hex = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - hex.count) + hex
  }
}
