import CExif
import Glibc
import PhotoModel

/// The facts in an EXIF block, read by libexif.
///
/// libexif's options that drop unknown tags (ratings) and "correct" values are turned off. No function of it is used
/// that depends on the locale. It is thread-safe if each thread has its own `ExifData`.
///
/// It is a class, because it has some hundred bytes, and several functions pass it on for each file.
final class ExifFacts {
  var creationDate: PhotoDate?
  var camera = Camera()
  var location: Location?
  /// 1...8
  var orientation: Int?
  /// 0...5
  var rating: Int?
  var title: String?
  var caption: String?
  var keywords: [String] = []
  var isScreenshot = false
  /// The maker note of an Apple camera. It is not in the block that libexif reads.
  var apple: AppleMakerNote?
  /// As stored, for a TIFF file's first image. In other containers the tags are stale after an edit.
  var imageWidth: Int?
  var imageHeight: Int?
  /// The lens that the maker note names. XMP's lens comes before it.
  var noteLens: String?

  init() {}

  /// - Parameter block: as made by ``ExifBlob``. Reading it costs 31,000 instructions for a camera's 17 entries.
  convenience init?(_ block: UnsafeRawBufferPointer, in arena: ExifArena) {
    self.init()
    guard arena.withData({ self.read(block, loadedInto: $0) }) != nil else { return nil }
  }

  private func read(_ block: UnsafeRawBufferPointer, loadedInto data: UnsafeMutablePointer<ExifData>) {
    exif_data_unset_option(data, EXIF_DATA_OPTION_IGNORE_UNKNOWN_TAGS)
    exif_data_unset_option(data, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION)
    exif_data_load_data(data, block.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(block.count))
    let order = exif_data_get_byte_order(data)
    let main = ExifEntries(content: data.pointee.ifd.0, order: order)
    let exif = ExifEntries(content: data.pointee.ifd.2, order: order)
    let gps = ExifEntries(content: data.pointee.ifd.3, order: order)

    orientation = main.integer(0x0112).flatMap { (1...8).contains($0) ? $0 : nil }
    imageWidth = main.integer(0x0100).flatMap { $0 > 0 ? $0 : nil }
    imageHeight = main.integer(0x0101).flatMap { $0 > 0 ? $0 : nil }
    camera = Self.camera(main, exif)
    creationDate = Self.date(main, exif, gps)
    location = Self.location(gps)
    rating = Self.rating(main)
    title = main.bytes(0x9C9B).flatMap { ExifText.decodeUTF16($0) }
    caption = Self.caption(main, exif, camera)
    keywords = Self.keywords(main)
    isScreenshot = Self.namesScreenshot(exif.bytes(0x9286)) || Self.namesScreenshot(main.bytes(0x9286))
  }

  // MARK: - Camera

  /// The exposure is in the EXIF directory. TIFF/EP and some scanners write it in the first directory.
  private static func camera(_ main: ExifEntries, _ exif: ExifEntries) -> Camera {
    func fraction(_ tag: UInt32) -> Double? { exif.positiveFraction(tag) ?? main.positiveFraction(tag) }
    var camera = Camera()
    camera.make = main.text(0x010F)
    camera.model = main.text(0x0110)
    camera.lens = exif.text(0xA434) ?? main.text(0xA434)
    camera.exposureSeconds = fraction(0x829A) ?? exposure(exif) ?? exposure(main)
    camera.fNumber = fraction(0x829D) ?? aperture(exif) ?? aperture(main)
    camera.iso = iso(exif) ?? iso(main)
    camera.focalLengthMillimeters = fraction(0x920A)
    camera.flashFired = (exif.integer(0x9209) ?? main.integer(0x9209)).map { $0 & 1 == 1 }
    return camera
  }

  private static func exposure(_ entries: ExifEntries) -> Double? { entries.fraction(0x9201).flatMap(APEX.seconds) }

  private static func aperture(_ entries: ExifEntries) -> Double? { entries.fraction(0x9202).flatMap(APEX.fNumber) }

  /// PhotographicSensitivity, else ISOSpeed, RecommendedExposureIndex or StandardOutputSensitivity (EXIF 2.32, 4.6.5.G).
  ///
  /// 65535 means that the number did not fit in 16 bits and is in one of the other tags.
  private static func iso(_ entries: ExifEntries) -> Int? {
    let sensitivity = entries.knownInteger(0x8827)
    if let sensitivity, sensitivity != 65535 { return sensitivity }
    for tag: UInt32 in [0x8833, 0x8832, 0x8831] {
      if let value = entries.knownInteger(tag) { return value }
    }
    return sensitivity
  }

  // MARK: - Date

  /// The date the picture was taken: DateTimeOriginal, else DateTimeDigitized.
  ///
  /// DateTime (ModifyDate) is the file's own date. It comes last, and counts only if the file names a camera. Such a
  /// camera wrote no other date, and cameras don't modify files later. Without a camera, the date says when a program
  /// saved the file.
  private static func date(_ main: ExifEntries, _ exif: ExifEntries, _ gps: ExifEntries) -> PhotoDate? {
    for entries in [exif, main] {
      if let date = date(exif, entries.bytes(0x9003), subseconds: 0x9291, offsets: [0x9011, 0x9012, 0x9010], main) {
        return GPSTime.zoned(date, gps)
      }
    }
    for entries in [exif, main] {
      if let date = date(exif, entries.bytes(0x9004), subseconds: 0x9292, offsets: [0x9012, 0x9011, 0x9010], main) {
        return GPSTime.zoned(date, gps)
      }
    }
    guard main.text(0x010F) != nil || main.text(0x0110) != nil else { return nil }
    return date(exif, main.bytes(0x0132), subseconds: 0x9290, offsets: [0x9010], main)
  }

  /// - Parameter offsets: the tags of offsets, the date's own first. Another date's offset counts only if that date has
  ///   the same text. An editing program writes its own clock's offset beside its own date.
  private static func date(
    _ exif: ExifEntries, _ text: UnsafeRawBufferPointer?, subseconds: UInt32, offsets: [UInt32], _ main: ExifEntries
  ) -> PhotoDate? {
    guard let text else { return nil }
    var offset: UnsafeRawBufferPointer?
    for (index, tag) in offsets.enumerated() where offset == nil {
      guard let value = exif.bytes(tag) ?? main.bytes(tag) else { continue }
      if index > 0 {
        let other = tag == 0x9010 ? main.bytes(0x0132) : exif.bytes(tag - 0x0E)
        guard let other, other.elementsEqual(text) else { continue }
      }
      if ExifDate.offsetMinutes(value) != nil { offset = value }
    }
    return ExifDate.parse(text, fraction: exif.bytes(subseconds) ?? main.bytes(subseconds), offset: offset)
  }

  // MARK: - Place

  /// A location needs both coordinates with their hemispheres, within range. Its altitude may be missing.
  private static func location(_ gps: ExifEntries) -> Location? {
    guard let latitude = degrees(gps, value: 2, reference: 1, positive: "Nn", negative: "Ss"),
      let longitude = degrees(gps, value: 4, reference: 3, positive: "Ee", negative: "Ww")
    else { return nil }
    return Location(ofFile: latitude, longitude, altitude: altitude(gps))
  }

  /// Degrees, minutes and seconds. Unknown minutes or seconds (0/0) count as 0.
  private static func degrees(
    _ gps: ExifEntries, value: UInt32, reference: UInt32, positive: StaticString, negative: StaticString
  ) -> Double? {
    guard let letter = gps.bytes(reference)?.first(where: { $0 != 0x20 }), let degrees = gps.fraction(value) else {
      return nil
    }
    let minutes = gps.fraction(value, at: 1) ?? 0
    let seconds = gps.fraction(value, at: 2) ?? 0
    let total = degrees + minutes / 60 + seconds / 3600
    if letter == positive.utf8Start[0] || letter == positive.utf8Start[1] { return total }
    if letter == negative.utf8Start[0] || letter == negative.utf8Start[1] { return -total }
    return nil
  }

  /// Metres. The references 1 (sea level) and 3 (ellipsoid, EXIF 3.0) mean below, even if the
  /// number is negative, too.
  private static func altitude(_ gps: ExifEntries) -> Double? {
    guard let distance = gps.fraction(6) else { return nil }
    let reference = gps.bytes(5)?.first ?? 0
    let isBelow = [1, 3, UInt8(ascii: "1"), UInt8(ascii: "3")].contains(reference)
    return isBelow ? -abs(distance) : distance
  }

  // MARK: - Descriptions

  /// Stars from 0 to 5, else Windows' percent.
  private static func rating(_ main: ExifEntries) -> Int? {
    if let stars = main.integer(0x4746), (0...5).contains(stars) { return stars }
    return main.integer(0x4749).flatMap(Rating.stars)
  }

  /// Windows' keywords, which are separated by semicolons.
  private static func keywords(_ main: ExifEntries) -> [String] {
    guard let text = main.bytes(0x9C9E).flatMap({ ExifText.decodeUTF16($0) }) else { return [] }
    var keywords = KeywordList()
    for word in text.split(separator: ";") { keywords.add(String(word)) }
    return keywords.words
  }

  /// ImageDescription, unless a camera wrote it, else Windows' comment. Some programs write the description in the EXIF
  /// directory.
  private static func caption(_ main: ExifEntries, _ exif: ExifEntries, _ camera: Camera) -> String? {
    CaptionDefaults.written(
      main.text(0x010E) ?? exif.text(0x010E), main.bytes(0x9C9C).flatMap { ExifText.decodeUTF16($0) }, by: camera)
  }

  /// Whether a UserComment is "Screenshot", as Apple's systems write it. Its first 8 bytes name its encoding.
  private static func namesScreenshot(_ comment: UnsafeRawBufferPointer?) -> Bool {
    guard let comment, comment.count >= 18, comment.count <= 64 else { return false }
    var letters = comment.dropFirst(8).filter { $0 != 0 }
    while letters.last == 0x20 { letters.removeLast() }
    return letters.elementsEqual("Screenshot".utf8)
  }
}
