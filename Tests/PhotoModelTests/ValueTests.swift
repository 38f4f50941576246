import Foundation
import TestTools
import Testing

@testable import PhotoModel

@Suite struct PhotoDateTests {
  @Test(arguments: [
    "2024-07-21T10:00:00+02:00", "2024-07-21T10:00:00.5+02:00", "2024-07-21T10:00:00", "2024-07-21T10:00:00Z",
    "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00-12:00", "2000-02-29T00:00:00", "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-11:30", "2024-07-21T10:00:00.000001",
  ])
  func textComesBack(text: String) throws {
    #expect(try #require(PhotoDate(text)).description == text)
    let wire = try JSONEncoder().encode([PhotoDate(text)])
    #expect(try JSONDecoder().decode([PhotoDate?].self, from: wire) == [PhotoDate(text)])
  }

  @Test func shorterFormsAreRead() throws {
    #expect(PhotoDate("2024-01-01")?.description == "2024-01-01T00:00:00")
    #expect(PhotoDate("2024-01-01 09:30")?.description == "2024-01-01T09:30:00")
    #expect(PhotoDate("2024-01-01t09:30:00z")?.description == "2024-01-01T09:30:00Z")
    #expect(PhotoDate("2024-01-01T09:30:60Z")?.description == "2024-01-01T09:30:59Z")
    #expect(
      PhotoDate("2024-01-01T09:30:00.1234567Z")?.microseconds == PhotoDate("2024-01-01T09:30:00.123456Z")?.microseconds)
  }

  @Test(arguments: [
    "", "2024", "2024-13-01", "2024-00-10", "2023-02-29", "1900-02-29", "2024-01-01T24:00:00", "2024-01-01T10:60:00",
    "0000:00:00 00:00:00", "0000-01-01", "2024-01-01T10:00:00+2:00", "2024-01-01T10:00:00+24:00", "2024-01-01Tx",
    "2024-01-01T10:00:00.Z", "2024-01-01T10:00:00Zx", "２０２４-01-01", "2024-01-01T", "-024-01-01",
  ])
  func invalidDateIsRefused(text: String) { #expect(PhotoDate(text) == nil) }

  @Test func aDateWithoutOffsetSortsAsIfUTC() throws {
    let local = try #require(PhotoDate("2024-07-21T10:00:00"))
    let east = try #require(PhotoDate("2024-07-21T11:59:59+02:00"))
    let utc = try #require(PhotoDate("2024-07-21T10:00:01Z"))
    #expect(east < local && local < utc)
  }

  @Test func calendarAgreesWithFoundationOverFourCenturies() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    for day in stride(from: -80_000, through: 80_000, by: 97) {
      let seconds = Int64(day) * 86_400 + 12_345
      let parts = calendar.dateComponents(
        [.year, .month, .day], from: Date(timeIntervalSince1970: TimeInterval(seconds)))
      let date = try #require(
        PhotoDate(
          year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0, hour: 3, minute: 25, second: 45,
          offsetMinutes: 0))
      #expect(date.microseconds == seconds * 1_000_000)
      #expect(PhotoDate(date.description) == date)
    }
  }

  /// A file's modification time may be anything, and one of them must not spoil a page of assets.
  @Test(arguments: [Int64.min, -62_135_596_800_000_001, 253_402_300_800_000_000, .max])
  func momentsOutsideTheCalendarAreStillDates(microseconds: Int64) {
    for offset in [nil, 0, 840, -720] {
      let date = PhotoDate(microseconds: microseconds, offsetMinutes: offset)
      #expect(PhotoDate(date.description) != nil, "\(date.description)")
    }
  }
}

@Suite struct FilePathTests {
  @Test(arguments: ["/home/jens/Bilder/äöü 1.jpg", "/a%20b", "/", "/日本/写真.HEIC", "/a\u{301}"])
  func textThatIsUTF8IsItself(path: String) {
    #expect(FilePath.text(Array(path.utf8)) == path)
    #expect(FilePath.bytes(path) == Array(path.utf8))
  }

  @Test func everyOtherNameComesBackByteForByte() {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<500 {
      let bytes = [0x2F] + (0..<20).map { _ in UInt8.random(in: 1...255, using: &generator) }
      let text = FilePath.text(bytes)
      #expect(FilePath.bytes(text) == bytes)
      if String(validating: bytes, as: UTF8.self) == nil { #expect(text.hasPrefix("file:///")) }
    }
    #expect(FilePath.text([0x2F, 0xFF, 0x20, 0x25]) == "file:///%FF%20%25")
    #expect(FilePath.nameText([0x61, 0xE9]) == "a%E9")
  }

  @Test func aMalformedSequenceIsItsOwnBytes() {
    #expect(FilePath.bytes("file:///a%") == Array("/a%".utf8))
    #expect(FilePath.bytes("file:///a%4") == Array("/a%4".utf8))
    #expect(FilePath.bytes("file:///a%zz%41") == Array("/a%zzA".utf8))
  }
}

@Suite struct ChangeTokenTests {
  @Test func textComesBack() throws {
    let token = ChangeToken(library: "6f1c", epoch: 3, sequence: 9_000_000_000)
    #expect(token.description == "6f1c.3.9000000000")
    #expect(ChangeToken(token.description) == token)
    let wire = try JSONEncoder().encode([token])
    #expect(try JSONDecoder().decode([ChangeToken].self, from: wire) == [token])
  }

  @Test(arguments: [
    "", ".", "..", "a.1", ".1.2", "a.-1.2", "a.1.-2", "a.1.2.3", "a.x.2", "a.1.", "a.1.99999999999999999999", "a.+1.2",
    "a.01.2",
  ])
  func invalidTokenIsRefused(text: String) { #expect(ChangeToken(text) == nil) }

  @Test func changedFieldsIgnoreWhatTheyDoNotKnow() {
    #expect(ChangedFields(names: ["favorite", "sharpness", "content"]) == [.content, .favorite])
    #expect(ChangedFields([.resources, .content]).names == ["content", "resources"])
  }
}
