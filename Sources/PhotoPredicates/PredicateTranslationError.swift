/// The error for a `#Predicate` or a sort descriptor that photod can't evaluate. Nothing was fetched.
public struct PredicateTranslationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The smallest expression that can't be translated, such as `$0.title.count`.
  public let expression: String
  /// The reason, without the expression.
  public let reason: String
  /// A sentence that says how to write the expression instead.
  public let remedy: String

  /// The expression, the reason and the remedy, for a person.
  public var description: String { "'\(expression)' can't be translated for photod: \(reason). \(remedy)" }
}
