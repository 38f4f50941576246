import PhotoModel

/// The dates at which a picture was taken, from XMP or IPTC.
///
/// EXIF comes first. After it, the order is that of the Metadata Working Group's guidelines (2.0, 5.6). A date of the
/// original precedes a date of its digitization, and XMP precedes IPTC.
struct EmbeddedDates {
  var original: PhotoDate?
  var digitized: PhotoDate?

  var isEmpty: Bool { original == nil && digitized == nil }

  /// - Parameter all: the dates of each block, the preferred block first.
  static func best(of all: [EmbeddedDates]) -> PhotoDate? {
    all.lazy.compactMap(\.original).first ?? all.lazy.compactMap(\.digitized).first
  }

  /// Parses a date of XMP (ISO 16684-1, 8.2.1.1), which may lack its last parts. A missing month or day is the first
  /// one, and a missing time is 12:00.
  static func xmpDate(_ bytes: UnsafeRawBufferPointer) -> PhotoDate? {
    guard let text = ExifText.decode(bytes) else { return nil }
    switch text.utf8.count {
    case 4: return PhotoDate("\(text)-01-01").map(noon)
    case 7: return PhotoDate("\(text)-01").map(noon)
    default:
      // Programs also write dates in EXIF's form.
      let date = PhotoDate(text) ?? ExifDate.parse(bytes, fraction: nil, offset: nil)
      return text.utf8.count > 10 ? date : date.map(noon)
    }
  }

  /// Noon of a day without a time.
  static func noon(_ day: PhotoDate) -> PhotoDate {
    PhotoDate(microseconds: day.microseconds + 43_200_000_000, offsetMinutes: nil)
  }
}

/// The dates of an XMP packet.
struct XMPDates {
  enum Property {
    /// `exif:DateTimeOriginal`
    case taken
    /// `photoshop:DateCreated`
    case created
    /// `xmp:CreateDate`
    case digitized
    /// `exif:DateTimeDigitized`
    case exifDigitized
  }

  private var taken: PhotoDate?
  private var created: PhotoDate?
  private var digitized: PhotoDate?
  private var exifDigitized: PhotoDate?

  /// The first value of each property counts.
  mutating func note(_ property: Property, _ value: UnsafeRawBufferPointer) {
    guard let date = EmbeddedDates.xmpDate(value) else { return }
    switch property {
    case .taken: taken = taken ?? date
    case .created: created = created ?? date
    case .digitized: digitized = digitized ?? date
    case .exifDigitized: exifDigitized = exifDigitized ?? date
    }
  }

  var dates: EmbeddedDates {
    EmbeddedDates(original: taken ?? created, digitized: digitized ?? exifDigitized)
  }
}

/// The dates of an IPTC block: each is a day and a time in two datasets.
struct IPTCDates {
  private var created: Parts = Parts()
  private var digitized: Parts = Parts()

  private struct Parts {
    var day: [UInt8]?
    var time: [UInt8]?

    /// Parses `CCYYMMDD` and `HHMMSS±HHMM` (IIM 4.2, 2:55 and 2:60). An unknown month or day is `00`. Programs also
    /// write punctuation between the numbers.
    var date: PhotoDate? {
      guard let day, let numbers = Self.digits(day), numbers.count == 8 else { return nil }
      func value(_ digits: ArraySlice<UInt8>) -> Int { digits.reduce(0) { $0 * 10 + Int($1) } }
      let (year, month, monthDay) = (value(numbers[0..<4]), value(numbers[4..<6]), value(numbers[6..<8]))
      return PhotoDate(
        "\(Self.padded(year, 4))-\(Self.padded(max(month, 1), 2))-\(Self.padded(max(monthDay, 1), 2))"
          + (time.flatMap(Self.clock) ?? "T12:00:00"))
    }

    /// The time in the form of RFC 3339; nil if it is invalid.
    private static func clock(_ time: [UInt8]) -> String? {
      let end = time.firstIndex { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") } ?? time.endIndex
      guard let numbers = digits(Array(time[..<end])), numbers.count == 6 else { return nil }
      let text = "T" + stride(from: 0, to: 6, by: 2).map { "\(numbers[$0])\(numbers[$0 + 1])" }.joined(separator: ":")
      guard PhotoDate("2000-01-01" + text) != nil else { return nil }
      guard end < time.endIndex, let offset = digits(Array(time[(end + 1)...])), offset.count == 4 else { return text }
      let zoned =
        text + (time[end] == UInt8(ascii: "+") ? "+" : "-") + "\(offset[0])\(offset[1]):\(offset[2])\(offset[3])"
      return PhotoDate("2000-01-01" + zoned) == nil ? text : zoned
    }

    /// The digits of a value that contains only digits and punctuation; nil for any other value.
    private static func digits(_ bytes: [UInt8]) -> [UInt8]? {
      let text = bytes.filter { $0 != 0 && $0 != 0x20 && !":-/.".utf8.contains($0) }
      return text.allSatisfy { (0x30...0x39).contains($0) } ? text.map { $0 - 0x30 } : nil
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
  }

  /// - Parameter dataset: a dataset of the application record. Datasets without dates are ignored.
  mutating func note(_ dataset: UInt8, _ value: UnsafeRawBufferPointer) {
    switch dataset {
    case 55: created.day = created.day ?? Array(value)
    case 60: created.time = created.time ?? Array(value)
    case 62: digitized.day = digitized.day ?? Array(value)
    case 63: digitized.time = digitized.time ?? Array(value)
    default: break
    }
  }

  static let datasets: Set<UInt8> = [55, 60, 62, 63]

  var dates: EmbeddedDates { EmbeddedDates(original: created.date, digitized: digitized.date) }
}
