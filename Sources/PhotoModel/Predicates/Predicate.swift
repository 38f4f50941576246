/// Which assets a fetch is about: `isFavorite == true AND camera.model CONTAINS 'X-T'`.
///
/// The grammar, what absence means, and every key with examples are in docs/predicates.md. In short: comparisons of a key
/// with a value, joined by `AND`, `OR`, `NOT` and parentheses. A comparison with an absent value is false, and NOT of it is
/// true. Texts compare exactly, scalar by scalar, as SQLite's BINARY collation does, or folded (``TextModifiers``). Dates
/// mean spans of time (``DateSpan``); those without an offset are taken as if they were UTC.
///
/// Bounds: ``maximumBytes``, ``maximumDepth``, ``maximumComparisons``, ``maximumListCount``, ``maximumPatternCount``; they keep
/// what is compiled from a predicate within SQLite's own, and the time that a row takes within what a text's length decides.
package indirect enum Predicate: Hashable, Sendable {
  /// `TRUEPREDICATE`, `FALSEPREDICATE`
  case constant(Bool)
  case comparison(Comparison)
  /// Two or more, none of them an `.and`.
  case and([Predicate])
  /// Two or more, none of them an `.or`.
  case or([Predicate])
  case not(Predicate)

  /// A key and what is asked of its value, or of the values in its list.
  package struct Comparison: Hashable, Sendable {
    /// `nil` for a key that has one value, and for a list that is itself asked for (`keywords == nil`).
    package var quantifier: Quantifier?
    package var key: PredicateKey
    /// Empty but for texts.
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

  /// How many of a list's values must do. `NONE` is NOT of `.any`.
  package enum Quantifier: String, Hashable, Sendable, CaseIterable {
    /// One at least: false of an empty list.
    case any = "ANY"
    /// True of an empty list.
    case all = "ALL"
  }

  /// What is asked of a value. Literals are of the key's type, never `.null`.
  package enum Question: Hashable, Sendable {
    /// Of a list: whether it is empty.
    case isAbsent
    case isPresent
    case compares(Operator, Literal)
    /// There may be none.
    case isIn([Literal])
    /// Both ends included.
    case isBetween(Literal, Literal)
  }

  package enum Operator: String, Hashable, Sendable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    // Of texts only.
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

    /// Whether texts can be compared with modifiers by it.
    package var takesModifiers: Bool { isForTextsOnly || self == .equal || self == .notEqual }
  }

  /// A value as it is bound: integers where a number is whole, dates as spans without an offset.
  package enum Literal: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case date(DateSpan)
    case mediaType(MediaType)
  }

  /// 64 KiB
  package static let maximumBytes = 65_536
  /// Parentheses and NOTs within each other.
  package static let maximumDepth = 200
  /// Comparisons of all kinds in all.
  package static let maximumComparisons = 500
  /// Values of all lists together.
  package static let maximumListCount = 5_000
  /// Scalars of one pattern of LIKE or MATCHES, and steps of all patterns of MATCHES together, repetitions written out.
  package static let maximumPatternCount = 1_000

  /// Reads a predicate.
  /// - Throws: ``PredicateError``, with the position and what was expected there.
  /// - Complexity: O(n) in the length of the text.
  package init(parsing text: String) throws(PredicateError) {
    var parser = try PredicateParser(text)
    self = try parser.parse()
  }
}

/// What is wrong with the text of a predicate, and where.
package struct PredicateError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was found, and what was expected instead.
  package let message: String
  /// How many Unicode scalars come before the place, which is what Python's and SQLite's string functions count in.
  package let position: Int

  package init(_ message: String, at position: Int) {
    self.message = message
    self.position = position
  }

  package var description: String { "\(message) (at position \(position))" }
}

// MARK: - Equality

extension Predicate.Literal: Hashable {
  /// Texts are equal scalar by scalar: Swift's own equality takes "é" and "e" with an accent for the same.
  package static func == (lhs: Self, rhs: Self) -> Bool {
    switch (lhs, rhs) {
    case (.null, .null): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.date(let a), .date(let b)): a == b
    case (.mediaType(let a), .mediaType(let b)): a == b
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
    case .mediaType(let value): hasher.combine(value)
    }
  }
}
