import ChangeDetails
import GRDB
import PhotoModel

extension CatalogReader {
  /// The commits after this one, oldest first.
  ///
  /// - Parameter limit: The largest number of commits.
  /// - Throws: ``PhotoError`` `catalogDamaged`, besides the errors of the database.
  package func persistentChanges(after sequence: Int64, limit: Int) throws -> [PersistentChange] {
    try persistentChanges(after: sequence, limit: limit, maximumBytes: .max).changes
  }

  /// The first commits after this one that may fit into a reply. A commit may have a million ids, so no commit is read
  /// after those that fill the reply.
  ///
  /// - Parameter maximumBytes: The size of the reply. The last commit may exceed it.
  /// - Returns: The commits, and whether no others follow.
  /// - Throws: ``PhotoError`` `catalogDamaged`, besides the errors of the database.
  package func persistentChanges(
    after sequence: Int64, limit: Int, maximumBytes: Int
  ) throws -> (changes: [PersistentChange], isAll: Bool) {
    let directories = try RawStatement(
      database, "SELECT from_path, to_path FROM history_directory WHERE sequence = ? ORDER BY rowid")
    let roots = try RawStatement(
      database, "SELECT path, is_available FROM history_root WHERE sequence = ? ORDER BY rowid")
    let history = try RawStatement(
      database,
      "SELECT sequence, date, origin, inserted_assets, updated_assets, deleted_assets, inserted_collections, "
        + "updated_collections, deleted_collections FROM history WHERE sequence > ? ORDER BY sequence LIMIT ?")
    history.bind(1, sequence)
    history.bind(2, max(limit, 0))
    defer { history.reset() }
    var changes: [PersistentChange] = []
    var byteCount = 0
    while byteCount < maximumBytes {
      guard try history.step() else { return (changes, changes.count < limit) }
      let sequence = history.int64(0)
      let updated = try PackedIDs.unpackFields(history.bytes(4)).filter { TouchedAssets.isChange($0.1) }
      var change = PersistentChange(
        token: catalog.token(sequence).description, date: PhotoDate(microseconds: history.int64(1)),
        origin: history.text(2), insertedAssets: try PackedIDs.unpack(history.bytes(3)),
        updatedAssets: updated.map(\.0), deletedAssets: try PackedIDs.unpack(history.bytes(5)),
        changedFields: updated.reduce(into: ChangedFields()) { $0.formUnion($1.1) }.names,
        insertedCollections: try PackedIDs.unpack(history.bytes(6)),
        updatedCollections: try PackedIDs.unpack(history.bytes(7)),
        deletedCollections: try PackedIDs.unpack(history.bytes(8)))
      directories.bind(1, sequence)
      try directories.forEachRow {
        change.renamedDirectories.append(
          RenamedDirectory(
            fromPath: FilePath.text(directories.bytes(0)), toPath: FilePath.text(directories.bytes(1))))
      }
      roots.bind(1, sequence)
      try roots.forEachRow {
        change.rootAvailability.append(
          RootAvailability(path: FilePath.text(roots.bytes(0)), available: roots.bool(1)))
      }
      changes.append(change)
      byteCount += change.encodedIDBytes
    }
    return (changes, false)
  }

  /// The sequence of the oldest commit in the history, or `nil` if the history is empty.
  package func oldestSequence() throws -> Int64? {
    let statement = try RawStatement(database, "SELECT min(sequence) FROM history")
    return try statement.firstRow { statement.optionalInt64(0) } ?? nil
  }

  /// Whether the history has every commit after this one, so that it names everything that was touched since. False
  /// also for a commit in the future.
  package func historyReaches(_ sequence: Int64) throws -> Bool {
    let newest = try self.sequence()
    let oldest = try oldestSequence() ?? newest + 1
    return sequence <= newest && sequence >= oldest - 1
  }

  /// The assets that these commits touched. An inserted asset has no changed fields, and deleted assets count as
  /// touched. A renamed directory, or a root that went online or offline, touches every asset with a file below it now.
  ///
  /// - Complexity: O(n) for the ids in the commits and the files below such directories.
  package func touched(after sequence: Int64, through last: Int64) throws -> TouchedAssets {
    var touched = TouchedAssets()
    let history = try RawStatement(
      database,
      "SELECT inserted_assets, updated_assets, deleted_assets FROM history WHERE sequence > ? AND sequence <= ? "
        + "ORDER BY sequence")
    history.bind(1, sequence)
    history.bind(2, last)
    try history.forEachRow {
      touched.note(
        inserted: try PackedIDs.unpack(history.bytes(0)), updated: try PackedIDs.unpackFields(history.bytes(1)),
        deleted: try PackedIDs.unpack(history.bytes(2)))
    }
    try note(.renamed, .path, after: sequence, through: last, in: &touched)
    try note(.cameOrWent, .availability, after: sequence, through: last, in: &touched)
    return touched
  }

  /// Up to this many assets below moved directories are listed individually, at some 40 bytes each.
  static let mostNamed = 4_096

  private func note(
    _ kind: MovedSubtree, _ fields: ChangedFields, after sequence: Int64, through last: Int64,
    in touched: inout TouchedAssets
  ) throws {
    var few: [AssetID] = []
    var many = IDSet()
    try forEachAsset(below: kind, after: sequence, through: last) { id in
      guard few.count < Self.mostNamed else { return many.insert(id) }
      few.append(id)
    }
    if many.isEmpty {
      for id in few { touched.fields[id, default: []].formUnion(fields) }
    } else {
      for id in few { many.insert(id) }
      touched.insert(many, fields)
    }
  }

  /// The collections that these commits made, edited or deleted.
  package func touchedCollections(after sequence: Int64, through last: Int64) throws -> Set<CollectionID> {
    let history = try RawStatement(
      database,
      "SELECT inserted_collections, updated_collections, deleted_collections FROM history "
        + "WHERE sequence > ? AND sequence <= ? AND "
        + "coalesce(inserted_collections, updated_collections, deleted_collections) IS NOT NULL")
    history.bind(1, sequence)
    history.bind(2, last)
    var ids: Set<CollectionID> = []
    try history.forEachRow {
      for column in Int32(0)...2 where !history.isNull(column) {
        ids.formUnion(try PackedIDs.unpack(history.bytes(column)))
      }
    }
    return ids
  }

  /// Directories that one row of the history stands for, with everything below them.
  enum MovedSubtree: String, Hashable {
    /// Directories with a new path.
    case renamed = "SELECT directory_id FROM history_directory WHERE sequence > ? AND sequence <= ?"
    /// Tops of roots or mounts that went online or offline.
    case cameOrWent = """
      SELECT coalesce(history_root.directory_id, directory.id) FROM history_root
      LEFT JOIN directory ON directory.root_id = history_root.root_id WHERE sequence > ? AND sequence <= ?
      """
  }

  /// The assets with a file in or below the directories that these commits moved. An asset may occur twice.
  ///
  /// - Parameter limit: The largest number of rows.
  func assets(below kind: MovedSubtree, after sequence: Int64, through last: Int64, limit: Int) throws -> [AssetID] {
    var ids: [AssetID] = []
    try forEachAsset(below: kind, after: sequence, through: last, limit: limit) { ids.append($0) }
    return ids
  }

  private func forEachAsset(
    below kind: MovedSubtree, after sequence: Int64, through last: Int64, limit: Int = -1, _ body: (AssetID) -> Void
  ) throws {
    // UNION visits a directory once, even if it was renamed again or lies below another one.
    let statement = try RawStatement(
      database,
      "WITH RECURSIVE below(id) AS (\(kind.rawValue) "
        + "UNION SELECT directory.id FROM below JOIN directory ON directory.parent_id = below.id) "
        + "SELECT resource.asset_id FROM below CROSS JOIN resource ON resource.directory_id = below.id LIMIT ?")
    statement.bind(1, sequence)
    statement.bind(2, last)
    statement.bind(3, limit)
    try statement.forEachRow { body(statement.assetID(0)) }
  }

  /// The origins of these commits.
  package func origins(after sequence: Int64, through last: Int64) throws -> Set<String> {
    let statement = try RawStatement(
      database, "SELECT DISTINCT origin FROM history WHERE sequence > ? AND sequence <= ?")
    statement.bind(1, sequence)
    statement.bind(2, last)
    var origins: Set<String> = []
    try statement.forEachRow { origins.insert(statement.text(0)) }
    return origins
  }
}

extension PersistentChange {
  /// The bytes that its ids take in a reply, which is somewhat less than the whole.
  fileprivate var encodedIDBytes: Int {
    Self.byteCount(of: [insertedAssets, updatedAssets, deletedAssets])
      + Self.byteCount(of: [insertedCollections, updatedCollections, deletedCollections])
  }

  private static func byteCount(of lists: [[some CatalogID]]) -> Int {
    lists.reduce(0) { sum, ids in ids.reduce(sum) { $0 + digitCount($1.rawValue) + 1 } }
  }

  private static func digitCount(_ id: Int64) -> Int {
    var (count, rest) = (1, id)
    while rest > 9 { (count, rest) = (count + 1, rest / 10) }
    return count
  }
}
