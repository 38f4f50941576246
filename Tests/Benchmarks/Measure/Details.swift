import ChangeDetails
import PhotoModel
import TestTools

/// Measures the full form of a difference beside a plain Heckel difference and the standard library's. The latter is so
/// slow that it gets a hundredth of the list.
func detailFigures(count: Int, rounds: Int) throws -> Figures {
  var dice = SeededGenerator(seed: 5)
  let edited = Lists.edited(count, &dice)
  let shuffled = Lists.shuffled(2 * count, &dice)
  let few = max(10, count / 100)
  let fewEdited = Lists.edited(few, &dice)
  let fewShuffled = Lists.shuffled(few, &dice)

  var figures = Figures()
  // The first round is a warm-up and is not recorded.
  for round in 0...rounds {
    var all = Figures()
    for (name, lists) in [
      ("edited", edited), ("shuffled", shuffled), ("few edited", fewEdited), ("few shuffled", fewShuffled),
    ] {
      let details = all.time("\(name): full") {
        FetchResultChangeDetails.full(from: lists.before, to: lists.after, touched: lists.touched)
      }
      let plain = all.time("\(name): Heckel") { HeckelDifference(from: lists.before, to: lists.after) }
      precondition(details?.countAfter == lists.after.count && plain.survivorCount == lists.survivorCount)
    }
    for (name, lists) in [("few edited", fewEdited), ("few shuffled", fewShuffled)] {
      let difference = all.time("\(name): difference(from:)") { lists.after.difference(from: lists.before) }
      precondition(!difference.isEmpty)
    }
    guard round > 0 else { continue }
    for (name, values) in all.values { for value in values { figures.add(name, value) } }
  }
  return figures
}

private struct Lists {
  let before: [AssetID]
  let after: [AssetID]
  let touched: TouchedAssets
  let survivorCount: Int

  /// A tenth of the ids are removed, and as many are inserted, all over the list.
  static func edited(_ count: Int, _ dice: inout SeededGenerator) -> Lists {
    let before = (1...AssetID(count)).shuffled(using: &dice)
    let gone = Set(before.shuffled(using: &dice).prefix(count / 10))
    let kept = before.filter { !gone.contains($0) }
    let places = (0..<gone.count).map { _ in Int.random(in: 0..<kept.count, using: &dice) }.sorted()
    var touched = TouchedAssets(deleted: gone)
    var after: [AssetID] = []
    var taken = 0
    for (index, id) in kept.enumerated() {
      while taken < places.count, places[taken] <= index {
        taken += 1
        let new = AssetID(count + taken)
        after.append(new)
        touched.fields[new] = .content
      }
      after.append(id)
    }
    return Lists(before: before, after: after, touched: touched, survivorCount: kept.count)
  }

  /// Every asset has a new date.
  static func shuffled(_ count: Int, _ dice: inout SeededGenerator) -> Lists {
    let before = Array(1...AssetID(count))
    var touched = TouchedAssets()
    for id in before { touched.fields[id] = .metadata }
    return Lists(before: before, after: before.shuffled(using: &dice), touched: touched, survivorCount: count)
  }
}

/// Paul Heckel's difference (Communications of the ACM 21, 4, 1978) of lists without duplicates, as list libraries
/// implement it. It makes a table of symbols, then removals and insertions. As moves, it lists all survivors that these
/// do not account for.
private struct HeckelDifference {
  private(set) var removed: [Int] = []
  private(set) var inserted: [Int] = []
  private(set) var moves: [(from: Int, to: Int)] = []
  let survivorCount: Int

  init(from before: [AssetID], to after: [AssetID]) {
    var table: [AssetID: (old: Int?, new: Int?)] = [:]
    for (index, id) in after.enumerated() { table[id, default: (nil, nil)].new = index }
    for (index, id) in before.enumerated() { table[id, default: (nil, nil)].old = index }
    var removedBefore: [Int] = []
    removedBefore.reserveCapacity(before.count)
    for (index, id) in before.enumerated() {
      removedBefore.append(removed.count)
      if table[id]?.new == nil { removed.append(index) }
    }
    for (index, id) in after.enumerated() {
      guard let old = table[id]?.old else {
        inserted.append(index)
        continue
      }
      if old - removedBefore[old] + inserted.count != index { moves.append((old, index)) }
    }
    survivorCount = before.count - removed.count
  }
}
