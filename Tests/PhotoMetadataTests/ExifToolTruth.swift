import Foundation
import PhotoModel

/// ExifTool's findings about a file, in the form of our facts. XMP and IPTC count for texts that people write, and for
/// dates if EXIF has none. Maker notes do not count, so locations and cameras come from EXIF.
struct ExifToolTruth {
  let path: String
  let fileType: String?
  /// ExifTool's media type, or shared-mime-info's name for it, which photod uses.
  let contentType: String?
  /// By group and name, from both files. The second one's groups are wider ("EXIF" for all of its directories).
  private let tags: [String: Any]

  /// Loads a truth file (`-n -G1 -j`), and `<name>-all.json` (`-n -G -j`) beside it if that exists.
  static func load(_ url: URL) throws -> [ExifToolTruth] {
    func objects(_ url: URL) throws -> [[String: Any]] {
      try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [[String: Any]] ?? []
    }
    let all = url.deletingPathExtension().path + "-all.json"
    var wider: [String: [String: Any]] = [:]
    if FileManager.default.fileExists(atPath: all) {
      for object in try objects(URL(fileURLWithPath: all)) { wider[object["SourceFile"] as? String ?? ""] = object }
    }
    return try objects(url).compactMap { object in
      guard let path = object["SourceFile"] as? String else { return nil }
      return ExifToolTruth(
        path: path, fileType: object["File:FileType"] as? String,
        contentType: (object["File:MIMEType"] as? String).map { sharedNames[$0] ?? $0 },
        tags: object.merging(wider[path] ?? [:]) { narrow, _ in narrow })
    }
  }

  private static let sharedNames = [
    "application/vnd.adobe.photoshop": "image/vnd.adobe.photoshop", "video/m2ts": "video/mp2t",
    "image/x-fujifilm-raf": "image/x-fuji-raf", "image/x-raw": "image/x-phaseone-iiq",
  ]

  var make: String? { text("IFD0:Make") ?? text("CanonRaw:Make") ?? text("SigmaRaw:Make") }
  var model: String? { text("IFD0:Model") ?? text("CanonRaw:Model") ?? text("SigmaRaw:Model") }

  /// The names in EXIF, XMP and the maker note, else the numbers that Nikon and Sony write as text.
  var lens: String? {
    for tag in ["ExifIFD:LensModel", "IFD0:LensModel", "XMP:LensModel", "XMP:Lens", "MakerNotes:LensModel"] {
      if let text = text(tag), !text.isEmpty { return text }
    }
    if let type = text("MakerNotes:LensType"), type.contains(where: \.isLetter), type != "NO-LENS", type != "N/A" {
      return type
    }
    let numbers = (text("MakerNotes:Lens") ?? "").split(separator: " ").compactMap { Double($0) }
    if numbers.count == 4, numbers[0] > 0, numbers[2] > 0 {
      func range(_ low: Double, _ high: Double) -> String {
        func short(_ number: Double) -> String { number == number.rounded() ? "\(Int(number))" : "\(number)" }
        return high > 0 && high != low ? "\(short(low))-\(short(high))" : short(low)
      }
      return "\(range(numbers[0], numbers[1]))mm f/\(range(numbers[2], numbers[3]))"
    }
    return nil
  }

  var exposureSeconds: Double? { positive("ExposureTime") ?? number("EXIF:ShutterSpeedValue") ?? sigma("ExposureTime") }
  var fNumber: Double? { positive("FNumber") ?? number("EXIF:ApertureValue") ?? sigma("FNumber") }

  /// EXIF's, else that of the maker note: the last of Nikon's two, or what ExifTool makes of Canon's.
  var iso: Int? {
    let noted = (text("Nikon:ISO") ?? "").split(separator: " ").last.flatMap { Double($0) }
    for value in [
      positive("ISO"), number("EXIF:ISOSpeed"), number("EXIF:RecommendedExposureIndex"),
      number("EXIF:StandardOutputSensitivity"), noted, number("Composite:ISO"), number("MakerNotes:ProgramISO"),
      sigma("ISO"),
    ] {
      if let value, value > 0, value != 65535, value < 4_294_967_295 { return Int(value.rounded()) }
    }
    return positive("ISO").flatMap { $0 < 4_294_967_295 ? Int($0) : nil }
  }

  private func sigma(_ tag: String) -> Double? { number("SigmaRaw:\(tag)") }

  var focalLength: Double? { positive("FocalLength") ?? sigma("FocalLength") }
  var flashFired: Bool? { (number("ExifIFD:Flash") ?? number("IFD0:Flash")).map { Int($0) & 1 == 1 } }
  var orientation: Int? {
    for tag in ["IFD0:Orientation", "XMP-tiff:Orientation"] {
      if let value = number(tag), (1...8).contains(value) { return Int(value) }
    }
    // Degrees of formats without EXIF
    return (number("SigmaRaw:Rotation") ?? number("CanonRaw:Rotation")).flatMap { [90: 6, 180: 3, 270: 8][$0] }
  }

  /// Whether ``duration`` is that of a track, which may be shorter than the file by some frames. ExifTool gives the last
  /// of several values: a statistics tag of the form `HH:MM:SS.nnnnnnnnn`.
  var durationIsOfATrack: Bool { string("Matroska:Duration")?.contains(":") ?? false }

  /// Seconds
  var duration: Double? {
    for tag in ["Matroska:Duration", "Composite:Duration", "M2TS:Duration"] {
      guard let text = string(tag) else { continue }
      let seconds = text.split(separator: ":").reduce(0.0) { $0 * 60 + (Double($1) ?? 0) }
      if seconds > 0 { return seconds }
    }
    return nil
  }

  var rating: Int? {
    // -1 means "rejected".
    if let stars = number("XMP:Rating")?.rounded(), (-1...5).contains(stars) { return max(Int(stars), 0) }
    if let percent = number("XMP:RatingPercent") { return Self.stars(percent: percent) }
    if let stars = number("IFD0:Rating"), (0...5).contains(stars) { return Int(stars) }
    return number("EXIF:RatingPercent").flatMap(Self.stars)
  }

  private static func stars(percent: Double) -> Int? {
    (0...100).contains(percent) ? [0, 1, 13, 38, 63, 88].lastIndex { $0 <= percent } : nil
  }

  /// XMP's subjects with the leaves of its hierarchies, else IPTC's keywords, else Windows'.
  var keywords: [String]? {
    let leaves =
      list("XMP:HierarchicalSubject").map { $0.split(separator: "|").last.map(String.init) ?? "" }
      + list("XMP:TagsList").map { $0.split(separator: "/").last.map(String.init) ?? "" }
    let windows = text("EXIF:XPKeywords")?.split(separator: ";").map(String.init) ?? []
    for words in [list("XMP:Subject") + leaves, list("IPTC:Keywords"), windows] {
      var once: [String] = []
      for word in words.map({ $0.trimmingCharacters(in: .whitespacesAndNewlines) })
      where !word.isEmpty && !once.contains(word) {
        once.append(word)
      }
      if !once.isEmpty { return once }
    }
    return nil
  }

  var title: String? {
    text("XMP:Title") ?? text("IPTC:ObjectName") ?? text("EXIF:XPTitle") ?? text("Matroska:Title") ?? text("RIFF:Title")
  }

  /// The caption, even if it is a default text of a camera.
  var caption: String? {
    text("XMP:Description") ?? text("IPTC:Caption-Abstract") ?? text("IFD0:ImageDescription")
      ?? text("EXIF:ImageDescription") ?? text("EXIF:XPComment")
  }

  /// `YYYY-MM-DDTHH:MM:SS[.sss][±HH:MM]`
  var date: PhotoDate? {
    for (tag, suffix) in [("DateTimeOriginal", "Original"), ("CreateDate", "Digitized")] {
      for group in ["ExifIFD", "IFD0"] {
        guard let date = date(text("\(group):\(tag)"), suffix) else { continue }
        return date
      }
    }
    if make != nil || model != nil, let date = date(text("IFD0:ModifyDate"), "") { return date }
    return embeddedDate ?? containerDate
  }

  /// The dates of formats that have no EXIF. They may name a zone.
  private var containerDate: PhotoDate? {
    for group in ["Matroska", "RIFF", "H264", "CanonRaw", "SigmaRaw"] {
      guard let text = string("\(group):DateTimeOriginal"), text.count >= 19 else { continue }
      let day = text.prefix(10).replacingOccurrences(of: ":", with: "-")
      if let date = PhotoDate("\(day)T\(text.dropFirst(11))") { return date }
    }
    return plainDate("OpenEXR:CapDate")
  }

  private var embeddedDate: PhotoDate? {
    plainDate("XMP:DateTimeOriginal") ?? plainDate("XMP:DateCreated") ?? plainDate(
      "IPTC:DateCreated", "IPTC:TimeCreated")
      ?? plainDate("XMP:CreateDate") ?? plainDate("XMP:DateTimeDigitized")
      ?? plainDate("IPTC:DigitalCreationDate", "IPTC:DigitalCreationTime")
  }

  /// A date without a time means 12:00.
  private func plainDate(_ tag: String, _ timeTag: String? = nil) -> PhotoDate? {
    guard let text = string(tag), text.count >= 10 else { return nil }
    let day = text.prefix(10).replacingOccurrences(of: ":", with: "-")
    let time = timeTag == nil ? String(text.dropFirst(11)) : timeTag.flatMap(string) ?? ""
    return PhotoDate("\(day)T\(time.isEmpty ? "12:00:00" : time)")
  }

  private func date(_ text: String?, _ suffix: String) -> PhotoDate? {
    guard let text, text.count >= 16 else { return nil }
    let day = text.prefix(10).replacingOccurrences(of: ":", with: "-")
    var rest = String(text.dropFirst(11))
    if rest.count < 19, rest.count >= 5, !rest.contains("."), let fraction = string("EXIF:SubSecTime\(suffix)") {
      let digits = fraction.trimmingCharacters(in: .whitespaces).prefix { $0.isASCII && $0.isNumber }
      if !digits.isEmpty { rest += "." + digits }
    }
    if let offset = string("EXIF:OffsetTime\(suffix)"), PhotoDate("2000-01-01T00:00:00" + offset) != nil {
      rest += offset
    }
    return PhotoDate("\(day)T\(rest)")
  }

  var latitude: Double? { coordinate("GPSLatitude", negative: "S") }
  var longitude: Double? { coordinate("GPSLongitude", negative: "W") }
  var altitude: Double? {
    guard latitude != nil, longitude != nil, let value = number("GPS:GPSAltitude") else { return nil }
    return number("EXIF:GPSAltitudeRef") == 1 ? -abs(value) : value
  }

  private func coordinate(_ tag: String, negative: String) -> Double? {
    guard let value = number("GPS:\(tag)"), let reference = string("EXIF:\(tag)Ref"), !reference.isEmpty else {
      return nil
    }
    return reference.uppercased().hasPrefix(negative) ? -value : value
  }

  /// The formats whose size is read from their header. ExifTool's composite may take it from another image in the file.
  private static let formatsWithOwnSize: Set = ["JPEG", "TIFF", "X3F", "PNG", "GIF", "WEBP", "Extended WEBP"]

  /// The size as displayed.
  var size: [Int]? {
    let group =
      switch fileType {
      case "TIFF": "IFD0"
      case "X3F": "SigmaRaw"
      case "PNG", "GIF": fileType ?? ""
      case "WEBP", "Extended WEBP": "RIFF"
      default: "File"
      }
    if !Self.formatsWithOwnSize.contains(fileType ?? "") {
      let numbers = (string("Composite:ImageSize") ?? "").split(separator: " ").compactMap { Int($0) }
      guard numbers.count == 2, numbers.allSatisfy({ $0 > 0 }) else { return nil }
      return (orientation ?? 1) >= 5 ? numbers.reversed() : numbers
    }
    guard let width = number("\(group):ImageWidth") ?? number("File:ImageWidth"),
      let height = number("\(group):ImageHeight") ?? number("File:ImageHeight"), width > 0, height > 0
    else { return nil }
    let stored = [Int(width), Int(height)]
    return (orientation ?? 1) >= 5 ? stored.reversed() : stored
  }

  // MARK: - Tags

  /// The second file has groups such as "XMP-dc" for some files.
  private func value(_ tag: String) -> Any? {
    if let value = tags[tag] { return value }
    guard tag.hasPrefix("XMP:") else { return nil }
    return tags.first { $0.key.hasPrefix("XMP-") && $0.key.hasSuffix(tag.dropFirst(3)) }?.value
  }

  private func string(_ tag: String) -> String? {
    let value = value(tag)
    if let text = value as? String { return text }
    return (value as? NSNumber)?.stringValue
  }

  private func list(_ tag: String) -> [String] {
    guard let values = value(tag) as? [Any] else { return text(tag).map { [$0] } ?? [] }
    return values.map { $0 as? String ?? ($0 as? NSNumber)?.stringValue ?? "" }
  }

  private func text(_ tag: String) -> String? {
    // Only fuzzers write control characters. Our texts do not contain them.
    let printable = string(tag)?.unicodeScalars.filter {
      $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) || "\n\r\t".contains(Character($0))
    }
    let text = printable.map { String($0).trimmingCharacters(in: .whitespacesAndNewlines) }
    return text?.isEmpty == false ? text : nil
  }

  /// The first number if there are several.
  private func number(_ tag: String) -> Double? {
    if let number = value(tag) as? NSNumber { return number.doubleValue }
    return string(tag)?.split(separator: " ").first.flatMap { Double($0) }
  }

  private func positive(_ tag: String) -> Double? {
    for group in ["ExifIFD", "IFD0"] {
      if let value = number("\(group):\(tag)"), value > 0 { return value }
    }
    return nil
  }
}
