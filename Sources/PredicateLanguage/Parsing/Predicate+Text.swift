extension Predicate: CustomStringConvertible {
  /// The canonical text. Predicates have the same one if they differ only in spelling, spacing, quotes, superfluous
  /// parentheses, or the order and repetition of the parts of AND, OR and IN. It parses to a predicate that matches the
  /// same assets.
  ///
  /// It is ASCII, with everything else escaped, so comparing canonical texts is comparing bytes.
  /// - Complexity: O(n · d) for n characters nested d deep.
  package var description: String { canonical.text }

  /// The predicate without double negations and repetitions. AND in AND and OR in OR are flattened, and parts are
  /// sorted by their texts.
  package var canonical: Predicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      guard case .comparison = comparison.byClock else { return comparison.byClock.canonical }
      if case .isIn(let values) = comparison.question {
        comparison.question = .isIn(Self.ordered(values, by: \.description))
      }
      return .comparison(comparison)
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
    case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): comparison.text
    case .and(let parts): parts.map(\.operandText).joined(separator: " AND ")
    case .or(let parts): parts.map(\.operandText).joined(separator: " OR ")
    case .not(let inner): "NOT \(inner.operandText)"
    }
  }

  /// The text, in parentheses if it joins several parts.
  private var operandText: String {
    switch self {
    case .constant, .comparison, .not: text
    case .and, .or: "(\(text))"
    }
  }
}

extension Predicate.Comparison {
  fileprivate var text: String {
    let subject = (quantifier.map { $0.rawValue + " " } ?? "") + key.rawValue
    return switch question {
    case .isAbsent: "\(subject) == nil"
    case .isPresent: "\(subject) != nil"
    case .compares(let op, let value): "\(subject) \(op.rawValue)\(modifiers) \(value)"
    case .isIn(let values): "\(subject) IN\(modifiers) {\(values.map(\.description).joined(separator: ", "))}"
    case .isBetween(let low, let high): "\(subject) BETWEEN {\(low), \(high)}"
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
    case .moment(let value): Self.quoted(value.description)
    case .mediaType(let value): Self.quoted(value.rawValue)
    case .dateSource(let value): Self.quoted(value.rawValue)
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
