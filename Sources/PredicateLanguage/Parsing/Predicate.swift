import PhotoModel

/// A condition on assets: `isFavorite == true AND camera.model CONTAINS 'X-T'`.
///
/// Documentation/predicates.md has the grammar, the meaning of absent values, and every key with examples. In short: a
/// predicate is made of comparisons of a key with a value, joined by `AND`, `OR`, `NOT` and parentheses. A comparison
/// with an absent value is false, and its NOT is true. Texts compare exactly, scalar by scalar, as in SQLite's BINARY
/// collation, or folded (``TextModifiers``). A date means a span of time (``DateSpan``). Without an offset, it is in
/// the local time of each photo.
///
/// The bounds are ``maximumBytes``, ``maximumDepth``, ``maximumComparisons``, ``maximumListCount`` and
/// ``maximumPatternCount``. They keep the compiled query within SQLite's own bounds, and the time for a row
/// proportional to the length of its texts.
package indirect enum Predicate: Hashable, Sendable {
  /// `TRUEPREDICATE`, `FALSEPREDICATE`
  case constant(Bool)
  case comparison(Comparison)
  /// Two or more parts, none of them an `.and`.
  case and([Predicate])
  /// Two or more parts, none of them an `.or`.
  case or([Predicate])
  case not(Predicate)

  /// A key and a question about its value, or about the values in its list.
  package struct Comparison: Hashable, Sendable {
    /// `nil` for a key with one value, and for a question about the list itself (`keywords == nil`).
    package var quantifier: Quantifier?
    package var key: PredicateKey
    /// Empty except for texts.
    package var modifiers: TextModifiers = []
    package var question: Question

    package init(
      _ quantifier: Quantifier?, _ key: PredicateKey, _ question: Question, _ modifiers: TextModifiers = []
    ) {
      self.quantifier = quantifier
      self.key = key
      self.modifiers = modifiers
      self.question = question
    }

    package init(_ key: PredicateKey, _ question: Question, _ modifiers: TextModifiers = []) {
      self.init(nil, key, question, modifiers)
    }
  }

  /// How many of a list's values must satisfy the comparison. `NONE` is NOT of `.any`.
  package enum Quantifier: String, Hashable, Sendable, CaseIterable {
    /// At least one. False for an empty list.
    case any = "ANY"
    /// All of them. True for an empty list.
    case all = "ALL"
  }

  /// A question about a value. Literals have the key's type and are never `.null`.
  package enum Question: Hashable, Sendable {
    /// Whether the list of the key is empty.
    case isAbsent
    case isPresent
    case compares(Operator, Literal)
    /// The list may be empty.
    case isIn([Literal])
    /// Both ends are included.
    case isBetween(Literal, Literal)
    /// Whether the place is in the circle.
    case isNear(PlaceCircle)
  }

  package enum Operator: String, Hashable, Sendable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    // The operators that follow are for texts only.
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case like = "LIKE"
    case matches = "MATCHES"

    package var isForTextsOnly: Bool {
      switch self {
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: false
      case .contains, .beginsWith, .endsWith, .like, .matches: true
      }
    }

    /// Whether this operator can compare texts with modifiers.
    package var takesModifiers: Bool { isForTextsOnly || self == .equal || self == .notEqual }
  }

  /// A value. Whole numbers are integers. A date in a predicate is a span of time, in an asset it is a moment.
  package enum Literal: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case date(DateSpan)
    case moment(PhotoDate)
    case mediaType(MediaType)
    /// One subtype.
    case mediaSubtype(MediaSubtypes)
    case dateSource(CreationDateSource)
  }

  /// 64 KiB
  package static let maximumBytes = 65_536
  /// The deepest nesting of parentheses and NOTs.
  package static let maximumDepth = 200
  /// The most comparisons, of all kinds together.
  package static let maximumComparisons = 500
  /// The most values in all lists together.
  package static let maximumListCount = 5_000
  /// The most scalars of one pattern of LIKE or MATCHES, and the most instructions of all patterns of MATCHES together.
  package static let maximumPatternCount = 1_000

  /// Parses a predicate.
  /// - Throws: ``PredicateError`` with the position, and what is expected there.
  /// - Complexity: O(n) in the length of the text.
  package init(parsing text: String) throws(PredicateError) {
    var parser = try PredicateParser(text)
    self = try parser.parse()
  }
}

/// The error in the text of a predicate, and its position.
package struct PredicateError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text that was found, and the text that is expected instead.
  package let message: String
  /// The number of Unicode scalars before the error. Python's and SQLite's string functions count the same way.
  package let position: Int

  package init(_ message: String, at position: Int) {
    self.message = message
    self.position = position
  }

  package var description: String { "\(message) (at position \(position))" }
}

// MARK: - Equality

extension Predicate.Literal: Hashable {
  /// Texts are compared scalar by scalar. Swift's own equality treats "é" and "e" with a combining accent as equal.
  package static func == (lhs: Self, rhs: Self) -> Bool {
    switch (lhs, rhs) {
    case (.null, .null): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.date(let a), .date(let b)): a == b
    case (.moment(let a), .moment(let b)): a == b
    case (.mediaType(let a), .mediaType(let b)): a == b
    case (.mediaSubtype(let a), .mediaSubtype(let b)): a == b
    case (.dateSource(let a), .dateSource(let b)): a == b
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .boolean(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value)
    case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
    case .date(let value): hasher.combine(value)
    case .moment(let value): hasher.combine(value)
    case .mediaType(let value): hasher.combine(value)
    case .mediaSubtype(let value): hasher.combine(value)
    case .dateSource(let value): hasher.combine(value)
    }
  }
}
