import PhotoModel
import Testing

@testable import photoctl

/// The arguments of `photoctl edit`.
@Suite struct EditArgumentTests {
  @Test(arguments: [
    ("90s", 90), ("1h30m", 5_400), ("-2d", -172_800), ("+1.5h", 5_400), ("1d1h1m1s", 90_061), ("0s", 0),
  ])
  func timeIsParsed(_ text: String, _ seconds: Double) throws {
    #expect(try TimeShift(text).seconds == seconds)
  }

  @Test(arguments: ["", "-", "h", "1x", "1h-30m", "--1", "1 h", "1..5", "5", "1h30m5", "0"])
  func wrongTimeIsRefused(_ text: String) {
    #expect(throws: TimeShift.Mistake.self) { try TimeShift(text) }
  }

  /// A field has the name of its option, too: `--date` sets what `--clear date` clears.
  @Test(arguments: [
    ("date", ["creationDate"]), ("keyword,favorite,hidden", ["keywords", "isFavorite", "isHidden"]),
    ("title,creationDate,isHidden", ["title", "creationDate", "isHidden"]),
  ])
  func clearedFieldsHaveTheNamesOfOptions(_ names: String, _ fields: [String]) throws {
    let command = try #require(try EditCommand.parseAsRoot(["1", "--clear", names]) as? EditCommand)
    #expect(command.request([1]).clear == fields)
  }

  @Test func anotherNameOfAFieldThatIsSetIsRefused() throws {
    #expect {
      _ = try EditCommand.parseAsRoot(["1", "--clear", "date", "--shift", "1h"])
    } throws: {
      EditCommand.message(for: $0) == "--clear has 'date', which --shift sets. Give only one of them."
    }
    #expect {
      _ = try EditCommand.parseAsRoot(["1", "--clear", "dates"])
    } throws: {
      EditCommand.message(for: $0).contains("--clear has 'dates'; it must be one of ")
    }
  }

  @Test func placeIsParsed() throws {
    #expect(try PlaceArgument("41.9,12.5").location == Location(latitude: 41.9, longitude: 12.5))
    #expect(try PlaceArgument("-33.5, 151, 12").location == Location(latitude: -33.5, longitude: 151, altitude: 12))
    #expect(try PlaceArgument("none").location == nil)
    for text in ["", "1", "91,0", "0,181", "a,b", "nan,1", "1,2,3,4", "1,inf"] {
      #expect(throws: PlaceArgument.Mistake.self) { try PlaceArgument(text) }
    }
  }
}
