import TestTools
import Testing

import struct Foundation.URL

@testable import PhotoModel

/// Dates in the names of files, as Documentation/dates.md lists them.
@Suite struct FilenameDateTests {
  /// 2026-01-01T00:00:00Z
  private static let now = WallTime(seconds: 1_767_225_600)
  private let plausible = PlausibleDates(now: now)

  private func date(_ name: String) -> PhotoDate? { FilenameDate.date(in: Array(name.utf8), plausible) }

  @Test(arguments: [
    ("IMG_20230920_003105.jpg", "2023-09-20T00:31:05"), ("VID_20230920_003105.mp4", "2023-09-20T00:31:05"),
    ("IMG_20230920_003105_HDR.jpg", "2023-09-20T00:31:05"), ("IMG_20230920_003105123.jpg", "2023-09-20T00:31:05.123"),
    ("IMG20230920003105.jpg", "2023-09-20T00:31:05"), ("20230920_003105.jpg", "2023-09-20T00:31:05"),
    ("20230920_003105(0).jpg", "2023-09-20T00:31:05"), ("20230920T003105.jpg", "2023-09-20T00:31:05"),
    ("DSC_0001_BURST20180920003105123.JPG", "2018-09-20T00:31:05.123"),
    ("00000IMG_00000_BURST20180101123456789_COVER.jpg", "2018-01-01T12:34:56.789"),
    ("WP_20130920_00_31_05_Pro.jpg", "2013-09-20T00:31:05"), ("WIN_20230920_00_31_05_Pro.jpg", "2023-09-20T00:31:05"),
    ("DJI_20230920003105_0001_D.JPG", "2023-09-20T00:31:05"),
    ("IMG_20230920_003105_00_001.jpg", "2023-09-20T00:31:05"),
    ("WhatsApp Image 2023-09-20 at 00.31.05.jpeg", "2023-09-20T00:31:05"),
    ("signal-2023-09-20-003105.jpg", "2023-09-20T00:31:05"),
    ("signal-2023-09-20-00-31-05-123.jpg", "2023-09-20T00:31:05.123"),
    ("photo_2023-09-20_00-31-05.jpg", "2023-09-20T00:31:05"), ("2023-09-20 00.31.05.jpg", "2023-09-20T00:31:05"),
    ("viber_image_2023-09-20_00-31-05-123.jpg", "2023-09-20T00:31:05.123"),
    ("Screenshot_20230920-003105.png", "2023-09-20T00:31:05"),
    ("Screenshot_20230920_003105_App.jpg", "2023-09-20T00:31:05"),
    ("Screenshot_2023-09-20-00-31-05.png", "2023-09-20T00:31:05"),
    ("Screenshot_2023-09-20-00-31-05-123_com.app.jpg", "2023-09-20T00:31:05.123"),
    ("Screenshot from 2023-09-20 00-31-05.png", "2023-09-20T00:31:05"),
    ("Screenshot 2023-09-20 at 00.31.05.png", "2023-09-20T00:31:05"),
    ("Screenshot 2023-09-20 at 12.31.05\u{202F}AM.png", "2023-09-20T00:31:05"),
    ("Screen Shot 2023-09-20 at 12.31.05 PM.png", "2023-09-20T12:31:05"),
    ("Screen Shot 2023-09-20 at 1.31.05 pm (2).png", "2023-09-20T13:31:05"),
    ("Bildschirmfoto 2023-09-20 um 00.31.05.png", "2023-09-20T00:31:05"),
    ("Capture d\u{2019}\u{E9}cran 2023-09-20 \u{E0} 00.31.05.png", "2023-09-20T00:31:05"),
    ("Captura de pantalla 2023-09-20 a las 0.31.05.png", "2023-09-20T00:31:05"),
    ("Screenshot 2023-09-20 003105.png", "2023-09-20T00:31:05"),
    ("img20230920_00310512.jpg", "2023-09-20T00:31:05.12"), ("Scan2023-09-20_003105.jpg", "2023-09-20T00:31:05"),
    ("InShot_20230920_003105123.jpg", "2023-09-20T00:31:05.123"),
  ])
  func aDateWithATimeIsFound(name: String, expected: String) { #expect(date(name)?.description == expected, "\(name)") }

  @Test(arguments: [
    "IMG-20230920-WA0001.jpg", "WP_20230920_001.jpg", "IMG-20230920-00012.jpg", "20230920.jpg", "2023-09-20.jpg",
    "2023_09_20.jpg", "2023.09.20.jpg", "IMG_20230920.jpg", "IMG_20230920_996105.jpg", "beach 2023-09-20 (3).jpg",
    "2023-09-20_2460.jpg", "2023-09-20 25.00.00.jpg", "10154890_20230920.jpg", "20231345 20230920.jpg",
    "2023-09-20.3gp", "2023-09-20 13.31.05 PM.png",
  ])
  func aDateWithoutATimeMeansNoon(name: String) {
    #expect(date(name)?.description == "2023-09-20T12:00:00", "\(name)")
  }

  @Test(arguments: [
    "", "IMG_0001.jpg", "DSC00000040.jpg", "P1020304.JPG", "IMG_20231301.jpg", "IMG_20230230.jpg", "IMG_19891231.jpg",
    "IMG_20260103.jpg", "IMG_99990101.jpg", "120230920.jpg", "202309201.jpg", "20230920a.jpg", "a3f20230920.jpg",
    "3f2b2023-09-20.jpg", "IMG_2023-09.jpg", "2023-9-20.jpg", "2023-09_20.jpg", "20.09.2023.jpg", "20230920b7c1.jpg",
    "IMG_20230920996105.jpg", "10152034567890123_n.jpg", "1695162665123.jpg", "FB_IMG_16951626651234.jpg",
    "FB_IMG_9695162665123.jpg", "FB_IMG_.jpg", "mmexport.jpg",
  ])
  func implausibleDateIsNoDate(name: String) { #expect(date(name) == nil, "\(name)") }

  @Test func tomorrowIsPlausibleAndTheDayAfterIsNot() {
    #expect(date("IMG_20260101.jpg") != nil && date("IMG_19900101.jpg") != nil)
    let days = (1...3).map { date("IMG_2026010\($0).jpg") != nil }
    // The last day depends on the time zone of this computer, in which it may be one day earlier or later.
    #expect(days == [true, true, false] || days == [true, false, false])
  }

  @Test(arguments: [
    ("PXL_20230920_123456789.jpg", "2023-09-20T12:34:56.789Z"),
    ("Skype_Picture_2023_09_20T00_31_05_123Z.jpeg", "2023-09-20T00:31:05.123Z"),
    ("20230920_003105Z.jpg", "2023-09-20T00:31:05Z"),
    ("FB_IMG_1695162665123.jpg", "2023-09-19T22:31:05.123Z"),
    ("mmexport1695162665123.jpg", "2023-09-19T22:31:05.123Z"),
    ("wx_camera_1695162665123.jpg", "2023-09-19T22:31:05.123Z"),
  ])
  func anInstantHasTheOffsetOfThisComputer(name: String, expected: String) throws {
    let instant = try #require(PhotoDate(expected)).microseconds
    #expect(date(name) == LocalTime.date(microseconds: instant), "\(name)")
    #expect(date(name)?.offsetMinutes != nil)
  }

  /// Every pattern that the documentation names is one that is found.
  @Test func everyNameOfTheDocumentationHasADate() throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let text = try String(
      contentsOf: package.appending(path: "Documentation/dates.md").standardizedFileURL, encoding: .utf8)
    let names = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
      .flatMap { $0.split(separator: "|")[0].split(separator: "`").map(String.init) }
      .filter { $0.contains(".") && $0.contains(where: \.isNumber) }
    #expect(names.count > 40)
    for name in names { #expect(date(name) != nil, "\(name)") }
  }

  @Test func anyBytesAreRead() {
    var generator = SeededGenerator(seed: 7)
    let alphabet = Array("0123456789999-_. :TZAPMat\u{E0}IMG_PXL_FB_".utf8)
    for _ in 0..<20_000 {
      let name = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        alphabet.randomElement(using: &generator) ?? 0
      }
      if let date = FilenameDate.date(in: name, plausible) { #expect(plausible.contains(date)) }
    }
  }
}
