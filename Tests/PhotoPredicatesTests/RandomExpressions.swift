import Foundation
import PhotoModel
import PhotoPredicates
import TestTools

/// Expressions as the macro `#Predicate` makes them.
enum RandomExpressions {
  typealias Expressions = PredicateExpressions
  typealias AssetVariable = PredicateExpressions.Variable<Asset>
  typealias Boolean = any StandardPredicateExpression<Bool>

  static func condition(_ asset: AssetVariable, depth: Int, _ generator: inout SeededGenerator) -> Boolean {
    guard depth > 0 else { return leaf(asset, &generator) }
    let one = condition(asset, depth: depth - 1, &generator)
    let two = condition(asset, depth: Int(generator.next() % UInt64(depth)), &generator)
    return switch generator.next() % 6 {
    case 0, 1: and(one, two)
    case 2, 3: or(one, two)
    case 4: not(one)
    default: choose(one, two, leaf(asset, &generator))
    }
  }

  private static func and<One: StandardPredicateExpression<Bool>, Two: StandardPredicateExpression<Bool>>(
    _ one: One, _ two: Two
  ) -> Boolean { Expressions.build_Conjunction(lhs: one, rhs: two) }

  private static func or<One: StandardPredicateExpression<Bool>, Two: StandardPredicateExpression<Bool>>(
    _ one: One, _ two: Two
  ) -> Boolean { Expressions.build_Disjunction(lhs: one, rhs: two) }

  private static func not<One: StandardPredicateExpression<Bool>>(_ one: One) -> Boolean {
    Expressions.build_Negation(one)
  }

  private static func choose<
    One: StandardPredicateExpression<Bool>, Two: StandardPredicateExpression<Bool>,
    Test: StandardPredicateExpression<Bool>
  >(_ one: One, _ two: Two, _ test: Test) -> Boolean { Expressions.build_Conditional(test, one, two) }

  // MARK: - Comparisons

  private static func leaf(_ asset: AssetVariable, _ generator: inout SeededGenerator) -> Boolean {
    switch generator.next() % 12 {
    case 0:
      let keyPath = some(
        [\Asset.isFavorite, \.isHidden, \.available, \.keywords.isEmpty] as [KeyPath<Asset, Bool> & Sendable],
        &generator)
      if keyPath == \Asset.keywords.isEmpty {
        return Expressions.build_KeyPath(
          root: Expressions.build_KeyPath(root: asset, keyPath: \.keywords), keyPath: \.isEmpty)
      }
      return Expressions.build_KeyPath(root: asset, keyPath: keyPath)
    case 1:
      let keyPath = some([\Asset.rating, \.pixelWidth, \.orientation] as [KeyPath<Asset, Int?> & Sendable], &generator)
      return optional(Expressions.build_KeyPath(root: asset, keyPath: keyPath), [0, 1, 3, 4], &generator)
    case 2:
      return optional(Expressions.build_KeyPath(root: asset, keyPath: \.durationSeconds), [0.5, 1, 3], &generator)
    case 3:
      let keyPath = some([\Asset.title, \.caption] as [KeyPath<Asset, String?> & Sendable], &generator)
      return text(Expressions.build_KeyPath(root: asset, keyPath: keyPath), &generator)
    case 4:
      let keyPath = some([\Camera.make, \.model] as [KeyPath<Camera, String?> & Sendable], &generator)
      return text(
        Expressions.build_flatMap(Expressions.build_KeyPath(root: asset, keyPath: \.camera)) {
          Expressions.build_KeyPath(root: $0, keyPath: keyPath)
        }, &generator)
    case 5:
      let flash = Expressions.build_flatMap(Expressions.build_KeyPath(root: asset, keyPath: \.camera)) {
        Expressions.build_KeyPath(root: $0, keyPath: \.flashFired)
      }
      return Expressions.build_Equal(
        lhs: flash, rhs: Expressions.build_Arg(some([true, false, nil] as [Bool?], &generator)))
    case 6:
      let latitude = Expressions.build_flatMap(Expressions.build_KeyPath(root: asset, keyPath: \.location)) {
        Expressions.build_KeyPath(root: $0, keyPath: \.latitude)
      }
      return optional(latitude, [-33, 0, 52.5], &generator)
    case 7: return keywords(asset, &generator)
    case 8: return resources(asset, &generator)
    case 9:
      let date = Expressions.build_Arg(some(RandomAssets.dates, &generator))
      let keyPath = some(
        [\Asset.creationDate, \.modificationDate, \.addedDate] as [KeyPath<Asset, PhotoDate> & Sendable], &generator)
      let value = Expressions.build_KeyPath(root: asset, keyPath: keyPath)
      if generator.once(in: 3) { return Expressions.build_Equal(lhs: date, rhs: value) }
      return Expressions.build_Comparison(lhs: value, rhs: date, op: order(&generator))
    case 10:
      let source = Expressions.build_KeyPath(root: asset, keyPath: \.creationDateSource)
      if generator.once(in: 2) {
        return Expressions.build_contains(Expressions.build_Arg([CreationDateSource.user, .file, .unknown]), source)
      }
      return Expressions.build_NotEqual(
        lhs: Expressions.build_KeyPath(root: asset, keyPath: \.mediaType),
        rhs: Expressions.build_Arg(some(MediaType.allCases, &generator)))
    default:
      let subtype = some(RandomAssets.subtypes + ["unheard"], &generator)
      let subtypes = Expressions.build_KeyPath(root: asset, keyPath: \.mediaSubtypes)
      if generator.once(in: 2) { return Expressions.build_contains(subtypes, Expressions.build_Arg(subtype)) }
      return Expressions.build_allSatisfy(subtypes) {
        Expressions.build_NotEqual(lhs: $0, rhs: Expressions.build_Arg(subtype))
      }
    }
  }

  /// A comparison of an optional number.
  private static func optional<Value: StandardPredicateExpression, Number: Comparable & Codable & Sendable>(
    _ value: Value, _ numbers: [Number], _ generator: inout SeededGenerator
  ) -> Boolean where Value.Output == Number? {
    let number = some(numbers, &generator)
    switch generator.next() % 6 {
    case 0: return Expressions.build_Equal(lhs: value, rhs: Expressions.build_Arg(Optional(number)))
    case 1: return Expressions.build_NotEqual(lhs: value, rhs: Expressions.build_Arg(Optional(number)))
    case 2: return Expressions.build_NotEqual(lhs: value, rhs: Expressions.build_NilLiteral())
    case 3:
      return Expressions.build_contains(
        Expressions.build_Arg(generator.once(in: 2) ? [number, nil, numbers[0]] : [number, numbers[0]]), value)
    case 4:
      let coalesced = Expressions.build_NilCoalesce(
        lhs: value, rhs: Expressions.build_Arg(some(numbers, &generator)))
      if generator.once(in: 2) {
        return Expressions.build_contains(Expressions.build_Arg(numbers[0]...numbers[1]), coalesced)
      }
      return Expressions.build_Comparison(lhs: coalesced, rhs: Expressions.build_Arg(number), op: order(&generator))
    default:
      let op = order(&generator)
      let compared = Expressions.build_flatMap(value) {
        Expressions.build_Comparison(lhs: Expressions.build_Arg(number), rhs: $0, op: op)
      }
      return Expressions.build_NilCoalesce(
        lhs: compared, rhs: Expressions.build_Arg(generator.once(in: 2)))
    }
  }

  /// A comparison of an optional text.
  private static func text<Value: StandardPredicateExpression<String?>>(
    _ value: Value, _ generator: inout SeededGenerator
  ) -> Boolean {
    let wanted = some(RandomAssets.texts, &generator)
    let answer = Expressions.build_Arg(some([true, false, nil] as [Bool?], &generator))
    switch generator.next() % 6 {
    case 0: return optional(value, RandomAssets.texts.sorted(), &generator)
    case 1:
      return Expressions.build_Equal(
        lhs: Expressions.build_flatMap(value) { Expressions.build_contains($0, Expressions.build_Arg(wanted)) },
        rhs: answer)
    case 2:
      return Expressions.build_Equal(
        lhs: Expressions.build_flatMap(value) { Expressions.build_starts($0, with: Expressions.build_Arg(wanted)) },
        rhs: answer)
    case 3:
      return Expressions.build_Equal(
        lhs: Expressions.build_flatMap(value) {
          Expressions.build_localizedStandardContains($0, Expressions.build_Arg(wanted))
        }, rhs: answer)
    case 4:
      return Expressions.build_NotEqual(
        lhs: Expressions.build_flatMap(value) {
          Expressions.build_caseInsensitiveCompare($0, Expressions.build_Arg(wanted))
        }, rhs: Expressions.build_Arg(Optional(ComparisonResult.orderedSame)))
    default:
      return Expressions.build_Equal(
        lhs: Expressions.build_flatMap(value) { Expressions.build_KeyPath(root: $0, keyPath: \.isEmpty) }, rhs: answer)
    }
  }

  // MARK: - Lists

  private static func keywords(_ asset: AssetVariable, _ generator: inout SeededGenerator) -> Boolean {
    let keywords = Expressions.build_KeyPath(root: asset, keyPath: \.keywords)
    let wanted = some(RandomAssets.texts, &generator)
    switch generator.next() % 5 {
    case 0: return Expressions.build_contains(keywords, Expressions.build_Arg(wanted))
    case 1:
      return Expressions.build_Comparison(
        lhs: Expressions.build_KeyPath(root: keywords, keyPath: \.count),
        rhs: Expressions.build_Arg(Int(generator.next() % 4)), op: order(&generator))
    case 2:
      return Expressions.build_contains(keywords) { keyword in
        Expressions.build_Disjunction(
          lhs: Expressions.build_starts(keyword, with: Expressions.build_Arg(wanted)),
          rhs: Expressions.build_Conjunction(
            lhs: Expressions.build_KeyPath(root: asset, keyPath: \.isFavorite),
            rhs: Expressions.build_NotEqual(lhs: keyword, rhs: Expressions.build_Arg("a"))))
      }
    case 3:
      return Expressions.build_allSatisfy(keywords) { keyword in
        Expressions.build_Conjunction(
          lhs: Expressions.build_Negation(
            Expressions.build_localizedStandardContains(keyword, Expressions.build_Arg(wanted))),
          rhs: Expressions.build_Disjunction(
            lhs: Expressions.build_KeyPath(root: asset, keyPath: \.isHidden),
            rhs: Expressions.build_Comparison(lhs: keyword, rhs: Expressions.build_Arg("b"), op: .lessThan)))
      }
    default:
      return Expressions.build_contains(Expressions.build_Arg(["a", "été", wanted])) { word in
        Expressions.build_contains(keywords, word)
      }
    }
  }

  private static func resources(_ asset: AssetVariable, _ generator: inout SeededGenerator) -> Boolean {
    let resources = Expressions.build_KeyPath(root: asset, keyPath: \.resources)
    switch generator.next() % 4 {
    case 0:
      return Expressions.build_contains(resources) {
        Expressions.build_Equal(
          lhs: Expressions.build_KeyPath(root: $0, keyPath: \.contentType), rhs: Expressions.build_Arg("image/x-raf"))
      }
    case 1:
      let first = Expressions.build_subscript(resources, Expressions.build_Arg(0))
      return Expressions.build_contains(
        Expressions.build_KeyPath(root: first, keyPath: \.filename),
        Expressions.build_Arg(some(RandomAssets.texts, &generator)))
    case 2:
      let first = Expressions.build_flatMap(Expressions.build_KeyPath(root: resources, keyPath: \.first)) {
        Expressions.build_KeyPath(root: $0, keyPath: \.byteCount)
      }
      return optional(first, [1, 7, 1 << 40], &generator)
    default:
      return Expressions.build_allSatisfy(resources) {
        Expressions.build_contains(
          Expressions.build_Arg(2..<(1 << 40)), Expressions.build_KeyPath(root: $0, keyPath: \.byteCount))
      }
    }
  }

  private static func some<Value>(_ values: [Value], _ generator: inout SeededGenerator) -> Value {
    values[Int(generator.next() % UInt64(values.count))]
  }

  private static func order(_ generator: inout SeededGenerator) -> Expressions.ComparisonOperator {
    some([.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual], &generator)
  }
}
