import PredicateLanguage

/// Predicates of every kind.
package struct RandomPredicates {
  /// The values to compare a key with: some that assets have, and some that no asset has.
  private let values: (PredicateKey) -> [Predicate.Literal]

  package init(values: @escaping (PredicateKey) -> [Predicate.Literal]) { self.values = values }

  /// - Parameter depth: the largest depth to which ANDs, ORs and NOTs are nested.
  package func predicate(_ depth: Int, using random: inout some RandomNumberGenerator) -> Predicate {
    guard depth > 0, Int.random(in: 0..<4, using: &random) > 0 else { return comparison(using: &random) }
    let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in predicate(depth - 1, using: &random) }
    return switch Int.random(in: 0..<3, using: &random) {
    case 0: .and(parts)
    case 1: .or(parts)
    default: .not(parts[0])
    }
  }

  private func comparison(using random: inout some RandomNumberGenerator) -> Predicate {
    let key = PredicateKey.allCases.randomElement(using: &random) ?? .id
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return .comparison(.init(key, .random(using: &random) ? .isAbsent : .isPresent))
    case 1: return .constant(.random(using: &random))
    default:
      let question = questions(for: key).randomElement(using: &random) ?? .isAbsent
      let modifiers = PredicateSamples.modifiers(for: question).randomElement(using: &random) ?? []
      let quantifier = quantifiers(for: key).randomElement(using: &random) ?? nil
      return .comparison(.init(quantifier, key, question, modifiers))
    }
  }

  package func quantifiers(for key: PredicateKey) -> [Predicate.Quantifier?] { key.isList ? [.any, .all] : [nil] }

  package func questions(for key: PredicateKey) -> [Predicate.Question] {
    PredicateSamples.questions(key.valueType, values(key))
  }
}
