import Foundation
import PredicateLanguage

extension PredicateExpressions.Conjunction: TranslatableExpression {
  var source: String { "(\(TranslationScope.source(lhs)) && \(TranslationScope.source(rhs)))" }

  func term(in scope: TranslationScope) throws -> Term {
    Term(.all([try scope.condition(lhs), try scope.condition(rhs)]))
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  var source: String { "(\(TranslationScope.source(lhs)) || \(TranslationScope.source(rhs)))" }

  func term(in scope: TranslationScope) throws -> Term {
    Term(.any([try scope.condition(lhs), try scope.condition(rhs)]))
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  var source: String { "!\(TranslationScope.source(wrapped))" }

  func term(in scope: TranslationScope) throws -> Term { Term(.not(of: try scope.condition(wrapped))) }
}

// MARK: - Comparing

extension PredicateExpressions.Equal: TranslatableExpression {
  var source: String { "\(TranslationScope.source(lhs)) == \(TranslationScope.source(rhs))" }

  func term(in scope: TranslationScope) throws -> Term {
    Term(try Term.equal(try scope.term(lhs), try scope.term(rhs), as: LHS.Output.self))
  }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  var source: String { "\(TranslationScope.source(lhs)) != \(TranslationScope.source(rhs))" }

  func term(in scope: TranslationScope) throws -> Term {
    Term(.not(of: try Term.equal(try scope.term(lhs), try scope.term(rhs), as: LHS.Output.self)))
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  var source: String {
    let sign =
      switch op {
      case .lessThan: "<"
      case .lessThanOrEqual: "<="
      case .greaterThan: ">"
      case .greaterThanOrEqual: ">="
      @unknown default: "?"
      }
    return "\(TranslationScope.source(lhs)) \(sign) \(TranslationScope.source(rhs))"
  }

  func term(in scope: TranslationScope) throws -> Term {
    let other = try scope.term(rhs)
    return Term(
      try scope.term(lhs).condition { left in try other.condition { right in try compare(left, right) } })
  }

  private func compare(_ left: Term.Leaf, _ right: Term.Leaf) throws -> Condition {
    switch (left, right) {
    case (.constant(let left as LHS.Output), .constant(let right as LHS.Output)):
      switch op {
      case .lessThan: return .constant(left < right)
      case .lessThanOrEqual: return .constant(left <= right)
      case .greaterThan: return .constant(left > right)
      case .greaterThanOrEqual: return .constant(left >= right)
      @unknown default: throw Untranslatable("this comparison is new in Foundation")
      }
    case (.key(let key), .constant(let value)): return try compare(key, value, isMirrored: false)
    case (.constant(let value), .key(let key)): return try compare(key, value, isMirrored: true)
    default: throw Untranslatable.twoValues
    }
  }

  private func compare(_ key: PredicateKey, _ value: Any, isMirrored: Bool) throws -> Condition {
    guard let literal = try Literal.of(value, for: key) else {
      throw Untranslatable("\(value) can't be written in a predicate")
    }
    switch op {
    case .lessThan: return .compares(key, isMirrored ? .greater : .less, literal)
    case .lessThanOrEqual: return .compares(key, isMirrored ? .greaterOrEqual : .lessOrEqual, literal)
    case .greaterThan: return .compares(key, isMirrored ? .less : .greater, literal)
    case .greaterThanOrEqual: return .compares(key, isMirrored ? .lessOrEqual : .greaterOrEqual, literal)
    @unknown default: throw Untranslatable("this comparison is new in Foundation")
    }
  }
}

extension Untranslatable {
  static let twoValues = Untranslatable("photod compares a value of an asset only with a value of the program")
}

extension Term {
  /// The condition that two values are equal. Two nils are equal.
  static func equal<Value: Equatable>(_ left: Term, _ right: Term, as type: Value.Type) throws -> Condition {
    let values = try left.condition { one in try right.condition { try equal(one, $0, as: type) } }
    return .any([values, .all([.not(of: left.isPresent), .not(of: right.isPresent)])])
  }

  private static func equal<Value: Equatable>(_ left: Leaf, _ right: Leaf, as type: Value.Type) throws -> Condition {
    switch (left, right) {
    case (.constant(let left), .constant(let right)):
      guard let left = left as? Value, let right = right as? Value else { throw Untranslatable.twoValues }
      return .constant(left == right)
    case (.constant, _): return try equal(right, left, as: type)
    case (.key(let key), .constant(let value)):
      return try Literal.of(value, for: key).map { .compares(key, .equal, $0) } ?? .constant(false)
    case (.word(let key), .constant(let value)):
      return try Literal.ofWord(value, for: key).map { .compares(key, .equal, $0) } ?? .constant(false)
    case (.comparison(let key, let text), .constant(let result as ComparisonResult)):
      guard result == .orderedSame else {
        throw Untranslatable("photod can only tell that texts are the same without case, not which comes first")
      }
      return .compares(key, .equal, .string(text), .ignoringCase)
    case (.condition, _), (_, .condition):
      let (one, other) = (try left.isTrue(), try right.isTrue())
      return .any([.all([one, other]), .all([.not(of: one), .not(of: other)])])
    default: throw Untranslatable.twoValues
    }
  }
}

// MARK: - Ranges

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  var source: String { "(\(TranslationScope.source(range))).contains(\(TranslationScope.source(element)))" }

  func term(in scope: TranslationScope) throws -> Term {
    guard let range = try scope.term(range).constant as? RangeExpression.Output else {
      throw Untranslatable("the ends of the range depend on the asset")
    }
    return Term(
      try scope.term(element).condition { leaf in
        switch leaf {
        case .constant(let value as RangeExpression.Output.Bound): return .constant(range.contains(value))
        case .key(let key): return try Self.condition(key, in: range)
        default: throw Untranslatable.twoValues
        }
      })
  }

  private static func condition(_ key: PredicateKey, in range: RangeExpression.Output) throws -> Condition {
    typealias Bound = RangeExpression.Output.Bound
    func literal(_ value: Bound) throws -> Literal {
      if let literal = try Literal.of(value, for: key) { return literal }
      throw Untranslatable("\(value) can't be written in a predicate")
    }
    switch range {
    case let range as Swift.ClosedRange<Bound>:
      let (low, high) = (try literal(range.lowerBound), try literal(range.upperBound))
      // Texts have no BETWEEN.
      if key.valueType != .string { return .isBetween(key, low, high) }
      return .all([.compares(key, .greaterOrEqual, low), .compares(key, .lessOrEqual, high)])
    case let range as Swift.Range<Bound>:
      let (low, high) = (try literal(range.lowerBound), try literal(range.upperBound))
      if let last = high.predecessor { return .isBetween(key, low, last) }
      return .all([.compares(key, .greaterOrEqual, low), .compares(key, .less, high)])
    case let range as PartialRangeFrom<Bound>: return .compares(key, .greaterOrEqual, try literal(range.lowerBound))
    case let range as PartialRangeThrough<Bound>: return .compares(key, .lessOrEqual, try literal(range.upperBound))
    case let range as PartialRangeUpTo<Bound>: return .compares(key, .less, try literal(range.upperBound))
    default: throw Untranslatable("photod has no ranges of this kind")
    }
  }
}
