import Foundation
import PredicateLanguage

#if !canImport(Darwin)
  extension PredicateExpressions {
    /// `caseInsensitiveCompare` in a `#Predicate`: the order of two texts without regard to case, as photod's `==[c]`.
    public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
      PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
      /// The text that is compared.
      public let root: Root
      /// The text with which it is compared.
      public let other: Other

      /// Evaluates the expression. Texts are ordered by their scalars in lower case.
      public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
        let one = TextModifiers.ignoringCase.folded(String(try root.evaluate(bindings))).utf8
        let two = TextModifiers.ignoringCase.folded(String(try other.evaluate(bindings))).utf8
        if one.elementsEqual(two) { return .orderedSame }
        return one.lexicographicallyPrecedes(two) ? .orderedAscending : .orderedDescending
      }
    }

    /// Makes the expression for the macro, which calls it by this name.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static func build_caseInsensitiveCompare<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> {
      StringCaseInsensitiveCompare(root: root, other: other)
    }
  }

  extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}
  extension PredicateExpressions.StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}
  extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
  where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
#endif

extension PredicateExpressions.StringCaseInsensitiveCompare: TranslatableExpression {
  var source: String { "\(TranslationScope.source(root)).caseInsensitiveCompare(\(TranslationScope.source(other)))" }

  func term(in scope: TranslationScope) throws -> Term {
    guard let text = try scope.term(other).constant as? String else { throw Untranslatable.twoValues }
    return try scope.term(root).flatMap { leaf in
      guard case .key(let key) = leaf else { throw Untranslatable.twoValues }
      try key.requireText()
      return Term(.comparison(key, with: text))
    }
  }
}
