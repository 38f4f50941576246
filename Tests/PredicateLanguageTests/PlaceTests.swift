import PhotoModel
import Testing

@testable import PredicateLanguage

@Suite struct PlaceTests {
  private func isNear(_ predicate: String, _ latitude: Double, _ longitude: Double) throws -> Bool {
    let date = PhotoDate(microseconds: 0)
    let asset = Asset(
      id: 1, mediaType: .image, creationDate: date, creationDateSource: .file, modificationDate: date, addedDate: date,
      location: Location(latitude: latitude, longitude: longitude, altitude: nil))
    return try Predicate(parsing: predicate).matches(asset)
  }

  /// From Brandenburg Gate, the Reichstag is 260 m away, and Potsdam 27 km.
  @Test func distancesAreKilometres() throws {
    #expect(try isNear("location NEAR {52.5163, 13.3777, 0.5}", 52.5186, 13.3763))
    #expect(!(try isNear("location NEAR {52.5163, 13.3777, 0.2}", 52.5186, 13.3763)))
    #expect(try isNear("location NEAR {52.5163, 13.3777, 28}", 52.3906, 13.0645))
    #expect(!(try isNear("location NEAR {52.5163, 13.3777, 25}", 52.3906, 13.0645)))
  }

  /// A degree of longitude is 111.19 km at the equator.
  @Test func aCircleCrossesThe180thMeridian() throws {
    for (center, place) in [(179.95, -179.95), (-179.95, 179.95), (180, -180), (-180, 179.99)] {
      #expect(try isNear("location NEAR {0, \(center), 12}", 0, place), "\(center) \(place)")
    }
    #expect(!(try isNear("location NEAR {0, 179.95, 11}", 0, -179.95)))
    #expect(!(try isNear("location NEAR {0, 179.95, 12}", 0, -179.8)))
  }

  @Test func aCircleMayContainAPole() throws {
    // The places are 11 km from the pole, on opposite sides.
    #expect(try isNear("location NEAR {89.9, 0, 23}", 89.9, 180))
    #expect(!(try isNear("location NEAR {89.9, 0, 22}", 89.9, 180)))
    #expect(try isNear("location NEAR {-90, 77, 1}", -90, -103))
    #expect(try isNear("location NEAR {-90, 77, 12}", -89.9, -103))
    #expect(try isNear("location NEAR {0, 0, 20020}", 0, 180))
  }

  @Test(arguments: [
    ("location NEAR {91, 0, 5}", "91 is no latitude; it must be -90 to 90", 15),
    ("location NEAR {0, -181, 5}", "-181 is no longitude; it must be -180 to 180", 18),
    ("location NEAR {0, 0, 0}", "0 is no distance; it must be more than 0 and at most 20020 kilometres", 21),
    ("location NEAR {0, 0, 1e9}", "1e9 is no distance", 21),
    ("location NEAR {0, 0}", "expected , and the distance in kilometres, as in NEAR {52.52, 13.4, 5}, found }", 19),
    ("location NEAR 5", "expected {, a latitude, a longitude and kilometres", 14),
    ("location NEAR {'a', 0, 1}", "expected a latitude, as in NEAR {52.52, 13.4, 5}, found the text 'a'", 15),
    ("location NEAR {0, 0, 1, 2}", "expected } after the distance of NEAR, found ,", 22),
    ("location == 5", "expected nil, or by NEAR {latitude, longitude, kilometres}", 12),
    ("location > 5", "location has no order; expected NEAR, == or !=", 9),
    ("location IN {5}", "expected an operator after location: NEAR, == or !=, found", 9),
    ("rating NEAR {0, 0, 5}", "expected an operator after rating", 7),
    ("ANY location NEAR {0, 0, 5}", "ANY is for lists such as keywords; location has one value", 4),
    ("location NEER {0, 0, 5}", "did you mean NEAR?", 9),
    ("ANY mediaSubtypes == 'RAW'", "'RAW' is no media subtype; expected one of 'livePhoto', 'panorama'", 21),
    ("mediaSubtypes == 'raw'", "mediaSubtypes is a list; write ANY mediaSubtypes", 0),
    ("ANY mediaSubtypes == raw", "a value of mediaSubtypes must be in quotes: 'raw'", 21),
    ("ANY mediaSubtypes CONTAINS 'raw'", "CONTAINS is for texts; mediaSubtypes is compared with one of", 18),
  ])
  func mistakesAreNamed(text: String, message: String, position: Int) {
    let error = #expect(throws: PredicateError.self) { try Predicate(parsing: text) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.position == position, "\(error?.message ?? "")")
  }

  @Test func theCanonicalTextIsParsedAgain() throws {
    for text in ["location NEAR {1e-5, +2, 3.50}", "NOT location == nil", "ANY mediaSubtypes IN {'raw','hdr'}"] {
      let canonical = try Predicate(parsing: text).description
      #expect(try Predicate(parsing: canonical).description == canonical)
    }
    #expect(try Predicate(parsing: "location near {1, +2, 3.50}").description == "location NEAR {1.0, 2.0, 3.5}")
  }
}
