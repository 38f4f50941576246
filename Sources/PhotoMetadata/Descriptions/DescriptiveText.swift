import PhotoModel

/// Keywords in the order in which they were added, each once.
///
/// A keyword has no blanks around it, of whatever kind, and no control characters in it. Texts that are empty without them,
/// or longer than ``longestBytes`` in UTF-8, are dropped.
struct KeywordList {
  static let limit = 1000
  static let longestBytes = 1000

  private(set) var words: [String] = []
  private var known: Set<String> = []

  var isEmpty: Bool { words.isEmpty }

  /// - Parameter bytes: as for ``ExifText/decode(_:)``.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    // So long a value can only be a text that a program put in the wrong place.
    guard bytes.count <= 4 * Self.longestBytes, let word = ExifText.decode(bytes) else { return }
    add(word)
  }

  mutating func add(_ word: String) {
    guard words.count < Self.limit, let word = Self.clean(word), word.utf8.count <= Self.longestBytes,
      known.insert(word).inserted
    else { return }
    words.append(word)
  }

  mutating func add(contentsOf other: KeywordList) {
    for word in other.words { add(word) }
  }

  private static func clean(_ word: String) -> String? {
    guard let first = word.unicodeScalars.first, let last = word.unicodeScalars.last else { return nil }
    // C1 control characters begin with C2 in UTF-8. Nearly every word has neither those nor ASCII's control characters.
    if !isBlank(first), !isBlank(last), !word.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }) {
      return word
    }
    var scalars = String.UnicodeScalarView()
    for scalar in word.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      // A line break within a keyword separates its words.
      let next: Unicode.Scalar = isControl ? " " : scalar
      if scalars.isEmpty ? isBlank(next) : next == " " && scalars.last == " " { continue }
      scalars.append(next)
    }
    while let last = scalars.last, isBlank(last) { scalars.removeLast() }
    return scalars.isEmpty ? nil : String(scalars)
  }

  /// The properties of characters beyond ASCII take a search, which most words do not need.
  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII ? scalar == " " : ExifText.isBlank(scalar)
  }
}

/// A person's words about a picture, its dates and its camera, from one of XMP and IPTC.
struct DescriptiveFacts {
  var keywords: [String] = []
  var title: String?
  var caption: String?
  /// 0...5
  var rating: Int?
  /// The lens, of XMP only.
  var lens: String?
  /// 1...8, of XMP only.
  var orientation: Int?
  /// The camera without the lens, of XMP only.
  var camera = Camera()
  /// The place, of XMP only.
  var location: Location?
  var dates = EmbeddedDates()
  var hints = XMPHints()

  var isEmpty: Bool {
    keywords.isEmpty && title == nil && caption == nil && rating == nil && lens == nil && orientation == nil
      && camera.isEmpty && location == nil && dates.isEmpty && hints == XMPHints()
  }

  /// Takes over what is missing here.
  mutating func fill(from other: DescriptiveFacts) {
    if keywords.isEmpty { keywords = other.keywords }
    title = title ?? other.title
    caption = caption ?? other.caption
    rating = rating ?? other.rating
    lens = lens ?? other.lens
    orientation = orientation ?? other.orientation
    camera.complete(with: other.camera)
    location = location ?? other.location
    dates.original = dates.original ?? other.dates.original
    dates.digitized = dates.digitized ?? other.dates.digitized
    hints.subtypes.formUnion(other.hints.subtypes)
    hints.burstIdentifier = hints.burstIdentifier ?? other.hints.burstIdentifier
  }
}

/// Ratings in units other than stars.
enum Rating {
  /// Converts Windows' percent. Windows writes 1, 25, 50, 75 and 99 for one to five stars.
  static func stars(percent: Int) -> Int? {
    switch percent {
    case 0: 0
    case 1...12: 1
    case 13...37: 2
    case 38...62: 3
    case 63...87: 4
    case 88...100: 5
    default: nil
    }
  }
}
