import PhotoModel

/// Parses EXIF's dates: `YYYY:MM:DD HH:MM:SS`, with sub-seconds and offset in separate tags (EXIF 2.32, 4.6.5.F).
///
/// Programs also write `-`, `/` or `.` between the numbers, `T` before the time, no seconds, or a fraction and an
/// offset at the end. Blanks and "0000:00:00 00:00:00" are no date, nor is a year of fewer than four digits.
enum ExifDate {
  static func parse(
    _ text: UnsafeRawBufferPointer, fraction: UnsafeRawBufferPointer?, offset: UnsafeRawBufferPointer?
  ) -> PhotoDate? {
    var scanner = Scanner(text)
    scanner.skipBlanks()
    guard let year = scanner.year(), scanner.skip(":-/."), let month = scanner.number(2), scanner.skip(":-/."),
      let day = scanner.number(2)
    else { return nil }
    var (hour, minute, second, microsecond) = (0, 0, 0, 0)
    var ownOffset: Int?
    if scanner.skip("T ") {
      scanner.skipBlanks()
      if let hours = scanner.number(2) {
        guard scanner.skip(":-."), let minutes = scanner.number(2) else { return nil }
        (hour, minute) = (hours, minutes)
        if scanner.skip(":-.") { second = scanner.number(2) ?? 0 }
        if scanner.skip(".,") { microsecond = scanner.fraction() ?? 0 }
        ownOffset = scanner.offset()
      }
    }
    if let fraction, let value = Self.microseconds(fraction) { microsecond = value }
    return PhotoDate(
      year: year, month: month, day: day, hour: hour, minute: minute, second: second, microsecond: microsecond,
      offsetMinutes: offset.flatMap(Self.offsetMinutes) ?? ownOffset)
  }

  /// `SubSecTime`: the digits after the decimal point, so "17" is 170 ms.
  static func microseconds(_ text: UnsafeRawBufferPointer) -> Int? {
    var scanner = Scanner(text)
    scanner.skipBlanks()
    return scanner.fraction()
  }

  /// `OffsetTime`: "+01:00", also "+0100", "+01" or "Z".
  static func offsetMinutes(_ text: UnsafeRawBufferPointer) -> Int? {
    var scanner = Scanner(text)
    scanner.skipBlanks()
    return scanner.offset()
  }

  private struct Scanner {
    private let text: UnsafeRawBufferPointer
    private var position = 0

    init(_ text: UnsafeRawBufferPointer) { self.text = text }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    mutating func skipBlanks() {
      while next == 0x20 { position += 1 }
    }

    mutating func skip(_ characters: StaticString) -> Bool {
      guard let next else { return false }
      for index in 0..<characters.utf8CodeUnitCount where characters.utf8Start[index] == next {
        position += 1
        return true
      }
      return false
    }

    /// Reads a year of exactly four digits. A shorter one is the rest of a damaged date, or counts from 1900.
    mutating func year() -> Int? {
      let start = position
      guard let value = number(4), position == start + 4 else { return nil }
      return value
    }

    /// Reads a number of up to this many digits. A blank may replace its leading zero.
    mutating func number(_ digits: Int) -> Int? {
      var value = 0
      var count = 0
      if digits == 2, next == 0x20 {
        position += 1
        count = 1
      }
      let start = position
      while count < digits, let digit = digit() {
        value = value * 10 + digit
        count += 1
      }
      return position > start ? value : nil
    }

    mutating func fraction() -> Int? {
      var value = 0
      var scale = 100_000
      let start = position
      while let digit = digit() {
        value += digit * scale
        scale /= 10
      }
      return position > start ? value : nil
    }

    mutating func offset() -> Int? {
      if skip("Zz") { return 0 }
      let sign: Int
      if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
      guard let hours = number(2), hours < 24 else { return nil }
      _ = skip(":")
      let minutes = number(2) ?? 0
      return minutes < 60 ? sign * (hours * 60 + minutes) : nil
    }

    private mutating func digit() -> Int? {
      guard let next, (0x30...0x39).contains(next) else { return nil }
      position += 1
      return Int(next - 0x30)
    }
  }
}
