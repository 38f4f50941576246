import Glibc

/// This computer's time zone. It replaces the photo's own if only the instant is known.
enum LocalTime {
  static func date(_ moment: WallTime) -> PhotoDate { date(microseconds: moment.microseconds) }

  /// An instant, with this computer's offset from UTC at that time.
  ///
  /// - Parameter microseconds: since 1970.
  static func date(microseconds: Int64) -> PhotoDate {
    var time = time_t(microseconds / 1_000_000)
    var parts = tm()
    // It fails for years beyond those of `tm_year`.
    guard localtime_r(&time, &parts) != nil else { return PhotoDate(microseconds: microseconds) }
    return PhotoDate(microseconds: microseconds, offsetMinutes: parts.tm_gmtoff / 60)
  }
}
