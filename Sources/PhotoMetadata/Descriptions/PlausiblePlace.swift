import PhotoModel

extension Location {
  /// A place as a file names it. It is `nil` if a coordinate is out of range. An implausible altitude is left out.
  init?(ofFile latitude: Double, _ longitude: Double, altitude: Double? = nil) {
    guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
    self.init(
      latitude: latitude, longitude: longitude,
      altitude: altitude.flatMap { Self.plausibleAltitudes.contains($0) ? $0 : nil })
  }

  /// Metres, from below the deepest sea (10,984 m) to the edge of space. A value beyond is the writer's error.
  private static let plausibleAltitudes = -12_000.0...100_000.0
}
