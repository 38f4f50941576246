#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// All places within a distance of one place, on a sphere with the mean radius of the Earth.
///
/// Distances follow great circles, so that a circle may contain a pole, or places on both sides of the 180th meridian.
/// The sphere is wrong by at most 0.6 percent. SQLite calls the same code for each row, so that both agree to the bit.
package struct PlaceCircle: Hashable, Sendable {
  package let latitude: Double
  package let longitude: Double
  package let kilometers: Double

  /// Slightly more than the way to the opposite side of the Earth.
  package static let maximumKilometers = 20_020.0
  /// In kilometres.
  private static let radius = 6_371.0088

  package init(latitude: Double, longitude: Double, kilometers: Double) {
    self.latitude = latitude
    self.longitude = longitude
    self.kilometers = kilometers
  }

  /// No place of the circle is south of this latitude.
  package var south: Double { latitude - degrees }
  /// No place of the circle is north of this latitude.
  package var north: Double { latitude + degrees }

  /// The difference of latitudes at this distance, with a margin for rounding.
  private var degrees: Double { kilometers / Self.radius * 180 / .pi * 1.000_001 + 0.000_001 }

  package func contains(latitude: Double, longitude: Double) -> Bool {
    guard latitude >= south, latitude <= north else { return false }
    return distance(latitude: latitude, longitude: longitude) <= kilometers
  }

  /// The distance by the haversine formula, which is exact for short distances, too.
  private func distance(latitude: Double, longitude: Double) -> Double {
    let radians = Double.pi / 180
    let (latitudes, longitudes) = (
      sin((latitude - self.latitude) * radians / 2), sin((longitude - self.longitude) * radians / 2)
    )
    let square =
      latitudes * latitudes + cos(self.latitude * radians) * cos(latitude * radians) * longitudes * longitudes
    return 2 * Self.radius * asin(min(1, square.squareRoot()))
  }
}
