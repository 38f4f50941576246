import Foundation
import PhotoModel
import PhotoPredicates
import TestTools
import Testing

/// Swift's own evaluation of a #Predicate, and photod's evaluation of its translation, select the same assets.
///
/// The texts of the samples have one normal form, and their dates one offset. The documentation says what differs
/// otherwise.
struct EvaluationTests {
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func randomPredicatesSelectTheSameAssets() throws {
    var generator = SeededGenerator(seed: 11)
    let assets = (0..<300).map { RandomAssets.asset(id: $0, &generator) }
    var selected = (none: 0, some: 0, all: 0)
    for number in 0..<1_500 {
      let predicate = Foundation.Predicate<Asset> { RandomExpressions.condition($0, depth: number % 4, &generator) }
      let text = try String(photodPredicate: predicate)
      let matches = try Matcher(text)
      var count = 0
      for asset in assets {
        let expected = try predicate.evaluate(asset)
        if expected { count += 1 }
        try #require(matches(asset) == expected, "\(text) for \(asset), from \(predicate)")
      }
      switch count {
      case 0: selected.none += 1
      case assets.count: selected.all += 1
      default: selected.some += 1
      }
    }
    #expect(selected.some > 700, "\(selected)")
  }
}
