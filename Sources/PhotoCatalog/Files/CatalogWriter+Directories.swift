import GRDB
import PhotoModel

extension CatalogWriter {
  package func insertRoot(path: [UInt8]) throws -> RootID {
    let insert = try RawStatement(database, "INSERT INTO root (path) VALUES (?)")
    insert.bind(1, text: path)
    try insert.run()
    return RootID(rawValue: try database.lastInsertedRowID)
  }

  package func setRootAvailable(_ id: RootID, _ isAvailable: Bool) throws {
    let update = try RawStatement(database, "UPDATE root SET is_available = ? WHERE id = ? RETURNING path")
    update.bind(1, isAvailable)
    update.bind(2, id)
    guard let path = try update.firstRow({ update.bytes(0) }) else { return }
    record.update(.init(rootID: id, path: path, isAvailable: isAvailable))
  }

  /// Sets the availability of the top of a file system that is mounted in a folder. It applies to everything below it.
  package func setDirectoryAvailable(_ id: DirectoryID, _ isAvailable: Bool) throws {
    let update = try RawStatement(database, "UPDATE directory SET is_available = ? WHERE id = ?")
    update.bind(1, isAvailable)
    update.bind(2, id)
    try update.run()
    guard let root = try root(ofDirectory: id) else { return }
    record.update(
      .init(rootID: root.id, path: try path(ofDirectory: id), isAvailable: isAvailable, directoryID: id))
  }

  private func path(ofDirectory id: DirectoryID) throws -> [UInt8] {
    var paths = try DirectoryPaths(database)
    return try paths.place(id).path
  }

  private func root(ofDirectory id: DirectoryID) throws -> RootRow? {
    let select = try RawStatement(
      database,
      """
      WITH RECURSIVE above(parent_id, root_id) AS (
        SELECT parent_id, root_id FROM directory WHERE id = ?
        UNION ALL SELECT d.parent_id, d.root_id FROM above a JOIN directory d ON d.id = a.parent_id)
      SELECT root.id, root.path, root.is_available FROM above JOIN root ON root.id = above.root_id
      """)
    select.bind(1, id)
    return try select.firstRow {
      RootRow(id: select.rootID(0), path: select.bytes(1), isAvailable: select.bool(2))
    }
  }

  /// Gives a directory, and everything below it on the same file system, another volume. It is used if the file system
  /// is now known by another identity.
  package func setVolume(ofDirectoriesBelow id: DirectoryID, from old: VolumeID, to new: VolumeID) throws {
    let update = try RawStatement(
      database,
      """
      WITH RECURSIVE below(id) AS (
        SELECT ?1 UNION ALL SELECT d.id FROM below b JOIN directory d ON d.parent_id = b.id)
      UPDATE directory SET volume_id = ?3 WHERE volume_id = ?2 AND id IN (SELECT id FROM below)
      """)
    update.bind(1, id)
    update.bind(2, old)
    update.bind(3, new)
    try update.run()
  }

  /// Clears the inodes of a directory and of everything below it, because they mean nothing on another file system.
  package func forgetInodes(below id: DirectoryID) throws {
    for table in ["directory", "resource"] {
      let key = table == "directory" ? "id" : "directory_id"
      let update = try RawStatement(
        database,
        """
        WITH RECURSIVE below(id) AS (
          SELECT ?1 UNION ALL SELECT d.id FROM below b JOIN directory d ON d.parent_id = b.id)
        UPDATE \(table) SET inode = 0, birth_time = 0 WHERE \(key) IN (SELECT id FROM below)
        """)
      update.bind(1, id)
      try update.run()
    }
  }

  /// Deletes a root. Its directories must be deleted already.
  package func deleteRoot(_ id: RootID) throws {
    let delete = try RawStatement(database, "DELETE FROM root WHERE id = ?")
    delete.bind(1, id)
    try delete.run()
  }

  /// Returns the volume with this identity. It is added if it is new.
  package func volume(identity: String) throws -> VolumeID {
    let select = try RawStatement(database, "SELECT id FROM volume WHERE identity = ?")
    select.bind(1, identity)
    if let id = try select.firstRow({ select.volumeID(0) }) { return id }
    let insert = try RawStatement(database, "INSERT INTO volume (identity) VALUES (?)")
    insert.bind(1, identity)
    try insert.run()
    return VolumeID(rawValue: try database.lastInsertedRowID)
  }

  /// Adds a directory together with its folder album.
  ///
  /// - Returns: The id of the directory.
  @discardableResult
  package func insertDirectory(
    parentID: DirectoryID?, rootID: RootID?, name: [UInt8], volumeID: VolumeID, inode: UInt64, birthTime: WallTime
  ) throws -> DirectoryID {
    // The assets that are gathered are in other directories.
    let database = databaseBesideNewAssets
    let insert = try RawStatement(
      database,
      "INSERT INTO directory (parent_id, root_id, name, volume_id, inode, birth_time) VALUES (?, ?, ?, ?, ?, ?)")
    insert.bind(1, parentID)
    insert.bind(2, rootID)
    insert.bind(3, text: name)
    insert.bind(4, volumeID)
    insert.bind(5, Int64(bitPattern: inode))
    insert.bind(6, time: birthTime)
    try insert.run()
    let directory = DirectoryID(rawValue: database.lastInsertedRowID)
    let album = try RawStatement(database, "INSERT INTO collection (kind, directory_id) VALUES (2, ?)")
    album.bind(1, directory)
    try album.run()
    record.insert(collection: CollectionID(rawValue: database.lastInsertedRowID))
    return directory
  }

  /// Writes the identity of a directory, which clients do not see.
  package func updateIdentity(of row: DirectoryRow) throws {
    let update = try RawStatement(
      database, "UPDATE directory SET volume_id = ?, inode = ?, birth_time = ? WHERE id = ?")
    update.bind(1, row.volumeID)
    update.bind(2, Int64(bitPattern: row.inode))
    update.bind(3, time: row.birthTime)
    update.bind(4, row.id)
    try update.run()
  }

  /// Writes the place of a directory. This changes one row, however much the directory holds.
  ///
  /// Its photos may come from a root that is not available to one that is. Clients must know that even if the path is
  /// the same.
  ///
  /// - Parameter row: The directory in its new place. It is parked no longer.
  /// - Returns: The paths before and after this transaction; nil if they are equal.
  @discardableResult
  package func moveDirectory(_ row: inout DirectoryRow) throws -> CommitRecord.Renamed? {
    row.isParked = false
    let formerRoot = try root(ofDirectory: row.id)
    let from = try path(ofDirectory: row.id)
    let update = try RawStatement(
      database, "UPDATE directory SET parent_id = ?, root_id = ?, name = ?, parked_id = 0 WHERE id = ?")
    update.bind(1, row.parentID)
    update.bind(2, row.rootID)
    update.bind(3, text: row.name)
    update.bind(4, row.id)
    try update.run()
    let renamed = record.rename(directory: row.id, from: from, to: try path(ofDirectory: row.id))
    if let root = try root(ofDirectory: row.id), root.isAvailable != formerRoot?.isAvailable {
      record.repeat(.init(rootID: root.id, path: root.path, isAvailable: root.isAvailable))
    }
    if renamed != nil, let album = try folderAlbum(of: row.id) { record.update(collection: album) }
    return renamed
  }

  /// Takes a directory out of its place, so that another directory can have it. Until the new place is found, clients
  /// receive a path that no file has.
  package func parkDirectory(_ row: inout DirectoryRow) throws {
    row.isParked = true
    let from = try path(ofDirectory: row.id)
    let update = try RawStatement(database, "UPDATE directory SET parked_id = id WHERE id = ?")
    update.bind(1, row.id)
    try update.run()
    _ = record.rename(directory: row.id, from: from, to: try path(ofDirectory: row.id), isParked: true)
  }

  /// Removes a directory, its folder album and the assets directly in it. The directories below it must be gone
  /// already.
  package func deleteDirectory(_ id: DirectoryID) throws {
    for row in try files(in: id) { try deleteAsset(row.assetID) }
    let album = try folderAlbum(of: id)
    for sql in ["DELETE FROM collection WHERE directory_id = ?", "DELETE FROM directory WHERE id = ?"] {
      let delete = try RawStatement(database, sql)
      delete.bind(1, id)
      try delete.run()
    }
    if let album { record.delete(collection: album) }
    record.noteDeletedDirectory()
  }

  private func folderAlbum(of directoryID: DirectoryID) throws -> CollectionID? {
    let select = try RawStatement(database, "SELECT id FROM collection WHERE directory_id = ?")
    select.bind(1, directoryID)
    return try select.firstRow { select.collectionID(0) }
  }
}
