/// Keywords in the order in which they came, each once.
///
/// A keyword has no blanks around it and no control characters in it; one that is empty then, or longer than
/// ``longestBytes`` in UTF-8, is none.
struct KeywordList {
  static let limit = 1000
  static let longestBytes = 1000

  private(set) var words: [String] = []
  private var known: Set<String> = []

  var isEmpty: Bool { words.isEmpty }

  /// - Parameter bytes: as ``ExifText/decode(_:)`` takes them.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    // What is so long can only be a text that some program put in the wrong place.
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
    // C1 controls begin with C2 in UTF-8; nearly every word has neither those nor ASCII's.
    if word.utf8.first != 0x20, word.utf8.last != 0x20, !word.utf8.contains(where: { $0 < 0x20 || $0 == 0xC2 }) {
      return word.isEmpty ? nil : word
    }
    var scalars = String.UnicodeScalarView()
    for scalar in word.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      // A line break within a keyword stands between its words.
      let next: Unicode.Scalar = isControl ? " " : scalar
      if next == " ", scalars.isEmpty || scalars.last == " " { continue }
      scalars.append(next)
    }
    while scalars.last == " " { scalars.removeLast() }
    return scalars.isEmpty ? nil : String(scalars)
  }
}

/// What a person wrote about a picture, as one of XMP, IPTC and EXIF has it.
struct DescriptiveFacts {
  var keywords: [String] = []
  var title: String?
  var caption: String?
  /// 0...5
  var rating: Int?
}

/// Ratings in other measures than stars.
enum Rating {
  /// Windows' percent; 1, 25, 50, 75 and 99 are what it writes for one to five stars.
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
