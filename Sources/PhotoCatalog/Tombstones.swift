import GRDB
import PhotoModel

/// What is kept of an asset that left the library: enough to know its file when it comes back, and all that a person gave
/// it.
package struct Tombstone: Hashable, Sendable {
  package let assetID: Int64
  /// Microseconds since 1970; nil: it never expires, as one that a rebuild makes from what was typed.
  package var deletedDate: Int64?
  /// Of its first file, absolute.
  package var path: [UInt8]
  /// The catalog's (see ``CatalogWriter/volume(identity:)``); nil: not known, as inode and birth time then.
  package var volumeID: Int64?
  package var inode: UInt64
  /// Nanoseconds since 1970; 0: the file system keeps none.
  package var birthTime: Int64
  /// nil: not known.
  package var byteCount: Int64?
  /// Nanoseconds since 1970.
  package var modificationTime: Int64
  package var fingerprint: UInt64?
  /// Until when its file was certainly there (nanoseconds since 1970); 0: not known.
  package var seenTime: Int64
  /// Microseconds since 1970.
  package var addedDate: Int64
  package var isFavorite: Bool
  package var isHidden: Bool
  package var albums: [Membership]

  /// A user's album that it was in, and where.
  package struct Membership: Hashable, Sendable {
    package let albumID: Int64
    package let rank: Double

    package init(albumID: Int64, rank: Double) {
      self.albumID = albumID
      self.rank = rank
    }
  }

  package init(
    assetID: Int64, deletedDate: Int64?, path: [UInt8], volumeID: Int64? = nil, inode: UInt64 = 0,
    birthTime: Int64 = 0, byteCount: Int64? = nil, modificationTime: Int64 = 0, fingerprint: UInt64? = nil,
    seenTime: Int64 = 0, addedDate: Int64, isFavorite: Bool = false, isHidden: Bool = false, albums: [Membership] = []
  ) {
    self.assetID = assetID
    self.deletedDate = deletedDate
    self.path = path
    self.volumeID = volumeID
    self.inode = inode
    self.birthTime = birthTime
    self.byteCount = byteCount
    self.modificationTime = modificationTime
    self.fingerprint = fingerprint
    self.seenTime = seenTime
    self.addedDate = addedDate
    self.isFavorite = isFavorite
    self.isHidden = isHidden
    self.albums = albums
  }
}

extension FileLookups {
  private static var tombstoneColumns: String {
    "asset_id, deleted_date, path, volume_id, inode, birth_time, byte_count, modification_time, fingerprint, "
      + "added_date, is_favorite, is_hidden, seen_time"
  }

  /// How many there are.
  package func tombstoneCount() throws -> Int {
    let count = try RawStatement(database, "SELECT count(*) FROM tombstone")
    return Int(try count.firstRow { count.int64(0) } ?? 0)
  }

  package func tombstone(of assetID: Int64) throws -> Tombstone? {
    let select = try RawStatement(database, "SELECT \(Self.tombstoneColumns) FROM tombstone WHERE asset_id = ?")
    select.bind(1, assetID)
    return try tombstones(select).first
  }

  /// Those of files that had this inode, on whichever volume.
  package func tombstones(inode: UInt64) throws -> [Tombstone] {
    let select = try RawStatement(
      database,
      "SELECT \(Self.tombstoneColumns) FROM tombstone WHERE inode = ? AND volume_id IS NOT NULL ORDER BY asset_id")
    select.bind(1, Int64(bitPattern: inode))
    return try tombstones(select)
  }

  /// Those of files with this content.
  package func tombstones(fingerprint: UInt64, byteCount: Int64) throws -> [Tombstone] {
    let select = try RawStatement(
      database,
      "SELECT \(Self.tombstoneColumns) FROM tombstone WHERE fingerprint = ? AND byte_count = ? ORDER BY asset_id")
    select.bind(1, Int64(bitPattern: fingerprint))
    select.bind(2, byteCount)
    return try tombstones(select)
  }

  /// Those that never expire, of files that had this path.
  package func lastingTombstones(path: [UInt8]) throws -> [Tombstone] {
    let select = try RawStatement(
      database,
      "SELECT \(Self.tombstoneColumns) FROM tombstone WHERE path = ? AND deleted_date IS NULL ORDER BY asset_id")
    select.bind(1, text: path)
    return try tombstones(select)
  }

  /// What every tombstone can be found by: its inode, its fingerprint, and, where it never expires, its path.
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
          assetID: select.int64(0), deletedDate: select.optionalInt64(1), path: select.bytes(2),
          volumeID: select.optionalInt64(3), inode: UInt64(bitPattern: select.int64(4)), birthTime: select.int64(5),
          byteCount: byteCount < 0 ? nil : byteCount, modificationTime: select.int64(7),
          fingerprint: select.optionalInt64(8).map(UInt64.init(bitPattern:)), seenTime: select.int64(12),
          addedDate: select.int64(9), isFavorite: select.bool(10), isHidden: select.bool(11)))
    }
    guard !tombstones.isEmpty else { return [] }
    let albums = try RawStatement(
      database, "SELECT collection_id, rank FROM tombstone_album WHERE asset_id = ? ORDER BY collection_id")
    for index in tombstones.indices {
      albums.bind(1, tombstones[index].assetID)
      try albums.forEachRow {
        tombstones[index].albums.append(.init(albumID: albums.int64(0), rank: albums.double(1)))
      }
    }
    return tombstones
  }
}

extension CatalogWriter {
  /// Adds a tombstone for an id that no asset has; new assets get larger ids. One of the same id is replaced.
  package func insertTombstone(_ tombstone: Tombstone) throws {
    try reserveIDs(through: tombstone.assetID)
    try removeTombstone(tombstone.assetID)
    let insert = try RawStatement(
      database,
      """
      INSERT INTO tombstone (asset_id, deleted_date, path, volume_id, inode, birth_time, byte_count, modification_time,
        fingerprint, added_date, is_favorite, is_hidden, seen_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    insert.bind(1, tombstone.assetID)
    insert.bind(2, tombstone.deletedDate)
    insert.bind(3, text: tombstone.path)
    insert.bind(4, tombstone.volumeID)
    insert.bind(5, Int64(bitPattern: tombstone.inode))
    insert.bind(6, tombstone.birthTime)
    insert.bind(7, tombstone.byteCount ?? -1)
    insert.bind(8, tombstone.modificationTime)
    insert.bind(9, tombstone.fingerprint.map(Int64.init(bitPattern:)))
    insert.bind(10, tombstone.addedDate)
    insert.bind(11, tombstone.isFavorite)
    insert.bind(12, tombstone.isHidden)
    insert.bind(13, tombstone.seenTime)
    try insert.run()
    let album = try RawStatement(
      database, "INSERT INTO tombstone_album (asset_id, collection_id, rank) VALUES (?, ?, ?)")
    for membership in tombstone.albums {
      album.bind(1, tombstone.assetID)
      album.bind(2, membership.albumID)
      album.bind(3, membership.rank)
      try album.run()
    }
  }

  /// Deletes an asset with its files, and leaves a tombstone.
  ///
  /// - Parameters:
  ///   - directoryPath: of its first file, with a slash at its end.
  ///   - date: microseconds since 1970.
  /// - Returns: what its file can be found by again: inode and fingerprint; nil where there is no such asset.
  package func bury(
    _ id: Int64, directoryPath: [UInt8], date: Int64
  ) throws -> (inode: UInt64, fingerprint: UInt64?)? {
    let insert = try RawStatement(
      database,
      """
      INSERT OR REPLACE INTO tombstone (asset_id, deleted_date, path, volume_id, inode, birth_time, byte_count,
        modification_time, fingerprint, added_date, is_favorite, is_hidden, seen_time)
      SELECT a.id, ?2, ?3 || a.name, d.volume_id, r.inode, r.birth_time, r.byte_count, r.modification_time, r.fingerprint,
        a.added_date, a.is_favorite, a.is_hidden, max(r.read_time, r.change_time)
      FROM asset a CROSS JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name
        CROSS JOIN directory d ON d.id = a.directory_id
      WHERE a.id = ?1
      RETURNING inode, fingerprint, EXISTS (SELECT 1 FROM album_asset WHERE asset_id = ?1)
      """)
    insert.bind(1, id)
    insert.bind(2, date)
    insert.bind(3, text: directoryPath)
    let buried = try insert.firstRow {
      (
        inode: UInt64(bitPattern: insert.int64(0)),
        fingerprint: insert.optionalInt64(1).map(UInt64.init(bitPattern:)), hasAlbums: insert.bool(2)
      )
    }
    guard let buried else { return nil }
    if buried.hasAlbums {
      let albums = try RawStatement(
        database,
        "INSERT INTO tombstone_album SELECT asset_id, collection_id, rank FROM album_asset WHERE asset_id = ?")
      albums.bind(1, id)
      try albums.run()
    }
    try deleteAsset(id)
    return (buried.inode, buried.fingerprint)
  }

  /// Adds the asset of a tombstone again, with its id and all that a person gave it; the tombstone is gone then.
  ///
  /// - Parameter row: the file; its `assetID` is ignored. Its directory has no file of that name.
  package func restore(_ tombstone: Tombstone, content: AssetContent, file row: FileRow) throws {
    let id = tombstone.assetID
    try insertFormerAsset(id, content, file: row, addedDate: tombstone.addedDate)
    if tombstone.isFavorite { _ = try setFavorite(id, true) }
    if tombstone.isHidden { _ = try setHidden(id, true) }
    if !tombstone.albums.isEmpty {
      let album = try RawStatement(
        database,
        """
        INSERT INTO album_asset (collection_id, asset_id, rank) SELECT t.collection_id, t.asset_id, t.rank
        FROM tombstone_album t CROSS JOIN collection c ON c.id = t.collection_id AND c.kind = 1 WHERE t.asset_id = ?
        """)
      album.bind(1, id)
      try album.run()
    }
    try removeTombstone(id)
  }

  package func removeTombstone(_ assetID: Int64) throws {
    for sql in ["DELETE FROM tombstone WHERE asset_id = ?", "DELETE FROM tombstone_album WHERE asset_id = ?"] {
      let delete = try RawStatement(database, sql)
      delete.bind(1, assetID)
      try delete.run()
    }
  }

  /// Removes those of assets that were deleted before a date (microseconds since 1970).
  ///
  /// - Complexity: O(all tombstones).
  /// - Returns: how many.
  @discardableResult
  package func pruneTombstones(before date: Int64) throws -> Int {
    for sql in [
      "DELETE FROM tombstone_album WHERE asset_id IN (SELECT asset_id FROM tombstone WHERE deleted_date < ?)",
      "DELETE FROM tombstone WHERE deleted_date < ?",
    ] {
      let delete = try RawStatement(database, sql)
      delete.bind(1, date)
      try delete.run()
    }
    return try database.changesCount
  }
}
