import Foundation
import PhotoModel

/// ExifTool's findings about a file, in the form of our facts. XMP and IPTC count for texts that people write, and for
/// dates if EXIF has none. Maker notes do not count, so locations and cameras come from EXIF.
struct ExifToolTruth {
  let path: String
  let fileType: String?
  /// The format, as the shares are grouped by.
  let format: String
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
        format: format(object["File:FileType"] as? String ?? "", path),
        tags: object.merging(wider[path] ?? [:]) { narrow, _ in narrow })
    }
  }

  private static func format(_ fileType: String, _ path: String) -> String {
    switch fileType {
    case "Extended WEBP": "WEBP"
    case "HEIF": "HEIC"
    // ExifTool 12.57 does not know AVIF's sequences.
    case "MP4": path.hasSuffix(".avifs") ? "AVIF" : fileType
    case "JXL Codestream": "JXL"
    case "APNG": "PNG"
    default: fileType
    }
  }

  /// ExifTool's type, where the shared MIME database has the same one. It does not distinguish the codings of HEIF.
  var contentType: String? {
    let type = string("File:MIMEType")
    switch format {
    case "AVIF": return "image/avif"
    case "MPO": return "image/mpo"
    case "HEIC": return type.map { _ in "image/heic" }
    default: return type
    }
  }

  private var isMovie: Bool { ["MP4", "MOV", "M4V", "3GP", "3G2"].contains(format) }
  private var isHEIF: Bool { ["HEIC", "AVIF"].contains(format) }

  var make: String? { text("IFD0:Make") ?? (isMovie ? text("Keys:Make") ?? text("QuickTime:Make") : nil) }
  var model: String? { text("IFD0:Model") ?? (isMovie ? text("Keys:Model") ?? text("QuickTime:Model") : nil) }

  /// In seconds.
  var duration: Double? { isMovie ? number("QuickTime:Duration").flatMap { $0 > 0 ? $0 : nil } : nil }
  var lens: String? { text("ExifIFD:LensModel") }
  var exposureSeconds: Double? { positive("ExposureTime") }
  var fNumber: Double? { positive("FNumber") }
  var iso: Int? { positive("ISO").map { Int($0) } }
  var focalLength: Double? { positive("FocalLength") }
  var flashFired: Bool? { (number("ExifIFD:Flash") ?? number("IFD0:Flash")).map { Int($0) & 1 == 1 } }
  var orientation: Int? {
    if isHEIF, let turned = number("QuickTime:Rotation") { return [0: 1, 90: 8, 180: 3, 270: 6][Int(turned)] }
    // The codestream has its own, which ExifTool does not tell. These files are upright.
    if format == "JXL" { return size == nil ? nil : 1 }
    let exif = number("IFD0:Orientation").flatMap { (1...8).contains($0) ? Int($0) : nil }
    // Without turns, a HEIF picture is upright.
    return isHEIF && exif != nil ? 1 : exif
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
    text("XMP:Title") ?? text("IPTC:ObjectName") ?? text("EXIF:XPTitle") ?? text("PNG:Title") ?? text("Keys:Title")
      ?? text("ItemList:Title") ?? text("UserData:Title")
  }

  /// The caption, even if it is a default text of a camera.
  var caption: String? {
    text("XMP:Description") ?? text("IPTC:Caption-Abstract") ?? text("IFD0:ImageDescription")
      ?? text("EXIF:ImageDescription") ?? text("EXIF:XPComment") ?? text("PNG:Description")
      ?? text("Keys:Description") ?? text("ItemList:Description")
  }

  /// `YYYY-MM-DDTHH:MM:SS[.sss][±HH:MM]`
  var date: PhotoDate? {
    if isMovie { return movieDate }
    for (tag, suffix) in [("DateTimeOriginal", "Original"), ("CreateDate", "Digitized")] {
      for group in ["ExifIFD", "IFD0"] {
        guard let date = date(text("\(group):\(tag)"), suffix) else { continue }
        return zoned(date)
      }
    }
    if make != nil || model != nil, let date = date(text("IFD0:ModifyDate"), "") { return date }
    return embeddedDate ?? plainDate("PNG:CreationTime")
  }

  /// The offset, from the UTC time of GPS, by the rule of `Documentation/dates.md`.
  private func zoned(_ date: PhotoDate) -> PhotoDate {
    guard date.offsetMinutes == nil, let day = string("EXIF:GPSDateStamp"), let time = string("EXIF:GPSTimeStamp"),
      let utc = PhotoDate(day.replacingOccurrences(of: ":", with: "-") + "T" + time)
    else { return date }
    let minutes = Double(date.microseconds - utc.microseconds) / 60_000_000
    let offset = Int((minutes / 15).rounded()) * 15
    guard offset != 0, abs(minutes - Double(offset)) <= 2, (-720...840).contains(offset) else { return date }
    return PhotoDate(microseconds: date.microseconds - Int64(offset) * 60_000_000, offsetMinutes: offset)
  }

  /// The key's, else the header's, which is in UTC.
  private var movieDate: PhotoDate? {
    if let date = plainDate("Keys:CreationDate") ?? plainDate("UserData:ContentCreateDate") { return date }
    guard let text = string("QuickTime:CreateDate"), text.count == 19 else { return nil }
    return PhotoDate(text.prefix(10).replacingOccurrences(of: ":", with: "-") + "T" + text.dropFirst(11) + "Z")
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
    if rest.count < 19, rest.count >= 5, !rest.contains("."),
      let fraction = string("EXIF:SubSecTime\(suffix)") ?? string("ExifIFD:SubSecTime\(suffix)")
    {
      let digits = fraction.trimmingCharacters(in: .whitespaces).prefix { $0.isASCII && $0.isNumber }
      if !digits.isEmpty { rest += "." + digits }
    }
    if let offset = string("EXIF:OffsetTime\(suffix)") ?? string("ExifIFD:OffsetTime\(suffix)"),
      PhotoDate("2000-01-01T00:00:00" + offset) != nil
    {
      rest += offset
    }
    return PhotoDate("\(day)T\(rest)")
  }

  var latitude: Double? { coordinate("GPSLatitude", negative: "S") }
  var longitude: Double? { coordinate("GPSLongitude", negative: "W") }
  var altitude: Double? {
    if isMovie { return number("Composite:GPSAltitude") }
    guard latitude != nil, longitude != nil, let value = number("GPS:GPSAltitude") else { return nil }
    return number("EXIF:GPSAltitudeRef") == 1 ? -abs(value) : value
  }

  private func coordinate(_ tag: String, negative: String) -> Double? {
    if isMovie { return number("Composite:\(tag)") }
    guard let value = number("GPS:\(tag)"), let reference = string("EXIF:\(tag)Ref"), !reference.isEmpty else {
      return nil
    }
    return reference.uppercased().hasPrefix(negative) ? -value : value
  }

  /// The size as displayed.
  var size: [Int]? {
    if isMovie { return movieSize }
    let group =
      switch fileType {
      case "TIFF", "CR3": "IFD0"
      case "PNG", "APNG": "PNG"
      case "GIF": "GIF"
      case "WEBP", "Extended WEBP": "RIFF"
      case "JP2": "Jpeg2000"
      default: "File"
      }
    guard let width = number("\(group):ImageWidth") ?? number("File:ImageWidth"),
      let height = number("\(group):ImageHeight") ?? number("File:ImageHeight"), width > 0, height > 0
    else { return nil }
    var stored = [Int(width), Int(height)]
    if isHEIF, let crop = string("QuickTime:CleanAperture")?.split(separator: " ").compactMap({ Double($0) }),
      crop.count == 4
    {
      stored = crop.prefix(2).map { Int($0) }
    }
    if format == "JXL" { return stored }
    return (orientation ?? 1) >= 5 ? stored.reversed() : stored
  }

  /// The size of the first track that has one, turned by the film's rotation.
  private var movieSize: [Int]? {
    for track in 1...9 {
      guard let width = number("Track\(track):ImageWidth"), let height = number("Track\(track):ImageHeight") else {
        continue
      }
      let isTurned = number("Composite:Rotation").map { $0 == 90 || $0 == 270 } ?? false
      return isTurned ? [Int(height), Int(width)] : [Int(width), Int(height)]
    }
    return nil
  }

  // MARK: - Tags

  private func string(_ tag: String) -> String? {
    if let text = tags[tag] as? String { return text }
    return (tags[tag] as? NSNumber)?.stringValue
  }

  private func list(_ tag: String) -> [String] {
    guard let values = tags[tag] as? [Any] else { return text(tag).map { [$0] } ?? [] }
    return values.map { $0 as? String ?? ($0 as? NSNumber)?.stringValue ?? "" }
  }

  private func text(_ tag: String) -> String? {
    // Only fuzzers write control characters. Our texts do not contain them.
    let printable = string(tag)?.unicodeScalars.filter {
      $0.value >= 0x20 && $0.value != 0x7F || "\n\r\t".contains(Character($0))
    }
    let text = printable.map { String($0).trimmingCharacters(in: .whitespacesAndNewlines) }
    return text?.isEmpty == false ? text : nil
  }

  /// The first number if there are several.
  private func number(_ tag: String) -> Double? {
    if let number = tags[tag] as? NSNumber { return number.doubleValue }
    return string(tag)?.split(separator: " ").first.flatMap { Double($0) }
  }

  private func positive(_ tag: String) -> Double? {
    for group in ["ExifIFD", "IFD0"] {
      if let value = number("\(group):\(tag)"), value > 0 { return value }
    }
    return nil
  }
}
