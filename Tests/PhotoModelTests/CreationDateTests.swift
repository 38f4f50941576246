import Testing

@testable import PhotoModel

/// The order of the sources of a date.
@Suite struct CreationDateTests {
  private static let now = WallTime(seconds: 1_767_225_600)
  private let taken = PhotoDate("2020-02-02T02:02:02")!

  private func created(
    metadata: PhotoDate? = nil, _ name: String = "beach.jpg", modified: String = "2021-03-04T05:06:07Z"
  ) throws -> CreationDate {
    let modified = WallTime(microseconds: try #require(PhotoDate(modified)).microseconds)
    return CreationDate(metadata: metadata, filename: Array(name.utf8), modificationTime: modified, now: Self.now)
      ?? .firstSeen(Self.now - .microseconds(5))
  }

  @Test func metadataComesBeforeTheNameBeforeTheFile() throws {
    #expect(try created(metadata: taken, "IMG_20230920.jpg") == CreationDate(date: taken, source: .metadata))
    let named = try created("IMG_20230920.jpg")
    #expect(named.source == .filename && named.date.description == "2023-09-20T12:00:00")
    let file = try created()
    #expect(file.source == .file && file.date.microseconds == PhotoDate("2021-03-04T05:06:07Z")?.microseconds)
    #expect(file.date.offsetMinutes != nil)
  }

  @Test(arguments: ["1970-01-01T00:00:00Z", "1980-01-01T00:00:00Z", "1989-12-30T00:00:00Z", "2026-01-04T00:00:00Z"])
  func aFileTimeOfAClockThatWasNotSetIsTheTimeWhenItWasSeen(modified: String) throws {
    let file = try created(modified: modified)
    #expect(file.source == .file && file.date.microseconds == Self.now.microseconds - 5)
  }

  @Test func extremeFileTimesAreNotPlausible() {
    for time in [Int64.min, .max, 0, -1] {
      #expect(
        CreationDate(metadata: nil, filename: [], modificationTime: WallTime(nanoseconds: time), now: Self.now) == nil)
    }
  }

  /// All pairs of sources: the better one stays or comes; of the same, the newer word counts, of files the older date.
  @Test func aWorseSourceNeverReplacesABetterOne() throws {
    let early = PhotoDate(microseconds: 1)
    let late = PhotoDate(microseconds: 2)
    for held in CreationDateSource.allCases {
      for said in CreationDateSource.allCases {
        for (heldDate, saidDate) in [(early, late), (late, early)] {
          let before = CreationDate(date: heldDate, source: held)
          let after = CreationDate(date: saidDate, source: said).replacing(before)
          if held.isBetter(than: said) {
            #expect(after == before)
          } else if said.isBetter(than: held) || said != .file {
            #expect(after == CreationDate(date: saidDate, source: said))
          } else {
            #expect(after == CreationDate(date: early, source: .file))
          }
        }
      }
    }
    #expect(try created().replacing(nil) == created())
  }
}
