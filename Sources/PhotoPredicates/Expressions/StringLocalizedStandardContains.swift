import Foundation
import PredicateLanguage

// Foundation has these expressions on Apple's platforms only. The macro looks for them by these names.
#if !canImport(Darwin)
  extension PredicateExpressions {
    /// `localizedStandardContains` in a `#Predicate`: whether a text contains another one, without regard to case and
    /// diacritics, as photod's `CONTAINS[cd]`.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
      PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
      /// The text that is searched.
      public let root: Root
      /// The text that is looked for.
      public let other: Other

      /// Evaluates the expression. An empty text is in every text.
      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        let modifiers: TextModifiers = [.ignoringCase, .ignoringDiacritics]
        let text = Array(modifiers.folded(String(try root.evaluate(bindings))).utf8)
        let part = Array(modifiers.folded(String(try other.evaluate(bindings))).utf8)
        guard part.count <= text.count else { return false }
        return (0...text.count - part.count).contains { text[$0..<$0 + part.count].elementsEqual(part) }
      }
    }

    /// Makes the expression for the macro, which calls it by this name.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static func build_localizedStandardContains<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
      StringLocalizedStandardContains(root: root, other: other)
    }
  }

  extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
  extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
  extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
  where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
#endif

extension PredicateExpressions.StringLocalizedStandardContains: TranslatableExpression {
  var source: String { "\(TranslationScope.source(root)).localizedStandardContains(\(TranslationScope.source(other)))" }

  func term(in scope: TranslationScope) throws -> Term {
    try scope.compareTexts(root, .contains, other, [.ignoringCase, .ignoringDiacritics]) { _, _ in nil }
  }
}
