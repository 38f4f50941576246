/// The scalars that one place of a pattern matches: `a`, `.`, `\d`, `[a-z_]`.
struct ScalarSet: Sendable {
  enum Category: Sendable {
    /// `\d`: a decimal digit of any script.
    case digit
    /// `\w`: alphabetic, a mark, a decimal digit, a connector such as `_`.
    case word
    /// `\s`: Unicode's White_Space.
    case space
    /// A line feed, a carriage return, U+0085, U+2028 or U+2029, which `.` does not match.
    case lineEnd
  }

  /// A set of ASCII scalars, with one bit for each.
  struct ASCII: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    mutating func insert(_ scalar: UInt32) {
      if scalar < 64 { low |= 1 << UInt64(scalar) } else { high |= 1 << UInt64(scalar - 64) }
    }

    func contains(_ scalar: UInt32) -> Bool { (scalar < 64 ? low : high) >> UInt64(scalar & 63) & 1 == 1 }
  }

  private let ranges: [ClosedRange<UInt32>]
  private let categories: [(category: Category, isNegated: Bool)]
  private let isNegated: Bool
  private let modifiers: TextModifiers
  private(set) var ascii = ASCII()

  /// - Parameter modifiers: the modifiers of the comparison. With them, ``contains(_:)`` must be called with scalars of
  ///   folded text. A single scalar of the set then also matches its folded form. A range also matches scalars whose
  ///   upper case is in the range.
  init(
    ranges: [ClosedRange<UInt32>] = [], categories: [(category: Category, isNegated: Bool)] = [],
    isNegated: Bool = false,
    modifiers: TextModifiers = []
  ) {
    self.ranges = ranges + ranges.compactMap { Self.folded($0, modifiers) }
    self.categories = categories
    self.isNegated = isNegated
    self.modifiers = modifiers
    for value in UInt32(0)..<128 where found(value) { ascii.insert(value) }
  }

  func contains(_ scalar: UInt32) -> Bool { scalar < 128 ? ascii.contains(scalar) : found(scalar) }

  private func found(_ value: UInt32) -> Bool {
    guard let scalar = Unicode.Scalar(value) else { return isNegated }
    var isIn = holds(scalar)
    if !isIn, modifiers.contains(.ignoringCase), !ranges.isEmpty {
      let upper = scalar.properties.uppercaseMapping.unicodeScalars
      if upper.count == 1, let upper = upper.first, upper != scalar { isIn = holds(upper) }
    }
    return isIn != isNegated
  }

  private func holds(_ scalar: Unicode.Scalar) -> Bool {
    ranges.contains { $0.contains(scalar.value) }
      || categories.contains { $0.category.contains(scalar) != $0.isNegated }
  }

  private static func folded(_ range: ClosedRange<UInt32>, _ modifiers: TextModifiers) -> ClosedRange<UInt32>? {
    guard !modifiers.isEmpty, range.count == 1, let scalar = Unicode.Scalar(range.lowerBound) else { return nil }
    let folded = modifiers.folded(String(scalar)).unicodeScalars
    guard folded.count == 1, let only = folded.first else { return nil }
    return only.value...only.value
  }
}

extension ScalarSet.Category {
  fileprivate func contains(_ scalar: Unicode.Scalar) -> Bool {
    switch self {
    case .digit: scalar.properties.generalCategory == .decimalNumber
    case .space: scalar.properties.isWhitespace
    case .word:
      switch scalar.properties.generalCategory {
      case .decimalNumber, .connectorPunctuation, .nonspacingMark, .spacingMark, .enclosingMark: true
      default: scalar.properties.isAlphabetic
      }
    case .lineEnd: [0x0A, 0x0D, 0x85, 0x2028, 0x2029].contains(scalar.value)
    }
  }
}
