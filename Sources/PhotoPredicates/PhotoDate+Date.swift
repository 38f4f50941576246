import Foundation
import PhotoModel

extension PhotoDate {
  /// The instant of a Foundation date, to the microsecond. Use it outside of a `#Predicate`, and capture the result:
  ///
  /// ```swift
  /// let lastWeek = PhotoDate(Date.now.addingTimeInterval(-7 * 86_400))
  /// let options = try FetchOptions(predicate: #Predicate { $0.creationDate > lastWeek })
  /// ```
  public init(_ date: Date) {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    // The bounds are outside of the years 1 to 9999, which `init(microseconds:offsetMinutes:)` restores.
    self.init(microseconds: Int64(min(max(microseconds, -1e18), 1e18)), offsetMinutes: 0)
  }

  /// The instant as a Foundation date.
  public var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
}
