import Foundation
import PredicateLanguage

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  var source: String { "\(TranslationScope.source(sequence)).contains(\(TranslationScope.source(element)))" }

  func term(in scope: TranslationScope) throws -> Term {
    let element = try scope.term(element)
    return Term(
      try scope.term(sequence).condition { leaf in
        switch leaf {
        case .list(let list): return try Self.condition(list, contains: element)
        case .key(let key):
          try key.requireText()
          guard let character = element.constant as? Character else { throw Untranslatable.twoValues }
          return .compares(key, .contains, .string(String(character)))
        case .constant(let sequence as LHS.Output): return try Self.condition(sequence, contains: element)
        default: throw Untranslatable("photod has no such list")
        }
      })
  }

  private static func condition(_ list: AssetList, contains element: Term) throws -> Condition {
    guard let value = element.constant, list != .resources else { throw Untranslatable.twoValues }
    guard let literal = try Literal.of(value, for: list.key) else { return .constant(false) }
    return .comparison(.init(.any, list.key, .compares(.equal, literal)))
  }

  private static func condition(_ sequence: LHS.Output, contains element: Term) throws -> Condition {
    let values = sequence.map { Term(constant: $0) }
    let found = try element.condition { leaf in
      switch leaf {
      case .key(let key):
        return .isIn(key, try values.compactMap { try $0.constant.flatMap { try Literal.of($0, for: key) } })
      case .word(let key):
        return .isIn(key, try values.compactMap { try $0.constant.flatMap { try Literal.ofWord($0, for: key) } })
      default: return .any(try values.map { try Term.equal($0, Term(leaf), as: RHS.Output.self) })
      }
    }
    // A sequence of optional values may contain nil.
    return values.contains(where: \.pieces.isEmpty) ? .any([found, .not(of: element.isPresent)]) : found
  }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
  var source: String { "\(TranslationScope.source(sequence)).contains { \(TranslationScope.source(test)) }" }

  func term(in scope: TranslationScope) throws -> Term {
    Term(
      try scope.term(sequence).condition { leaf in
        switch leaf {
        case .list(let list):
          let test = try scope.binding(variable, toElementOf: list).condition(test)
          if let condition = list.quantified(.any, test) { return condition }
          throw Untranslatable.sameElement
        case .constant(let sequence as LHS.Output):
          return .any(try sequence.map { try scope.binding(variable, to: Term(constant: $0)).condition(test) })
        default: throw Untranslatable("photod has no such list")
        }
      })
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
  var source: String { "\(TranslationScope.source(sequence)).allSatisfy { \(TranslationScope.source(test)) }" }

  func term(in scope: TranslationScope) throws -> Term {
    Term(
      try scope.term(sequence).condition { leaf in
        switch leaf {
        case .list(let list):
          let test = try scope.binding(variable, toElementOf: list).condition(test)
          if let condition = list.quantified(.all, test) { return condition }
          throw Untranslatable.sameElement
        case .constant(let sequence as LHS.Output):
          return .all(try sequence.map { try scope.binding(variable, to: Term(constant: $0)).condition(test) })
        default: throw Untranslatable("photod has no such list")
        }
      })
  }
}

extension Untranslatable {
  static let sameElement = Untranslatable(
    "photod can't test two properties of the same element of a list",
    remedy: "Test one of them, and the other one in the program.")
}

// MARK: - Texts

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  var source: String { "\(TranslationScope.source(base)).contains(\(TranslationScope.source(other)))" }

  func term(in scope: TranslationScope) throws -> Term {
    try scope.compareTexts(base, .contains, other) { left, right in
      guard let left = left as? Base.Output, let right = right as? Other.Output else { return nil }
      return left.contains(right)
    }
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  var source: String { "\(TranslationScope.source(base)).starts(with: \(TranslationScope.source(prefix)))" }

  func term(in scope: TranslationScope) throws -> Term {
    try scope.compareTexts(base, .beginsWith, prefix) { left, right in
      guard let left = left as? Base.Output, let right = right as? Prefix.Output else { return nil }
      return left.starts(with: right)
    }
  }
}

extension TranslationScope {
  /// The condition that a text contains, or begins with, a text of the program.
  ///
  /// - Parameter evaluate: the result for two constants; nil if they are of other types.
  func compareTexts(
    _ text: some PredicateExpression, _ op: ValueOperator, _ other: some PredicateExpression,
    _ modifiers: TextModifiers = [], evaluate: (Any, Any) -> Bool?
  ) throws -> Term {
    let other = try term(other)
    return Term(
      try term(text).condition { left in
        try other.condition { right in
          switch (left, right) {
          case (.key(let key), .constant(let value as String)):
            try key.requireText()
            return .compares(key, op, .string(value), modifiers)
          case (.constant(let left), .constant(let right)):
            if let result = evaluate(left, right) { return .constant(result) }
          default: break
          }
          throw Untranslatable("photod searches only in a text of an asset, for a text of the program")
        }
      })
  }
}
