import GRDB
import PhotoModel

// A clock that advances only with the library's own commits. Tombstones expire by it. A wall clock that is wrong for an
// hour must not end the 30 days of a tombstone.

extension FileLookups {
  /// The longest time between two commits that counts.
  package static var longestStep: Duration { .seconds(86_400) }

  /// The library's age: the sum of the times between its commits. Each time counts as at most one day, and a step back
  /// counts as nothing. Like the dates of commits, it has a precision of one microsecond.
  ///
  /// - Parameter date: the time of the next commit.
  package func libraryAge(at date: WallTime) throws -> Duration {
    let select = try RawStatement(
      databaseBesideNewAssets, "SELECT age, date FROM history ORDER BY sequence DESC LIMIT 1")
    // In a new library, no time has passed.
    return try select.firstRow { () -> Duration in
      let step = WallTime(microseconds: date.microseconds) - select.date(1)
      return select.age(0) + min(max(step, .zero), Self.longestStep)
    } ?? .zero
  }

  /// The library's age at its last commit.
  func storedLibraryAge() throws -> Duration {
    let select = try RawStatement(database, "SELECT age FROM history ORDER BY sequence DESC LIMIT 1")
    return try select.firstRow { select.age(0) } ?? .zero
  }
}
