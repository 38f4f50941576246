import GRDB

// A clock that advances only with the library's own commits. Tombstones expire by it. A wall clock that is wrong for an
// hour must not end the 30 days of a tombstone.

extension FileLookups {
  /// The longest time between two commits that counts, in microseconds.
  package static var longestStep: Int64 { 86_400_000_000 }

  /// The library's age in microseconds: the sum of the times between its commits. Each time counts as at most one day,
  /// and a step back counts as nothing.
  ///
  /// - Parameter date: the time of the next commit, in microseconds since 1970.
  package func libraryAge(at date: Int64) throws -> Int64 {
    let select = try RawStatement(
      databaseBesideNewAssets, "SELECT age, date FROM history ORDER BY sequence DESC LIMIT 1")
    // In a new library, no time has passed.
    return try select.firstRow { () -> Int64 in
      let (step, overflows) = date.subtractingReportingOverflow(select.int64(1))
      return select.int64(0) + (overflows ? 0 : min(max(step, 0), Self.longestStep))
    } ?? 0
  }

  /// The library's age at its last commit.
  func storedLibraryAge() throws -> Int64 {
    let select = try RawStatement(database, "SELECT age FROM history ORDER BY sequence DESC LIMIT 1")
    return try select.firstRow { select.int64(0) } ?? 0
  }
}
