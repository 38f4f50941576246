import Foundation
import PhotoModel
import PredicateLanguage

extension PredicateExpressions.Variable: TranslatableExpression {
  var source: String { "$0" }

  func term(in scope: TranslationScope) throws -> Term {
    guard let term = scope.variable(key) else { throw Untranslatable("it is no variable of this predicate") }
    return term
  }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
  var source: String { "\(TranslationScope.source(root)).\(name)" }

  private var name: String {
    switch kind {
    case .collectionCount: "count"
    case .collectionIsEmpty: "isEmpty"
    case .collectionFirst: "first"
    case .bidirectionalCollectionLast: "last"
    default: String(describing: keyPath).split(separator: ".").dropFirst().joined(separator: ".")
    }
  }

  func term(in scope: TranslationScope) throws -> Term {
    try scope.term(root).flatMap { leaf in
      switch leaf {
      case .subject(let subject):
        if let term = subject.property(keyPath) { return term }
        throw Untranslatable("photod has no key for it")
      case .list(let list): return try property(of: list)
      case .key(let key):
        if kind == .collectionIsEmpty, key.valueType == .string { return Term(.compares(key, .equal, .string(""))) }
        if isRawValue { return Term(.word(key)) }
      default: break
      }
      throw Untranslatable("photod has no such property")
    }
  }

  /// The properties that the compiler makes for enums are computed, and have no name at run time.
  private var isRawValue: Bool {
    let keyPath: AnyKeyPath = keyPath
    return keyPath == \AssetID.rawValue || keyPath == \MediaType.rawValue || keyPath == \CreationDateSource.rawValue
  }

  private func property(of list: AssetList) throws -> Term {
    switch kind {
    case .collectionIsEmpty: return Term(.not(of: .present(list.key)))
    case .collectionCount:
      if let key = list.countKey { return .key(key, isOptional: false) }
    case .collectionFirst where list == .resources: return Term.Subject.firstResourceTerm
    default: break
    }
    throw Untranslatable("photod has no key for it")
  }
}

extension PredicateExpressions.CollectionIndexSubscript: TranslatableExpression {
  var source: String { "\(TranslationScope.source(wrapped))[\(TranslationScope.source(index))]" }

  func term(in scope: TranslationScope) throws -> Term {
    let index = try scope.term(index).constant as? Int
    return try scope.term(wrapped).flatMap { leaf in
      guard case .list(.resources) = leaf, index == 0 else {
        throw Untranslatable("only the first resource has keys", remedy: "Use 'contains(where:)' for the others.")
      }
      return Term.Subject.firstResourceTerm
    }
  }
}

// MARK: - Optional values

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  var source: String {
    let inner = TranslationScope.source(transform)
    // Variables have no names, so the innermost one of a chain is the wrapped value.
    guard inner.hasPrefix("$0") else { return inner }
    return "\(TranslationScope.source(wrapped))?\(inner.dropFirst(2))"
  }

  func term(in scope: TranslationScope) throws -> Term {
    try scope.term(wrapped).flatMap { try scope.binding(variable, to: Term($0)).term(transform) }
  }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  var source: String { "(\(TranslationScope.source(lhs)) ?? \(TranslationScope.source(rhs)))" }

  func term(in scope: TranslationScope) throws -> Term { try scope.term(lhs).or(try scope.term(rhs)) }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
  var source: String { "\(TranslationScope.source(inner))!" }

  func term(in scope: TranslationScope) throws -> Term { try scope.term(inner) }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
  var source: String {
    "(\(TranslationScope.source(test)) ? \(TranslationScope.source(trueBranch)) : \(TranslationScope.source(falseBranch)))"
  }

  func term(in scope: TranslationScope) throws -> Term {
    let test = try scope.condition(test)
    let branches = [(test, try scope.term(trueBranch)), (Condition.not(of: test), try scope.term(falseBranch))]
    return Term(
      branches.flatMap { condition, term in
        term.pieces.map { Term.Piece(condition: .all([condition, $0.condition]), leaf: $0.leaf) }
      })
  }
}
