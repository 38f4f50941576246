import PhotoModel
import TestTools
import Testing

@testable import ChangeDetails

@Suite struct IncrementalChangeDetailsTests {
  private static let small = OrderedIDs.Shape(leaf: 4, inner: 8)

  /// Two states of one ordered list, and the assets that the commits between them touched.
  private struct Case {
    var before: [AssetID]
    var after: [AssetID]
    var limit: Int?
    var touched = TouchedAssets()
    var placed: [AssetID] = []

    func list(_ ids: [AssetID]) -> OrderedIDs {
      OrderedIDs(ids: ids, keys: [UInt64](repeating: 0, count: ids.count), shape: small)
    }
    var publishedBefore: [AssetID] { Array(before.prefix(limit ?? .max)) }
    var publishedAfter: [AssetID] { Array(after.prefix(limit ?? .max)) }

    /// The details from the incremental form, even if the full form would be chosen.
    func incremental() -> FetchResultChangeDetails? {
      var difference = IncrementalDifference(
        list(before), publishedBefore.count, list(after), publishedAfter.count, touched: touched)
      difference.add(Set(touched.fields.keys).union(touched.deleted).union(placed))
      difference.countUntouched()
      return difference.details()
    }

    /// Describes the first law, of law 9 and the others, that does not hold.
    func broken() throws -> String? {
      let plain = ChangeCase(before: publishedBefore, after: publishedAfter, touched: touched)
      guard let details = incremental() else { return plain.details == nil ? nil : "nothing found" }
      guard let full = plain.details else { return "found where nothing changed: \(details)" }
      if var same = Optional(details) {
        same.moves = full.moves
        if same != full { return "another set than the full form's: \(details), not \(full)" }
      }
      if details.moves.count < full.moves.count { return "fewer moves than can be" }
      if let broken = try plain.brokenLaw(of: details) { return "law \(broken): \(details)" }
      let mayMove = Set(touched.fields.keys).union(touched.deleted).union(placed)
      for move in details.moves where !mayMove.contains(publishedBefore[move.fromBefore]) {
        return "an untouched moved"
      }
      return nil
    }

    func requireLaws(_ name: String) throws {
      guard let broken = try broken() else { return }
      Issue.record(
        """
        \(name): \(broken); from \(before) to \(after), limit \(String(describing: limit)), \
        touched \(touched.fields.keys.sorted()), deleted \(touched.deleted.sorted()), placed \(placed)
        """)
      throw LawBroken()
    }
  }

  private struct LawBroken: Error {}

  /// Tries every list of up to four ids, every choice of touched ids, every new position of the touched ids, up to two
  /// new ids, and every limit.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func lawNineHoldsForEveryShortList() throws {
    var cases = 0
    for count in 0...4 {
      let before = (0..<count).map { AssetID($0 + 1) }
      for mask in 0..<1 << count where mask.nonzeroBitCount <= 3 {
        let touchedIDs = before.filter { mask >> ($0.rawValue - 1) & 1 == 1 }
        let rest = before.filter { !touchedIDs.contains($0) }
        for new in [[], [101], [101, 102]] as [[AssetID]] where touchedIDs.count + new.count <= 3 {
          try forEachPlacing(of: touchedIDs + new, in: rest) { after in
            for limit in [nil, 0, 1, 2, 3] as [Int?] {
              var change = Case(before: before, after: after, limit: limit)
              for id in touchedIDs + new {
                if !after.contains(id), id.rawValue % 2 == 0 {
                  change.touched.deleted.insert(id)
                } else if (Int(id.rawValue) + mask) % 3 == 0 {
                  change.placed.append(id)
                } else {
                  change.touched.fields[id] = id.rawValue % 2 == 0 ? [.content, .path] : .favorite
                }
              }
              try change.requireLaws("case \(cases)")
              cases += 1
            }
          }
        }
      }
    }
    #expect(cases > 10_000)
  }

  /// Calls `body` for each way to leave each touched id out, or to insert it at any position.
  private func forEachPlacing(of ids: [AssetID], in list: [AssetID], _ body: ([AssetID]) throws -> Void) rethrows {
    guard let id = ids.first else { return try body(list) }
    try forEachPlacing(of: Array(ids.dropFirst()), in: list, body)
    for position in 0...list.count {
      var placed = list
      placed.insert(id, at: position)
      try forEachPlacing(of: Array(ids.dropFirst()), in: placed, body)
    }
  }

  /// A fetch that sorts by a number of each asset, as the catalog would run it. Assets change their number, come, go,
  /// come back, and are touched without effect. The lists have limits, and reserves of different lengths.
  @Test(arguments: 1...UInt64(TestTier.count(120, quick: 22)))
  func lawNineHoldsForRandomHistories(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let size = [0, 1, 2, 3, 4, 5, 20, 63, 64, 65, 300][Int(seed) % 11]
    var library: [AssetID: Int] = [:]
    for id in 0..<size { library[AssetID(id)] = Int.random(in: 0..<50, using: &generator) }
    var nextID = AssetID(size)
    let limit = generator.once(in: 2) ? nil : Int.random(in: 0...size + 5, using: &generator)
    func list(_ library: [AssetID: Int]) -> [AssetID] {
      let all = library.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
      guard let limit else { return all }
      return Array(all.prefix(limit + Int.random(in: 0...9, using: &generator)))
    }
    for round in 0..<12 {
      var change = Case(before: list(library), after: [], limit: limit)
      for _ in 0..<Int.random(in: 0...14, using: &generator) {
        let id = library.keys.sorted().randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<7, using: &generator) {
        case 0, 1:
          library[nextID] = Int.random(in: -1...50, using: &generator)
          change.touched.fields[nextID] = .content
          nextID += 1
        case 2:
          library[id] = nil
          change.touched.deleted.insert(id)
        case 3:
          // The asset left the fetch. It may come back with the same number or another one.
          let number = library.removeValue(forKey: id)
          change.touched.fields[id] = [.hidden, .favorite]
          if generator.once(in: 2) { library[id] = number } else if generator.once(in: 2) { library[id] = 10 }
        case 4:
          change.touched.fields[id] = .keywords
        case 5:
          change.touched.fields[id + 900_000] = .content
          change.placed.append(id)
          if generator.once(in: 2) { change.touched.deleted.insert(800_000) }
        default:
          guard let number = library[id] else { continue }
          library[id] = generator.once(in: 2) ? number + 1 : Int.random(in: 0..<50, using: &generator)
          if generator.once(in: 3) { change.placed.append(id) } else { change.touched.fields[id] = .metadata }
        }
      }
      change.after = list(library)
      try change.requireLaws("seed \(seed), round \(round)")
    }
  }

  @Test func anEditedAlbumOrderMovesOnlyThePlacedAssets() throws {
    let before = OrderedIDs(ids: Array(1...100))
    var after = before
    after.remove(3)
    after.insert(3, key: 0, at: 90)
    let details = try #require(
      FetchResultChangeDetails.incremental(from: before, to: after, touched: TouchedAssets(), placed: [3, 3]))
    #expect(
      details == FetchResultChangeDetails(countBefore: 100, countAfter: 100, moves: [Move(fromBefore: 2, toAfter: 90)]))
  }

  @Test func aLimitedListRefillsFromItsReserve() throws {
    let before = OrderedIDs(ids: Array(1...100))
    var after = before
    after.remove(5)
    let touched = TouchedAssets(deleted: [5])
    let details = try #require(
      FetchResultChangeDetails.incremental(from: before, to: after, limit: 20, touched: touched))
    #expect(
      details
        == FetchResultChangeDetails(
          countBefore: 20, countAfter: 20, removedBefore: [IndexRange(start: 4, count: 1)],
          deletedBefore: [IndexRange(start: 4, count: 1)], insertedAfter: [IndexRange(start: 19, count: 1)],
          insertedIDs: [21]))
  }

  /// 3 has left the list. Relative to the assets that stay, 9 has not moved.
  @Test func assetThatCrossesTheLimitMovesNoOther() throws {
    let change = Case(
      before: [1, 2, 3, 9], after: [5, 1, 2, 9, 3], limit: 4,
      touched: TouchedAssets(fields: [5: .content, 9: .metadata]))
    try change.requireLaws("pushed out")
    #expect(change.incremental()?.moves == [])
    let back = Case(before: change.after, after: change.before, limit: 4, touched: change.touched)
    try back.requireLaws("taken in")
    #expect(back.incremental()?.moves == [])
  }

  /// An untouched asset came or went, so a caller left something out. Then the full form is used.
  @Test func changeThatWasNotReportedIsFound() {
    let before = OrderedIDs(ids: Array(1...100))
    var after = before
    after.remove(50)
    let details = FetchResultChangeDetails.incremental(
      from: before, to: after, touched: TouchedAssets(fields: [7: .path]))
    #expect(details?.removedBefore == [IndexRange(start: 49, count: 1)])
    #expect(details == .full(from: Array(before), to: Array(after), touched: TouchedAssets(fields: [7: .path])))
  }

  @Test func nothingChangedIsNoDetails() {
    let list = OrderedIDs(ids: Array(1...100))
    let elsewhere = TouchedAssets(fields: [500: .content, 60: .path], deleted: [501])
    #expect(FetchResultChangeDetails.incremental(from: list, to: list, touched: TouchedAssets()) == nil)
    #expect(FetchResultChangeDetails.incremental(from: list, to: list, limit: 50, touched: elsewhere) == nil)
    #expect(FetchResultChangeDetails.incremental(from: list, to: list, touched: elsewhere) != nil)
    #expect(FetchResultChangeDetails.incremental(from: .init(), to: .init(), touched: elsewhere) == nil)
  }

  /// On both sides of the threshold between the forms, both find the same sets.
  @Test func bothFormsDifferOnlyInTheirMoves() throws {
    let before = OrderedIDs(ids: Array(1...800))
    var generator = SeededGenerator(seed: 9)
    for count in [1, 50, 99, 100, 101, 102, 400, 800] {
      var change = Case(before: Array(before), after: Array(before))
      for id in (1...800 as ClosedRange<AssetID>).shuffled(using: &generator).prefix(count) {
        change.touched.fields[id] = .metadata
        change.after.removeAll { $0 == id }
        if id.rawValue % 3 > 0 {
          change.after.insert(id, at: Int.random(in: 0...change.after.count, using: &generator))
        }
      }
      let after = OrderedIDs(ids: change.after)
      let details = try #require(FetchResultChangeDetails.incremental(from: before, to: after, touched: change.touched))
      var full = try #require(
        FetchResultChangeDetails.full(from: change.before, to: change.after, touched: change.touched))
      if count > 100 { #expect(details == full) }
      full.moves = details.moves
      #expect(details == full)
      #expect(try details.applied(to: change.before) == change.after)
    }
  }
}
