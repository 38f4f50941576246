/// When a photo was taken, by the best available source.
///
/// 1. The file's own metadata comes first. A date without an offset is the reading of the camera's clock.
/// 2. The file's name is next (``FilenameDate``).
/// 3. The file's modification time is last. If it is not plausible, the time when photod first saw the file replaces it.
///
/// A better source replaces the known date, and a worse one never does, whatever happens to the file
/// (``replacing(_:)``).
package struct CreationDate: Hashable, Sendable {
  package let date: PhotoDate
  package let source: CreationDateSource

  package init(date: PhotoDate, source: CreationDateSource) {
    self.date = date
    self.source = source
  }

  /// The date from a file's metadata, name or modification time; nil if none of them gives one.
  ///
  /// - Parameters:
  ///   - filename: without its directory.
  ///   - modificationTime: nil if it must not be used.
  ///   - now: dates after tomorrow are not plausible.
  package init?(metadata: PhotoDate?, filename: [UInt8], modificationTime: WallTime?, now: WallTime) {
    if let metadata {
      self.init(date: metadata, source: .metadata)
      return
    }
    let plausible = PlausibleDates(now: now)
    if let date = FilenameDate.date(in: filename, plausible) {
      self.init(date: date, source: .filename)
    } else if let modified = modificationTime.map({ LocalTime.date($0) }),
      plausible.contains(modified)
    {
      self.init(date: modified, source: .file)
    } else {
      return nil
    }
  }

  /// The date for a file whose metadata, name and modification time give no plausible date.
  ///
  /// - Parameter time: when photod first saw the file.
  package static func firstSeen(_ time: WallTime) -> CreationDate {
    CreationDate(date: LocalTime.date(time), source: .file)
  }

  /// The date that an asset gets if this date is found now.
  ///
  /// If both dates have the same source, this date counts, because the metadata or the name has changed. The
  /// modification time is an exception: the earlier date counts, so that a program that touches the file later cannot
  /// move the photo in the list.
  ///
  /// - Parameter held: the date that the asset had before.
  package func replacing(_ held: CreationDate?) -> CreationDate {
    guard let held else { return self }
    if source != held.source { return source.isBetter(than: held.source) ? self : held }
    return source == .file && held.date <= date ? held : self
  }
}

/// Dates that a photo can have: from 1990 until the end of tomorrow.
///
/// A clock that was never set shows 1970 or 1980. Digits in a name that mean something else, such as a serial number,
/// are rarely a day in this range.
struct PlausibleDates {
  private let days: ClosedRange<Int64>

  init(now: WallTime) {
    days = Self.firstDay...max(Self.firstDay, Self.day(LocalTime.date(now)) + 1)
  }

  func contains(_ date: PhotoDate) -> Bool { days.contains(Self.day(date)) }

  /// 1990-01-01
  private static let firstDay: Int64 = 7305

  private static func day(_ date: PhotoDate) -> Int64 {
    let wall = date.localMicroseconds
    return wall / 86_400_000_000 - (wall % 86_400_000_000 < 0 ? 1 : 0)
  }
}
