import ExtractRecords
import Foundation
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

/// The rule for time zones in `Documentation/dates.md`: on real files of several zones, and at its limits.
@Suite struct TimeZoneTests {
  @Test(
    .enabled(if: Fixtures.photos != nil, "PHOTOD_TEST_PHOTOS names no folder with photos"),
    arguments: [
      // The tags of offsets.
      ("ianare__exif-samples/heic/mobile/iphone_13_pro_max.HEIC", "2022-02-16T12:55:41.762+01:00"),
      ("bep__imagemeta/testdata/images/iphone.heic", "2026-02-19T14:22:37.146-08:00"),
      ("immich-app__test-assets/formats/motionphoto/samsung-one-ui-6.heic", "2024-01-12T21:38:53.853-08:00"),
      // GPS time: daylight saving time in Spain, in the centre of the USA and in China.
      ("bep__imagemeta/testdata/images/bep/sunrise.webp", "2017-10-27T08:38:52+02:00"),
      ("immich-app__test-assets/formats/heic/IMG_2682.heic", "2019-03-21T11:04:22.348-05:00"),
      ("exiftool__exiftool/t/images/Apple.jpg", "2016-09-28T18:18:05.813+01:00"),
      // The receiver's clock was the camera's, or far away from it.
      ("Exiv2__exiv2/test/data/FurnaceCreekInn.jpg", "2008-05-08T09:54:28"),
      ("ianare__exif-samples/jpg/gps/DSCN0010.jpg", "2008-10-22T16:28:39"),
      // The key of a film has the offset, its header is in UTC.
      ("mindeng__nom-exif/testdata/meta.mov", "2019-02-12T15:27:12+08:00"),
      ("_made/IMG_0001.mov", "2022-02-16T12:55:41+01:00"), ("_made/VID_rotated.mp4", "2021-05-01T10:00:00Z"),
      ("mindeng__nom-exif/testdata/sony-a7-xavc.MP4", "2026-04-26T09:25:15Z"),
    ])
  func datesOfRealFilesHaveTheirZone(path: String, date: String) throws {
    var reader = MediaReader()
    let facts = try facts(of: try #require(Fixtures.photos).appendingPathComponent(path), with: &reader)
    #expect(facts.creationDate?.description == date)
  }

  private func date(gps day: String, _ hours: UInt32, _ minutes: UInt32, _ seconds: UInt32, offset: String? = nil)
    throws
    -> String?
  {
    let clock: [(UInt32, UInt32)] = [(hours, 1), (minutes, 1), (seconds, 1)]
    var builder = ExifBuilder(
      exif: [0x9003: .ascii("2024:07:21 10:00:00")],
      gps: [7: .rational(clock), 29: .ascii(day)])
    if let offset { builder.exif[0x9011] = .ascii(offset) }
    return try facts(of: builder.jpeg()).creationDate?.description
  }

  @Test func gpsTimeDeterminesTheOffsetToAQuarterOfAnHour() throws {
    #expect(try date(gps: "2024:07:21", 8, 0, 0) == "2024-07-21T10:00:00+02:00")
    #expect(try date(gps: "2024:07:21", 7, 58, 1) == "2024-07-21T10:00:00+02:00")
    #expect(try date(gps: "2024:07:21", 8, 2, 0) == "2024-07-21T10:00:00+02:00")
    #expect(try date(gps: "2024:07:21", 7, 57, 59) == "2024-07-21T10:00:00")
    #expect(try date(gps: "2024:07:21", 4, 15, 0) == "2024-07-21T10:00:00+05:45")
    #expect(try date(gps: "2024:07:20", 20, 0, 0) == "2024-07-21T10:00:00+14:00")
    #expect(try date(gps: "2024:07:21", 22, 0, 0) == "2024-07-21T10:00:00-12:00")
    #expect(try date(gps: "2024:07:20", 19, 45, 0) == "2024-07-21T10:00:00")
  }

  @Test func gpsTimeDeterminesNoOtherOffset() throws {
    #expect(try date(gps: "2024:07:21", 10, 0, 0) == "2024-07-21T10:00:00")
    #expect(try date(gps: "2024:07:21", 8, 0, 0, offset: "+03:00") == "2024-07-21T10:00:00+03:00")
    #expect(try date(gps: "2004:07:21", 8, 0, 0) == "2024-07-21T10:00:00")
    #expect(try date(gps: "", 8, 0, 0) == "2024-07-21T10:00:00")
    #expect(try date(gps: "2024:07:21", 25, 0, 0) == "2024-07-21T10:00:00")
    #expect(try date(gps: "9999:99:99", 8, 0, 0) == "2024-07-21T10:00:00")
  }
}
