import GRDB
import PhotoModel

/// The record of an asset that left the library. It has what is needed to recognize the file if it returns, and all
/// data that the user gave the asset.
package struct Tombstone: Hashable, Sendable {
  package let assetID: AssetID
  /// nil if the tombstone never expires: a rebuild of the catalog makes such tombstones from the journal of user data.
  package var deletedDate: WallTime?
  /// The library's age at the deletion (see ``FileLookups/libraryAge(at:)``). The expiry is computed from it.
  package var deletedAge: Duration
  /// The absolute path of its first file.
  package var path: [UInt8]
  /// The id of the volume in the catalog (see ``CatalogWriter/volume(identity:)``). If it is nil, inode and birth time
  /// are unknown too.
  package var volumeID: VolumeID?
  package var inode: UInt64
  /// Unknown if the file system does not record it.
  package var birthTime: WallTime
  /// nil if unknown.
  package var byteCount: Int64?
  package var modificationTime: WallTime
  package var marks: ContentMarks
  /// The version of its content (see ``ContentVersion``).
  package var contentVersion: Int64
  /// The last time at which its file certainly existed, if that is known.
  package var seenTime: WallTime
  package var addedDate: WallTime
  /// The date without a person's edit. nil if unknown.
  package var creationDate: CreationDate?
  package var data: AssetUserData
  package var albums: [Membership]

  package var hasUserData: Bool { !data.isEmpty || !albums.isEmpty }
  /// Whether a rebuild of the catalog made it, from the journal, for a photo that was deleted before. The journal does not
  /// have the last time at which its file existed. Tombstones of a photod that did not record this time count, too.
  package var isFromLostCatalog: Bool { deletedDate != nil && seenTime == .unknown }

  /// A user's album that contained it, and its position there.
  package struct Membership: Hashable, Sendable {
    package let albumID: CollectionID
    package let rank: Double
    /// The sequence of the commit that placed it there; 0 if that is unknown.
    package let placed: Int64

    package init(albumID: CollectionID, rank: Double, placed: Int64 = 0) {
      self.albumID = albumID
      self.rank = rank
      self.placed = placed
    }
  }

  package init(
    assetID: AssetID, deletedDate: WallTime?, deletedAge: Duration = .zero, path: [UInt8], volumeID: VolumeID? = nil,
    inode: UInt64 = 0, birthTime: WallTime = .unknown, byteCount: Int64? = nil, modificationTime: WallTime = .unknown,
    marks: ContentMarks = ContentMarks(), contentVersion: Int64 = 0, seenTime: WallTime = .unknown, addedDate: WallTime,
    creationDate: CreationDate? = nil, data: AssetUserData = AssetUserData(), albums: [Membership] = []
  ) {
    self.assetID = assetID
    self.deletedDate = deletedDate
    self.deletedAge = deletedAge
    self.path = path
    self.volumeID = volumeID
    self.inode = inode
    self.birthTime = birthTime
    self.byteCount = byteCount
    self.modificationTime = modificationTime
    self.marks = marks
    self.contentVersion = contentVersion
    self.seenTime = seenTime
    self.addedDate = addedDate
    self.creationDate = creationDate
    self.data = data
    self.albums = albums
  }
}

extension FileLookups {
  private static var tombstoneColumns: String {
    "asset_id, deleted_date, path, volume_id, inode, birth_time, byte_count, modification_time, fingerprint, "
      + "sample, hash, added_date, is_favorite, is_hidden, seen_time, deleted_age, creation_date, creation_offset, "
      + "creation_source, (SELECT edits FROM asset_edit WHERE asset_edit.asset_id = tombstone.asset_id), content_version"
  }

  package func tombstoneCount() throws -> Int {
    let count = try RawStatement(database, "SELECT count(*) FROM tombstone")
    return Int(try count.firstRow { count.int64(0) } ?? 0)
  }

  package func tombstone(of assetID: AssetID) throws -> Tombstone? {
    let select = try RawStatement(database, "SELECT \(Self.tombstoneColumns) FROM tombstone WHERE asset_id = ?")
    select.bind(1, assetID)
    return try tombstones(select).first
  }

  /// The tombstones of files that had this inode, on any volume.
  package func tombstones(inode: UInt64) throws -> [Tombstone] {
    let select = try RawStatement(
      databaseBesideNewAssets,
      "SELECT \(Self.tombstoneColumns) FROM tombstone WHERE inode = ? AND volume_id IS NOT NULL ORDER BY asset_id")
    select.bind(1, Int64(bitPattern: inode))
    return try tombstones(select)
  }

  /// The tombstones of files with this fingerprint and size. Their contents may still differ.
  package func tombstones(fingerprint: UInt64, byteCount: Int64) throws -> [Tombstone] {
    let select = try RawStatement(
      databaseBesideNewAssets,
      "SELECT \(Self.tombstoneColumns) FROM tombstone WHERE fingerprint = ? AND byte_count = ? ORDER BY asset_id")
    select.bind(1, Int64(bitPattern: fingerprint))
    select.bind(2, byteCount)
    return try tombstones(select)
  }

  /// The tombstones of files that had this path, and the same size and fingerprint as a file.
  ///
  /// - Returns: the tombstones, and whether there are no others. If there are very many, some are left out.
  /// - Complexity: O(log n), because at most 64 are returned.
  package func tombstones(
    like row: FileRow, inPlace path: [UInt8]
  ) throws -> (found: [Tombstone], isWhole: Bool) {
    guard let select = try tombstones(like: row, where: "path = ?3", by: "asset_id") else { return ([], true) }
    select.bind(3, text: path)
    let found = try tombstones(select)
    return (found, found.count < Self.mostTombstones)
  }

  /// The tombstones of files that had the same size and fingerprint as a file. They also had the same hash, or the same
  /// name and modification time.
  ///
  /// - Returns: the tombstones, and whether there are no others with this name and time. If very many tombstones have this
  ///   time, some are left out.
  /// - Complexity: O(log n), because at most 256 are examined for the time, and at most 64 are returned for the hash: the
  ///   ones deleted last.
  package func tombstones(like row: FileRow) throws -> (found: [Tombstone], isWhole: Bool) {
    guard let fingerprint = row.marks.fingerprint else { return ([], true) }
    let sameTime = try RawStatement(
      databaseBesideNewAssets,
      """
      SELECT asset_id, path FROM tombstone WHERE fingerprint = ? AND byte_count = ? AND modification_time = ? LIMIT ?
      """)
    sameTime.bind(1, Int64(bitPattern: fingerprint))
    sameTime.bind(2, row.byteCount)
    sameTime.bind(3, time: row.modificationTime)
    sameTime.bind(4, Self.mostOfOneTime)
    var (ids, count) = ([AssetID](), 0)
    let end = [UInt8(ascii: "/")] + row.name
    try sameTime.forEachRow {
      count += 1
      if sameTime.bytes(1).suffix(end.count).elementsEqual(end) { ids.append(sameTime.assetID(0)) }
    }
    var found: [Tombstone] = []
    for id in ids {
      let select = try RawStatement(
        databaseBesideNewAssets, "SELECT \(Self.tombstoneColumns) FROM tombstone WHERE asset_id = ?")
      select.bind(1, id)
      found += try tombstones(select)
    }
    if let hash = row.marks.hash, let sameHash = try tombstones(like: row, where: "hash = ?3", by: "deleted_date") {
      sameHash.bind(3, hash)
      found += try tombstones(sameHash)
    }
    var known: Set<AssetID> = []
    return (found.filter { known.insert($0.assetID).inserted }, count < Self.mostOfOneTime)
  }

  /// The most tombstones that a lookup returns for a path or a hash.
  private static var mostTombstones: Int { 64 }
  /// The most tombstones with one modification time whose names are compared. Only a coarse clock, or a program that sets
  /// all times alike, makes so many.
  private static var mostOfOneTime: Int { 256 }

  /// Prepares the selection of tombstones with the size and fingerprint of a file and a further condition.
  ///
  /// - Parameter order: the column to sort by. If there are too many tombstones, the last ones in this order are selected.
  /// - Returns: nil if the file has no fingerprint. The caller binds the third argument, which `condition` uses.
  private func tombstones(like row: FileRow, where condition: String, by order: String) throws -> RawStatement? {
    guard let fingerprint = row.marks.fingerprint else { return nil }
    let select = try RawStatement(
      databaseBesideNewAssets,
      """
      SELECT \(Self.tombstoneColumns) FROM tombstone WHERE \(condition) AND fingerprint = ?1 AND byte_count = ?2
      ORDER BY \(order) DESC LIMIT \(Self.mostTombstones)
      """)
    select.bind(1, Int64(bitPattern: fingerprint))
    select.bind(2, row.byteCount)
    return select
  }

  /// Whether any tombstone has this size and fingerprint.
  package func hasTombstone(fingerprint: UInt64, byteCount: Int64) throws -> Bool {
    let select = try RawStatement(
      databaseBesideNewAssets, "SELECT 1 FROM tombstone WHERE fingerprint = ? AND byte_count = ? LIMIT 1")
    select.bind(1, Int64(bitPattern: fingerprint))
    select.bind(2, byteCount)
    return try select.firstRow { true } ?? false
  }

  /// The tombstones that never expire, of files that had this path.
  package func lastingTombstones(path: [UInt8]) throws -> [Tombstone] {
    let select = try RawStatement(
      databaseBesideNewAssets,
      "SELECT \(Self.tombstoneColumns) FROM tombstone WHERE path = ? AND deleted_date IS NULL ORDER BY asset_id")
    select.bind(1, text: path)
    return try tombstones(select)
  }

  /// Calls `body` with the keys of every tombstone: its inode, its fingerprint and, if it never expires, its path.
  package func forEachTombstone(
    _ body: (_ inode: UInt64?, _ fingerprint: UInt64?, _ lastingPath: [UInt8]?) -> Void
  ) throws {
    let select = try RawStatement(
      database, "SELECT volume_id, inode, fingerprint, deleted_date, iif(deleted_date IS NULL, path, '') FROM tombstone"
    )
    try select.forEachRow {
      body(
        select.isNull(0) ? nil : UInt64(bitPattern: select.int64(1)),
        select.optionalInt64(2).map(UInt64.init(bitPattern:)), select.isNull(3) ? select.bytes(4) : nil)
    }
  }

  private func tombstones(_ select: RawStatement) throws -> [Tombstone] {
    var tombstones: [Tombstone] = []
    try select.forEachRow {
      let byteCount = select.int64(6)
      tombstones.append(
        Tombstone(
          assetID: select.assetID(0), deletedDate: select.optionalDate(1), deletedAge: select.age(15),
          path: select.bytes(2),
          volumeID: select.optionalVolumeID(3), inode: UInt64(bitPattern: select.int64(4)), birthTime: select.time(5),
          byteCount: byteCount < 0 ? nil : byteCount, modificationTime: select.time(7),
          marks: select.marks(8), contentVersion: select.int64(20), seenTime: select.time(14),
          addedDate: select.date(11),
          creationDate: select.isNull(16) ? nil : CreationDate(select, from: 16),
          data: AssetUserData(
            isFavorite: select.bool(12), isHidden: select.bool(13),
            edits: select.isNull(19) ? AssetEdits() : AssetEdits(recordText: select.bytes(19)))))
    }
    guard !tombstones.isEmpty else { return [] }
    let albums = try RawStatement(
      databaseBesideNewAssets,
      "SELECT collection_id, rank, placed FROM tombstone_album WHERE asset_id = ? ORDER BY collection_id")
    for index in tombstones.indices {
      albums.bind(1, tombstones[index].assetID)
      try albums.forEachRow {
        tombstones[index].albums.append(
          .init(albumID: albums.collectionID(0), rank: albums.double(1), placed: albums.int64(2)))
      }
    }
    return tombstones
  }
}

extension CatalogWriter {
  /// Adds a tombstone, or replaces the tombstone with the same id. No asset may have the id. Later new assets get
  /// larger ids.
  package func insertTombstone(_ tombstone: Tombstone) throws {
    try reserveIDs(through: tombstone.assetID)
    try removeTombstone(tombstone.assetID)
    let insert = try RawStatement(
      database,
      """
      INSERT INTO tombstone (asset_id, deleted_date, path, volume_id, inode, birth_time, byte_count, modification_time,
        fingerprint, sample, hash, added_date, is_favorite, is_hidden, seen_time, deleted_age, creation_date,
        creation_offset, creation_source, content_version)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    insert.bind(1, tombstone.assetID)
    insert.bind(2, date: tombstone.deletedDate)
    insert.bind(3, text: tombstone.path)
    insert.bind(4, tombstone.volumeID)
    insert.bind(5, Int64(bitPattern: tombstone.inode))
    insert.bind(6, time: tombstone.birthTime)
    insert.bind(7, tombstone.byteCount ?? -1)
    insert.bind(8, time: tombstone.modificationTime)
    insert.bind(9, marks: tombstone.marks)
    insert.bind(12, date: tombstone.addedDate)
    insert.bind(13, tombstone.data.isFavorite)
    insert.bind(14, tombstone.data.isHidden)
    insert.bind(15, time: tombstone.seenTime)
    insert.bind(16, age: tombstone.deletedAge)
    insert.bind(17, tombstone.creationDate?.date.microseconds)
    insert.bind(18, tombstone.creationDate?.date.offsetMinutes)
    insert.bind(19, tombstone.creationDate?.source.code)
    insert.bind(20, tombstone.contentVersion)
    try insert.run()
    try writeEdits(tombstone.data.edits, of: tombstone.assetID, file: nil)
    let album = try RawStatement(
      database, "INSERT INTO tombstone_album (asset_id, collection_id, rank, placed) VALUES (?, ?, ?, ?)")
    for membership in tombstone.albums {
      album.bind(1, tombstone.assetID)
      album.bind(2, membership.albumID)
      album.bind(3, membership.rank)
      album.bind(4, membership.placed)
      try album.run()
    }
  }

  /// Deletes an asset with its files, and leaves a tombstone.
  ///
  /// - Parameters:
  ///   - row: The first file of the asset.
  ///   - directoryPath: The directory of its first file, with a slash at its end.
  ///   - date: The time of the deletion.
  /// - Returns: The keys by which its file can be found again, inode and fingerprint. nil if there is no such asset.
  @discardableResult
  package func removeWithTombstone(
    _ row: FileRow, directoryPath: [UInt8], date: WallTime
  ) throws -> (inode: UInt64, fingerprint: UInt64?)? {
    let id = row.assetID
    // In the table of files, an empty hash means that the hash is equal to the sample. A tombstone is also looked up by
    // its hash, so it has the hash itself.
    let insert = try RawStatement(
      database,
      """
      INSERT OR REPLACE INTO tombstone (asset_id, deleted_date, path, volume_id, inode, birth_time, byte_count,
        modification_time, fingerprint, sample, hash, added_date, is_favorite, is_hidden, seen_time, deleted_age,
        creation_date, creation_offset, creation_source, content_version)
      SELECT a.id, ?2, ?3 || a.name, d.volume_id, r.inode, r.birth_time, r.byte_count, r.modification_time, r.fingerprint,
        r.sample, iif(r.hash = x'', r.sample, r.hash), a.added_date, a.is_favorite, a.is_hidden,
        max(r.read_time, r.change_time), ?4, a.creation_date, a.creation_offset, a.creation_source,
        iif(r.is_in_doubt, ?5, r.content_version)
      FROM asset a CROSS JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name
        CROSS JOIN directory d ON d.id = a.directory_id
      WHERE a.id = ?1
      RETURNING inode, fingerprint, EXISTS (SELECT 1 FROM album_asset WHERE asset_id = ?1),
        EXISTS (SELECT 1 FROM asset_edit WHERE asset_id = ?1)
      """)
    insert.bind(1, id)
    insert.bind(2, date: date)
    insert.bind(3, text: directoryPath)
    insert.bind(4, age: try libraryAge(at: date))
    insert.bind(5, ContentVersion.new())
    let found = try insert.firstRow {
      (
        inode: UInt64(bitPattern: insert.int64(0)),
        fingerprint: insert.optionalInt64(1).map(UInt64.init(bitPattern:)), hasAlbums: insert.bool(2),
        hasEdits: insert.bool(3)
      )
    }
    guard let found else { return nil }
    if found.hasAlbums {
      let albums = try RawStatement(
        database,
        "INSERT INTO tombstone_album (asset_id, collection_id, rank, placed) "
          + "SELECT asset_id, collection_id, rank, placed FROM album_asset WHERE asset_id = ?")
      albums.bind(1, id)
      try albums.run()
    }
    if found.hasEdits { try keepEditsInTombstone(of: id) }
    // The catalog may hold only the content that the name promises. If the asset is back within this transaction,
    // clients must learn the content that was read from the file. If the content is in doubt, the tombstone has a new
    // version of it.
    if row.readTime == .unknown || row.isInDoubt { record.update(asset: id, [.content, .metadata, .keywords]) }
    try deleteAsset(id)
    return (found.inode, found.fingerprint)
  }

  /// Deletes an asset that was restored from a tombstone by mistake. It gets that tombstone again, with its present user
  /// data.
  ///
  /// - Parameter path: The absolute path of its file.
  package func remove(_ row: FileRow, leaving former: Tombstone, path: [UInt8], date: WallTime) throws {
    let id = row.assetID
    // If the asset is back within this transaction, it is compared with the tombstone. Clients know this file of it.
    var fields = Self.changedFields(of: former, as: row, path: path)
    if try creationDate(of: id) != former.creationDate { fields.insert(.metadata) }
    if !fields.isEmpty { record.update(asset: id, fields) }
    _ = try removeWithTombstone(row, directoryPath: [], date: date)
    var tombstone = former
    if let deleted = try self.tombstone(of: id) { (tombstone.data, tombstone.albums) = (deleted.data, deleted.albums) }
    try insertTombstone(tombstone)
  }

  /// Adds the asset of a tombstone again, with its id and all its user data, and removes the tombstone.
  ///
  /// - Parameters:
  ///   - row: The file. Its `assetID` is ignored. The catalog must not have another file at its place.
  ///   - hasNewBytes: Whether its bytes may differ from those of the deleted asset. If so, the asset gets a revision
  ///     that it never had.
  ///   - path: The absolute path of the file.
  package func restore(
    _ tombstone: Tombstone, content: AssetContent, file row: FileRow, hasNewBytes: Bool, path: [UInt8]
  ) throws {
    let id = tombstone.assetID
    let created = CreationDate(
      content, row, held: tombstone.creationDate, seenDate: tombstone.addedDate, now: date)
    let (edits, file) = (tombstone.data.edits, content.editableFields(created))
    let shown = file.edited(by: edits)
    // The tombstone is removed before the file is inserted. Otherwise a trigger would find a tombstone with the same
    // fingerprint, and request a hash of the file although no other file has this content.
    try removeTombstone(id, hasUserData: tombstone.hasUserData)
    try insertFormerAsset(
      id, content.with(shown), file: row, contentVersion: hasNewBytes ? ContentVersion.new() : tombstone.contentVersion,
      created: shown.created, addedDate: tombstone.addedDate)
    if row.marks.hash != nil { comparison.note(id) }
    try writeEdits(edits, of: id, file: file)
    try setFlags(tombstone.data, ofRestored: id)
    if !tombstone.albums.isEmpty {
      let album = try RawStatement(
        database,
        """
        INSERT INTO album_asset (collection_id, asset_id, rank, placed)
        SELECT id, ?2, ?3, ?4 FROM collection WHERE id = ?1 AND kind = 1
        """)
      for membership in tombstone.albums {
        album.bind(1, membership.albumID)
        album.bind(2, id)
        album.bind(3, membership.rank)
        album.bind(4, membership.placed)
        try album.run()
      }
      try wantHash(of: id)
    }
    var fields = Self.changedFields(of: tombstone, as: row, path: path)
    if created != tombstone.creationDate { fields.insert(.metadata) }
    // An earlier commit may name the former directory for all photos in it. This one is in another directory now, although
    // that may have the same path.
    if record.hasDeletedDirectories { fields.insert(.path) }
    record.insert(asset: id, orUpdate: fields)
    if tombstone.hasUserData {
      try recordCollections(holding: id)
    } else {
      try recordCollections(ofNew: content, in: row.directoryID)
    }
  }

  /// The fields of an asset that may differ if it was deleted and restored in one commit. The creation date is not
  /// considered.
  private static func changedFields(of former: Tombstone, as row: FileRow, path: [UInt8]) -> ChangedFields {
    var fields: ChangedFields = former.path == path ? [] : .path
    if row.readTime == .unknown || former.byteCount != row.byteCount || !former.marks.provesContent(of: row.marks) {
      // An equal size is no proof: files of one scanner have the same beginning and size, and differ in the rest.
      fields.formUnion([.content, .metadata, .keywords])
    } else if former.modificationTime != row.modificationTime {
      fields.insert(.content)
    }
    return fields
  }

  /// - Parameter hasUserData: false if the caller knows that the tombstone has none, which saves two statements.
  package func removeTombstone(_ assetID: AssetID, hasUserData: Bool = true) throws {
    let tables = hasUserData ? ["tombstone", "tombstone_album", "asset_edit"] : ["tombstone"]
    for sql in tables.map({ "DELETE FROM \($0) WHERE asset_id = ?" }) {
      let delete = try RawStatement(databaseBesideNewAssets, sql)
      delete.bind(1, assetID)
      try delete.run()
    }
  }

  /// Removes the tombstones of assets that were deleted before the library reached this age.
  ///
  /// - Complexity: O(all tombstones).
  /// - Returns: The number of removed tombstones.
  @discardableResult
  package func pruneTombstones(before age: Duration) throws -> Int {
    let expired = "FROM tombstone WHERE deleted_date IS NOT NULL AND deleted_age < ?"
    try noteExpiredUserData("SELECT asset_id \(expired)", age)
    for sql in [
      "DELETE FROM tombstone_album WHERE asset_id IN (SELECT asset_id \(expired))",
      "DELETE FROM asset_edit WHERE asset_id IN (SELECT asset_id \(expired))",
      "DELETE \(expired)",
    ] {
      let delete = try RawStatement(database, sql)
      delete.bind(1, age: age)
      try delete.run()
    }
    return try database.changesCount
  }

  /// Cancels the user data of expired tombstones in the journal. Otherwise a catalog that is rebuilt from it would have them
  /// again, and the journal would count their lines as needed.
  ///
  /// - Parameter expired: a statement that selects the assets. Its parameter is the age.
  private func noteExpiredUserData(_ expired: String, _ age: Duration) throws {
    guard let journal, !journal.heldIDs.isEmpty else { return }
    var albums: [(id: CollectionID, assets: [AssetID])] = []
    let members = try RawStatement(
      database,
      "SELECT collection_id, asset_id FROM tombstone_album WHERE asset_id IN (\(expired)) ORDER BY collection_id, asset_id"
    )
    members.bind(1, age: age)
    try members.forEachRow {
      let (album, asset) = (members.collectionID(0), members.assetID(1))
      if albums.last?.id != album || albums.last?.assets.count == UserDataJournal.assetsPerLine {
        albums.append((album, []))
      }
      albums[albums.count - 1].assets.append(asset)
    }
    for album in albums {
      journalRecords.append(.removed(album: album.id, album.assets))
      releasedAssets.formUnion(album.assets)
    }
    let assets = try RawStatement(database, "\(expired) ORDER BY asset_id")
    assets.bind(1, age: age)
    try assets.forEachRow {
      let id = assets.assetID(0)
      if journal.holds(id) { journalRecords.append(.asset(UserDataEntry(id: id))) }
    }
  }
}
