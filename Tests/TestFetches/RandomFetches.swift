import PhotoCatalog
import PhotoModel

/// Fetches of every kind: all collections, predicates, words, sort keys and limits.
package struct RandomFetches<Generator: RandomNumberGenerator> {
  private let predicates: RandomPredicates
  private let collections: [String]
  private let words: [String]
  private var random: Generator
  /// Counts the fetches, so that each key is the first sort key in some of them, in both directions.
  private var count = 0

  package init(
    predicates: RandomPredicates, collections: [String], words: [String] = RandomTexts.words, random: Generator
  ) {
    self.predicates = predicates
    self.collections = collections
    self.words = words
    self.random = random
  }

  package mutating func next() -> FetchOptions {
    func sometimes(_ chance: Int) -> Bool { Int.random(in: 0..<chance, using: &random) == 0 }
    var options = FetchOptions()
    if sometimes(2) { options.collection = collections.randomElement(using: &random) }
    if sometimes(3) { options.predicate = predicates.predicate(2, using: &random).description }
    if sometimes(4) { options.text = RandomTexts.query(of: words, using: &random) }
    if sometimes(5) { options.mediaTypes = ["image", "video", "audio"].filter { _ in sometimes(2) } }
    if sometimes(3) { options.includeHidden = true }
    if sometimes(3) { options.includeTrashed = true }
    if sometimes(5) { options.excludeUnavailable = true }
    if sometimes(3) { options.fetchLimit = [1, 2, 7, 20, 60, 1_000].randomElement(using: &random) }
    guard !sometimes(4) else { return options }
    let keys = FetchPlan.sortKeys
    let first = SortDescriptor(key: keys[count / 2 % keys.count], ascending: count % 2 == 0)
    count += 1
    options.sortDescriptors = [first]
    for key in keys.shuffled(using: &random).prefix(.random(in: 0...2, using: &random)) {
      options.sortDescriptors?.append(SortDescriptor(key: key, ascending: .random(using: &random)))
    }
    return options
  }
}
