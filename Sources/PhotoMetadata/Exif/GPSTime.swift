import PhotoModel

/// The offset of a camera's clock, from the UTC time that its GPS receiver wrote (EXIF 2.32, 4.6.6: GPSTimeStamp and
/// GPSDateStamp).
///
/// Offsets are multiples of 15 minutes from −12 to +14 hours. A receiver often repeats its last fix. So the difference
/// counts only if it is at most two minutes away from such an offset. Equal times prove nothing, because some cameras
/// write their own clock as GPS time.
enum GPSTime {
  private static let quarter: Int64 = 15 * 60_000_000
  private static let tolerance: Int64 = 2 * 60_000_000

  /// The date with its offset, if the camera wrote none and the GPS time shows it.
  static func zoned(_ date: PhotoDate, _ gps: ExifEntries) -> PhotoDate {
    guard date.offsetMinutes == nil, let utc = instant(gps) else { return date }
    let difference = date.microseconds - utc
    guard (-13 * 4 * quarter...15 * 4 * quarter).contains(difference) else { return date }
    let quarters = (Double(difference) / Double(quarter)).rounded()
    let offset = Int64(quarters) * quarter
    guard offset != 0, abs(difference - offset) <= tolerance, (-12 * 4 * quarter...14 * 4 * quarter).contains(offset)
    else {
      return date
    }
    return PhotoDate(microseconds: date.microseconds - offset, offsetMinutes: Int(offset / 60_000_000))
  }

  /// Microseconds since 1970 in UTC.
  private static func instant(_ gps: ExifEntries) -> Int64? {
    guard let text = gps.bytes(29), let day = ExifDate.parse(text, fraction: nil, offset: nil),
      let hours = gps.fraction(7), let minutes = gps.fraction(7, at: 1), let seconds = gps.fraction(7, at: 2),
      (0..<24).contains(hours), (0..<60).contains(minutes), (0..<61).contains(seconds)
    else { return nil }
    return day.microseconds + Int64((hours * 3600 + minutes * 60 + seconds) * 1_000_000)
  }
}
