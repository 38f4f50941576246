/// One comparison that SQL has no words for, made ready to be asked of many values: its pattern is read once, not for
/// every row.
package final class PredicateTest: Sendable {
  private enum Wanted: Sendable {
    case contains([UInt8])
    case begins([UInt8])
    case ends([UInt8])
    /// Sorted.
    case oneOf([[UInt8]])
    case like(LikePattern)
    case regex(RegexProgram)
    /// Sorted, none touching another.
    case within([ClosedRange<Int64>])
  }

  private let wanted: Wanted
  private let modifiers: TextModifiers

  private init(_ wanted: Wanted, _ modifiers: TextModifiers) {
    self.wanted = wanted
    self.modifiers = modifiers
  }

  /// Of an operator that takes modifiers; for `!=`, whether the texts are equal.
  /// - Throws: where the text is a malformed pattern.
  convenience init(_ op: Predicate.Operator, _ text: String, _ modifiers: TextModifiers) throws(PatternError) {
    let bytes = { Array(modifiers.folded(text).utf8) }
    let wanted: Wanted =
      switch op {
      case .contains: .contains(bytes())
      case .beginsWith: .begins(bytes())
      case .endsWith: .ends(bytes())
      case .like: .like(try LikePattern(text, modifiers))
      case .matches: .regex(try RegexProgram(text, modifiers))
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: .oneOf([bytes()])
      }
    self.init(wanted, modifiers)
  }

  convenience init(oneOf texts: [String], _ modifiers: TextModifiers) {
    let folded = texts.map { Array(modifiers.folded($0).utf8) }
    self.init(.oneOf(folded.sorted { $0.lexicographicallyPrecedes($1) }), modifiers)
  }

  convenience init(within spans: [DateSpan]) {
    var ranges: [ClosedRange<Int64>] = []
    for span in spans.sorted(by: { $0.first < $1.first }) {
      if let last = ranges.last, span.first <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, span.last)
      } else {
        ranges.append(span.first...span.last)
      }
    }
    self.init(.within(ranges), [])
  }

  /// How many steps of a program each scalar of a text may take; 0 for all but regular expressions.
  var programCount: Int { if case .regex(let program) = wanted { program.count } else { 0 } }

  // MARK: - Asking

  package func holds(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { holds(utf8: $0) }
  }

  package func holds(utf8: UnsafeBufferPointer<UInt8>) -> Bool { modifiers.withFolded(utf8) { holds(folded: $0) } }

  package func holds(microseconds: Int64) -> Bool {
    guard case .within(let ranges) = wanted else { return false }
    let index = Self.firstIndex(ranges.count) { ranges[$0].upperBound >= microseconds }
    return index < ranges.count && ranges[index].contains(microseconds)
  }

  private func holds(folded text: UnsafeBufferPointer<UInt8>) -> Bool {
    switch wanted {
    case .begins(let wanted): text.starts(with: wanted)
    case .ends(let wanted): wanted.count <= text.count && text.suffix(wanted.count).elementsEqual(wanted)
    case .contains(let wanted): wanted.withUnsafeBufferPointer { Self.contains(text, $0) }
    case .oneOf(let texts): isOneOf(texts, text)
    case .like(let pattern): pattern.matches(text)
    case .regex(let program): program.matches(text)
    case .within: false
    }
  }

  private func isOneOf(_ texts: [[UInt8]], _ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let index = Self.firstIndex(texts.count) { !texts[$0].lexicographicallyPrecedes(text) }
    return index < texts.count && text.elementsEqual(texts[index])
  }

  private static func contains(_ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = part.first else { return true }
    guard part.count <= text.count else { return false }
    for start in 0...text.count - part.count where text[start] == first {
      var index = 1
      while index < part.count, text[start + index] == part[index] { index += 1 }
      if index == part.count { return true }
    }
    return false
  }

  /// The first for which `isIn` is true, which is then true of all that follow.
  private static func firstIndex(_ count: Int, _ isIn: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isIn(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension Predicate.Comparison {
  /// What SQL has no words for: folded texts, patterns, ends of texts, spans of time in a list. `nil` for all else; negated
  /// for `!=`.
  package var test: (test: PredicateTest, isNegated: Bool)? {
    switch question {
    case .compares(let op, .string(let text)) where op.takesModifiers:
      guard !modifiers.isEmpty || [.endsWith, .like, .matches].contains(op) else { return nil }
      do {
        return (try PredicateTest(op, text, modifiers), op == .notEqual)
      } catch {
        // Nobody can write this: a malformed pattern is refused where it is read.
        return (PredicateTest(oneOf: [], modifiers), false)
      }
    case .isIn(let values):
      let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
      if !modifiers.isEmpty { return (PredicateTest(oneOf: texts, modifiers), false) }
      let spans = values.compactMap { if case .date(let span) = $0 { span } else { nil } }
      return spans.contains { !$0.isInstant } ? (PredicateTest(within: spans), false) : nil
    default: return nil
    }
  }
}

/// One test is equal to itself only.
extension PredicateTest: Hashable {
  package static func == (lhs: PredicateTest, rhs: PredicateTest) -> Bool { lhs === rhs }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
