import GRDB
import PhotoModel

// The albums and folders that a person makes. The assets of albums are in CatalogWriter+Albums.swift, and the places of
// collections in CatalogWriter+CollectionPlaces.swift.

extension FileLookups {
  /// A collection that a person made; nil if there is no such collection, or if it belongs to the system.
  package func userCollection(_ id: CollectionID) throws -> UserCollection? {
    let select = try RawStatement(database, Self.userCollections + " AND id = ?")
    select.bind(1, id)
    return try select.firstRow { userCollection(select) }
  }

  /// All collections that a person made, by id.
  func userCollections() throws -> [UserCollection] {
    let select = try RawStatement(database, Self.userCollections + " ORDER BY id")
    var collections: [UserCollection] = []
    try select.forEachRow { collections.append(userCollection(select)) }
    return collections
  }

  /// The collections in a folder, in their order. nil is the top level.
  func userCollections(in parentID: CollectionID?) throws -> [UserCollection] {
    let select = try RawStatement(
      database, Self.userCollections + (parentID == nil ? " AND parent_id IS NULL" : " AND parent_id = ?"))
    if let parentID { select.bind(1, parentID) }
    var collections: [(key: [UInt8], collection: UserCollection)] = []
    try select.forEachRow {
      let collection = userCollection(select)
      collections.append(
        (CollectionPlace.key(rank: collection.rank, title: collection.title, id: collection.id), collection))
    }
    return collections.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.collection)
  }

  /// The collections at any level in these folders, without these folders themselves. A folder comes before the
  /// collections in it.
  package func collections(below ids: some Sequence<CollectionID>) throws -> [UserCollection] {
    var known = Set(ids)
    var found: [UserCollection] = []
    var next = 0
    for id in known.sorted() { found += try userCollections(in: id).filter { known.insert($0.id).inserted } }
    while next < found.count {
      if found[next].kind == .folder {
        found += try userCollections(in: found[next].id).filter { known.insert($0.id).inserted }
      }
      next += 1
    }
    return found
  }

  private static var userCollections: String {
    "SELECT id, kind, title, parent_id, rank, key_asset_id, \(SmartAlbumQuery.columns) FROM collection "
      + "WHERE (\(isOfUser))"
  }

  /// The condition of a row that a person made. An index has the same condition (v015-placements.sql).
  static var isOfUser: String { "kind IN (1, 3) OR kind = 0 AND subtype IS NULL" }

  private func userCollection(_ row: RawStatement) -> UserCollection {
    let kind: UserCollection.Kind =
      switch AssetCollection.Kind(code: row.int64(1)) {
      case .folder: .folder
      case .smartAlbum: .smartAlbum(SmartAlbumQuery(row, from: 6))
      default: .album
      }
    return UserCollection(
      id: row.collectionID(0), kind: kind,
      title: row.text(2), parentID: row.optionalCollectionID(3), rank: row.double(4), keyAssetID: row.optionalAssetID(5)
    )
  }
}

extension UserCollection.Kind {
  fileprivate var code: Int64 {
    switch self {
    case .album: AssetCollection.Kind.album.code
    case .folder: AssetCollection.Kind.folder.code
    case .smartAlbum: AssetCollection.Kind.smartAlbum.code
    }
  }

  fileprivate var query: SmartAlbumQuery? { if case .smartAlbum(let query) = self { query } else { nil } }
}

extension CatalogWriter {
  /// Makes a collection. It comes last in its folder if its collections have positions, otherwise by its title.
  ///
  /// - Throws: ``CollectionChangeError``, as each method here.
  package func createCollection(
    _ kind: UserCollection.Kind, title: String, parentID: CollectionID?
  ) throws -> CollectionID {
    try checkFolder(parentID)
    if kind == .folder { try checkLevels(of: title, height: 1, in: parentID) }
    if case .smartAlbum(let query) = kind { try check(query, of: title) }
    let insert = try RawStatement(
      database,
      "INSERT INTO collection (kind, title, parent_id, rank, \(SmartAlbumQuery.columns), placed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    insert.bind(1, kind.code)
    insert.bind(2, title)
    insert.bind(3, parentID)
    insert.bind(4, try lastRank(in: parentID))
    (kind.query ?? SmartAlbumQuery()).bind(to: insert, from: 5)
    insert.bind(9, try nextSequence())
    try insert.run()
    let id = CollectionID(rawValue: try database.lastInsertedRowID)
    record.insert(collection: id)
    try noteCollection(id)
    recording?.note(id, nil, try userCollection(id))
    recording?.noteMove(of: id, .init(next: nil, before: 0, after: try nextSequence()))
    return id
  }

  /// - Parameter title: nil to keep the title.
  /// - Parameter keyAssetID: nil to keep the cover. The album must have the asset.
  package func edit(collection id: CollectionID, title: String?, keyAssetID: AssetID? = nil) throws {
    guard let held = try userCollection(id) else { throw CollectionChangeError.noSuchCollection(id) }
    var collection = held
    if let title { collection.title = title }
    if let keyAssetID {
      guard held.kind == .album else {
        throw CollectionChangeError.rejected(
          "'\(held.title)' is no album to which photos are added. Only such an album has a cover that is chosen.")
      }
      guard try rank(of: keyAssetID, inAlbum: id) != nil else {
        try checkAssets([keyAssetID])
        throw CollectionChangeError.rejected(
          "The photo \(keyAssetID) is not in the album '\(held.title)'. Add it, or choose another cover.")
      }
      collection.keyAssetID = keyAssetID
    }
    guard collection != held else { return }
    try write(collection)
    // The collections in a folder are in its place in the list.
    if collection.title != held.title { noteMovedFolder(collection) }
  }

  /// Gives a smart album another query.
  package func edit(smartAlbum id: CollectionID, _ query: SmartAlbumQuery) throws {
    guard var collection = try userCollection(id) else { throw CollectionChangeError.noSuchCollection(id) }
    guard case .smartAlbum(let held) = collection.kind else {
      throw CollectionChangeError.rejected(
        "'\(collection.title)' (id:\(id)) is no smart album, so it has no query. Choose a smart album.")
    }
    try check(query, of: collection.title)
    guard query != held else { return }
    collection.kind = .smartAlbum(query)
    try write(collection)
  }

  /// Rejects a query that finds nothing because it is invalid.
  private func check(_ query: SmartAlbumQuery, of title: String) throws {
    do { _ = try CollectionList(query) } catch {
      throw CollectionChangeError.rejected("The smart album '\(title)' can't have this query: \(error.explanation)")
    }
  }

  /// Deletes a collection, and everything that is in a folder. No asset is deleted.
  package func delete(collection id: CollectionID) throws {
    guard let collection = try userCollection(id) else { throw CollectionChangeError.noSuchCollection(id) }
    // A collection is deleted after those in it.
    for child in try collections(below: [id]).reversed() { try deleteEmpty(child) }
    try deleteEmpty(collection)
  }

  /// Deletes a collection that was deleted according to the journal.
  ///
  /// The journal has a line for each collection in a deleted folder, before the line of the folder. If the folder still has
  /// others, the line is damaged that moved them out of it or deleted them. They move to the top level.
  func applyDeletion(of id: CollectionID) throws {
    guard let collection = try userCollection(id) else { return }
    for var child in try userCollections(in: id) {
      child.parentID = nil
      try write(child)
    }
    try deleteEmpty(collection)
  }

  /// Deletes a collection in which there is no other one.
  private func deleteEmpty(_ collection: UserCollection) throws {
    let id = collection.id
    let members = try placedMembers(ofAlbum: id)
    if recording != nil {
      recording?.note(id, collection, nil)
      recording?.deleted[id] = .init(placed: try placed(id), members: members)
    }
    releasedAssets.formUnion(members.map(\.asset))
    for sql in [
      "DELETE FROM tombstone_album WHERE collection_id = ?", "DELETE FROM album_asset WHERE collection_id = ?",
      "DELETE FROM collection WHERE id = ?",
    ] {
      let delete = try RawStatement(database, sql)
      delete.bind(1, id)
      try delete.run()
    }
    record.delete(collection: id)
    albumRecords.append(.deleted(id))
  }

  /// Writes collections of the journal as they are, whether the catalog has them or not.
  func apply(_ collections: [UserCollection]) throws {
    for collection in collections where try userCollection(collection.id) == nil {
      let insert = try RawStatement(database, "INSERT INTO collection (id, kind, title) VALUES (?, ?, ?)")
      insert.bind(1, collection.id)
      insert.bind(2, collection.kind.code)
      insert.bind(3, collection.title)
      try insert.run()
      record.insert(collection: collection.id)
    }
    for var collection in collections {
      // The line of its folder may be damaged.
      if let parentID = collection.parentID, try userCollection(parentID)?.kind != .folder { collection.parentID = nil }
      try write(collection)
    }
  }

  /// Moves folders that contain themselves to the top level. If the journal lost the line of one folder, its former place may
  /// be in a folder that is in it now.
  func resolveCycles() throws {
    for var folder in try userCollections() where folder.kind == .folder {
      guard let parentID = folder.parentID, try folders(above: parentID).contains(folder.id) else { continue }
      folder.parentID = nil
      try write(folder)
    }
  }

  func write(_ collection: UserCollection) throws {
    if recording != nil, let held = try userCollection(collection.id) { recording?.note(held.id, held, collection) }
    let update = try RawStatement(
      database,
      "UPDATE collection SET title = ?, parent_id = ?, rank = ?, key_asset_id = ?, (\(SmartAlbumQuery.columns)) = (?, ?, ?, ?) WHERE id = ?"
    )
    update.bind(1, collection.title)
    update.bind(2, collection.parentID)
    update.bind(3, collection.rank)
    update.bind(4, collection.keyAssetID)
    (collection.kind.query ?? SmartAlbumQuery()).bind(to: update, from: 5)
    update.bind(9, collection.id)
    try update.run()
    record.update(collection: collection.id)
    try noteCollection(collection.id)
  }

  private func noteCollection(_ id: CollectionID) throws {
    guard var collection = try userCollection(id) else { return }
    collection.others = journal?.others(of: id) ?? []
    albumRecords.append(.collection(collection))
  }

  func checkFolder(_ id: CollectionID?) throws {
    guard let id else { return }
    guard let folder = try userCollection(id) else { throw CollectionChangeError.noSuchCollection(id) }
    guard folder.kind == .folder else {
      throw CollectionChangeError.rejected(
        "'\(folder.title)' (id:\(id)) is no folder of albums. Choose a folder, or the top level.")
    }
  }

  func checkAssets(_ ids: [AssetID]) throws {
    let missing = try missingAssets(ids)
    guard missing.isEmpty else { throw CollectionChangeError.noSuchAssets(missing) }
  }
}
