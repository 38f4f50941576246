import ArgumentParser
import PhotoModel

/// When a photo was taken: a year, a month, a day, or a range of them, one end of which may be left out.
///
/// `2024`, `2024-07`, `2024-07-21`, `2024-07..2024-09`, `2024..`, `..2019`. Both ends of a range belong to it.
struct TakenArgument: ExpressibleByArgument, Hashable, Sendable {
  /// The first day, as `2024-07-01`; `nil` for no beginning.
  let firstDay: String?
  /// The first day that does not belong to it; `nil` for no end.
  let dayAfter: String?

  init?(argument: String) {
    let dots = argument.firstRange(of: "..")
    let first = dots.map { String(argument[..<$0.lowerBound]) } ?? argument
    let last = dots.map { String(argument[$0.upperBound...]) } ?? argument
    guard !(first.isEmpty && last.isEmpty) else { return nil }
    var begin: Span?
    var end: Span?
    if !first.isEmpty {
      begin = Span(first)
      if begin == nil { return nil }
    }
    if !last.isEmpty {
      end = Span(last)
      if end == nil { return nil }
    }
    firstDay = begin?.firstDay
    dayAfter = end?.dayAfter
    // A range that ends before it begins holds nothing: somebody mixed up its ends.
    if let firstDay, let dayAfter, dayAfter <= firstDay { return nil }
  }

  /// What of a predicate means this.
  var predicate: String {
    let parts = [firstDay.map { "creationDate >= '\($0)'" }, dayAfter.map { "creationDate < '\($0)'" }].compactMap {
      $0
    }
    // Before the end of all dates is whatever has one.
    return parts.isEmpty ? "creationDate != nil" : parts.joined(separator: " AND ")
  }

  /// A year, a month or a day of the calendar.
  private struct Span {
    let firstDay: String
    /// `nil` after 9999, where dates end.
    let dayAfter: String?

    init?(_ text: String) {
      let parts = text.split(separator: "-", omittingEmptySubsequences: false)
      let widths = [4, 2, 2]
      guard parts.count <= 3, zip(parts, widths).allSatisfy({ $0.utf8.count == $1 && $0.utf8.allSatisfy(Self.isDigit) })
      else { return nil }
      let numbers = parts.compactMap { Int($0) }
      let (year, month, day) = (
        numbers[0], numbers.count > 1 ? numbers[1] : nil, numbers.count > 2 ? numbers[2] : nil
      )
      guard let first = Self.date(year, month ?? 1, day ?? 1) else { return nil }
      firstDay = first
      if let month, let day, let next = Self.date(year, month, day + 1) {
        dayAfter = next
      } else if let month, month < 12 {
        dayAfter = Self.date(year, month + 1, 1)
      } else {
        dayAfter = Self.date(year + 1, 1, 1)
      }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func date(_ year: Int, _ month: Int, _ day: Int) -> String? {
      PhotoDate(year: year, month: month, day: day).map(Text.day)
    }
  }
}
