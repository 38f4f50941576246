import ArgumentParser
import PhotoModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The date when a photo was taken: a year, a month, a day, or a range of them. One end of a range may be left out.
///
/// Examples are `2024`, `2024-07`, `2024-07-21`, `2024-07..2024-09`, `2024..` and `..2019`. A range includes both ends.
/// `today`, `yesterday` and `7d` depend on the day of this computer. `7d` means the last seven days, including today.
struct TakenArgument: Hashable, Sendable {
  /// The first day, for example `2024-07-01`. `nil` if there is no beginning.
  let firstDay: String?
  /// The first day after the range. `nil` if there is no end.
  let dayAfter: String?
  /// Whether it means other days tomorrow.
  let dependsOnToday: Bool

  /// - Parameter today: The current day, for example `2024-07-21`.
  /// - Throws: ``Mistake`` if the argument is not a date or a range.
  init(_ argument: String, today: String = Self.today()) throws {
    let dots = argument.firstRange(of: "..")
    let first = dots.map { String(argument[..<$0.lowerBound]) } ?? argument
    let last = dots.map { String(argument[$0.upperBound...]) } ?? argument
    guard !(first.isEmpty && last.isEmpty) else {
      throw Mistake("it must be a year, a month, a day or a range of them")
    }
    firstDay = first.isEmpty ? nil : try Span(first, today: today).firstDay
    dayAfter = last.isEmpty ? nil : try Span(last, today: today).dayAfter
    dependsOnToday = (first + last).contains(where: \.isLetter)
    if let firstDay, let dayAfter, dayAfter <= firstDay {
      throw Mistake("the range ends before it begins")
    }
  }

  /// An error in the argument.
  struct Mistake: Error, Equatable, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// The predicate with this meaning.
  var predicate: String {
    let parts = [firstDay.map { "creationDate >= '\($0)'" }, dayAfter.map { "creationDate < '\($0)'" }].compactMap {
      $0
    }
    // A range up to the end of all dates contains every date.
    return parts.isEmpty ? "creationDate != nil" : parts.joined(separator: " AND ")
  }

  /// The current day, by this computer's clock and time zone.
  static func today() -> String {
    var now = time(nil)
    var local = tm()
    localtime_r(&now, &local)
    let date = PhotoDate(year: Int(local.tm_year) + 1900, month: Int(local.tm_mon) + 1, day: Int(local.tm_mday))
    return date.map(Text.day) ?? "1970-01-01"
  }

  /// A year, a month, a day, or the last days up to today.
  private struct Span {
    let firstDay: String
    /// The day after the span. `nil` after the year 9999, in which dates end.
    let dayAfter: String?

    init(_ text: String, today: String) throws {
      let days: (first: Int, after: Int)? =
        switch text {
        case "today": (0, 1)
        case "yesterday": (-1, 0)
        default: try Self.numberOfDays(text).map { (1 - $0, 1) }
        }
      if let days {
        guard let first = Self.day(today, movedBy: days.first), let after = Self.day(today, movedBy: days.after) else {
          throw Mistake("'\(text)' is before the year 1")
        }
        (firstDay, dayAfter) = (first, after)
        return
      }
      let parts = text.split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count <= 3,
        zip(parts, [4, 2, 2]).allSatisfy({ $0.utf8.count == $1 && $0.utf8.allSatisfy(Self.isDigit) })
      else {
        throw Mistake("'\(text)' is no date; write 2024, 2024-07, 2024-07-21, today, yesterday or 7d")
      }
      let numbers = parts.compactMap { Int($0) }
      let (year, month, day) = (
        numbers[0], numbers.count > 1 ? numbers[1] : nil, numbers.count > 2 ? numbers[2] : nil
      )
      if let month, !(1...12).contains(month) { throw Mistake("there is no month \(parts[1])") }
      guard let first = Self.date(year, month ?? 1, day ?? 1) else {
        throw Mistake(day == nil ? "there is no year \(parts[0])" : "there is no day \(text)")
      }
      firstDay = first
      if let month, let day, let next = Self.date(year, month, day + 1) {
        dayAfter = next
      } else if let month, month < 12 {
        dayAfter = Self.date(year, month + 1, 1)
      } else {
        dayAfter = Self.date(year + 1, 1, 1)
      }
    }

    /// The number in a form such as `7d`. `nil` for any other form.
    private static func numberOfDays(_ text: String) throws -> Int? {
      guard text.last == "d", text.count > 1, text.dropLast().utf8.allSatisfy(isDigit) else { return nil }
      guard let number = Int(text.dropLast()), (1...maximumDays).contains(number) else {
        throw Mistake("'\(text)' is not between 1d and \(maximumDays)d")
      }
      return number
    }

    /// The largest number of days, about a hundred years.
    private static let maximumDays = 36_525

    private static func day(_ day: String, movedBy days: Int) -> String? {
      guard let date = PhotoDate(day + "T12:00:00Z") else { return nil }
      return Text.day(PhotoDate(microseconds: date.microseconds + Int64(days) * 86_400_000_000))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func date(_ year: Int, _ month: Int, _ day: Int) -> String? {
      PhotoDate(year: year, month: month, day: day).map(Text.day)
    }
  }
}
