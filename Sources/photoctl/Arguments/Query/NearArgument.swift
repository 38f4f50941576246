import PredicateLanguage

/// The places within a distance of one place: `52.52,13.4,5` is within five kilometres of the middle of Berlin.
struct NearArgument: Hashable, Sendable {
  private let latitude: Double
  private let longitude: Double
  private let kilometers: Double

  /// - Throws: ``Mistake`` if the argument is not a place and a distance.
  init(_ argument: String) throws {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.map { Self.number($0) }
    guard numbers.count == 3, let latitude = numbers[0], let longitude = numbers[1], let kilometers = numbers[2] else {
      throw Mistake("it must be a latitude, a longitude and kilometres, such as 52.52,13.4,5")
    }
    guard abs(latitude) <= 90 else {
      throw Mistake("the latitude \(parts[0]) is not between -90 and 90; it is the first of the three numbers")
    }
    guard abs(longitude) <= 180 else { throw Mistake("the longitude \(parts[1]) is not between -180 and 180") }
    guard kilometers > 0, kilometers <= Self.maximumKilometers else {
      throw Mistake(
        "the distance is \(parts[2]) kilometres; it must be more than 0 and at most \(Text.grouped(Int(Self.maximumKilometers)))"
      )
    }
    (self.latitude, self.longitude, self.kilometers) = (latitude, longitude, kilometers)
  }

  /// An error in the argument.
  struct Mistake: Error, Equatable, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// The predicate with this meaning.
  var predicate: String { "location NEAR {\(latitude), \(longitude), \(kilometers)}" }

  /// The limit of the predicate.
  private static let maximumKilometers = PlaceCircle.maximumKilometers

  /// A decimal number. Spaces around it are allowed.
  private static func number(_ part: Substring) -> Double? {
    let text = part.drop { $0 == " " }
    guard text.utf8.allSatisfy({ (48...57).contains($0) || "+-. ".utf8.contains($0) }) else { return nil }
    return Double(text.split(separator: " ").joined())
  }
}
