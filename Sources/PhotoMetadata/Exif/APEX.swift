import Glibc

/// Converts APEX values (EXIF 2.32, annex C), which EXIF and XMP have beside the usual units.
enum APEX {
  /// ShutterSpeedValue: the negative binary logarithm of the seconds. The range is that of cameras, from a microsecond to
  /// some days.
  static func seconds(shutterSpeed value: Double) -> Double? { (-20...20).contains(value) ? exp2(-value) : nil }

  /// ApertureValue: twice the binary logarithm of the f-number.
  static func fNumber(aperture value: Double) -> Double? { (-2...20).contains(value) ? exp2(value / 2) : nil }
}
