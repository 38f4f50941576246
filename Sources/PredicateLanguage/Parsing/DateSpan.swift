import PhotoModel

/// The time that a date in a predicate means: a whole year, month, day or minute or, if it has seconds, one instant. It
/// is written `'2024'`, `'2024-07'`, `'2024-07-21'`, `'2024-07-21T10:00'` or `'2024-07-21T10:00:00.5'`. The last two
/// may end with an offset such as `+02:00` or `Z`.
///
/// Without an offset, it is compared with the local time of each photo. With an offset, it is compared with the
/// instant. The instant of a photo without an offset is its local time.
///
/// `==` means a moment within the span, `<` one before it, and `>` one after it. A date with seconds is an instant,
/// because the library writes its own dates so. A program that fetches everything after an asset must not miss the rest
/// of a second.
package struct DateSpan: Hashable, Sendable {
  /// The clock by which a moment is compared with a span.
  package enum Clock: Hashable, Sendable {
    /// The photo's own clock.
    case local
    case universal
  }

  private enum Precision: Hashable {
    case year, month, day, minute, instant

    /// The length of the text for this precision, up to that of `2024-07-21T10:00`.
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

  /// The first and last microsecond of the span since 1970, by its clock. Both are included.
  package let first: Int64
  package let last: Int64
  package let clock: Clock
  private let precision: Precision

  package var isInstant: Bool { precision == .instant }

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
      self.init(first: first.microseconds, last: last.microseconds, .local, precision: length == 4 ? .year : .month)
    default:
      guard let date = PhotoDate(text) else { return nil }
      let hasSeconds = text.utf8.dropFirst(16).first == UInt8(ascii: ":")
      // The offset is removed, because it could move a date at the ends of the range to one that can't be written.
      let start = PhotoDate(microseconds: date.microseconds, offsetMinutes: nil).microseconds
      let clock: Clock = date.offsetMinutes == nil ? .local : .universal
      if hasSeconds {
        self.init(first: start, last: start, clock, precision: .instant)
      } else if length == 10 {
        self.init(first: start, last: start + 86_400_000_000 - 1, clock, precision: .day)
      } else {
        let past = (start % 60_000_000 + 60_000_000) % 60_000_000
        self.init(first: start - past, last: start - past + 60_000_000 - 1, clock, precision: .minute)
      }
    }
  }

  /// The instant of a date. Its offset has no effect, and neither has the lack of one.
  package init(instant date: PhotoDate) {
    self.init(first: date.microseconds, last: date.microseconds, .universal, precision: .instant)
  }

  private init(first: Int64, last: Int64, _ clock: Clock, precision: Precision) {
    self.first = first
    self.last = last
    self.clock = clock
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
  /// The span as a predicate writes it. An instant is in UTC.
  package var description: String {
    let text = PhotoDate(microseconds: first, offsetMinutes: nil).description
    return String(text.prefix(precision.length)) + (clock == .local ? "" : "Z")
  }
}

extension PhotoDate {
  /// The number to compare with a ``DateSpan`` that has this clock.
  func microseconds(by clock: DateSpan.Clock) -> Int64 {
    switch clock {
    case .local: localMicroseconds
    case .universal: microseconds
    }
  }
}
