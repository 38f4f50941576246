import PhotoModel

/// A text chunk of a PNG file whose keyword is known: `tEXt`, `zTXt` (compressed) or `iTXt` (UTF-8).
///
/// Before PNG had a chunk for EXIF (2017), programs wrote EXIF, XMP and IPTC as hexadecimal digits under the keyword
/// `Raw profile type …`, as ImageMagick does.
struct PNGText {
  enum Keyword {
    case xmp, rawExif, rawAPP1, rawXMP, rawIPTC, title, description, creationTime
  }

  let keyword: Keyword
  private let window: FileWindow
  /// The text after the keyword.
  private let text: FilePart
  private let isCompressed: Bool

  /// The limit for inflated text, which may be a thousand times as long as its chunk.
  static let longestText = 1 << 21
  /// A title or a description.
  private static let longestLine = 8192

  /// - Returns: `nil` if the chunk is about something else, or its compression is unknown.
  init?(_ window: FileWindow, _ type: BoxType, _ data: FilePart) {
    // The longest keyword and the fields after it: a language and a translation of the keyword.
    guard let head = window.bytes(at: data.start, count: min(data.count, 256), ahead: 256),
      let (keyword, length) = Self.keyword(head)
    else { return nil }
    var offset = length + 1
    var isCompressed = type == "zTXt"
    if type == "iTXt" {
      guard offset + 2 <= head.count else { return nil }
      isCompressed = head[offset] != 0
      if isCompressed, head[offset + 1] != 0 { return nil }
      offset += 2
      for _ in 0..<2 {
        guard let end = head[offset...].firstIndex(of: 0) else { return nil }
        offset = end + 1
      }
    } else if isCompressed {
      guard offset < head.count, head[offset] == 0 else { return nil }
      offset += 1
    }
    guard let text = data.part(at: offset, upTo: .max), text.count > 0 else { return nil }
    self.keyword = keyword
    self.window = window
    self.text = text
    self.isCompressed = isCompressed
  }

  private static func keyword(_ head: UnsafeRawBufferPointer) -> (Keyword, length: Int)? {
    let known: [(StaticString, Keyword)] = [
      ("XML:com.adobe.xmp\0", .xmp), ("Raw profile type exif\0", .rawExif), ("Raw profile type APP1\0", .rawAPP1),
      ("Raw profile type xmp\0", .rawXMP), ("Raw profile type iptc\0", .rawIPTC), ("Raw profile type 8bim\0", .rawIPTC),
      ("Title\0", .title), ("Description\0", .description), ("Creation Time\0", .creationTime),
      // Other programs write these two.
      ("CreationTime\0", .creationTime), ("create-date\0", .creationTime),
    ]
    return known.first { head.holds($0.0) }.map { ($0.1, $0.0.utf8CodeUnitCount - 1) }
  }

  // MARK: - Content

  /// The position of the text in the file; `nil` if it is compressed.
  var place: FilePart? { isCompressed ? nil : text }

  /// The text, inflated if necessary, cut off at ``longestText``. If the stream is damaged, the part before the damage
  /// counts.
  var bytes: [UInt8] {
    if isCompressed { return ZlibStream(window: window, part: text).inflated(upTo: Self.longestText) }
    var bytes: [UInt8] = []
    window.forEachPiece(of: text) { piece in
      bytes.append(contentsOf: piece.prefix(Self.longestText - bytes.count))
      return bytes.count < Self.longestText
    }
    return bytes
  }

  /// The bytes of a raw profile: a name, a length and hexadecimal digits, on lines of their own.
  var profile: [UInt8] { Self.decodeProfile(bytes) }

  /// A line or a paragraph for a person.
  var line: String? {
    bytes.prefix(Self.longestLine).withUnsafeBytes(ExifText.decode)
  }

  private static func decodeProfile(_ text: [UInt8]) -> [UInt8] {
    // The name follows an empty line, and the length follows the name. Each has at most 80 bytes.
    var start = 0
    for _ in 0..<3 {
      guard let end = text[start...].prefix(82).firstIndex(of: 0x0A) else { return [] }
      start = end + 1
    }
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text[start...] {
      let digit: UInt8
      switch character {
      case 0x30...0x39: digit = character - 0x30
      case 0x41...0x46: digit = character - 0x37
      case 0x61...0x66: digit = character - 0x57
      case 0x0A, 0x0D, 0x20: continue
      default: return bytes
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return bytes
  }

  // MARK: - Dates

  /// A creation time as the specification recommends it ("Tue, 13 Feb 2007 06:34:38 +0100", RFC 1123), in ISO 8601's or
  /// EXIF's form, or as C's `asctime` writes it ("Tue Feb 13 06:34:38 2007").
  static func date(_ text: String) -> PhotoDate? {
    let bytes = Array(text.utf8)
    if let first = bytes.first, (0x30...0x39).contains(first),
      let date = bytes.withUnsafeBytes(EmbeddedDates.xmpDate)
    {
      return date
    }
    var (day, month, year, clock): (Int?, Int?, Int?, [Int]?)
    var offset: Int?
    let words = text.split(whereSeparator: { $0 == " " || $0 == "," }).prefix(10)
    var halfDay: Int?
    for word in words {
      if let number = Int(word), !word.hasPrefix("+"), !word.hasPrefix("-") {
        if word.utf8.count == 4 { year = year ?? number } else { day = day ?? number }
      } else if word.contains(":") {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard clock == nil, parts.count == 2 || parts.count == 3 else { return nil }
        clock = parts.compactMap { $0 }
        guard clock?.count == parts.count else { return nil }
      } else if let found = months.firstIndex(where: { word.lowercased().hasPrefix($0) }), month == nil {
        month = found + 1
      } else if word == "AM" || word == "PM" {
        halfDay = word == "PM" ? 12 : 0
      } else if word == "GMT" || word == "UTC" || word == "UT" || word == "Z" {
        offset = 0
      } else if word.hasPrefix("+") || word.hasPrefix("-") {
        offset = Array(word.utf8).withUnsafeBytes(ExifDate.offsetMinutes)
      }
    }
    guard let day, let month, let year else { return nil }
    var hour = clock?[0] ?? 12
    if let halfDay {
      guard (1...12).contains(hour) else { return nil }
      hour = hour % 12 + halfDay
    }
    return PhotoDate(
      year: year, month: month, day: day, hour: hour, minute: clock?[1] ?? 0,
      second: clock.flatMap { $0.count > 2 ? $0[2] : nil } ?? 0, offsetMinutes: clock == nil ? nil : offset)
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]
}
