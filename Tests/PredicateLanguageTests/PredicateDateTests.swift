import Testing

@testable import PhotoModel
@testable import PredicateLanguage

@Suite struct PredicateDateTests {
  @Test(arguments: [
    ("2024", "2024-01-01T00:00:00", "2024-12-31T23:59:59.999999"),
    ("2024-02", "2024-02-01T00:00:00", "2024-02-29T23:59:59.999999"),
    ("2023-02", "2023-02-01T00:00:00", "2023-02-28T23:59:59.999999"),
    ("2023-12", "2023-12-01T00:00:00", "2023-12-31T23:59:59.999999"),
    ("1969-07-20", "1969-07-20T00:00:00", "1969-07-20T23:59:59.999999"),
    ("2024-07-21T10:00", "2024-07-21T10:00:00", "2024-07-21T10:00:59.999999"),
    ("1969-07-20T20:17-05:30", "1969-07-21T01:47:00", "1969-07-21T01:47:59.999999"),
    ("2024-07-21 10:00Z", "2024-07-21T10:00:00", "2024-07-21T10:00:59.999999"),
    ("2024-07-21T10:00:00", "2024-07-21T10:00:00", "2024-07-21T10:00:00"),
    ("2024-07-21T10:00:00.5+02:00", "2024-07-21T08:00:00.5", "2024-07-21T08:00:00.5"),
    ("0001", "0001-01-01T00:00:00", "0001-12-31T23:59:59.999999"),
    ("9999", "9999-01-01T00:00:00", "9999-12-31T23:59:59.999999"),
    // Dates that can't be written without an offset become the nearest ones that can.
    ("0001-01-01T00:00+02:00", "0001-01-01T00:00:00", "0001-01-01T00:00:59.999999"),
    ("9999-12-31T23:59-02:00", "9999-12-31T23:59:00", "9999-12-31T23:59:59.999999"),
  ])
  func aDateMeansItsWholeSpan(text: String, first: String, last: String) throws {
    let span = try #require(DateSpan(text))
    #expect(PhotoDate(microseconds: span.first, offsetMinutes: nil).description == first)
    #expect(PhotoDate(microseconds: span.last, offsetMinutes: nil).description == last)
    #expect(DateSpan(span.description) == span)
  }

  @Test(arguments: [
    "", "24", "0000", "202a", "2024-", "2024-13", "2024-00", "2024-7", "2024-07-", "2024-07-32", "2024-07-21T",
    "2024-07-21T10", "2024-07-21T10:", "2024-07-21T10:00:", "2024Z", "2024-07+02:00", "-024", "+024", "2024-+7",
    "20240721",
    "２０２４", " 2024",
  ])
  func invalidDatesAreRefused(text: String) { #expect(DateSpan(text) == nil) }

  /// The laws of an order, for each moment around the ends of each span. Exactly one of before, within and after holds,
  /// and the other operators follow from those.
  @Test func operatorsFollowFromBeforeWithinAndAfter() throws {
    for text in ["2024", "2024-02", "1969-12-31", "2024-07-21T10:00", "2024-07-21T10:00:00", "2024-07-21T10:00:00.25"] {
      let span = try #require(DateSpan(text))
      let steps: [Int64] = [-86_400_000_000, -1, 0, 1, 1_000_000]
      for moment in steps.map({ span.first + $0 }) + steps.map({ span.last + $0 }) {
        // The photo's clock, which is two hours ahead of UTC, shows that moment.
        let asset = Asset(
          id: 1, mediaType: .image,
          creationDate: PhotoDate(microseconds: moment - 7_200_000_000, offsetMinutes: 120),
          creationDateSource: .metadata,
          modificationDate: PhotoDate(microseconds: 0), addedDate: PhotoDate(microseconds: 0))
        func holds(_ question: String) throws -> Bool {
          try Predicate(parsing: "creationDate \(question)").matches(asset)
        }
        let (isBefore, isAfter) = (moment < span.first, moment > span.last)
        let isWithin = !isBefore && !isAfter
        #expect(try holds("== '\(text)'") == isWithin)
        #expect(try holds("!= '\(text)'") == !isWithin)
        #expect(try holds("< '\(text)'") == isBefore)
        #expect(try holds("> '\(text)'") == isAfter)
        #expect(try holds("<= '\(text)'") == !isAfter)
        #expect(try holds(">= '\(text)'") == !isBefore)
        #expect(try holds("IN {'1800', '\(text)'}") == isWithin)
        #expect(try holds("BETWEEN {'\(text)', '\(text)'}") == isWithin)
        #expect(try holds("BETWEEN {'0001', '\(text)'}") == !isAfter)
      }
    }
  }

  @Test(arguments: [
    ("2024-07-21T10:00+02:00", "2024-07-21T08:00Z"), ("2024-07-21 10:00:00-05:30", "2024-07-21T15:30:00Z"),
    ("2024-07-21T10:00", "2024-07-21T10:00"),
  ])
  func aDateIsWrittenWithItsClock(text: String, canonical: String) throws {
    #expect(try #require(DateSpan(text)).description == canonical)
    #expect(try Predicate(parsing: "creationDate == '\(text)'").description == "creationDate == '\(canonical)'")
  }

  /// 00:31 in Berlin is 22:31 of the day before in UTC.
  @Test func aDayIsInThePhotosTimeAndAnInstantInAllClocks() throws {
    let zero = PhotoDate(microseconds: 0)
    func holds(_ question: String, _ date: String) throws -> Bool {
      let asset = Asset(
        id: 1, mediaType: .image, creationDate: try #require(PhotoDate(date)), creationDateSource: .metadata,
        modificationDate: zero, addedDate: zero)
      return try Predicate(parsing: "creationDate \(question)").matches(asset)
    }
    let berlin = "2023-09-20T00:31:05+02:00"
    #expect(try holds("== '2023-09-20'", berlin) && !holds("== '2023-09-19'", berlin))
    #expect(try holds("== '2023-09-20T00:31'", berlin) && !holds("== '2023-09-19T22:31'", berlin))
    #expect(try holds("== '2023-09-19T22:31Z'", berlin) && holds("== '2023-09-20T00:31+02:00'", berlin))
    #expect(try holds("IN {'2020', '2023-09-19T22:31Z'}", berlin) && !holds("IN {'2020', '2023-09-19'}", berlin))
    #expect(try holds("BETWEEN {'2023-09-20', '2023-09-19T22:31:05Z'}", berlin))
    // The camera wrote no offset, so only its clock is known.
    #expect(
      try holds("== '2023-09-20'", "2023-09-20T00:31:05") && holds("== '2023-09-20T00:31Z'", "2023-09-20T00:31:05"))
  }
}
