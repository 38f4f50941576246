/// A date from a photo's metadata: an instant or, if the camera wrote no offset, the reading of its clock.
///
/// In the contract it is RFC 3339. If there is no offset, the `Z` is omitted, which means "local time, zone unknown".
/// Dates without an offset are ordered as if they were in UTC.
public struct PhotoDate: Hashable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00 UTC. Without an offset, the clock's reading is taken as UTC.
  public let microseconds: Int64

  /// The offset from UTC in minutes, east positive; `nil` if it is unknown.
  public let offsetMinutes: Int?

  /// The reading of the date's own clock, taken as UTC. It has the same day as the text of the date.
  package var localMicroseconds: Int64 { microseconds + Int64(offsetMinutes ?? 0) * 60_000_000 }

  /// The largest offset in either direction, in microseconds.
  package static let largestOffset: Int64 = 1439 * 60_000_000

  /// Creates a date. A file's time may lie outside the years 1 to 9999 on its own clock, which RFC 3339 can't express.
  /// It becomes the nearest date inside.
  public init(microseconds: Int64, offsetMinutes: Int? = 0) {
    let offset = offsetMinutes.map { min(max($0, -1439), 1439) }
    let shift = Int64(offset ?? 0) * 60_000_000
    self.microseconds = min(max(microseconds, Self.firstMoment - shift), Self.lastMoment - shift)
    self.offsetMinutes = offset
  }

  /// 0001-01-01T00:00:00
  private static let firstMoment: Int64 = -62_135_596_800_000_000
  /// 9999-12-31T23:59:59.999999
  private static let lastMoment: Int64 = 253_402_300_799_999_999

  /// Creates a date from a civil date and time on a clock with this offset; `nil` if there is no such date.
  ///
  /// Second 60 is accepted for a leap second and means the last second of its minute.
  public init?(
    year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, microsecond: Int = 0,
    offsetMinutes: Int? = nil
  ) {
    guard (1...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= Self.daysInMonth(year: year, month: month),
      (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second),
      (0...999_999).contains(microsecond), (-1439...1439).contains(offsetMinutes ?? 0)
    else { return nil }
    let days = Self.daysSinceEpoch(year: year, month: month, day: day)
    let wallSeconds = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + min(second, 59))
    let seconds = wallSeconds - Int64((offsetMinutes ?? 0) * 60)
    self.init(microseconds: seconds * 1_000_000 + Int64(microsecond), offsetMinutes: offsetMinutes)
  }

  private static func daysInMonth(year: Int, month: Int) -> Int {
    switch month {
    case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  // Civil calendar arithmetic: https://howardhinnant.github.io/date_algorithms.html
  private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func civil(daysSinceEpoch days: Int) -> (year: Int, month: Int, day: Int) {
    let z = days + 719_468
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let dayOfEra = z - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }
}

extension PhotoDate: Comparable {
  /// Whether the first moment is before the second one. The offsets from UTC do not matter.
  public static func < (lhs: PhotoDate, rhs: PhotoDate) -> Bool { lhs.microseconds < rhs.microseconds }
}

// MARK: - RFC 3339

extension PhotoDate: LosslessStringConvertible, CustomStringConvertible {
  /// RFC 3339 (https://www.rfc-editor.org/rfc/rfc3339), with no more digits in the fraction than needed.
  public var description: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    appendText(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends ``description``, which is ASCII.
  package func appendText(to bytes: inout [UInt8]) {
    let wall = localMicroseconds
    let day = Int(wall / 86_400_000_000) - (wall % 86_400_000_000 < 0 ? 1 : 0)
    let rest = Int(wall - Int64(day) * 86_400_000_000)
    let date = Self.civil(daysSinceEpoch: day)
    func put(_ value: Int, _ width: Int) {
      var divisor = 1
      for _ in 1..<width { divisor *= 10 }
      while divisor > 0 {
        bytes.append(UInt8(48 + value / divisor % 10))
        divisor /= 10
      }
    }
    put(date.year, 4)
    bytes.append(45)
    put(date.month, 2)
    bytes.append(45)
    put(date.day, 2)
    bytes.append(84)
    put(rest / 3_600_000_000, 2)
    bytes.append(58)
    put(rest / 60_000_000 % 60, 2)
    bytes.append(58)
    put(rest / 1_000_000 % 60, 2)
    let fraction = rest % 1_000_000
    if fraction != 0 {
      bytes.append(46)
      put(fraction, 6)
      while bytes.last == 48 { bytes.removeLast() }
    }
    if let offsetMinutes {
      if offsetMinutes == 0 {
        bytes.append(90)
      } else {
        bytes.append(offsetMinutes < 0 ? 45 : 43)
        put(abs(offsetMinutes) / 60, 2)
        bytes.append(58)
        put(abs(offsetMinutes) % 60, 2)
      }
    }
  }

  /// Parses `2024-07-21T10:00:00.5+02:00`. Offset, fraction, seconds and the time may be missing, and a space may
  /// replace the `T`.
  public init?(_ description: String) {
    var rest = description.utf8[...]
    func number(_ digits: Int) -> Int? {
      var value = 0
      for _ in 0..<digits {
        guard let byte = rest.first, (48...57).contains(byte) else { return nil }
        value = value * 10 + Int(byte - 48)
        rest.removeFirst()
      }
      return value
    }
    func skip(_ characters: UInt8...) -> Bool {
      guard let byte = rest.first, characters.contains(byte) else { return false }
      rest.removeFirst()
      return true
    }
    guard let year = number(4), skip(45), let month = number(2), skip(45), let day = number(2) else { return nil }
    var hour = 0
    var minute = 0
    var second = 0
    var microsecond = 0
    var offset: Int?
    if !rest.isEmpty {
      guard skip(84, 116, 32), let h = number(2), skip(58), let m = number(2) else { return nil }
      (hour, minute) = (h, m)
      if skip(58) {
        guard let s = number(2) else { return nil }
        second = s
        if skip(46) {
          var scale = 100_000
          guard let first = rest.first, (48...57).contains(first) else { return nil }
          while let byte = rest.first, (48...57).contains(byte) {
            microsecond += Int(byte - 48) * scale
            scale /= 10
            rest.removeFirst()
          }
        }
      }
      if skip(90, 122) {
        offset = 0
      } else if let sign = rest.first, sign == 43 || sign == 45 {
        rest.removeFirst()
        guard let h = number(2), skip(58), let m = number(2), h < 24, m < 60 else { return nil }
        offset = (sign == 45 ? -1 : 1) * (h * 60 + m)
      }
      guard rest.isEmpty else { return nil }
    }
    self.init(
      year: year, month: month, day: day, hour: hour, minute: minute, second: second, microsecond: microsecond,
      offsetMinutes: offset)
  }
}

extension PhotoDate: Codable {
  /// Reads a date of RFC 3339.
  ///
  /// - Throws: `DecodingError` if the text is no such date.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let date = PhotoDate(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is no RFC 3339 date")
    }
    self = date
  }

  /// Writes the date as ``description`` has it.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
