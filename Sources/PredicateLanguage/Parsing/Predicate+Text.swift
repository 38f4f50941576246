extension Predicate: CustomStringConvertible {
  /// The canonical text. Predicates have the same one if they differ only in spelling, spacing, quotes, superfluous
  /// parentheses, or the order and repetition of the parts of AND, OR and IN. It parses to a predicate that matches the
  /// same assets.
  ///
  /// It is ASCII, with everything else escaped, so comparing canonical texts is comparing bytes.
  /// - Complexity: O(n · d) for n characters nested d deep.
  package var description: String { canonical.text }

  private var canonical: CanonicalPredicate {
    switch self {
    case .constant(let value): return CanonicalPredicate(self, text: value ? "TRUEPREDICATE" : "FALSEPREDICATE")
    case .comparison(var comparison):
      guard case .comparison = comparison.byClock else { return comparison.byClock.canonical }
      if case .isIn(let values) = comparison.question {
        comparison.question = .isIn(CanonicalPredicate.ordered(values, by: \.description))
      }
      return CanonicalPredicate(.comparison(comparison), text: comparison.text)
    case .not(let inner):
      let inner = inner.canonical
      if case .not = inner.predicate { return inner.parts[0] }
      return CanonicalPredicate(.not(inner.predicate), text: "NOT \(inner.operandText)", parts: [inner])
    case .and(let parts):
      let flat = parts.map(\.canonical).flatMap { if case .and = $0.predicate { $0.parts } else { [$0] } }
      return CanonicalPredicate(joining: flat, by: " AND ") { .and($0) }
    case .or(let parts):
      let flat = parts.map(\.canonical).flatMap { if case .or = $0.predicate { $0.parts } else { [$0] } }
      return CanonicalPredicate(joining: flat, by: " OR ") { .or($0) }
    }
  }
}

/// A predicate without double negations and repetitions, and its text. AND in AND and OR in OR are flattened, and parts
/// are sorted by their texts.
///
/// Each level keeps its text, so that the level above only joins the texts of its parts.
private struct CanonicalPredicate {
  let predicate: Predicate
  let text: String
  /// The parts of AND and OR, or the operand of NOT.
  let parts: [CanonicalPredicate]

  init(_ predicate: Predicate, text: String, parts: [CanonicalPredicate] = []) {
    self.predicate = predicate
    self.text = text
    self.parts = parts
  }

  init(joining parts: [CanonicalPredicate], by word: String, _ predicate: ([Predicate]) -> Predicate) {
    let ordered = Self.ordered(parts, by: \.operandText)
    self =
      ordered.count == 1
      ? ordered[0]
      : CanonicalPredicate(
        predicate(ordered.map(\.predicate)), text: ordered.map(\.operandText).joined(separator: word), parts: ordered)
  }

  /// The text, in parentheses if it joins several parts.
  var operandText: String {
    switch predicate {
    case .constant, .comparison, .not: text
    case .and, .or: "(\(text))"
    }
  }

  static func ordered<Part>(_ parts: [Part], by text: (Part) -> String) -> [Part] {
    var byText: [String: Part] = [:]
    for part in parts { byText[text(part)] = part }
    return byText.sorted { $0.key < $1.key }.map(\.value)
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
    case .isNear(let circle): "\(subject) NEAR {\(circle.latitude), \(circle.longitude), \(circle.kilometers)}"
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
    case .mediaSubtype(let value): Self.quoted(value.names.first ?? "")
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
