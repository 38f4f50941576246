/// Which assets a fetch is about: `isFavorite == true AND camera.model CONTAINS 'X-T'`.
///
/// ```
/// predicate  = all { ("OR" | "||") all }
/// all        = unit { ("AND" | "&&") unit }
/// unit       = ("NOT" | "!") unit | "(" predicate ")" | comparison
/// comparison = key ("==" | "=" | "!=" | "<>") (literal | "nil")
///            | key ("<" | "<=" | ">" | ">=") (number | text | date)
///            | key ("CONTAINS" | "BEGINSWITH") text
///            | key "IN" "{" [ literal { "," literal } ] "}"
/// literal    = 'text' | "text" | number | true | false        date = a text that is an ISO 8601 date
/// ```
/// Words are found without regard to case, keys are not. In a text `\\`, `\'`, `\"`, `\n`, `\t`, `\r` and `\u{1F600}` are
/// escapes.
///
/// A comparison with an absent value is false, and NOT of it is true; `key == nil` and `key != nil` ask for absence.
/// Texts compare exactly, scalar by scalar, as SQLite's BINARY collation does. Dates compare as instants, those without an
/// offset as if they were UTC.
///
/// Bounds: ``maximumBytes``, ``maximumDepth``, ``maximumComparisons``, ``maximumListCount``; they keep what is compiled from a
/// predicate within SQLite's own.
package indirect enum Predicate: Hashable, Sendable {
  /// `value` is of the key's type, or `.null` with `.equal` and `.notEqual`.
  case comparison(key: PredicateKey, operator: Operator, value: Literal)
  /// The values are of the key's type, never `.null`; there may be none.
  case `in`(key: PredicateKey, values: [Literal])
  /// Two or more, none of them an `.and`.
  case and([Predicate])
  /// Two or more, none of them an `.or`.
  case or([Predicate])
  case not(Predicate)

  package enum Operator: String, Hashable, Sendable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
  }

  /// A value as it is bound: integers where a number is whole, dates as instants without an offset.
  package enum Literal: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case date(PhotoDate)
    case mediaType(MediaType)
  }

  /// 64 KiB
  package static let maximumBytes = 65_536
  /// Parentheses and NOTs within each other.
  package static let maximumDepth = 200
  /// Comparisons and INs in all.
  package static let maximumComparisons = 500
  /// Values of all lists together.
  package static let maximumListCount = 5_000

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

// MARK: - Canonical text

extension Predicate: CustomStringConvertible {
  /// The canonical text: predicates that differ only in spelling, spacing, quotes, superfluous parentheses, or the order and
  /// repetition of what AND, OR and IN combine, have the same one. It parses to a predicate that matches the same assets.
  ///
  /// It is ASCII, everything else escaped, so that comparing canonical texts is comparing bytes.
  /// - Complexity: O(n · d) for n characters nested d deep.
  package var description: String { canonical.text }

  /// Without double negations and repetitions, AND in AND and OR in OR dissolved, the parts in the order of their texts.
  package var canonical: Predicate {
    switch self {
    case .comparison: return self
    case .in(let key, let values): return .in(key: key, values: Self.ordered(values, by: \.description))
    case .not(let inner):
      let inner = inner.canonical
      if case .not(let positive) = inner { return positive }
      return .not(inner)
    case .and(let parts):
      let flat = parts.map(\.canonical).flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }
      let ordered = Self.ordered(flat, by: \.operandText)
      return ordered.count == 1 ? ordered[0] : .and(ordered)
    case .or(let parts):
      let flat = parts.map(\.canonical).flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }
      let ordered = Self.ordered(flat, by: \.operandText)
      return ordered.count == 1 ? ordered[0] : .or(ordered)
    }
  }

  private static func ordered<Part>(_ parts: [Part], by text: (Part) -> String) -> [Part] {
    var byText: [String: Part] = [:]
    for part in parts { byText[text(part)] = part }
    return byText.sorted { $0.key < $1.key }.map(\.value)
  }

  private var text: String {
    switch self {
    case .comparison(let key, let op, let value): "\(key.rawValue) \(op.rawValue) \(value)"
    case .in(let key, let values): "\(key.rawValue) IN {\(values.map(\.description).joined(separator: ", "))}"
    case .and(let parts): parts.map(\.operandText).joined(separator: " AND ")
    case .or(let parts): parts.map(\.operandText).joined(separator: " OR ")
    case .not(let inner): "NOT \(inner.operandText)"
    }
  }

  /// In parentheses if it is more than one comparison.
  private var operandText: String {
    switch self {
    case .comparison, .in, .not: text
    case .and, .or: "(\(text))"
    }
  }
}

extension Predicate.Literal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .null: "nil"
    case .boolean(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .real(let value): String(value)
    case .string(let value): Self.quoted(value)
    case .date(let value): Self.quoted(value.description)
    case .mediaType(let value): Self.quoted(value.rawValue)
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "'"
    for scalar in text.unicodeScalars {
      switch scalar {
      case "'", "\\": quoted += "\\\(scalar)"
      case " "..."~": quoted.unicodeScalars.append(scalar)
      default: quoted += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return quoted + "'"
  }
}
