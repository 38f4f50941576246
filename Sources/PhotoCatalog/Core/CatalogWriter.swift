import GRDB
import PhotoModel

/// Writes the catalog in one transaction. It is valid only in the closure to which it is passed.
///
/// New assets are gathered and written several at a time (see ``AssetInsertions``). They are written before
/// ``database`` is used for anything else, and at the latest at the end of the transaction. So no statement misses
/// them, but errors may come later.
///
/// Each method that changes what clients see adds the change to ``record``. So no caller can forget that.
package final class CatalogWriter {
  private let connection: Database
  private var insertions = AssetInsertions()
  private var newAssetCollections = NewAssetCollections()
  /// The changes of this transaction so far. ``append(origin:date:)`` writes them to the history.
  package internal(set) var record = CommitRecord()
  /// The time of the transaction. Later dates of photos are not plausible.
  let date: WallTime
  /// The journal of user data; nil while the catalog itself is updated from it.
  let journal: UserDataJournal?
  /// The journal's records of this transaction.
  var journalRecords: [UserDataRecord] = []
  /// The journal's records of this transaction for collections, in the order of their changes.
  var albumRecords: [UserDataRecord] = []
  /// The assets whose user data this transaction changed, and those that are new in an album. The journal gets their
  /// records.
  var editedAssets: Set<AssetID> = []
  /// The assets that this transaction removed from an album. The journal may have no further need of their records.
  var releasedAssets: Set<AssetID> = []
  /// The folders whose place changed. Everything in them has another place in the list of collections.
  var movedFolders: Set<CollectionID> = []
  private var sequence: Int64?

  /// The sequence of the last commit that this transaction adds to the history.
  var lastSequence: Int64?
  /// The approximate number of bytes that this transaction adds to the history, without the overhead of its rows.
  var historyBytes = 0
  /// Whether this transaction wrote the stat of a file without a sample or hash. It may need them again, because another
  /// stat makes them void.
  package internal(set) var mayNeedProofs = false

  /// The changes that the call of a client has made so far. nil if they are not recorded.
  var recording: ChangeRecording?

  /// The files whose contents must be compared again (``compareContents()``).
  var comparison = ContentComparison()

  init(connection: Database, journal: UserDataJournal? = nil, date: WallTime = .now) {
    self.connection = connection
    self.date = date
    self.journal = journal
  }

  /// The connection, with all assets inserted so far. Get it each time, because a statement prepared before an
  /// insertion must not run after it.
  package var database: Database {
    get throws {
      try insertions.flush(into: connection)
      return connection
    }
  }

  /// The connection, perhaps without the assets that were inserted last. A burst of photos that come back asks tables of
  /// other things between one insertion and the next.
  package var databaseBesideNewAssets: Database { connection }

  /// The sequence that the entry of this transaction in the history gets.
  func nextSequence() throws -> Int64 {
    if let sequence { return sequence }
    let select = try RawStatement(database, "SELECT seq FROM sqlite_sequence WHERE name = 'history'")
    let next = (try select.firstRow { select.int64(0) } ?? 0) + 1
    sequence = next
    return next
  }

  /// Adds an asset of one file.
  ///
  /// - Parameters:
  ///   - row: the file. Its `assetID` is ignored. Its directory must have no file with that name.
  /// - Returns: the id of the new asset, which is larger than all earlier ids.
  @discardableResult
  package func insertAsset(_ content: AssetContent, file row: FileRow, addedDate: WallTime) throws -> AssetID {
    let created = CreationDate(content, row, held: nil, seenDate: addedDate, now: date)
    let id = try insertions.add(content, row, created: created, addedDate: addedDate, to: connection)
    record.insert(asset: id)
    try recordCollections(ofNew: content, in: row.directoryID)
    return id
  }

  /// Records the collections that a new asset is in. Their ids are read beside the new assets, so that these are still
  /// gathered.
  func recordCollections(ofNew content: AssetContent, in directoryID: DirectoryID) throws {
    try newAssetCollections.record(content, in: directoryID, to: &record, from: connection)
  }

  /// The smart albums of the catalog, with the assets that they show. They are read once in a transaction.
  func smartAlbums() throws -> [(id: CollectionID, requirements: AssetRequirements)] {
    try newAssetCollections.smartAlbums(connection)
  }

  /// Adds an asset with its former id, without recording it (see ``restore(_:content:file:hasNewBytes:path:)``).
  func insertFormerAsset(
    _ id: AssetID, _ content: AssetContent, file row: FileRow, contentVersion: Int64, created: CreationDate,
    addedDate: WallTime
  ) throws {
    try keepingWords(of: id) {
      _ = try insertions.add(
        content, row, created: created, addedDate: addedDate, former: (id, contentVersion), to: connection)
    }
  }

  /// Ensures that no new asset gets this id or a smaller one.
  func reserveIDs(through id: AssetID) throws {
    try insertions.reserve(through: id, in: connection)
  }

  /// Looks up a file, including those that are gathered but not written. Otherwise each file of a burst would cause a
  /// write, because it is looked up before it is inserted.
  package func file(_ directoryID: DirectoryID, _ name: [UInt8]) throws -> FileRow? {
    try insertions.file(directoryID, name) ?? file(directoryID, name, in: connection)
  }

  /// Looks up the files of a directory. The gathered assets are written before only if one of them is in it. A scan looks
  /// up the files of each folder, and would otherwise write the last assets of the folder before it in small groups.
  package func files(in directoryID: DirectoryID, limit: Int = Int.max) throws -> [FileRow] {
    try files(in: directoryID, limit: limit, of: insertions.hasFile(in: directoryID) ? database : connection)
  }

  /// Writes the gathered assets. It must be the last step of a transaction.
  func finish() throws {
    try insertions.flush(into: connection)
  }
}
