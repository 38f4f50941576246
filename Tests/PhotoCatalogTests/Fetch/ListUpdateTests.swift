import ChangeDetails
import PhotoModel
import PhotoTestSupport
import TestFetches
import TestTools
import Testing

import class Foundation.ProcessInfo

@testable import PhotoCatalog

/// A list that is updated from the touched assets equals the list of a new fetch. The details between two of its states
/// obey the laws.
@Suite struct ListUpdateTests {
  /// PHOTOD_LIST_SEEDS sets the number of libraries, which is three by default.
  private static let seeds: ClosedRange<UInt64> =
    1...(ProcessInfo.processInfo.environment["PHOTOD_LIST_SEEDS"].flatMap(UInt64.init) ?? 3)

  private struct Observed {
    let plan: FetchPlan
    var sequence: Int64
    var list: OrderedList
  }

  @Test(arguments: seeds)
  func listBroughtUpToDateIsTheListThatIsFetched(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var commits = try RandomCommits(seed: seed)
    let catalog = commits.catalog
    var queries = RandomFetches(library: commits.library, seed: seed &+ 77)
    var albums: [String] = ["smart:recentlyAdded"]
    try commits.commit { writer in
      for _ in 0..<4 {
        let query = SmartAlbumQuery(random: &queries)
        albums.append("id:\(try writer.createCollection(.smartAlbum(query), title: "S", parentID: nil))")
      }
    }
    var fetches = RandomFetches(library: commits.library, albums: albums, seed: seed)
    var observed = try catalog.read { reader in
      try (0..<45).map { _ in
        let plan = try reader.plan(fetches.next())
        return Observed(plan: plan, sequence: try reader.sequence(), list: try reader.list(plan))
      }
    }
    var (updatedCount, changedCount) = (0, 0)
    var concerns: [FetchPlan.Concern: Int] = [:]
    let rounds = TestTier.count(40, quick: 20)
    for _ in 0..<rounds {
      for _ in 0..<Int.random(in: 1...2, using: &random) { try commits.commit() }
      for index in observed.indices where Int.random(in: 0..<3, using: &random) > 0 {
        // Some lists are skipped after some commits.
        let before = observed[index]
        let last = try catalog.read { try $0.sequence() }
        let effects = try commits.effects(after: before.sequence, through: last)
        // The effects come from memory, or else from the history.
        let given = Int.random(in: 0..<3, using: &random) > 0 ? effects : nil
        let (wasUpdated, hasChanged) = try catalog.read { try check($0, &observed[index], given) }
        let after = observed[index]
        updatedCount += wasUpdated ? 1 : 0
        changedCount += hasChanged ? 1 : 0
        if hasChanged { #expect(before.sequence < after.sequence) }
        // The effects in memory never omit a change.
        let concern = before.plan.concern(of: effects, in: before.list)
        concerns[concern, default: 0] += 1
        if concern < .list { #expect(before.list.ids == after.list.ids, "\(before.plan.key)") }
        if concern == .none { #expect(!hasChanged, "\(before.plan.key)") }
        let read = try catalog.read { try $0.effects(after: before.sequence, through: last) }
        #expect(before.plan.concern(of: read, in: before.list) == .list, "history doesn't say enough")
        if effects.namesAllAssets {
          let touched = try catalog.read { try $0.touched(after: before.sequence, through: after.sequence) }
          #expect(touched == effects.touched)
        }
      }
    }
    #expect(
      updatedCount > rounds * 35 / 2 && changedCount > rounds * 25 / 4,
      "\(updatedCount) of some \(rounds * 30), \(changedCount) changed")
    #expect(concerns[.none, default: 0] > rounds * 3 / 2 && concerns[.assets, default: 0] > rounds / 8, "\(concerns)")
  }

  private func check(
    _ reader: CatalogReader, _ observed: inout Observed, _ effects: CommitEffects?
  ) throws -> (updated: Bool, changed: Bool) {
    let plan = observed.plan
    let sequence = try reader.sequence()
    let updated = try reader.updated(observed.list, plan, since: observed.sequence, effects: effects)
    let list = try updated ?? reader.list(plan)
    let fetched = try reader.ids(plan)
    #expect(list.ids == fetched, "\(plan.key)")
    #expect(list.digest == ListDigest(of: fetched).description && list.count == fetched.count, "\(plan.key)")
    let known = effects.flatMap { $0.namesAllAssets ? $0 : nil }
    let details = try self.details(
      observed, to: list, known ?? reader.effects(after: observed.sequence, through: sequence))
    observed.list = list
    observed.sequence = sequence
    return (updated != nil, details != nil)
  }

  /// The details as an observer receives them.
  private func details(
    _ observed: Observed, to list: OrderedList, _ effects: CommitEffects
  ) throws -> FetchResultChangeDetails? {
    let plan = observed.plan
    let before = observed.list.ids
    let touched = effects.touched
    let full = FetchResultChangeDetails.full(from: before, to: list.ids, touched: touched)
    guard let placed = plan.isWindow ? nil : plan.albumID.map(effects.placed) ?? [] else { return full }
    let details = FetchResultChangeDetails.incremental(
      from: observed.list.entries, to: list.entries, limit: plan.fetchLimit, touched: touched,
      placed: Array(placed))
    guard let details, let full else {
      #expect(details == nil && full == nil, "\(plan.key)")
      return details
    }
    // Laws 1 to 4 and 9: both have the same sets, the narrow one has at most as many moves, and both lead to the same
    // list.
    var withItsMoves = full
    withItsMoves.moves = details.moves
    #expect(withItsMoves == details && details.moves.count >= full.moves.count, "\(plan.key)")
    #expect(details.countBefore - details.removedBefore.total + details.insertedAfter.total == details.countAfter)
    #expect(try details.applied(to: before) == list.ids, "\(plan.key)")
    var sequential = before
    try details.applySequentially(to: &sequential)
    #expect(sequential == list.ids, "\(plan.key)")
    #expect(try before.applying(details.collectionDifference(from: before)) == list.ids, "\(plan.key)")
    // If a large part of the list was touched, these are the full details. They have the fewest moves, so an untouched
    // asset may move past two that were touched.
    for move in details.moves where details != full {
      let id = before[move.fromBefore]
      #expect(touched.fields[id] != nil || placed.contains(id), "an untouched moved")
    }
    return details
  }

  /// A limited list loses its first rows one by one, while others come and leave behind its kept rows.
  @Test func limitedListIsRefilledBeforeItRunsOut() throws {
    let fixture = try CatalogFixture()
    let root = try fixture.addRoot("/p")
    // From the newest: 1, 2, 3...
    try fixture.insert(
      (1...400).map {
        (.sample(AssetID($0), taken: 10_000 - $0), directory: root, name: Array("\($0)".utf8), failure: nil)
      })
    var sequence = try fixture.commit(inserted: [1])
    let plan = try fixture.catalog.read { try $0.plan(FetchOptions(fetchLimit: 5)) }
    var list = try fixture.catalog.read { try $0.list(plan) }
    #expect(list.entries.count == OrderedList.fetchCount(limit: 5))
    var (refills, largest) = (0, 0)
    var random = SeededGenerator(seed: 1)
    for round in 1...300 as ClosedRange<Int64> {
      // One of the five leaves, and any other asset gets a date far behind them.
      let gone = try #require(list.ids.randomElement(using: &random))
      let moved = AssetID.random(in: 1...400, using: &random)
      try fixture.execute("DELETE FROM asset WHERE id = ?", [.id(gone)])
      try fixture.execute(
        "UPDATE asset SET creation_date = ? WHERE id = ?", [.integer(-round * 1_000_000), .id(moved)])
      let last = try fixture.commit(updated: moved == gone ? [:] : [moved: .metadata], deleted: [gone])
      try fixture.catalog.read { reader in
        let updated = try reader.updated(list, plan, since: sequence)
        if updated == nil { refills += 1 }
        list = try updated ?? reader.list(plan)
        let fetched = try reader.ids(plan)
        #expect(list.ids == fetched, "round \(round)")
      }
      largest = max(largest, list.entries.count)
      sequence = last
    }
    #expect((2...8).contains(refills), "\(refills) fetches for 300 rows that left")
    #expect(largest <= OrderedList.fetchCount(limit: 5) * 3 / 2)
  }

  /// If a million assets enter a limited list, it must not keep them all.
  @Test func reserveOfALimitedListIsBounded() throws {
    let fixture = try CatalogFixture()
    let root = try fixture.addRoot("/p")
    let plan = try fixture.catalog.read { try $0.plan(FetchOptions(fetchLimit: 5)) }
    var sequence = try fixture.commit(inserted: [1])
    var list = try fixture.catalog.read { try $0.list(plan) }
    for id in 1...400 as ClosedRange<AssetID> {
      try fixture.insert(.sample(id, taken: id.rawValue), directory: root, name: Array("\(id)".utf8))
      let last = try fixture.commit(inserted: [id])
      try fixture.catalog.read { reader in
        list = try #require(try reader.updated(list, plan, since: sequence))
        let fetched = try reader.ids(plan)
        #expect(list.ids == fetched)
      }
      sequence = last
      #expect(list.entries.count <= OrderedList.fetchCount(limit: 5) * 3 / 2)
    }
  }

  /// In every order they are found by their ids, so the size of the catalog does not matter.
  @Test func touchedAssetsAreLookedUpOneByOne() throws {
    let library = try PredicateLibrary(seed: 1)
    var fetches = RandomFetches(library: library, seed: 1)
    try library.fixture.catalog.read { reader in
      for _ in 0..<300 {
        let plan = try reader.plan(fetches.next())
        // SQLite makes no plan for a condition that is never true.
        if plan.key.contains("types=;") || plan.key.contains("IN {}") { continue }
        // A list of an album with a limit is fetched again instead.
        if plan.isWindow { continue }
        let explain = try RawStatement(reader.database, uncached: "EXPLAIN QUERY PLAN " + plan.touchedStatement)
        var steps: [String] = []
        try explain.forEachRow { steps.append(explain.text(3)) }
        let asset = steps.filter { $0.contains(" asset ") || $0.hasSuffix(" asset") || $0.contains(" member ") }
        #expect(!asset.isEmpty && asset.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan.key): \(steps)")
        #expect(asset.contains { $0.contains("SEARCH asset USING INTEGER PRIMARY KEY") }, "\(plan.key): \(steps)")
      }
    }
  }

  /// A deleted folder, with its album, is no reason to fetch lists again.
  @Test func deletedCollectionCausesNoFetchOfOtherLists() throws {
    let library = try RandomLibrary(seed: 1)
    let fixture = library.fixture
    let start = try fixture.commit(inserted: [1])
    try fixture.catalog.write { writer in
      writer.record.delete(collection: library.albumID)
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    let (plain, album) = try fixture.catalog.read { reader in
      func updated(_ options: FetchOptions) throws -> OrderedList? {
        let plan = try reader.plan(options)
        return try reader.updated(try reader.list(plan), plan, since: start)
      }
      return (try updated(FetchOptions()), try updated(FetchOptions(collection: "id:\(library.albumID)")))
    }
    #expect(plain != nil && album == nil)
  }

  /// If a directory is renamed or a root leaves, only lists whose options depend on paths or availability are examined.
  /// In those, only the assets below it are.
  @Test func renamedFolderAndRootThatLeavesAreNotFetched() throws {
    let library = try RandomLibrary(seed: 1)
    let fixture = library.fixture
    let start = try fixture.commit(inserted: [1])
    let plans = try fixture.catalog.read { reader in
      try [
        FetchOptions(), FetchOptions(collection: "folder:/photos/a"),
        FetchOptions(sortDescriptors: [SortDescriptor(key: "filename", ascending: true)]),
        FetchOptions(excludeUnavailable: true), FetchOptions(predicate: "path CONTAINS '/photos/b'"),
      ].map { (plan: try reader.plan($0), list: try reader.list(try reader.plan($0))) }
    }
    try fixture.execute("UPDATE directory SET name = 'b' WHERE id = 5")
    try fixture.commit(renamed: [(5, Array("/photos/a/x".utf8), Array("/photos/a/b".utf8))])
    try fixture.catalog.read { reader in
      for (plan, list) in plans {
        let updated = try #require(try reader.updated(list, plan, since: start))
        #expect(try updated.ids == reader.ids(plan), "\(plan.key)")
        let isConcerned = plan.source.usesPath || plan.source.usesOffline
        #expect(isConcerned || updated.entries.isIdentical(to: list.entries), "\(plan.key)")
      }
    }
  }
}

extension [IndexRange] {
  fileprivate var total: Int { reduce(0) { $0 + $1.count } }
}
