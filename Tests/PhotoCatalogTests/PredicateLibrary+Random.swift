import PhotoModel

@testable import PhotoCatalog

/// Predicates of every kind, with values that some of the assets have.
extension PredicateLibrary {
  func randomPredicate(_ depth: Int, using random: inout SplitMix) -> Predicate {
    guard depth > 0, Int.random(in: 0..<4, using: &random) > 0 else { return randomComparison(using: &random) }
    let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in randomPredicate(depth - 1, using: &random) }
    return switch Int.random(in: 0..<3, using: &random) {
    case 0: .and(parts)
    case 1: .or(parts)
    default: .not(parts[0])
    }
  }

  private func randomComparison(using random: inout SplitMix) -> Predicate {
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

  func quantifiers(for key: PredicateKey) -> [Predicate.Quantifier?] { key.isList ? [.any, .all] : [nil] }

  func questions(for key: PredicateKey) -> [Predicate.Question] {
    PredicateSamples.questions(key.valueType, values(of: key))
  }

  /// Some that assets have, and some that none has.
  private func values(of key: PredicateKey) -> [Predicate.Literal] {
    switch key {
    case .filename, .path, .resourcesPath, .resourcesFilename:
      ["", "/", "/photos/a", "img_", "IMG_", "%FF", "file:///", "É", "E\u{301}", "1", "日", ".RAF"].map { .string($0) }
        + assets.prefix(6).flatMap { $0.values(of: key) }
    case .keywords: PredicateLibrary.keywords.map { .string($0) }
    case .contentType, .resourcesContentType: ["image/jpeg", "IMAGE/X-RAF", "raf", ""].map { .string($0) }
    default: PredicateSamples.values(key.valueType)
    }
  }
}
