import PhotoModel
import PredicateLanguage

// Foundation has a type `Predicate`, too. Files that import Foundation use these names.
typealias Condition = Predicate
typealias Literal = Predicate.Literal
typealias ValueOperator = Predicate.Operator

/// Conditions are put together by these functions, which leave out what is superfluous. A translation has many parts
/// such as `rating != nil AND rating >= 3`.
extension Condition {
  static func present(_ key: PredicateKey) -> Condition { .comparison(.init(key, .isPresent)) }

  static func compares(
    _ key: PredicateKey, _ op: ValueOperator, _ literal: Literal, _ modifiers: TextModifiers = []
  ) -> Condition {
    .comparison(.init(key, .compares(op, literal), modifiers))
  }

  static func isIn(_ key: PredicateKey, _ literals: [Literal]) -> Condition {
    if literals.isEmpty { return .constant(false) }
    return literals.count == 1 ? compares(key, .equal, literals[0]) : .comparison(.init(key, .isIn(literals)))
  }

  static func isBetween(_ key: PredicateKey, _ low: Literal, _ high: Literal) -> Condition {
    .comparison(.init(key, .isBetween(low, high)))
  }

  static func not(of condition: Condition) -> Condition {
    switch condition {
    case .constant(let value): return .constant(!value)
    case .not(let inner): return inner
    case .comparison(var comparison):
      switch comparison.question {
      case .isPresent: comparison.question = .isAbsent
      case .isAbsent: comparison.question = .isPresent
      default: return .not(condition)
      }
      return .comparison(comparison)
    default: return .not(condition)
    }
  }

  static func all(_ conditions: [Condition]) -> Condition {
    var parts: [Condition] = []
    for condition in conditions {
      switch condition {
      case .constant(true): break
      case .constant(false): return condition
      case .and(let inner): for part in inner where !parts.contains(part) { parts.append(part) }
      default: if !parts.contains(condition) { parts.append(condition) }
      }
    }
    // A test for presence is superfluous beside a comparison with the value.
    for part in parts where part.isAboutPresence {
      if parts.contains(where: { $0 != part && $0.implies(part) }) { parts.removeAll { $0 == part } }
    }
    return parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .and(parts)
  }

  static func any(_ conditions: [Condition]) -> Condition {
    var parts: [Condition] = []
    for condition in conditions {
      switch condition {
      case .constant(false): break
      case .constant(true): return condition
      case .or(let inner): for part in inner where !parts.contains(part) { parts.append(part) }
      default: if !parts.contains(condition) { parts.append(condition) }
      }
    }
    return parts.isEmpty ? .constant(false) : parts.count == 1 ? parts[0] : .or(parts)
  }

  /// Whether it only asks which values are present.
  private var isAboutPresence: Bool {
    switch self {
    case .comparison(let comparison): comparison.question == .isPresent
    case .or(let parts): parts.allSatisfy(\.isAboutPresence)
    default: false
    }
  }

  /// Whether the other one, which is about presence, is true whenever this one is.
  private func implies(_ presence: Condition) -> Bool {
    if case .or(let parts) = presence { return parts.contains { implies($0) } }
    if self == presence { return true }
    switch self {
    case .and(let parts): return parts.contains { $0.implies(presence) }
    case .or(let parts): return parts.allSatisfy { $0.implies(presence) }
    case .comparison(let mine):
      guard case .comparison(let other) = presence, mine.quantifier != .all, mine.question != .isAbsent else {
        return false
      }
      return mine.key == other.key || other.key == .location && mine.key.rawValue.hasPrefix("location.")
    case .constant, .not: return false
    }
  }
}

// MARK: - Lists

/// A list of an asset whose elements a closure can test.
enum AssetList: Hashable, Sendable {
  case keywords, mediaSubtypes, resources

  /// The keys of an element.
  var elementKeys: [PredicateKey] {
    switch self {
    case .keywords: [.keywords]
    case .mediaSubtypes: [.mediaSubtypes]
    case .resources: [.resourcesPath, .resourcesFilename, .resourcesByteCount, .resourcesContentType]
    }
  }

  /// The key that is absent if the list is empty.
  var key: PredicateKey { elementKeys[0] }

  var countKey: PredicateKey? {
    switch self {
    case .keywords: .keywordsCount
    case .mediaSubtypes: nil
    case .resources: .resourcesCount
    }
  }

  /// The condition that one element, or all of them, satisfy a condition. Comparisons of it with a key of the list are
  /// about one element, the others about the asset.
  ///
  /// - Returns: nil if the language has no such condition: it can't say that two comparisons are about the same element.
  func quantified(_ quantifier: Predicate.Quantifier, _ condition: Condition) -> Condition? {
    guard isAboutElement(condition) else {
      return quantifier == .any
        ? .all([condition, .present(key)]) : .any([condition, .not(of: .present(key))])
    }
    switch condition {
    case .constant: return nil  // handled above
    case .comparison(var comparison):
      comparison.quantifier = quantifier
      return .comparison(comparison)
    case .not(let inner): return quantified(quantifier == .any ? .all : .any, inner).map(Condition.not(of:))
    case .and(let parts):
      if quantifier == .all { return quantified(quantifier, parts: parts).map(Condition.all) }
      return one(of: parts) { quantified(quantifier, $0) }.map(Condition.all)
    case .or(let parts):
      if quantifier == .any { return quantified(quantifier, parts: parts).map(Condition.any) }
      return one(of: parts) { quantified(quantifier, $0) }.map(Condition.any)
    }
  }

  private func quantified(_ quantifier: Predicate.Quantifier, parts: [Condition]) -> [Condition]? {
    let results = parts.compactMap { quantified(quantifier, $0) }
    return results.count == parts.count ? results : nil
  }

  /// Replaces the only part that is about the element; nil if there are more.
  private func one(of parts: [Condition], _ quantified: (Condition) -> Condition?) -> [Condition]? {
    guard parts.count(where: isAboutElement) == 1 else { return nil }
    let replaced = parts.compactMap { isAboutElement($0) ? quantified($0) : $0 }
    return replaced.count == parts.count ? replaced : nil
  }

  private func isAboutElement(_ condition: Condition) -> Bool {
    switch condition {
    case .constant: return false
    case .comparison(let comparison):
      switch comparison.question {
      case .isAbsent, .isPresent: return false
      default: return comparison.quantifier == nil && elementKeys.contains(comparison.key)
      }
    case .not(let inner): return isAboutElement(inner)
    case .and(let parts), .or(let parts): return parts.contains(where: isAboutElement)
    }
  }
}

// MARK: - Checking

extension Condition {
  /// The text of the condition, which photod accepts.
  ///
  /// - Throws: the reason if it is larger than a predicate may be.
  func checkedText() throws(Untranslatable) -> String {
    let text = description
    do {
      _ = try Predicate(parsing: text)
    } catch {
      throw Untranslatable("it is too large: \(error.message)", remedy: "Fetch with a part of it, and test the rest.")
    }
    return text
  }
}
