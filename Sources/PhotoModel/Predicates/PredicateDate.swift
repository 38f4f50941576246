/// The time that a date in a predicate means: all of a year, a month, a day or a minute, or, where it is written with
/// seconds, one instant. It is `'2024'`, `'2024-07'`, `'2024-07-21'`, `'2024-07-21T10:00'` or `'2024-07-21T10:00:00.5'`; the last
/// two may end with an offset such as `+02:00` or `Z`.
///
/// `==` asks for a moment within it, `<` for one before it, `>` for one after it. An instant stays one since that is how
/// the library writes its own dates: a program that asks for what comes after an asset must not miss the rest of the second.
package struct DateSpan: Hashable, Sendable {
  private enum Precision: Hashable {
    case year, month, day, minute, instant

    /// Of the text, `2024-07-21T10:00`.
    var length: Int {
      switch self {
      case .year: 4
      case .month: 7
      case .day: 10
      case .minute: 16
      case .instant: .max
      }
    }
  }

  /// Microseconds since 1970 as in ``PhotoDate/microseconds``, both included.
  package let first: Int64
  package let last: Int64
  private let precision: Precision

  package var isInstant: Bool { precision == .instant }

  /// One instant.
  package init(microseconds: Int64) {
    first = microseconds
    last = microseconds
    precision = .instant
  }

  init?(_ text: String) {
    let length = text.utf8.count
    switch length {
    case 4, 7:
      let parts = text.split(separator: "-", omittingEmptySubsequences: false)
      guard text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 45 }), parts[0].utf8.count == 4,
        parts.count == (length == 4 ? 1 : 2), let year = Int(parts[0]), let month = length == 4 ? 1 : Int(parts[1]),
        let first = PhotoDate(year: year, month: month, day: 1),
        let last = Self.end(year: year, month: length == 4 ? 12 : month)
      else { return nil }
      self.init(first: first.microseconds, last: last.microseconds, precision: length == 4 ? .year : .month)
    default:
      guard let date = PhotoDate(text) else { return nil }
      let hasSeconds = text.utf8.dropFirst(16).first == UInt8(ascii: ":")
      // As if it had no offset, which moves a date at the very ends of time to what can be written.
      let start = PhotoDate(microseconds: date.microseconds, offsetMinutes: nil).microseconds
      if hasSeconds {
        self.init(microseconds: start)
      } else if length == 10 {
        self.init(first: start, last: start + 86_400_000_000 - 1, precision: .day)
      } else {
        let past = (start % 60_000_000 + 60_000_000) % 60_000_000
        self.init(first: start - past, last: start - past + 60_000_000 - 1, precision: .minute)
      }
    }
  }

  private init(first: Int64, last: Int64, precision: Precision) {
    self.first = first
    self.last = last
    self.precision = precision
  }

  private static func end(year: Int, month: Int) -> PhotoDate? {
    for day in [31, 30, 29, 28] {
      if let end = PhotoDate(
        year: year, month: month, day: day, hour: 23, minute: 59, second: 59, microsecond: 999_999)
      {
        return end
      }
    }
    return nil
  }
}

extension DateSpan: CustomStringConvertible {
  /// As it is written, without an offset.
  package var description: String {
    let text = PhotoDate(microseconds: first, offsetMinutes: nil).description
    return String(text.prefix(precision.length))
  }
}
