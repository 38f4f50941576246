/// Reads the date that cameras, phones, messengers and screenshot programs write into file names.
///
/// Documentation/dates.md lists the patterns with the programs that write them. All of them are one of these:
///
/// - `20230920`, alone or followed by a time;
/// - `2023-09-20` with `-`, `_` or `.` between its numbers, alone or followed by a time;
/// - `20230920003105`, also with milliseconds;
/// - milliseconds since 1970, after the prefix of a program that writes them.
///
/// Only plausible days count (``PlausibleDates``). The digits are no date if further digits adjoin them, or if they
/// seem to be part of a checksum such as `a3f20230920`. A name without a time means 12:00.
enum FilenameDate {
  /// - Parameter name: without its directory.
  static func date(in name: [UInt8], _ plausible: PlausibleDates) -> PhotoDate? {
    name.withUnsafeBufferPointer { name in
      if let date = epochDate(name) { return plausible.contains(date) ? date : nil }
      var position = 0
      while position < name.count {
        let digits = FilenameDigits.run(in: name, at: position)
        guard !digits.isEmpty else {
          position += 1
          continue
        }
        if digits.count >= 4, let date = date(in: name, at: digits), plausible.contains(date) { return date }
        position = digits.upperBound
      }
      return nil
    }
  }

  // MARK: - Days

  private static func date(in name: UnsafeBufferPointer<UInt8>, at digits: Range<Int>) -> PhotoDate? {
    guard FilenameDigits.beginNumber(in: name, at: digits.lowerBound) else { return nil }
    let start = digits.lowerBound
    func number(_ offset: Int, _ count: Int) -> Int {
      FilenameDigits.value(name, start + offset..<start + offset + count)
    }
    switch digits.count {
    case 8:
      let day = Day(year: number(0, 4), month: number(4, 2), day: number(6, 2))
      return date(day, in: name, endingAt: digits.upperBound)
    case 14, 17:
      let day = Day(year: number(0, 4), month: number(4, 2), day: number(6, 2))
      let fraction = digits.count == 17 ? number(14, 3) : 0
      let time = FilenameTime(
        hour: number(8, 2), minute: number(10, 2), second: number(12, 2), milliseconds: fraction,
        end: digits.upperBound)
      return time.isValid ? date(day, time, in: name) : nil
    case 4:
      guard let month = FilenameDigits.part(in: name, at: digits.upperBound, separators: "-_.", count: 2),
        let dayPart = FilenameDigits.part(
          in: name, at: month.upperBound, separator: name[digits.upperBound], count: 2)
      else { return nil }
      let day = Day(
        year: number(0, 4), month: FilenameDigits.value(name, month), day: FilenameDigits.value(name, dayPart))
      return date(day, in: name, endingAt: dayPart.upperBound)
    default: return nil
    }
  }

  private struct Day {
    var year, month, day: Int
  }

  /// A day whose digits end at `end`, with the time that follows.
  private static func date(_ day: Day, in name: UnsafeBufferPointer<UInt8>, endingAt end: Int) -> PhotoDate? {
    if let time = FilenameTime(in: name, after: end) { return date(day, time, in: name) }
    // If a letter follows the digits, they are part of a code and not a date.
    if end < name.count, FilenameDigits.isLetter(name[end]) { return nil }
    return PhotoDate(year: day.year, month: day.month, day: day.day, hour: 12)
  }

  private static func date(_ day: Day, _ time: FilenameTime, in name: UnsafeBufferPointer<UInt8>) -> PhotoDate? {
    // Google Pixel's camera writes its names (PXL_) in UTC.
    let isUTC = time.isUTC(in: name) || FilenameDigits.begins(name, "PXL_")
    let date = PhotoDate(
      year: day.year, month: day.month, day: day.day, hour: time.hour, minute: time.minute, second: time.second,
      microsecond: time.milliseconds * 1000, offsetMinutes: isUTC ? 0 : nil)
    return isUTC ? date.map { LocalTime.date(microseconds: $0.microseconds) } : date
  }

  // MARK: - Milliseconds since 1970

  /// The prefixes of programs that write the milliseconds since 1970 as 13 digits after the prefix.
  private static let epochPrefixes: [StaticString] = ["FB_IMG_", "mmexport", "wx_camera_", "microMsg."]

  private static func epochDate(_ name: UnsafeBufferPointer<UInt8>) -> PhotoDate? {
    guard let prefix = epochPrefixes.first(where: { FilenameDigits.begins(name, $0) }) else { return nil }
    let digits = FilenameDigits.run(in: name, at: prefix.utf8CodeUnitCount)
    guard digits.count == 13 else { return nil }
    return LocalTime.date(microseconds: Int64(FilenameDigits.value(name, digits)) * 1000)
  }
}

/// The time that follows a day in a name.
struct FilenameTime {
  var hour, minute, second, milliseconds: Int
  /// The position after the last digit of the time.
  var end: Int

  init(hour: Int, minute: Int, second: Int, milliseconds: Int, end: Int) {
    (self.hour, self.minute, self.second, self.milliseconds) = (hour, minute, second, milliseconds)
    self.end = end
  }

  var isValid: Bool { hour < 24 && minute < 60 && second <= 60 }

  /// Reads the time that follows a day.
  ///
  /// - Parameter end: the end of the day's digits.
  /// - Returns: nil if no valid time follows.
  init?(in name: UnsafeBufferPointer<UInt8>, after end: Int) {
    var start = end
    while start < name.count, start - end <= Self.longestGap, !FilenameDigits.isDigit(name[start]) { start += 1 }
    guard start > end, start - end <= Self.longestGap else { return nil }
    let digits = FilenameDigits.run(in: name, at: start)
    // Names with a word between day and time, such as " at " or " um ", write the time with separators.
    let isShortGap = name[end..<start].allSatisfy { " _-.T".utf8.contains($0) } && start - end <= 2
    switch digits.count {
    case 1, 2: self.init(separated: name, digits)
    case 6, 8, 9:
      guard isShortGap else { return nil }
      self.init(compact: name, digits)
    default: return nil
    }
    guard isValid else { return nil }
  }

  /// Reads `003105`, which two or three digits of a fraction may follow.
  private init?(compact name: UnsafeBufferPointer<UInt8>, _ digits: Range<Int>) {
    let start = digits.lowerBound
    let fraction = FilenameDigits.value(name, start + 6..<digits.upperBound)
    self.init(
      hour: FilenameDigits.value(name, start..<start + 2), minute: FilenameDigits.value(name, start + 2..<start + 4),
      second: FilenameDigits.value(name, start + 4..<start + 6),
      milliseconds: digits.count == 8 ? fraction * 10 : fraction, end: digits.upperBound)
  }

  /// Reads `00-31-05`, `0.31.05`, `12.31.05 AM` or `00-31-05-123`.
  private init?(separated name: UnsafeBufferPointer<UInt8>, _ hourDigits: Range<Int>) {
    guard let minute = FilenameDigits.part(in: name, at: hourDigits.upperBound, separators: "-_.:", count: 2),
      let second = FilenameDigits.part(
        in: name, at: minute.upperBound, separator: name[hourDigits.upperBound], count: 2)
    else { return nil }
    let fraction = FilenameDigits.part(in: name, at: second.upperBound, separators: "-_.", count: 3)
    self.init(
      hour: FilenameDigits.value(name, hourDigits), minute: FilenameDigits.value(name, minute),
      second: FilenameDigits.value(name, second), milliseconds: fraction.map { FilenameDigits.value(name, $0) } ?? 0,
      end: fraction?.upperBound ?? second.upperBound)
    if let isPM = Self.readAMOrPM(name, at: second.upperBound) {
      guard (1...12).contains(hour) else { return nil }
      hour = hour % 12 + (isPM ? 12 : 0)
    }
  }

  /// Reads AM or PM, which a space of any width may precede: true for PM, false for AM, nil if neither follows.
  private static func readAMOrPM(_ name: UnsafeBufferPointer<UInt8>, at end: Int) -> Bool? {
    var start = end
    for space in [" ", "\u{A0}", "\u{202F}"] where name[start...].starts(with: space.utf8) {
      start += space.utf8.count
      break
    }
    guard start + 2 <= name.count, name[start + 1] | 0x20 == UInt8(ascii: "m"),
      start + 2 == name.count || !FilenameDigits.isLetter(name[start + 2])
    else { return nil }
    switch name[start] | 0x20 {
    case UInt8(ascii: "a"): return false
    case UInt8(ascii: "p"): return true
    default: return nil
    }
  }

  /// Whether a `Z` follows, as in `2023_09_20T00_31_05_123Z`.
  func isUTC(in name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard end < name.count, name[end] == UInt8(ascii: "Z") else { return false }
    return end + 1 == name.count || !FilenameDigits.isLetter(name[end + 1])
  }

  /// The most bytes between day and time. The words of all known languages are shorter, for example ` a las `.
  private static let longestGap = 12
}

enum FilenameDigits {
  /// The range of consecutive digits that begins at a position. It may be empty.
  static func run(in name: UnsafeBufferPointer<UInt8>, at start: Int) -> Range<Int> {
    var end = start
    while end < name.count, isDigit(name[end]) { end += 1 }
    return start..<end
  }

  /// Whether the digits at a position begin a number of their own. They do in `IMG20230920`. In `a3f20230920` they may
  /// be part of a checksum, because a digit precedes the letters before them.
  static func beginNumber(in name: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
    var before = start
    while before > 0, isLetter(name[before - 1]) { before -= 1 }
    return before == start || before == 0 || !isDigit(name[before - 1])
  }

  /// The range of exactly `count` digits after a separator.
  static func part(
    in name: UnsafeBufferPointer<UInt8>, at place: Int, separator: UInt8, count: Int
  ) -> Range<Int>? {
    guard place < name.count, name[place] == separator else { return nil }
    let digits = run(in: name, at: place + 1)
    return digits.count == count ? digits : nil
  }

  static func part(
    in name: UnsafeBufferPointer<UInt8>, at place: Int, separators: String, count: Int
  ) -> Range<Int>? {
    guard place < name.count, separators.utf8.contains(name[place]) else { return nil }
    return part(in: name, at: place, separator: name[place], count: count)
  }

  /// The number that the digits in a range write.
  ///
  /// - Precondition: the range has at most 18 digits. More would overflow.
  static func value(_ name: UnsafeBufferPointer<UInt8>, _ digits: Range<Int>) -> Int {
    digits.reduce(0) { $0 * 10 + Int(name[$1] - 0x30) }
  }

  static func begins(_ name: UnsafeBufferPointer<UInt8>, _ prefix: StaticString) -> Bool {
    let count = prefix.utf8CodeUnitCount
    guard name.count >= count else { return false }
    return (0..<count).allSatisfy { name[$0] == prefix.utf8Start[$0] }
  }

  static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }
}
