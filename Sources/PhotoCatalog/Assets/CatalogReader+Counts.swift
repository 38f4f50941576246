import GRDB
import PhotoModel

/// The number of assets and directories below one root.
package struct RootCounts: Hashable, Sendable {
  package var rootID: RootID
  /// The path as bytes, as the file system has it. It need not be valid UTF-8.
  package var path: [UInt8]
  package var isAvailable: Bool
  /// The number of assets, including hidden and trashed ones.
  package var assets: Int
  /// The number of directories, including the root's own one.
  package var directories: Int
}

/// An asset whose file could not be read, or whose content could not be decoded.
package struct FailedAsset: Hashable, Sendable {
  package var assetID: AssetID
  /// The path as bytes, as the file system has it. It need not be valid UTF-8.
  package var path: [UInt8]
  package var failure: String
  /// When photod read the file or was refused permission. Unknown if reading it failed for another reason, such as a
  /// disk error.
  package var readTime: WallTime
  /// When the file changed last, as its file system has it.
  package var changeTime: WallTime
}

extension CatalogReader {
  /// The number of all assets, including hidden and trashed ones, and the number of unreadable assets
  /// (``FailedAsset``).
  ///
  /// - Complexity: O(n), over the smallest index.
  package func counts() throws -> (assets: Int, failed: Int) {
    let statement = try RawStatement(
      database, "SELECT (SELECT count(*) FROM asset), (SELECT count(*) FROM asset WHERE failure IS NOT NULL)")
    return try statement.firstRow { (Int(statement.int64(0)), Int(statement.int64(1))) } ?? (0, 0)
  }

  /// The counts of every root, ordered by path.
  ///
  /// - Complexity: O(n) over the directories and, in their index, the assets.
  package func rootCounts() throws -> [RootCounts] {
    let below = try RawStatement(
      database,
      "WITH RECURSIVE below(id) AS (SELECT id FROM directory WHERE root_id = ? "
        + "UNION ALL SELECT directory.id FROM below JOIN directory ON directory.parent_id = below.id) "
        + "SELECT count(*), sum((SELECT count(*) FROM asset WHERE asset.directory_id = below.id)) FROM below")
    let roots = try RawStatement(database, "SELECT id, path, is_available FROM root ORDER BY path")
    var counts: [RootCounts] = []
    try roots.forEachRow {
      let id = roots.rootID(0)
      below.bind(1, id)
      let sums = try below.firstRow { (directories: Int(below.int64(0)), assets: Int(below.int64(1))) }
      counts.append(
        RootCounts(
          rootID: id, path: roots.bytes(1), isAvailable: roots.bool(2), assets: sums?.assets ?? 0,
          directories: sums?.directories ?? 0))
    }
    return counts
  }

  /// The number of assets with one of these failures, and the path of the first of them; nil if there are none.
  ///
  /// - Complexity: O(n) over all unreadable assets.
  package func assets(failed failures: [String]) throws -> (count: Int, first: [UInt8])? {
    let list = Array(repeating: "?", count: failures.count).joined(separator: ", ")
    let statement = try RawStatement(
      database,
      "SELECT count(*), min(id) FROM asset INDEXED BY asset_failed "
        + "WHERE failure IS NOT NULL AND failure IN (\(list))")
    for (index, failure) in failures.enumerated() { statement.bind(Int32(index + 1), text: Array(failure.utf8)) }
    let found = try statement.firstRow { (count: Int(statement.int64(0)), id: statement.assetID(1)) }
    guard let found, found.count > 0 else { return nil }
    let place = try RawStatement(database, "SELECT directory_id, name FROM asset WHERE id = ?")
    place.bind(1, found.id)
    var tree = try DirectoryPaths(database)
    let path = try place.firstRow { try tree.place(place.directoryID(0)).path(of: place.bytes(1)) }
    return path.map { (found.count, $0) }
  }

  /// The first of the unreadable assets, ordered by id.
  package func failedAssets(limit: Int) throws -> [FailedAsset] {
    var tree = try DirectoryPaths(database)
    let statement = try RawStatement(
      database,
      "SELECT a.id, a.directory_id, a.name, a.failure, ifnull(r.read_time, 0), ifnull(r.change_time, 0) FROM asset a "
        + "LEFT JOIN resource r ON r.directory_id = a.directory_id AND r.name = a.name "
        + "WHERE a.failure IS NOT NULL ORDER BY a.id LIMIT ?")
    statement.bind(1, max(limit, 0))
    var failed: [FailedAsset] = []
    try statement.forEachRow {
      failed.append(
        FailedAsset(
          assetID: statement.assetID(0),
          path: try tree.place(statement.directoryID(1)).path(of: statement.bytes(2)),
          failure: statement.text(3), readTime: statement.time(4), changeTime: statement.time(5)))
    }
    return failed
  }
}
