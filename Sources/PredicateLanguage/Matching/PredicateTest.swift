import PhotoModel

/// One comparison that SQL cannot express, prepared for many values: its pattern is parsed once, and not for every row.
package final class PredicateTest: Sendable {
  private enum Wanted: Sendable {
    case contains([UInt8])
    case begins([UInt8])
    case ends([UInt8])
    /// In ascending order.
    case oneOf([[UInt8]])
    case like(LikePattern)
    case regex(RegexProgram)
    /// In ascending order, without overlaps.
    case within([ClosedRange<Int64>], by: DateSpan.Clock)
  }

  private let wanted: Wanted
  private let modifiers: TextModifiers

  private init(_ wanted: Wanted, _ modifiers: TextModifiers) {
    self.wanted = wanted
    self.modifiers = modifiers
  }

  /// A test for an operator that takes modifiers. For `!=`, it tests whether the texts are equal.
  /// - Throws: `PatternError` if the text is a malformed pattern.
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

  /// - Parameter spans: all must have this clock.
  convenience init(within spans: [DateSpan], by clock: DateSpan.Clock) {
    var ranges: [ClosedRange<Int64>] = []
    for span in spans.sorted(by: { $0.first < $1.first }) {
      if let last = ranges.last, span.first <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, span.last)
      } else {
        ranges.append(span.first...span.last)
      }
    }
    self.init(.within(ranges, by: clock), [])
  }

  /// The size of the program of a regular expression; 0 for any other test.
  var programCount: Int { if case .regex(let program) = wanted { program.count } else { 0 } }

  /// About how much memory it takes, in bytes.
  package var byteCount: Int {
    let content =
      switch wanted {
      case .contains(let text), .begins(let text), .ends(let text): Self.byteCount(of: text)
      case .oneOf(let texts): texts.reduce(0) { $0 + Self.byteCount(of: $1) }
      case .like(let pattern): pattern.byteCount
      case .regex(let program): program.byteCount
      case .within(let ranges, _): ranges.count * MemoryLayout<ClosedRange<Int64>>.stride
      }
    return 128 + content
  }

  /// An array has a header of 32 bytes.
  private static func byteCount(of text: [UInt8]) -> Int { MemoryLayout<[UInt8]>.stride + 32 + text.count }

  // MARK: - Testing

  package func holds(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { holds(utf8: $0) }
  }

  package func holds(utf8: UnsafeBufferPointer<UInt8>) -> Bool { modifiers.withFolded(utf8) { holds(folded: $0) } }

  func holds(_ date: PhotoDate) -> Bool {
    guard case .within(_, let clock) = wanted else { return false }
    return holds(microseconds: date.microseconds(by: clock))
  }

  /// - Parameter microseconds: by the clock of the spans.
  package func holds(microseconds: Int64) -> Bool {
    guard case .within(let ranges, _) = wanted else { return false }
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
    var steps = BudgetedSteps()
    for start in 0...text.count - part.count where text[start] == first {
      var index = 1
      while index < part.count, text[start + index] == part[index] { index += 1 }
      if index == part.count { return true }
      guard steps.mayTake(index) else { return false }
    }
    return false
  }

  /// The first index for which `isIn` is true. It must then be true for all later ones.
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
  /// The test for a comparison that SQL cannot express: folded texts, patterns, ends of texts, or spans of time in a
  /// list. `nil` for any other comparison. The result is negated for `!=`.
  package var test: (test: PredicateTest, isNegated: Bool)? {
    switch question {
    case .compares(let op, .string(let text)) where op.takesModifiers:
      guard !modifiers.isEmpty || [.endsWith, .like, .matches].contains(op) else { return nil }
      do {
        return (try PredicateTest(op, text, modifiers), op == .notEqual)
      } catch {
        // This cannot happen, because the parser rejects malformed patterns.
        return (PredicateTest(oneOf: [], modifiers), false)
      }
    case .isIn(let values):
      let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
      if !modifiers.isEmpty { return (PredicateTest(oneOf: texts, modifiers), false) }
      guard let (spans, clock) = Predicate.Literal.spans(values), spans.contains(where: { !$0.isInstant }) else {
        return nil
      }
      return (PredicateTest(within: spans, by: clock), false)
    default: return nil
    }
  }
}

extension Predicate.Literal {
  /// The spans of a list, and their clock; nil if it is empty, has other values, or has spans by both clocks.
  package static func spans(_ values: [Self]) -> ([DateSpan], DateSpan.Clock)? {
    let spans = values.compactMap { if case .date(let span) = $0 { span } else { nil } }
    guard let clock = spans.first?.clock, spans.allSatisfy({ $0.clock == clock }) else { return nil }
    return (spans, clock)
  }
}

extension Predicate.Comparison {
  /// The same, with the local times of a list or range separated from its instants, because they test different values
  /// of an asset.
  var byClock: Predicate {
    switch question {
    case .isIn(let values):
      let lists = [values.filter { !$0.isInstant }, values.filter(\.isInstant)]
      guard !lists[0].isEmpty, !lists[1].isEmpty else { return .comparison(self) }
      return .or(lists.map { .comparison(Self(quantifier, key, .isIn($0), modifiers)) })
    case .isBetween(let low, let high) where low.isInstant != high.isInstant:
      return .and([
        .comparison(Self(quantifier, key, .compares(.greaterOrEqual, low))),
        .comparison(Self(quantifier, key, .compares(.lessOrEqual, high))),
      ])
    default: return .comparison(self)
    }
  }
}

extension Predicate.Literal {
  /// Whether it is a date with an offset.
  fileprivate var isInstant: Bool { if case .date(let span) = self { span.clock == .universal } else { false } }
}

/// A test is equal only to itself.
extension PredicateTest: Hashable {
  package static func == (lhs: PredicateTest, rhs: PredicateTest) -> Bool { lhs === rhs }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
