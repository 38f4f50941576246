import Dispatch
import Foundation
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing

@testable import PhotoCatalog
@testable import PhotoLive

/// Tests which lists are kept, how long, and for which fetches.
@Suite struct LiveListsTests {
  @Test func tokenStillFindsItsListAfterCommitsThatLeaveItAlone() throws {
    let library = try ScriptedLibrary()
    let lists = library.lists()
    let plan = try library.plan()
    library.commit([1, 2, 3])
    let first = try lists.current(plan)
    for _ in 0..<1_000 {
      library.commit([1, 2, 3])
      _ = try lists.current(plan)
    }
    let last = try lists.current(plan)
    #expect(last.sequence == first.sequence + 1_000 && last.ids == [1, 2, 3] && last.digest == first.digest)
    for sequence in first.sequence...last.sequence {
      #expect(lists.recent(plan, sequence: sequence)?.ids == [1, 2, 3])
    }
    #expect(lists.recent(plan, sequence: first.sequence - 1) == nil)
    #expect(lists.recent(plan, sequence: last.sequence + 1) == nil)
  }

  @Test func listAgesFromWhenItWasSuperseded() throws {
    let library = try ScriptedLibrary()
    let lists = library.lists()
    let plan = try library.plan()
    lists.beginObserving(plan)
    library.commit([1])
    let first = try lists.current(plan).sequence
    library.pass(.seconds(3_600))
    library.commit([1, 2])
    let second = try lists.current(plan).sequence
    #expect(lists.recent(plan, sequence: first)?.ids == [1])
    library.pass(.seconds(299))
    library.commit([1, 2, 3])
    _ = try lists.current(plan)
    // The list was last asked for when it was superseded, so its time counts from there.
    #expect(lists.recent(plan, sequence: second)?.ids == [1, 2])
    library.pass(.seconds(300))
    library.commit([])
    _ = try lists.current(plan)
    #expect(lists.recent(plan, sequence: first) == nil)
  }

  /// A list that was not read at a commit may have been different then, even if the lists before and after are equal.
  @Test func listIsUnknownAtACommitWithoutARead() throws {
    let library = try ScriptedLibrary()
    let lists = library.lists()
    let plan = try library.plan()
    library.commit([1])
    let first = try lists.current(plan).sequence
    library.commit([1, 2])
    library.commit([1])
    let last = try lists.current(plan).sequence
    #expect(lists.recent(plan, sequence: first)?.ids == [1])
    #expect(lists.recent(plan, sequence: last)?.ids == [1])
    #expect(lists.recent(plan, sequence: first + 1) == nil)
  }

  @Test func listIsFetchedOnceACommit() throws {
    let library = try ScriptedLibrary()
    let lists = library.lists()
    let plan = try library.plan()
    library.commit([1])
    for _ in 0..<10 { _ = try lists.current(plan) }
    #expect(library.fetchCount == 1)
  }

  /// A commit can be read before it is announced.
  @Test func listIsFetchedAnewForASequenceAheadOfTheFeed() throws {
    let library = try ScriptedLibrary()
    let lists = library.lists()
    let plan = try library.plan()
    library.commit([1])
    let first = try lists.current(plan).sequence
    library.commit([1, 2], announced: false)
    #expect(try lists.current(plan).ids == [1])
    #expect(try lists.current(plan, atLeast: first + 1).ids == [1, 2])
    // A sequence that will never exist does no harm either.
    #expect(try lists.current(plan, atLeast: first + 100).sequence == first + 1)
    #expect(lists.recent(plan, sequence: first)?.ids == [1])
  }

  /// Lists without common parts cost their whole size each.
  @Test func bytesOfAllFetchesTogetherAreBounded() throws {
    let library = try ScriptedLibrary()
    var limits = LiveLists.Limits()
    limits.keptBytes = 400_000
    let lists = library.lists(limits)
    let plans = try (1...4).map { try library.plan(limit: $0) }
    var sequences: [(FetchPlan, Int64)] = []
    for round in 0..<20 {
      library.commit((0..<1_000).map { AssetID($0 + round) })
      for plan in plans {
        library.pass(.milliseconds(1))
        sequences.append((plan, try lists.current(plan).sequence))
        #expect(lists.keptBytes <= 400_000)
      }
    }
    let kept = sequences.map { lists.recent($0.0, sequence: $0.1) }
    // The lists that were superseded last remain: 350,000 to 400,000 bytes at 26,000 a list.
    #expect((13...15).contains(kept.count { $0 != nil }))
    #expect(kept.suffix(12).allSatisfy { $0 != nil })
    #expect(Self.byteCount(kept.compactMap { $0 }) <= 400_000)
  }

  /// A list and its successor after one change cost little more than one list.
  @Test func versionsThatShareMostAreKeptByTheHundred() throws {
    let library = try FilledCatalog(count: 20_000)
    let plan = try library.catalog.read {
      try $0.plan(FetchOptions(sortDescriptors: [SortDescriptor(key: "isFavorite", ascending: true)]))
    }
    var limits = LiveLists.Limits()
    limits.keptBytes = 1 << 20
    let (many, few) = (library.lists(), library.lists(limits))
    for lists in [many, few] { lists.beginObserving(plan) }
    var sequences: [Int64] = []
    for round in 0..<200 {
      for lists in [many, few] { _ = try lists.current(plan) }
      sequences.append(try library.favor(AssetID(1 + round * 99)))
      #expect(few.keptBytes <= 1 << 20)
    }
    let last = try (many.current(plan), few.current(plan))
    let keptByMany = sequences.compactMap { many.recent(plan, sequence: $0) }
    let keptByFew = sequences.compactMap { few.recent(plan, sequence: $0) }
    #expect(keptByMany.count == 200 && last.0.ids == last.1.ids)
    #expect(Set(keptByMany.map(\.digest)).count == 200)
    #expect((20...100).contains(keptByFew.count), "\(keptByFew.count) were kept")
    #expect(keptByFew.map(\.sequence) == sequences.suffix(keptByFew.count), "the newest are")
    // Without sharing, they would take 100 MB. The estimate must not be far above the real cost either.
    let bytes = Self.byteCount(keptByMany) - last.0.list.entries.byteCount
    #expect(bytes <= many.keptBytes && many.keptBytes < bytes * 3, "\(bytes), taken for \(many.keptBytes)")
    #expect(Self.byteCount(keptByFew) - last.1.list.entries.byteCount <= 1 << 20)
  }

  /// The memory that the lists take together. A part that several of them share counts once.
  private static func byteCount(_ lists: [FetchedList]) -> Int {
    lists.indices.reduce(0) { $0 + lists[$1].list.entries.byteCount(besides: lists[..<$1].map(\.list.entries)) }
  }

  @Test func recentlyUsedListIsEvictedLast() throws {
    let library = try ScriptedLibrary()
    var limits = LiveLists.Limits()
    limits.keptBytes = 100_000
    let lists = library.lists(limits)
    let plan = try library.plan()
    lists.beginObserving(plan)
    library.commit((0..<1_000).map { AssetID($0) })
    let first = try lists.current(plan).sequence
    for round in 1...10 {
      library.pass(.seconds(1))
      #expect(lists.recent(plan, sequence: first) != nil, "round \(round)")
      library.commit((0..<1_000).map { AssetID($0 + round) })
      _ = try lists.current(plan)
    }
    #expect(lists.recent(plan, sequence: first + 1) == nil)
  }

  /// A list with the same ids can have other keys. With the old keys, the next photo would be inserted at a wrong
  /// position.
  @Test func photoThatKeepsItsPlaceWithAnotherDateIsSearchedByTheNewOne() throws {
    let library = try FilledCatalog(count: 3)
    for (id, date) in [(1, 10), (2, 20), (3, 30)] as [(AssetID, Int64)] { try library.date(id, date) }
    let plan = try library.plan(FetchOptions())
    let lists = library.lists()
    #expect(try lists.current(plan).ids == [3, 2, 1])
    try library.date(2, 25)
    #expect(try lists.current(plan).ids == [3, 2, 1])
    try library.insert()
    try library.date(4, 22)
    #expect(try lists.current(plan).ids == [3, 2, 4, 1])
  }

  // MARK: The lists that a commit concerns

  /// Makes one commit of each kind, and checks which of these fetches ask the catalog because of it.
  @Test func listsThatACommitCannotAffectAreNotFetched() throws {
    let library = try FilledCatalog(count: 40)
    try library.insert(10, .video)
    for id in 1...5 as ClosedRange<AssetID> { try library.favor(id) }
    let below = try library.catalog.write { writer in
      try writer.insertDirectory(
        parentID: library.directoryID, rootID: nil, name: Array("sub".utf8), volumeID: 1, inode: 2, birthTime: 1
      )
    }
    let album = try library.addAlbum("Album", of: [1, 2, 3])
    let options = [
      "all": FetchOptions(), "favorites": FetchOptions(collection: "smart:favorites"),
      "videos": FetchOptions(collection: "smart:videos"), "images": FetchOptions(mediaTypes: ["image"]),
      "folder": FetchOptions(collection: "folder:/p"), "below": FetchOptions(collection: "folder:/p/sub"),
      "path": FetchOptions(predicate: "path CONTAINS 'x'"), "there": FetchOptions(excludeUnavailable: true),
      "album": FetchOptions(collection: "album:Album"), "rated": FetchOptions(predicate: "rating > 2"),
      "limited": FetchOptions(fetchLimit: 5),
    ]
    let plans = try options.mapValues { try library.plan($0) }
    let lists = library.lists()
    for plan in plans.values { _ = try lists.current(plan) }

    func expectLooks(_ expected: Set<String>, _ commit: String, _ body: () throws -> Void) throws {
      try body()
      var looked: Set<String> = []
      for (name, plan) in plans {
        let before = lists.countsSinceStart
        let list = try lists.current(plan)
        let after = lists.countsSinceStart
        #expect(after.looks + after.passes == before.looks + before.passes + 1)
        if after.looks > before.looks { looked.insert(name) }
        #expect(try list.ids == library.catalog.read { try $0.ids(plan) } && list.sequence == library.feed.sequence)
      }
      #expect(looked == expected, "\(commit)")
    }
    try expectLooks(["favorites"], "a favorite") { try library.favor(20) }
    try expectLooks(["all", "videos", "folder", "there", "rated", "path", "limited"], "a new video") {
      try library.insert(1, .video)
    }
    try expectLooks(["all", "images", "folder", "there", "rated", "path", "limited"], "a new image") {
      try library.insert()
    }
    try expectLooks(["all", "images", "folder", "there", "limited"], "an image that goes") {
      try library.commit { writer in
        try writer.deleteAsset(30)
      }
    }
    try expectLooks(["path", "there"], "a directory with another name") {
      try library.commit { writer in
        writer.record.renamedDirectories = [
          .init(directoryID: below, fromPath: Array("/p/sub".utf8), toPath: Array("/p/x".utf8))
        ]
      }
    }
    try expectLooks(["there"], "a root that goes") {
      try library.commit { writer in
        try writer.setRootAvailable(1, false)
      }
    }
    try expectLooks(["favorites"], "a favorite of an album, which says so too") {
      try library.commit { writer in
        try writer.setUserData(of: 2, isFavorite: false, isHidden: nil)
        #expect(writer.record.updatedCollections.contains(album))
      }
    }
    try expectLooks(["album"], "an album") {
      try library.commit { writer in
        let insert = try RawStatement(
          writer.database, "INSERT INTO album_asset (collection_id, asset_id, rank) VALUES (?, 9, 0.5)")
        insert.bind(1, album)
        try insert.run()
        writer.record.edit(album: album, placing: [9])
      }
    }
    try expectLooks([], "another album") { try library.commit { $0.record.edit(album: 1_000, placing: [9]) } }
    // The effects of so large a commit are not kept, so every list must ask the catalog.
    try expectLooks(Set(plans.keys), "two thousand at once") { try library.insert(2_000) }
  }

  /// The observers of a list hold it anyway.
  @Test func currentListOfAnObservedFetchIsNeitherForgottenNorCounted() throws {
    let library = try ScriptedLibrary()
    var limits = LiveLists.Limits()
    limits.keptBytes = 1_000
    limits.keptFetches = 2
    let lists = library.lists(limits)
    let observed = try library.plan(limit: 100)
    library.commit((0..<1_000).map { AssetID($0) })
    lists.beginObserving(observed)
    let sequence = try lists.current(observed).sequence
    library.pass(.seconds(3_600))
    for limit in 1...10 { _ = try lists.current(try library.plan(limit: limit)) }
    #expect(lists.recent(observed, sequence: sequence) != nil)
    lists.endObserving(observed)
    library.commit([1])
    _ = try lists.current(try library.plan(limit: 1))
    #expect(lists.recent(observed, sequence: sequence) == nil)
  }

  @Test func unusedFetchesAreEvicted() throws {
    let library = try ScriptedLibrary()
    var limits = LiveLists.Limits()
    limits.keptFetches = 8
    let lists = library.lists(limits)
    library.commit([1])
    for limit in 1...100 {
      library.pass(.milliseconds(1))
      _ = try lists.current(try library.plan(limit: limit))
      #expect(lists.fetchCount <= 9)
    }
    #expect(lists.recent(try library.plan(limit: 100), sequence: 1) != nil)
    #expect(lists.recent(try library.plan(limit: 1), sequence: 1) == nil)
    library.pass(.seconds(300))
    _ = try lists.current(try library.plan(limit: 1))
    #expect(lists.fetchCount == 1)
  }

  @Test func slowFetchDelaysNoOtherCall() async throws {
    let library = try ScriptedLibrary()
    var limits = LiveLists.Limits()
    limits.keptFetches = 1
    let lists = library.lists(limits)
    let slow = try library.plan(limit: 1)
    library.commit([1])
    let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    library.onFetch { plan in
      guard plan == slow else { return }
      begun.signal()
      mayEnd.wait()
    }
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { #expect(try lists.current(slow).ids == [1]) } catch { Issue.record(error) }
      done.signal()
    }
    begun.wait()
    // Each of these fetches makes room for itself.
    for limit in 2...10 { #expect(try lists.current(try library.plan(limit: limit)).ids == [1]) }
    #expect(lists.recent(slow, sequence: 1) == nil)
    mayEnd.signal()
    done.wait()
  }

  @Test func observersAtOnceSeeOneListEach() async throws {
    let library = try ScriptedLibrary()
    let lists = library.lists()
    let plans = try (1...3).map { try library.plan(limit: $0) }
    let knownCount = await withTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var knownCount = 0
          for round in 0..<200 {
            if task == 0 { library.commit([AssetID(round)]) }
            do {
              let plan = plans[round % 3]
              let list = try lists.current(plan)
              guard let again = lists.recent(plan, sequence: list.sequence) else { continue }
              knownCount += 1
              #expect(again.ids == list.ids)
            } catch {
              Issue.record(error)
            }
          }
          return knownCount
        }
      }
      return await group.reduce(0, +)
    }
    #expect(knownCount > 0)
  }

  /// Without this, a hundred observers of a list that is too expensive would spend a hundred budgets on the same
  /// outcome.
  @Test func oneAttemptAnswersForAllObserversOfAListThatIsTooExpensive() throws {
    let library = try ScriptedLibrary()
    let attempts = Atomic(0)
    let time = Mutex(ContinuousClock.now)
    let lists = LiveLists(
      feed: library.feed, recent: RecentCommits(catalog: try TestCatalog("plans").catalog),
      now: { time.withLock { $0 } },
      fetch: { _, _ in
        attempts.add(1, ordering: .relaxed)
        throw WorkBudget.Spent.timedOut
      })
    func ask(_ plan: FetchPlan, atLeast sequence: Int64 = 0) -> Int {
      #expect(throws: WorkBudget.Spent.timedOut) { try lists.current(plan, atLeast: sequence) }
      return attempts.load(ordering: .relaxed)
    }
    let plan = try library.plan()
    library.commit([1])
    for _ in 0..<100 { #expect(ask(plan) == 1) }
    // Another fetch, another commit, and a later time each get one attempt.
    #expect(ask(try library.plan(limit: 5)) == 2)
    library.commit([1, 2])
    #expect(ask(plan) == 3 && ask(plan) == 3)
    #expect(ask(plan, atLeast: 3) == 4 && ask(plan) == 4)
    time.withLock { $0 += .seconds(10) }
    #expect(ask(plan, atLeast: 3) == 5)
  }
}

/// A library with one list, the same for every fetch. Only a test changes it.
private final class ScriptedLibrary: Sendable {
  private struct State {
    var sequence: Int64 = 0
    var ids: [AssetID] = []
    var time = ContinuousClock.now
    var fetchCount = 0
    var onFetch: @Sendable (FetchPlan) -> Void = { _ in }
  }

  let feed = ChangeFeed(sequence: 0)
  private let state = Mutex(State())
  /// Used only to make plans.
  private let planner: TestCatalog

  init() throws { planner = try TestCatalog("plans") }

  func lists(_ limits: LiveLists.Limits = LiveLists.Limits()) -> LiveLists {
    LiveLists(
      feed: feed, recent: RecentCommits(catalog: planner.catalog), limits: limits,
      now: { self.state.withLock { $0.time } }, fetch: { plan, _ in self.fetch(plan) })
  }

  private func fetch(_ plan: FetchPlan) -> (sequence: Int64, list: OrderedList) {
    state.withLock { $0.onFetch }(plan)
    return state.withLock { state in
      state.fetchCount += 1
      return (state.sequence, OrderedList(ids: state.ids))
    }
  }

  func plan(limit: Int = 1_000) throws -> FetchPlan {
    try planner.catalog.read { try $0.plan(FetchOptions(fetchLimit: limit)) }
  }

  func commit(_ ids: [AssetID], announced: Bool = true) {
    let sequence = state.withLock { state in
      state.ids = ids
      state.sequence += 1
      return state.sequence
    }
    if announced { feed.publish(sequence) }
  }

  func pass(_ time: Duration) { state.withLock { $0.time += time } }
  func onFetch(_ hook: @escaping @Sendable (FetchPlan) -> Void) { state.withLock { $0.onFetch = hook } }
  var fetchCount: Int { state.withLock { $0.fetchCount } }
}
