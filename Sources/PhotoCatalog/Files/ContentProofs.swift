import GRDB
import PhotoModel

// Requests for samples and hashes of files (``ContentMarks``), and their results. The column `resource.proof_state` has
// the state of a file:
//
//     0         There is no request. The file is new, or it is not the first file of its asset.
//     1         A sample is requested.
//     2         A sample and a hash are requested.
//     -1, -2    The same requests are postponed until the file changes or a user asks for them.
//
// A trigger of the schema requests the hashes of files that have the same size and fingerprint.

extension FileLookups {
  /// The files from which this file may have been copied with its name and modification time, and which have no sample
  /// yet. New assets are not found, because their proof state is 0.
  ///
  /// - Complexity: O(log n). If there are many such files, it returns only some of them.
  package func unsampledOriginals(of copy: FileRow) throws -> [FileRow] {
    guard let fingerprint = copy.marks.fingerprint else { return [] }
    let select = try RawStatement(
      databaseBesideNewAssets,
      """
      SELECT * FROM (
        SELECT \(Self.fileColumns) FROM resource
        WHERE fingerprint = ? AND byte_count = ? AND proof_state <> 0 AND proof_state IN (1, 2, -1, -2)
          AND modification_time = ? LIMIT 64)
      WHERE name = ? AND sample IS NULL LIMIT 4
      """)
    select.bind(1, Int64(bitPattern: fingerprint))
    select.bind(2, copy.byteCount)
    select.bind(3, time: copy.modificationTime)
    select.bind(4, text: copy.name)
    var rows: [FileRow] = []
    try select.forEachRow { rows.append(file(select)) }
    return rows
  }

  /// Files that have the same size and fingerprint as this file, and so may have the same content. New assets are not
  /// found, because their proof state is 0.
  ///
  /// - Complexity: O(log n). If there are many such files, it returns only some of them.
  package func files(like row: FileRow) throws -> [FileRow] {
    guard let fingerprint = row.marks.fingerprint else { return [] }
    let select = try RawStatement(
      databaseBesideNewAssets,
      """
      SELECT \(Self.fileColumns) FROM resource
      WHERE fingerprint = ? AND byte_count = ? AND proof_state <> 0 AND proof_state IN (1, 2, -1, -2) LIMIT 64
      """)
    select.bind(1, Int64(bitPattern: fingerprint))
    select.bind(2, row.byteCount)
    var rows: [FileRow] = []
    try select.forEachRow { rows.append(file(select)) }
    return rows
  }

  /// Available files whose requested hash or sample is missing, ordered by their assets' ids. Files that could not be
  /// read since they changed are left out, because ``CatalogWriter/keepMarks(of:)`` would drop their marks.
  ///
  /// - Parameters:
  ///   - assetID: files of this asset and of assets with smaller ids are left out.
  ///   - isWhole: true for hashes, false for samples.
  ///   - mostPassed: how many files the call examines at most, with those that it leaves out.
  /// - Returns: the files, and the id of the last asset that was examined. That id is nil if no file is left.
  package func filesToProve(
    after assetID: AssetID, isWhole: Bool, limit: Int, mostPassed: Int
  ) throws -> (rows: [FileRow], through: AssetID?) {
    let source = "resource INDEXED BY \(isWhole ? "resource_unhashed" : "resource_unsampled")"
    let last = try RawStatement(
      database,
      """
      SELECT max(asset_id) FROM (
        SELECT asset_id FROM \(source) WHERE \(Self.missing(isWhole)) AND asset_id > ? ORDER BY asset_id LIMIT ?)
      """)
    last.bind(1, assetID)
    last.bind(2, mostPassed)
    guard let end = try last.firstRow({ last.optionalAssetID(0) }) ?? nil else { return ([], nil) }
    let select = try RawStatement(
      database,
      """
      WITH RECURSIVE \(FetchSource.offlineTable)
      SELECT \(Self.fileColumns) FROM \(source)
      WHERE \(Self.missing(isWhole)) AND asset_id > ? AND asset_id <= ? AND read_time <> 0
        AND directory_id NOT IN offline
      ORDER BY asset_id LIMIT ?
      """)
    select.bind(1, assetID)
    select.bind(2, end)
    select.bind(3, limit)
    var rows: [FileRow] = []
    try select.forEachRow { rows.append(file(select)) }
    return (rows, rows.count < limit ? end : rows.last?.assetID)
  }

  /// How many of the requested samples and hashes are missing.
  ///
  /// - Complexity: O(k) for k that are missing. Only indexes are read.
  package func proofCounts() throws -> (unsampled: Int, unhashed: Int) {
    let count = try RawStatement(
      database,
      "SELECT (SELECT count(*) FROM resource WHERE \(Self.missing(false))), "
        + "(SELECT count(*) FROM resource WHERE \(Self.missing(true)))")
    return try count.firstRow { (Int(count.int64(0)), Int(count.int64(1))) } ?? (0, 0)
  }

  private static func missing(_ isWhole: Bool) -> String {
    isWhole
      ? "proof_state = 2 AND hash IS NULL AND fingerprint IS NOT NULL"
      : "proof_state > 0 AND sample IS NULL AND fingerprint IS NOT NULL"
  }
}

extension CatalogWriter {
  /// Requests the samples of new files, and also the hashes of new files whose assets have user data.
  ///
  /// - Parameter limit: the most assets that one call processes.
  /// - Returns: whether there are further new files.
  package func wantProofsOfNewFiles(limit: Int) throws -> Bool {
    let range = try RawStatement(
      database,
      """
      SELECT proof_through, (SELECT max(id) FROM (SELECT id FROM asset WHERE id > proof_through ORDER BY id LIMIT ?1)),
        (SELECT max(id) FROM asset)
      FROM library
      """)
    range.bind(1, limit)
    let found = try range.firstRow { (range.assetID(0), range.optionalAssetID(1), range.optionalAssetID(2)) }
    guard let found, let last = found.1, let newest = found.2 else { return false }
    let want = try RawStatement(
      database,
      """
      UPDATE resource SET proof_state =
        CASE WHEN a.is_favorite OR a.is_hidden OR EXISTS (SELECT 1 FROM album_asset m WHERE m.asset_id = a.id)
            OR EXISTS (SELECT 1 FROM asset_edit e WHERE e.asset_id = a.id) THEN 2
          ELSE max(abs(proof_state), 1) END
      FROM asset a
      WHERE a.id > ?1 AND a.id <= ?2 AND resource.directory_id = a.directory_id AND resource.name = a.name
      """)
    want.bind(1, found.0)
    want.bind(2, last)
    try want.run()
    // The hash of a small file is known already.
    let hashed = try RawStatement(
      database,
      """
      SELECT a.id FROM asset a CROSS JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name
      WHERE a.id > ?1 AND a.id <= ?2 AND r.hash IS NOT NULL AND r.proof_state IN (2, -2)
      """)
    hashed.bind(1, found.0)
    hashed.bind(2, last)
    try hashed.forEachRow { comparison.note(hashed.assetID(0)) }
    let through = try RawStatement(database, "UPDATE library SET proof_through = ?")
    through.bind(1, last)
    try through.run()
    return last < newest
  }

  /// Requests the hash of an asset that got user data. A hash proves a content without further facts. So the user data
  /// can be restored even if the file comes back with another name.
  func wantHash(of id: AssetID) throws { try wantHashes(of: [id]) }

  /// As ``wantHash(of:)``. One statement writes all states, because a trigger adds to the cost of each statement.
  func wantHashes(of ids: [AssetID]) throws {
    let select = try RawStatement(
      database,
      """
      SELECT file.hash IS NOT NULL
      FROM asset JOIN resource AS file ON file.directory_id = asset.directory_id AND file.name = asset.name
      WHERE asset.id = ? AND file.proof_state <> 2
      """)
    var wanted: [AssetID] = []
    for id in ids {
      select.bind(1, id)
      guard let hasHash = try select.firstRow({ select.bool(0) }) else { continue }
      wanted.append(id)
      // A file without a hash is no duplicate. It is compared when it gets the hash.
      if hasHash { comparison.note(id) }
    }
    guard !wanted.isEmpty else { return }
    let update = try RawStatement(
      database,
      // The statement can't violate a constraint. OR FAIL spares SQLite the copies of changed pages for that case.
      """
      UPDATE OR FAIL resource SET proof_state = 2
      FROM json_each(?) AS wanted, asset
      WHERE asset.id = wanted.value AND resource.directory_id = asset.directory_id AND resource.name = asset.name
      """)
    // Files of one folder are beside each other, and ids mostly ascend with them.
    update.bind(1, text: Array("[\(wanted.sorted().map(\.description).joined(separator: ","))]".utf8))
    try update.run()
  }

  /// Postpones the requests for a file that cannot be read, or that is on a network file system. They become due when
  /// the file changes, or when a user asks for them.
  package func putOffProof(of id: AssetID) throws {
    let update = try RawStatement(
      database,
      """
      UPDATE resource SET proof_state = -proof_state
      WHERE (directory_id, name) = (SELECT directory_id, name FROM asset WHERE id = ?) AND proof_state > 0
      """)
    update.bind(1, id)
    try update.run()
  }

  /// Makes the postponed requests of the files in these directories due, because a user asked for it.
  package func wantProofs(in directories: [DirectoryID]) throws {
    let update = try RawStatement(
      database, "UPDATE resource SET proof_state = -proof_state WHERE directory_id = ? AND proof_state < 0")
    for directory in directories {
      update.bind(1, directory)
      try update.run()
    }
  }

  /// Writes the sample and hash of a file. The call writes them only if the file's size, times and inode in the catalog
  /// are those of the row. Otherwise the marks belong to an earlier state of the file. If the file could not be read
  /// since it changed, the catalog has the marks of the content before. It compares the next reading with them.
  package func keepMarks(of row: FileRow) throws {
    let update = try RawStatement(
      database,
      """
      UPDATE resource SET sample = ?, hash = ?
      WHERE directory_id = ? AND name = ? AND byte_count = ? AND modification_time = ? AND change_time = ? AND inode = ?
        AND read_time <> 0
      """)
    update.bind(1, proofOf: row.marks)
    update.bind(3, row.directoryID)
    update.bind(4, text: row.name)
    update.bind(5, row.byteCount)
    update.bind(6, time: row.modificationTime)
    update.bind(7, time: row.changeTime)
    update.bind(8, Int64(bitPattern: row.inode))
    try update.run()
    guard try database.changesCount > 0 else { return }
    if row.marks.hash != nil { comparison.note(row.assetID) }
    // The journal of user data also has the marks of its assets, so that a rebuilt catalog can recognize their files.
    guard let journal, journal.holds(row.assetID) else { return }
    var reading = try UserDataReading(database)
    guard let entry = try reading.entry(of: row.assetID, journal) else { return }
    journalRecords.append(.asset(entry))
  }
}
