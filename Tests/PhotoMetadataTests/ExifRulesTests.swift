import ExtractRecords
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

/// The rules for each field, tested with generated structures in both byte orders.
@Suite struct ExifRulesTests {
  private func facts(
    main: [UInt16: ExifBuilder.Value] = [:], exif: [UInt16: ExifBuilder.Value] = [:],
    gps: [UInt16: ExifBuilder.Value] = [:], bigEndian: Bool = false
  ) throws -> MediaFacts {
    let builder = ExifBuilder(bigEndian: bigEndian, main: main, exif: exif, gps: gps)
    return try PhotoMetadataTests.facts(of: builder.jpeg())
  }

  /// libexif's memory is one block of 32 KiB. Further memory comes from malloc, and the next file is not affected.
  @Test func anEXIFBlockThatNeedsMuchMemoryIsReadWhole() throws {
    let long = String(repeating: "x", count: 8000)
    for _ in 0..<3 {
      let large = try facts(
        main: [0x010E: .ascii("A" + long), 0x010F: .ascii("B" + long), 0x0110: .ascii("C" + long)],
        exif: [0x9003: .ascii("2024:07:21 10:00:00"), 0xA434: .ascii("D" + long), 0x9286: .ascii("E" + long)])
      #expect(large.caption == "A" + long)
      #expect(large.camera?.make == "B" + long && large.camera?.model == "C" + long && large.camera?.lens == "D" + long)
      #expect(large.creationDate?.description == "2024-07-21T10:00:00")
      #expect(try facts(main: [0x010F: .ascii("Make")]).camera?.make == "Make")
    }
  }

  // MARK: - Dates

  @Test func descriptionInTheEXIFDirectoryIsACaption() throws {
    #expect(try facts(exif: [0x010E: .ascii("Sea")]).caption == "Sea")
    #expect(try facts(main: [0x010E: .ascii("Lake")], exif: [0x010E: .ascii("Sea")]).caption == "Lake")
  }

  @Test(arguments: [
    ("2024:07:21 10:00:00", "2024-07-21T10:00:00"), ("2024-07-21T10:00:00", "2024-07-21T10:00:00"),
    ("2024/07/21 10:00", "2024-07-21T10:00:00"), ("2024:07:21  9:05:07", "2024-07-21T09:05:07"),
    ("2024:07:21 10:00:00.25+02:00", "2024-07-21T10:00:00.25+02:00"), ("2024:07:21", "2024-07-21T00:00:00"),
    ("2024:07:21 10:00:00Z", "2024-07-21T10:00:00Z"),
  ])
  func datesAreReadAsProgramsWriteThem(text: String, expected: String) throws {
    for bigEndian in [false, true] {
      let facts = try facts(exif: [0x9003: .ascii(text)], bigEndian: bigEndian)
      #expect(facts.creationDate?.description == expected)
    }
  }

  @Test(arguments: [
    "0000:00:00 00:00:00", "    :  :     :  :  ", "2024:13:21 10:00:00", "2023:02:29 10:00:00", "", "    ", "2024",
    "2024:07:21 25:00:00", "not a date at all..",
  ])
  func anInvalidDateGivesWayToTheNextOne(text: String) throws {
    #expect(try facts(exif: [0x9003: .ascii(text)]).creationDate == nil)
    let both = try facts(exif: [0x9003: .ascii(text), 0x9004: .ascii("2001:02:03 04:05:06")])
    #expect(both.creationDate?.description == "2001-02-03T04:05:06")
  }

  @Test func subsecondsAreTheDigitsAfterThePoint() throws {
    for (digits, expected) in [("17", ".17"), ("017", ".017"), ("1234567", ".123456"), ("5  ", ".5"), ("x", "")] {
      let facts = try facts(exif: [0x9003: .ascii("2024:07:21 10:00:00"), 0x9291: .ascii(digits)])
      #expect(facts.creationDate?.description == "2024-07-21T10:00:00" + expected)
    }
  }

  @Test func anOffsetBelongsToItsDate() throws {
    let date = ExifBuilder.Value.ascii("2024:07:21 10:00:00")
    func offset(
      main: [UInt16: ExifBuilder.Value] = [:], _ exif: [UInt16: ExifBuilder.Value]
    ) throws -> Int? {
      try facts(main: main, exif: exif.merging([0x9003: date]) { given, _ in given }).creationDate?.offsetMinutes
    }
    #expect(try offset([:]) == nil)
    #expect(try offset([0x9011: .ascii("-04:30")]) == -270)
    #expect(try offset([0x9011: .ascii("+0530")]) == 330)
    #expect(try offset([0x9011: .ascii("   :  ")]) == nil)
    #expect(try offset([0x9011: .ascii("+25:00")]) == nil)
    // Another date's offset counts only if that date shows the same time.
    #expect(try offset([0x9012: .ascii("+02:00")]) == nil)
    #expect(try offset([0x9012: .ascii("+02:00"), 0x9004: date]) == 120)
    #expect(try offset([0x9010: .ascii("+02:00")]) == nil)
    #expect(try offset(main: [0x0132: .ascii("2025:01:01 00:00:00")], [0x9010: .ascii("+02:00")]) == nil)
    #expect(try offset(main: [0x0132: date], [0x9010: .ascii("+02:00")]) == 120)
  }

  @Test func theFilesOwnDateCountsOnlyIfACameraIsNamed() throws {
    let date = ExifBuilder.Value.ascii("2004:05:06 07:08:09")
    #expect(try facts(main: [0x0132: date]).creationDate == nil)
    #expect(try facts(main: [0x0132: date, 0x010F: .ascii("   ")]).creationDate == nil)
    let named = try facts(main: [0x0132: date, 0x010F: .ascii("HTC")])
    #expect(named.creationDate?.description == "2004-05-06T07:08:09")
  }

  // MARK: - Texts

  @Test func textsAreTrimmedAndBlankOnesAbsent() throws {
    let camera = try facts(main: [0x010F: .ascii("  NIKON  "), 0x0110: .ascii("      ")]).camera
    #expect(camera?.make == "NIKON")
    #expect(camera?.model == nil)
    #expect(try facts(main: [0x010F: .ascii("   ")]).camera == nil)
  }

  @Test func bytesThatAreNotUTF8AreOfWindows() throws {
    let quoted = try facts(main: [0x010E: .bytes([0x93, 0xC4, 0x94, 0x20, 0x96, 0x81, 0x20, 0x80, 0x35, 0], type: 2)])
    #expect(quoted.caption == "\u{201C}Ä\u{201D} \u{2013} €5")
    let latin = try facts(main: [0x010E: .bytes([0x5A, 0xFC, 0x72, 0x69, 0x63, 0x68, 0], type: 2)])
    #expect(latin.caption == "Zürich")
    let utf8 = try facts(main: [0x010E: .ascii("Zürich 日本")])
    #expect(utf8.caption == "Zürich 日本")
    let type129 = try facts(main: [0x010E: .bytes(Array("Straße\0".utf8), type: 129)])
    #expect(type129.caption == "Straße")
    let afterNUL = try facts(main: [0x010E: .bytes(Array("one\0two".utf8), type: 2)])
    #expect(afterNUL.caption == "one")
  }

  @Test(arguments: [
    "OLYMPUS DIGITAL CAMERA         ", "SONY DSC", "DCIM\\100GOPRO\\GOPR0482.JPG", "<Digimax i50 MP3, Samsung #1 MP3>",
    "Exif JPEG        ", "X-T3",
  ])
  func theDefaultTextOfACameraIsNoCaption(text: String) throws {
    #expect(try facts(main: [0x010E: .ascii(text), 0x0110: .ascii("X-T3")]).caption == nil)
  }

  @Test func windowsTitleAndCommentAreUTF16() throws {
    var text: [UInt8] = []
    for unit in "Fête\0".utf16 { text += [UInt8(unit & 255), UInt8(unit >> 8)] }
    let facts = try facts(main: [0x9C9B: .bytes(text, type: 1), 0x9C9C: .bytes(text, type: 1)])
    #expect(facts.title == "Fête")
    #expect(facts.caption == "Fête")
  }

  @Test func aUserCommentOfAppleMarksAScreenshot() throws {
    let comment = Array("ASCII\0\0\0Screenshot".utf8)
    #expect(try facts(exif: [0x9286: .bytes(comment)]).mediaSubtypes == [.screenshot])
    #expect(try facts(exif: [0x9286: .bytes(comment + Array("s of it".utf8))]).mediaSubtypes == [])
  }

  // MARK: - Numbers

  @Test func exposureIsReadInBothOrders() throws {
    for bigEndian in [false, true] {
      let camera = try facts(
        exif: [
          0x829A: .rational([(1, 250)]), 0x829D: .rational([(28, 10)]), 0x8827: .short([400]),
          0x920A: .rational([(505, 10)]), 0x9209: .short([25]), 0xA434: .ascii("50mm F1.8"),
        ], bigEndian: bigEndian
      ).camera
      #expect(
        camera
          == Camera(
            lens: "50mm F1.8", exposureSeconds: 0.004, fNumber: 2.8, iso: 400, focalLengthMillimeters: 50.5,
            flashFired: true))
    }
  }

  @Test func zeroAndZeroDenominatorsMeanUnknown() throws {
    let camera = try facts(exif: [
      0x829A: .rational([(0, 0)]), 0x829D: .rational([(0, 10)]), 0x920A: .rational([(50, 0)]), 0x8827: .short([0]),
    ]).camera
    #expect(camera == nil)
  }

  @Test func aSensitivityBeyond16BitsIsReadFromItsOwnTag() throws {
    #expect(try facts(exif: [0x8827: .short([65535]), 0x8832: .long([102_400])]).camera?.iso == 102_400)
    #expect(try facts(exif: [0x8827: .short([65535])]).camera?.iso == 65535)
    #expect(try facts(exif: [0x8827: .short([200, 0])]).camera?.iso == 200)
  }

  @Test func ratingIsReadFromStarsElseFromPercent() throws {
    #expect(try facts(main: [0x4746: .short([4]), 0x4749: .short([1])]).rating == 4)
    #expect(try facts(main: [0x4746: .short([0])]).rating == 0)
    #expect(try facts(main: [0x4746: .short([50]), 0x4749: .short([75])]).rating == 4)
    for (percent, stars) in [(1, 1), (25, 2), (50, 3), (75, 4), (99, 5)] {
      #expect(try facts(main: [0x4749: .short([UInt16(percent)])]).rating == stars)
    }
    #expect(try facts(main: [0x4749: .short([200])]).rating == nil)
  }

  @Test func orientationRotatesTheSize() throws {
    for value in 0...9 {
      let facts = try facts(main: [0x0112: .short([UInt16(value)])])
      #expect(facts.orientation == ((1...8).contains(value) ? value : nil))
      #expect(facts.pixelWidth == ((5...8).contains(value) ? 120 : 160))
    }
  }

  @Test func aValueOfTheWrongTypeOrCountCountsAsAbsent() throws {
    let facts = try facts(
      main: [0x0112: .ascii("6"), 0x010F: .short([1, 2, 3]), 0x4746: .rational([(5, 1)])],
      exif: [
        0x829A: .short([1]), 0x829D: .raw(type: 5, count: 1, field: 0xFFFF_FFF0), 0x8827: .ascii("100"),
        0x9003: .raw(type: 2, count: 0xFFFF_FFFF, field: 8), 0x920A: .raw(type: 77, count: 1, field: 8),
      ])
    #expect(facts.orientation == nil && facts.rating == nil && facts.creationDate == nil)
    #expect(facts.camera == nil)
    #expect(facts.failure == nil)
  }

  // MARK: - Places

  private static let place: [UInt16: ExifBuilder.Value] = [
    1: .ascii("S"), 2: .rational([(33, 1), (52, 1), (48, 10)]), 3: .ascii("E"),
    4: .rational([(151, 1), (12, 1), (36, 1)]),
    5: .bytes([1], type: 1), 6: .rational([(125, 10)]),
  ]

  @Test func aLocationHasItsHemispheresAndDepth() throws {
    for bigEndian in [false, true] {
      let location = try #require(try facts(gps: Self.place, bigEndian: bigEndian).location)
      #expect(abs(location.latitude + 33.868) < 1e-9)
      #expect(abs(location.longitude - 151.21) < 1e-9)
      #expect(location.altitude == -12.5)
    }
  }

  @Test(arguments: [
    (UInt16(1), ExifBuilder.Value.ascii("")), (3, .ascii("?")), (2, .rational([(0, 0), (0, 0), (0, 0)])),
    (2, .rational([(91, 1), (0, 1), (0, 1)])), (4, .rational([(180, 1), (1, 1), (0, 1)])), (4, .ascii("151")),
  ])
  func anIncompleteLocationIsIgnored(tag: UInt16, value: ExifBuilder.Value) throws {
    #expect(try facts(gps: Self.place.merging([tag: value]) { _, new in new }).location == nil)
  }

  @Test func unknownMinutesCountAsNoneAndAnUnknownAltitudeIsAbsent() throws {
    let change: [UInt16: ExifBuilder.Value] = [2: .rational([(33, 1), (0, 0), (0, 0)]), 6: .rational([(0, 0)])]
    let location = try facts(gps: Self.place.merging(change) { _, new in new }).location
    #expect(location?.latitude == -33)
    #expect(location?.altitude == nil)
  }
}
