import GRDB
import PhotoModel

extension CatalogReader {
  /// The sequence of the oldest commit that stays if the history may take this many bytes. The newest commit always
  /// stays. nil if there is no limit or no history.
  ///
  /// - Complexity: O(n) for n commits that stay. The lists of ids are not read.
  func oldestSequence(within maximumBytes: Int64) throws -> Int64? {
    guard maximumBytes < .max else { return nil }
    func length(_ columns: String...) -> String {
      columns.map { "coalesce(length(CAST(\($0) AS BLOB)), 0)" }.joined(separator: " + ")
    }
    let lists = [
      "inserted_assets", "updated_assets", "deleted_assets", "inserted_collections", "updated_collections",
      "deleted_collections",
    ]
    let statement = try RawStatement(
      database,
      """
      SELECT sequence, \(Self.historyRowBytes) + length(origin) + \(
        lists.map { "coalesce(length(\($0)), 0)" }.joined(separator: " + "))
        + (SELECT coalesce(sum(\(Self.historyRowBytes) + \(length("from_path", "to_path"))), 0)
           FROM history_directory WHERE history_directory.sequence = history.sequence)
        + (SELECT coalesce(sum(\(Self.historyRowBytes) + \(length("path"))), 0)
           FROM history_root WHERE history_root.sequence = history.sequence)
      FROM history ORDER BY sequence DESC
      """)
    defer { statement.reset() }
    var (total, oldest): (Int64, Int64?) = (0, nil)
    while try statement.step() {
      total += statement.int64(1)
      if oldest != nil && total > maximumBytes { break }
      oldest = statement.int64(0)
    }
    return oldest
  }

  /// About the size of a row without its lists and paths, but with its index entry.
  static let historyRowBytes = 48
}

extension Catalog {
  /// About the bytes that were added to the history since the catalog was opened or the history was pruned. It tells
  /// when to prune again.
  package var historyGrowthBytes: Int { historyGrowth.load(ordering: .relaxed) }

  /// Deletes the commits before a date, but not the newest commits. Tokens older than the remaining history expire.
  ///
  /// - Parameters:
  ///   - newest: The number of commits that stay, however old they are.
  ///   - maximumBytes: The largest size of the history. The oldest commits above it are deleted, however new they are,
  ///     except the last commit.
  package func pruneHistory(olderThan date: WallTime, keeping newest: Int64, maximumBytes: Int64 = .max) throws {
    let growth = historyGrowthBytes
    let (first, end) = try read { reader -> (Int64, Int64) in
      let select = try RawStatement(
        reader.database,
        "SELECT (SELECT min(sequence) FROM history), (SELECT max(sequence) FROM history), "
          + "(SELECT min(sequence) FROM history WHERE date >= ?)")
      select.bind(1, date: date)
      let (first, end) =
        try select.firstRow { () -> (Int64, Int64) in
          let last = select.int64(1)
          return (select.int64(0), min(last - newest + 1, select.optionalInt64(2) ?? last + 1))
        } ?? (0, 0)
      return (first, max(end, try reader.oldestSequence(within: maximumBytes) ?? 0))
    }
    // Small transactions keep other writers from waiting long.
    for sequence in stride(from: first + 1_000, to: end, by: 1_000) {
      try write { try $0.pruneHistory(before: sequence) }
    }
    if first < end { try write { try $0.pruneHistory(before: end) } }
    historyGrowth.subtract(growth, ordering: .relaxed)
  }
}
