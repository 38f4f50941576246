import Foundation

/// ExifTool's findings about a file, in the form of our facts. XMP and IPTC count for texts that people write, and for
/// dates if EXIF has none. Locations and cameras come from EXIF, else from XMP. Maker notes do not count.
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

  /// Shared-mime-info's names, which photod uses.
  private static let sharedNames = [
    "application/vnd.adobe.photoshop": "image/vnd.adobe.photoshop", "video/m2ts": "video/mp2t",
    "image/x-fujifilm-raf": "image/x-fuji-raf", "image/x-raw": "image/x-phaseone-iiq",
  ]

  /// ExifTool's media type, or shared-mime-info's name for it. That does not distinguish the codings of HEIF.
  var contentType: String? {
    let type = string("File:MIMEType").map { Self.sharedNames[$0] ?? $0 }
    switch format {
    case "AVIF": return "image/avif"
    case "MPO": return "image/mpo"
    case "HEIC": return type.map { _ in "image/heic" }
    default: return type
    }
  }

  var isMovie: Bool { ["MP4", "MOV", "M4V", "3GP", "3G2"].contains(format) }
  var isHEIF: Bool { ["HEIC", "AVIF"].contains(format) }

  var make: String? { first("Make") ?? text("CanonRaw:Make") ?? text("SigmaRaw:Make") ?? text("XMP-tiff:Make") }
  var model: String? {
    first("Model") ?? text("CanonRaw:Model") ?? text("SigmaRaw:Model") ?? text("XMP-tiff:Model")
  }

  private func first(_ tag: String) -> String? {
    text("IFD0:\(tag)") ?? (isMovie ? text("Keys:\(tag)") ?? text("QuickTime:\(tag)") : nil)
  }

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

  var exposureSeconds: Double? {
    positive("ExposureTime") ?? number("EXIF:ShutterSpeedValue") ?? sigma("ExposureTime") ?? xmp("ExposureTime")
      ?? xmp("ShutterSpeedValue")
  }
  var fNumber: Double? {
    positive("FNumber") ?? number("EXIF:ApertureValue") ?? sigma("FNumber") ?? xmp("FNumber") ?? xmp("ApertureValue")
  }

  /// EXIF's, else that of the maker note: the last of Nikon's two, or ExifTool's conversion of Canon's.
  var iso: Int? {
    let noted = (text("Nikon:ISO") ?? "").split(separator: " ").last.flatMap { Double($0) }
    for value in [
      positive("ISO"), number("EXIF:ISOSpeed"), number("EXIF:RecommendedExposureIndex"),
      number("EXIF:StandardOutputSensitivity"), noted, number("Composite:ISO"), number("MakerNotes:ProgramISO"),
      sigma("ISO"), number("XMP-exifEX:PhotographicSensitivity"), xmp("ISO"),
    ] {
      if let value, value > 0, value != 65535, value < 4_294_967_295 { return Int(value.rounded()) }
    }
    return positive("ISO").flatMap { $0 < 4_294_967_295 ? Int($0) : nil }
  }

  private func sigma(_ tag: String) -> Double? { number("SigmaRaw:\(tag)") }
  private func xmp(_ tag: String) -> Double? {
    (number("XMP-exif:\(tag)") ?? number("XMP:\(tag)")).flatMap { $0 > 0 ? $0 : nil }
  }

  var focalLength: Double? { positive("FocalLength") ?? sigma("FocalLength") ?? xmp("FocalLength") }
  var flashFired: Bool? { (number("ExifIFD:Flash") ?? number("IFD0:Flash")).map { Int($0) & 1 == 1 } }
  /// Whether ``duration`` is that of a track, which may be shorter than the file by some frames. ExifTool gives the last
  /// of several values: a statistics tag of the form `HH:MM:SS.nnnnnnnnn`.
  var durationIsOfATrack: Bool { string("Matroska:Duration")?.contains(":") ?? false }

  /// Seconds
  var duration: Double? {
    if isMovie { return number("QuickTime:Duration").flatMap { $0 > 0 ? $0 : nil } }
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
    text("XMP:Title") ?? text("IPTC:ObjectName") ?? text("EXIF:XPTitle") ?? text("PNG:Title") ?? text("Keys:Title")
      ?? text("ItemList:Title") ?? text("UserData:Title") ?? text("Matroska:Title") ?? text("RIFF:Title")
  }

  /// The caption, even if it is a default text of a camera.
  var caption: String? {
    text("XMP:Description") ?? text("IPTC:Caption-Abstract") ?? text("IFD0:ImageDescription")
      ?? text("EXIF:ImageDescription") ?? text("EXIF:XPComment") ?? text("PNG:Description")
      ?? text("Keys:Description") ?? text("ItemList:Description") ?? text("Matroska:Description")
  }

  // MARK: - Tags

  /// The second file has groups such as "XMP-dc" for some files.
  private func value(_ tag: String) -> Any? {
    if let value = tags[tag] { return value }
    guard tag.hasPrefix("XMP:") else { return nil }
    return tags.first { $0.key.hasPrefix("XMP-") && $0.key.hasSuffix(tag.dropFirst(3)) }?.value
  }

  func string(_ tag: String) -> String? {
    let value = value(tag)
    if let text = value as? String { return text }
    return (value as? NSNumber)?.stringValue
  }

  private func list(_ tag: String) -> [String] {
    guard let values = value(tag) as? [Any] else { return text(tag).map { [$0] } ?? [] }
    return values.map { $0 as? String ?? ($0 as? NSNumber)?.stringValue ?? "" }
  }

  func text(_ tag: String) -> String? {
    // Only fuzzers write control characters. Our texts do not contain them.
    let printable = string(tag)?.unicodeScalars.filter {
      $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) || "\n\r\t".contains(Character($0))
    }
    let text = printable.map { String($0).trimmingCharacters(in: .whitespacesAndNewlines) }
    return text?.isEmpty == false ? text : nil
  }

  /// The first number if there are several.
  func number(_ tag: String) -> Double? {
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
