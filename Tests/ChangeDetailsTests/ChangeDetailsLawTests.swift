import PhotoModel
import TestTools
import Testing

@testable import ChangeDetails

@Suite struct ChangeDetailsLawTests {
  /// Tries every list of up to six ids, every arrangement of every subset of it with up to two new ids, and every
  /// choice of touched ids. For the longer lists, it takes a fixed sample, so that it ends in seconds.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds"), arguments: 0...6)
  func lawsHoldForEveryShortList(count: Int) throws {
    let before = (0..<count).map { AssetID($0 + 1) }
    var generator = SeededGenerator(seed: UInt64(count))
    var cases = 0
    for newIDs in [[], [101], [101, 102]] as [[AssetID]] where count + newIDs.count <= 6 {
      for subset in 0..<1 << count {
        let kept = before.filter { subset >> ($0.rawValue - 1) & 1 == 1 }
        try forEachArrangement(of: kept + newIDs) { after in
          let masks =
            count <= 3 ? Array(0..<1 << count) : [0, 1 << count - 1, Int.random(in: 0..<1 << count, using: &generator)]
          for mask in masks {
            let touchedIDs = before.filter { mask >> ($0.rawValue - 1) & 1 == 1 }
            let change = ChangeCase(
              before: before, after: after,
              touched: TouchedAssets(
                fields: Dictionary(
                  uniqueKeysWithValues: touchedIDs.map { ($0, $0 == 2 ? [.content, .path] : .favorite) }),
                deleted: Set(before.filter { $0.rawValue % 2 == 0 && !after.contains($0) })))
            try requireLaws(change, best: change.bestPossible)
            cases += 1
          }
        }
      }
    }
    #expect(cases > 0)
  }

  /// Lists of some hundred ids. Pieces are cut out, put elsewhere, and replaced. Single ids are moved, and some are
  /// touched, some of those without effect.
  @Test(arguments: 1...60)
  func lawsHoldForRandomLists(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let change = randomChange(size: Int(seed) * 6, generator: &generator)
    try requireLaws(change, best: change.bestPossibleSlowly)
  }

  @Test func lawsHoldForShuffledLists() throws {
    var generator = SeededGenerator(seed: 7)
    for size in [2, 3, 10, 100, 400] {
      let before = (0..<size).map { AssetID($0 * 3 + 1) }.shuffled(using: &generator)
      let touched = TouchedAssets(
        fields: Dictionary(uniqueKeysWithValues: before.filter { $0.rawValue % 5 == 0 }.map { ($0, .metadata) }))
      let change = ChangeCase(before: before, after: before.shuffled(using: &generator), touched: touched)
      try requireLaws(change, best: change.bestPossibleSlowly)
    }
  }

  /// Law 7: the details from the first list to the last do not depend on the lists that were delivered in between.
  @Test func detailsDependOnTheTwoListsAndTheTouchedAlone() throws {
    for seed in 1...40 as ClosedRange<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let first = randomChange(size: 50, generator: &generator)
      let second = randomChange(from: first.after, generator: &generator)
      var touched = first.touched
      touched.merge(second.touched)
      let direct = FetchResultChangeDetails.full(from: first.before, to: second.after, touched: touched)

      // The sets are equal, but they were built in another order, and contain ids that no list contains.
      var again = TouchedAssets()
      for id in touched.fields.keys.sorted().reversed() { again.fields[id] = touched.fields[id] }
      again.fields[900_000] = .content
      again.deleted = Set(touched.deleted.sorted()).union([900_001])
      #expect(FetchResultChangeDetails.full(from: first.before, to: second.after, touched: again) == direct)

      var delivered = first.before
      for change in [first, second] { delivered = try change.details?.applied(to: delivered) ?? delivered }
      #expect(delivered == second.after)
      #expect(try direct?.applied(to: first.before) ?? first.before == delivered)
    }
  }

  /// The fast path over equal ends must make the same choice as the whole list.
  @Test func skippingEqualEndsKeepsTheSameElements() {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<500 {
      let ends = (Int.random(in: 0...5, using: &generator), Int.random(in: 0...5, using: &generator))
      let inner = (0..<Int32.random(in: 2...20, using: &generator)).shuffled(using: &generator)
      let ranks =
        (0..<Int32(ends.0)).map { $0 } + inner.map { $0 + Int32(ends.0) }
        + (0..<Int32(ends.1)).map { $0 + Int32(ends.0 + inner.count) }
      let prefers = ranks.map { _ in Bool.random(using: &generator) }
      let whole = Set(LongestKeptOrder.chain(ranks: ranks[...], prefers: prefers[...]))
      #expect(LongestKeptOrder.kept(ranks: ranks, prefers: prefers) == ranks.indices.map(whole.contains))
    }
  }

  @Test func theEditedPhotoIsWhatMoves() throws {
    // Either of the two could move. The touched one does.
    for touched in [1, 2] as [AssetID] {
      let details = try #require(
        FetchResultChangeDetails.full(
          from: [1, 2], to: [2, 1], touched: TouchedAssets(fields: [touched: .metadata])))
      #expect(details.moves == [Move(fromBefore: Int(touched.rawValue) - 1, toAfter: touched == 1 ? 1 : 0)])
      #expect(details.changedFields == ["metadata"])
    }
  }

  @Test func assetTouchedOutsideOfTheListIsNoChange() {
    let touched = TouchedAssets(fields: [9: .content], deleted: [10])
    #expect(FetchResultChangeDetails.full(from: [1, 2, 3], to: [1, 2, 3], touched: touched) == nil)
    #expect(FetchResultChangeDetails.full(from: [], to: [], touched: touched) == nil)
  }

  /// This is why a position's name says which list it belongs to. The order on PhotoKit's page (remove, insert, change,
  /// move) gives wrong results here.
  @Test func theOrderPrintedForPhotoKitGivesAWrongList() throws {
    var wrong = 0
    var all = 0
    let before: [AssetID] = [1, 2, 3, 4]
    for subset in 0..<1 << before.count {
      try forEachArrangement(of: before.filter { subset >> ($0.rawValue - 1) & 1 == 1 } + [101]) { after in
        let details = try #require(FetchResultChangeDetails.full(from: before, to: after, touched: TouchedAssets()))
        guard !details.moves.isEmpty else { return }
        all += 1
        var list = before
        for position in details.removedBefore.positions.reversed() { list.remove(at: position) }
        for (position, id) in zip(details.insertedAfter.positions, details.insertedIDs) {
          list.insert(id, at: min(position, list.count))
        }
        for move in details.moves where list.indices.contains(move.fromBefore) {
          let id = list.remove(at: move.fromBefore)
          list.insert(id, at: min(move.toAfter, list.count))
        }
        if list != after { wrong += 1 }
      }
    }
    #expect(wrong > all / 4)
  }

  // MARK: -

  private func requireLaws(_ change: ChangeCase, best: (count: Int, untouched: Int)) throws {
    let broken = try change.brokenLaw()
    if broken != nil || change.stayed != best {
      Issue.record(
        """
        law \(broken ?? "4") does not hold from \(change.before) to \(change.after), touched \(change.touched.fields.keys.sorted()): \
        \(String(describing: change.details)), stayed \(change.stayed), best \(best)
        """)
      throw LawBroken()
    }
  }

  private struct LawBroken: Error {}

  private func forEachArrangement(of ids: [AssetID], _ body: ([AssetID]) throws -> Void) rethrows {
    var ids = ids
    func arrange(_ fixed: Int) throws {
      if fixed >= ids.count - 1 { return try body(ids) }
      for index in fixed..<ids.count {
        ids.swapAt(fixed, index)
        try arrange(fixed + 1)
        ids.swapAt(fixed, index)
      }
    }
    try arrange(0)
  }

  private func randomChange(size: Int, generator: inout SeededGenerator) -> ChangeCase {
    randomChange(from: (0..<size).map { AssetID($0 * 2 + 1) }.shuffled(using: &generator), generator: &generator)
  }

  private func randomChange(from before: [AssetID], generator: inout SeededGenerator) -> ChangeCase {
    var after = before
    var touched = TouchedAssets()
    var nextID = (before.max() ?? 0) + 1
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
      let start = Int.random(in: 0...after.count, using: &generator)
      let end = min(after.count, start + Int.random(in: 0...9, using: &generator))
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        if Bool.random(using: &generator) { touched.deleted.formUnion(after[start..<end]) }
        after.removeSubrange(start..<end)
      case 1:
        let new = (0...end - start).map { nextID + $0 }
        nextID += new.count
        for id in new { touched.fields[id] = .content }
        after.insert(contentsOf: new, at: start)
      case 2:
        let piece = after[start..<end]
        after.removeSubrange(start..<end)
        after.insert(contentsOf: piece, at: Int.random(in: 0...after.count, using: &generator))
        if Bool.random(using: &generator) { for id in piece { touched.fields[id] = .metadata } }
      default:
        for id in after[start..<end] { touched.fields[id] = [.favorite, .path] }
      }
    }
    return ChangeCase(before: before, after: after, touched: touched)
  }
}
