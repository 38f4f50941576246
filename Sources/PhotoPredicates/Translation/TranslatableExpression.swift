import Foundation

/// An expression of Foundation that can be translated into the language of photod.
protocol TranslatableExpression: PredicateExpression {
  /// The expression as the program has it, for errors. Variables of all closures are `$0`.
  var source: String { get }

  /// The value of the expression. It is called only if the value depends on an asset.
  ///
  /// - Throws: ``PredicateTranslationError``, or ``Untranslatable`` if this expression is the reason.
  func term(in scope: TranslationScope) throws -> Term
}

/// The variables of the closures around an expression.
struct TranslationScope {
  private var variables: [PredicateExpressions.VariableID: Term] = [:]
  /// The values of variables that stand for elements of constants.
  private var constants = PredicateBindings()
  /// The lists whose elements the closures around the expression test.
  private var lists: Set<AssetList> = []

  init(asset variable: PredicateExpressions.VariableID) { variables[variable] = Term(.subject(.asset)) }

  /// The value of an expression.
  ///
  /// - Throws: ``PredicateTranslationError``
  func term(_ expression: some PredicateExpression) throws -> Term {
    do {
      return Term(constant: try expression.evaluate(constants))
    } catch {
      // It depends on the asset: the variable has no value.
    }
    do {
      guard let translatable = expression as? any TranslatableExpression else {
        throw Untranslatable("photod has no such operation")
      }
      return try translatable.term(in: self)
    } catch let error as Untranslatable {
      throw PredicateTranslationError(
        expression: Self.source(expression), reason: error.reason, remedy: error.remedy)
    }
  }

  /// The condition that an expression is true.
  func condition(_ expression: some PredicateExpression) throws -> Condition {
    let term = try term(expression)
    do {
      return try term.isTrue()
    } catch {
      throw PredicateTranslationError(
        expression: Self.source(expression), reason: error.reason, remedy: error.remedy)
    }
  }

  static func source(_ expression: some PredicateExpression) -> String {
    if let expression = expression as? any TranslatableExpression { return expression.source }
    if let constant = try? expression.evaluate(PredicateBindings()) { return literal(constant) }
    return String(describing: expression)
  }

  private static func literal(_ value: Any) -> String {
    let optional = Mirror(reflecting: value)
    guard optional.displayStyle == .optional else {
      return value is String ? String(reflecting: value) : String(describing: value)
    }
    return optional.children.first.map { literal($0.value) } ?? "nil"
  }

  // MARK: - Closures

  func variable(_ id: PredicateExpressions.VariableID) -> Term? { variables[id] }

  /// The scope of a closure whose variable has this value.
  func binding<Value>(_ variable: PredicateExpressions.Variable<Value>, to term: Term) -> TranslationScope {
    var scope = self
    scope.variables[variable.key] = term
    if let value = term.constant as? Value { scope.constants = constants.binding(variable, to: value) }
    return scope
  }

  /// The scope of a closure that tests an element of a list.
  ///
  /// - Throws: ``Untranslatable`` if a closure around it tests elements of the same list.
  func binding<Value>(_ variable: PredicateExpressions.Variable<Value>, toElementOf list: AssetList) throws
    -> TranslationScope
  {
    guard !lists.contains(list) else { throw Untranslatable("it tests a list inside of a test of the same list") }
    var scope = binding(variable, to: list.element)
    scope.lists.insert(list)
    return scope
  }
}
