import GRDB
import PhotoModel

// Conversion between the user data in the catalog and the entries of the journal.

extension CatalogWriter {
  /// Collects the records that the journal needs for this commit: changed user data, and new paths of files with user
  /// data.
  ///
  /// - Complexity: One lookup in memory for every asset that the commit touches, and a few queries for each with user
  ///   data. If folders exchanged their places, or a folder is renamed after another was parked, every asset with user
  ///   data is read.
  func noteUserData() throws {
    guard let journal else { return }
    var ids = editedAssets
    ids.formUnion(record.updatedAssets.keys.filter(journal.holds))
    ids.formUnion(record.insertedAssets.filter(journal.holds))
    ids.formUnion(record.deletedAssets.filter(journal.holds))
    if !journal.heldIDs.isEmpty, !record.renamedDirectories.isEmpty {
      if !record.parkedDirectories.isEmpty { journal.hasParkedFolders = true }
      if record.hasIndependentRenames, !journal.hasParkedFolders {
        // The moves come before the entries, whose paths are already the new ones.
        journalRecords += record.renamedDirectories.map { .moved(from: $0.fromPath, to: $0.toPath) }
      } else {
        ids.formUnion(journal.heldIDs)
      }
    }
    if !ids.isEmpty {
      var reading = try UserDataReading(database)
      journalRecords.reserveCapacity(journalRecords.count + ids.count)
      for id in ids.sorted() {
        // Without a tombstone, the file of an asset can't be recognized again. The next compaction drops its entry.
        guard let entry = try reading.entry(of: id, journal) else { continue }
        journalRecords.append(.asset(entry))
      }
    }
    // The operations of albums come after the lines of their assets.
    journalRecords += albumRecords
    albumRecords = []
  }

  /// Reserves ids in the journal before this transaction assigns unreserved ids.
  func noteReservation() throws {
    if let journal { journalRecords += try reservation(in: journal) }
  }

  /// The record that reserves ids, if all reserved ones were assigned.
  func reservation(in journal: UserDataJournal) throws -> [UserDataRecord] {
    let (assets, collections) = try lastIDs()
    guard assets > journal.reservedAssets || collections > journal.reservedCollections else { return [] }
    func next<ID: CatalogID>(_ last: ID, _ reserved: ID) -> ID {
      last > reserved ? ID(rawValue: last.rawValue + UserDataJournal.reservation) : reserved
    }
    return [
      .ids(assets: next(assets, journal.reservedAssets), collections: next(collections, journal.reservedCollections))
    ]
  }

  /// The largest ids that were ever assigned.
  func lastIDs() throws -> (assets: AssetID, collections: CollectionID) {
    let select = try RawStatement(
      database,
      "SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'asset'), "
        + "(SELECT seq FROM sqlite_sequence WHERE name = 'collection')")
    return try select.firstRow { (select.assetID(0), select.collectionID(1)) } ?? (0, 0)
  }

  /// Reserves ids: no new asset or collection gets an id up to these.
  func reserve(assets: AssetID, collections: CollectionID) throws {
    try reserveIDs(through: assets)
    // This row exists, because the table contains the smart albums.
    let raise = try RawStatement(
      database, "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'collection'")
    raise.bind(1, collections)
    try raise.run()
  }

  /// Writes the values of an entry to its asset. If the asset is missing, its tombstone gets them, and a new tombstone
  /// is added if necessary.
  func apply(_ entry: UserDataEntry) throws {
    if try missingAssets([entry.id]).isEmpty {
      try setUserData(entry.data, of: entry.id)
    } else if var tombstone = try tombstone(of: entry.id) {
      tombstone.data = entry.data
      try insertTombstone(tombstone)
    } else if !entry.isEmpty {
      let file = entry.file
      // The journal has no versions. This one never was, so no client takes its old picture for one of the file that
      // returns.
      try insertTombstone(
        Tombstone(
          assetID: entry.id, deletedDate: entry.deletedDate, deletedAge: try storedLibraryAge(), path: file.path,
          volumeID: file.volume.isEmpty ? nil : try volume(identity: file.volume), inode: file.inode,
          birthTime: file.birthTime, byteCount: file.byteCount, modificationTime: file.modificationTime,
          marks: file.marks, contentVersion: ContentVersion.new(), addedDate: entry.addedDate, data: entry.data))
    }
  }

  /// All user data, as the entries of a new journal.
  ///
  /// - Parameter keeping: the assets that are in collections of a later version.
  func userData(
    others: (AssetID) -> [UserDataField], alsoOf more: some Sequence<AssetID>, keeping: Set<AssetID> = []
  ) throws -> [UserDataEntry] {
    var reading = try UserDataReading(database)
    var ids = Set(more).union(keeping)
    let select = try RawStatement(
      database,
      """
      SELECT id FROM asset WHERE is_favorite = 1 UNION SELECT id FROM asset WHERE is_hidden = 1
      UNION SELECT asset_id FROM tombstone WHERE is_favorite OR is_hidden
      UNION SELECT asset_id FROM asset_edit
      UNION SELECT asset_id FROM album_asset UNION SELECT asset_id FROM tombstone_album
      """)
    try select.forEachRow { ids.insert(select.assetID(0)) }
    return try ids.sorted().compactMap { id in
      guard var entry = try reading.entry(of: id) else { return nil }
      entry.others = others(id)
      if keeping.contains(id) { entry.isInAlbum = true }
      return entry.isEmpty ? nil : entry
    }
  }
}

extension CommitRecord {
  /// Whether no old or new path of a renamed folder is equal to another one, or above or below it. Only in this case
  /// can the renames be replayed in turn. Two folders that exchanged their names are not independent.
  ///
  /// - Complexity: O(n) for n components in all these paths.
  fileprivate var hasIndependentRenames: Bool {
    guard renamedDirectories.count > 1 else { return true }
    var places: Set<ArraySlice<UInt8>> = []
    for path in renamedDirectories.flatMap({ [$0.fromPath, $0.toPath] }) {
      guard places.insert(path[...]).inserted else { return false }
    }
    return places.allSatisfy { place in
      var above = place
      while let slash = above.lastIndex(of: UInt8(ascii: "/")) {
        above = above[..<slash]
        if places.contains(above) { return false }
      }
      return true
    }
  }
}

/// Reads entries. It belongs to one transaction, because it caches the paths and the volumes of folders.
struct UserDataReading {
  private var tree: DirectoryPaths
  private var volumes: [DirectoryID: String] = [:]
  private let volume: RawStatement
  private let asset: RawStatement
  private let tombstone: RawStatement

  init(_ database: Database) throws {
    tree = try DirectoryPaths(database)
    asset = try RawStatement(
      database,
      """
      SELECT a.is_favorite, a.is_hidden, a.added_date, r.inode, r.birth_time, r.byte_count, r.modification_time,
        r.fingerprint, r.sample, r.hash,
        (SELECT edits FROM asset_edit WHERE asset_id = a.id), EXISTS (SELECT 1 FROM album_asset WHERE asset_id = a.id),
        a.directory_id, a.name
      FROM asset a LEFT JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name WHERE a.id = ?
      """)
    volume = try RawStatement(
      database, "SELECT v.identity FROM directory d JOIN volume v ON v.id = d.volume_id WHERE d.id = ?")
    tombstone = try RawStatement(
      database,
      """
      SELECT t.is_favorite, t.is_hidden, t.added_date, t.inode, t.birth_time, t.byte_count, t.modification_time,
        t.fingerprint, t.sample, t.hash, (SELECT edits FROM asset_edit WHERE asset_id = t.asset_id),
        EXISTS (SELECT 1 FROM tombstone_album WHERE asset_id = t.asset_id), t.deleted_date, t.path, v.identity
      FROM tombstone t LEFT JOIN volume v ON v.id = t.volume_id WHERE t.asset_id = ?
      """)
  }

  /// The user data of an asset that is or was in the library. nil if the asset is unknown.
  mutating func entry(of id: AssetID) throws -> UserDataEntry? {
    asset.bind(1, id)
    if let found = try asset.firstRow({ (read(asset, id), asset.directoryID(12), asset.bytes(13)) }) {
      var (entry, directory, name) = found
      entry.file.path = try tree.place(directory).path(of: name)
      entry.file.volume = try volume(of: directory)
      return entry
    }
    tombstone.bind(1, id)
    return try tombstone.firstRow {
      var entry = read(tombstone, id)
      entry.deletedDate = tombstone.optionalDate(12)
      entry.file.path = tombstone.bytes(13)
      entry.file.volume = tombstone.text(14)
      return entry
    }
  }

  private mutating func volume(of directory: DirectoryID) throws -> String {
    if let known = volumes[directory] { return known }
    volume.bind(1, directory)
    let identity = try volume.firstRow { volume.text(0) } ?? ""
    volumes[directory] = identity
    return identity
  }

  /// The line of an asset for the journal. It keeps the fields that a later version wrote.
  mutating func entry(of id: AssetID, _ journal: UserDataJournal) throws -> UserDataEntry? {
    var entry = try entry(of: id)
    entry?.others = journal.others(of: id)
    if journal.otherMembers.contains(id) { entry?.isInAlbum = true }
    return entry
  }

  /// Reads the columns that both statements have in common.
  private func read(_ row: RawStatement, _ id: AssetID) -> UserDataEntry {
    var entry = UserDataEntry(id: id)
    entry.data = AssetUserData(isFavorite: row.bool(0), isHidden: row.bool(1))
    if !row.isNull(10) { entry.data.edits = AssetEdits(recordText: row.bytes(10)) }
    entry.isInAlbum = row.bool(11)
    entry.addedDate = row.date(2)
    entry.file.inode = UInt64(bitPattern: row.int64(3))
    entry.file.birthTime = row.time(4)
    entry.file.byteCount = row.optionalInt64(5).flatMap { $0 < 0 ? nil : $0 }
    entry.file.modificationTime = row.time(6)
    entry.file.marks = row.marks(7)
    return entry
  }
}
