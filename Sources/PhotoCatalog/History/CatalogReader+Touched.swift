import ChangeDetails
import GRDB
import PhotoModel

/// Whether some assets were changed after a commit.
package enum ChangesSince: Hashable, Sendable {
  /// These were changed or deleted.
  case touched(Set<AssetID>)
  /// The history does not reach back to the commit, or so many commits follow it that they are not read.
  case unknown
}

extension CatalogReader {
  /// The most commits that ``changes(of:after:)`` reads, and the most bytes of their lists.
  package static let mostCheckedCommits = 10_000
  static let mostCheckedBytes = 4 << 20

  /// The assets among these that clients saw changing after a commit. A renamed directory, or a root that went online or
  /// offline, changes every asset below it.
  ///
  /// - Complexity: O(n) for the ids in the commits, of which there is a limit, and O(k) lookups for k assets.
  package func changes(of ids: Set<AssetID>, after sequence: Int64) throws -> ChangesSince {
    let last = try self.sequence()
    guard try historyReaches(sequence), last - sequence <= Self.mostCheckedCommits else { return .unknown }
    guard last > sequence else { return .touched([]) }
    let size = try RawStatement(
      database,
      "SELECT total(coalesce(length(inserted_assets), 0) + coalesce(length(updated_assets), 0) "
        + "+ coalesce(length(deleted_assets), 0) + coalesce(length(inserted_collections), 0) "
        + "+ coalesce(length(updated_collections), 0) + coalesce(length(deleted_collections), 0)) "
        + "FROM history WHERE sequence > ?")
    size.bind(1, sequence)
    guard try size.firstRow({ size.double(0) }) ?? 0 <= Double(Self.mostCheckedBytes) else { return .unknown }
    guard !ids.isEmpty else { return .touched([]) }
    var touched: Set<AssetID> = []
    let history = try RawStatement(
      database, "SELECT inserted_assets, updated_assets, deleted_assets FROM history WHERE sequence > ?")
    history.bind(1, sequence)
    try history.forEachRow {
      touched.formUnion(try PackedIDs.unpack(history.bytes(0)).lazy.filter(ids.contains))
      for (id, fields) in try PackedIDs.unpackFields(history.bytes(1))
      where ids.contains(id) && TouchedAssets.isChange(fields) { touched.insert(id) }
      touched.formUnion(try PackedIDs.unpack(history.bytes(2)).lazy.filter(ids.contains))
    }
    touched.formUnion(try assets(of: ids.subtracting(touched), inDirectoriesMovedAfter: sequence, through: last))
    return .touched(touched)
  }

  /// The assets among these that are below a directory that such a commit moved, or that went online or offline.
  private func assets(
    of ids: Set<AssetID>, inDirectoriesMovedAfter sequence: Int64, through last: Int64
  ) throws -> Set<AssetID> {
    /// Whether each directory was moved itself, or is below one that was.
    var isMoved: [DirectoryID: Bool] = [:]
    for kind in [MovedSubtree.renamed, .cameOrWent] {
      let select = try RawStatement(database, kind.rawValue)
      select.bind(1, sequence)
      select.bind(2, last)
      try select.forEachRow { if let id = select.optionalDirectoryID(0) { isMoved[id] = true } }
    }
    guard !isMoved.isEmpty else { return [] }
    let place = try RawStatement(database, "SELECT directory_id FROM asset WHERE id = ?")
    let above = try RawStatement(database, "SELECT parent_id FROM directory WHERE id = ?")
    return try ids.filter { id in
      place.bind(1, id)
      var next = try place.firstRow { place.directoryID(0) }
      var passed: [DirectoryID] = []
      var result = false
      while let directory = next {
        if let known = isMoved[directory] {
          result = known
          break
        }
        passed.append(directory)
        isMoved[directory] = false
        above.bind(1, directory)
        next = try above.firstRow { above.optionalDirectoryID(0) } ?? nil
      }
      for directory in passed { isMoved[directory] = result }
      return result
    }
  }
}
