import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoClient

@Suite(.timeLimit(.minutes(10))) struct FetchResultTests {
  private static let long = Array(AssetID(1)...1_000)

  @Test func theFirstPageIsThereWhileTheOtherIDsArrive() async throws {
    let list = ScriptedList(Self.long, firstPage: 200)
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      #expect(result.count == 1_000 && result.token == "l.1.1")
      #expect(try await result[0]?.id == 1)
      #expect(try await result.ids(at: 5..<8) == [6, 7, 8])
      let last = Task { try await result.lastObject?.id }
      let place = Task { try await result.index(of: 700) }
      let cancelled = Task { try await result.ids }
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      list.restOfIDs.resolve(.success(()))
      #expect(try await last.value == 1_000)
      #expect(try await place.value == 699)
      #expect(try await result.ids == Self.long)
      #expect(try await result.contains(1_001) == false)
    }
  }

  @Test func aPositionIsKnownAsSoonAsItsIDHasArrived() async throws {
    let list = ScriptedList(Self.long, firstPage: 200)
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let position = Mutex<Int?>(nil)
      let early = Task {
        let found = try await result.index(of: 150)
        position.withLock { $0 = found }
      }
      let missing = Task { try await result.index(of: 1_001) }
      let late = Task { try await result.index(of: 1_000) }
      try await eventually("the position is known", within: .seconds(60)) { position.withLock { $0 } == 149 }
      try await early.value
      list.restOfIDs.resolve(.success(()))
      #expect(try await late.value == 999)
      #expect(try await missing.value == nil)
    }
  }

  @Test func manyRequestsForAPageAreOneCall() async throws {
    let list = ScriptedList(Self.long, holdsAssets: true)
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      try await withThrowingTaskGroup(of: (Int, AssetID?).self) { group in
        for index in 300..<400 { group.addTask { (index, try await result[index]?.id) } }
        // One of them is cancelled. The others get their assets nevertheless.
        let cancelled = Task { try await result[350] }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        list.assets.resolve(.success(()))
        for try await (index, id) in group { #expect(id == AssetID(rawValue: Int64(index + 1))) }
      }
      #expect(list.batches.count { $0.contains(301) } == 1)
      #expect(list.batches.allSatisfy { $0.count <= AssetPages.pageSize })
    }
  }

  @Test func theNextPageInTheDirectionOfTheAccessesIsPrefetched() async throws {
    let list = ScriptedList(Self.long)
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      _ = try await result[550]
      try await eventually("the page after is loaded") { list.batches.contains { $0.first == 601 } }
      _ = try await result[450]
      try await eventually("the page before is loaded") { list.batches.contains { $0.first == 301 } }
      let count = list.batches.count
      _ = try await result[350]
      try await eventually("the page before that is loaded") { list.batches.contains { $0.first == 201 } }
      #expect(list.batches.count == count + 1)
    }
  }

  @Test func aRequestThatWasCancelledBeforeItsTurnIsNotSent() async throws {
    let list = ScriptedList(Self.long, holdsAssets: true)
    try await ScriptedDaemon.with(list.answers) { daemon in
      let pages = AssetPages(of: daemon.library())
      func page(_ number: Int) -> [AssetID] { Array(Self.long[number * 100..<number * 100 + 100]) }
      // These two calls run, and the next ones wait.
      let running = [0, 1].map { number in Task { try await pages.assets([page(number)[0]], page: page(number)) } }
      try await eventually("two calls run") { list.batches.count == 2 }
      let waiting = (2..<9).map { number in Task { try await pages.assets([page(number)[0]], page: page(number)) } }
      try await eventually("the others are queued") { pages.queuedCount == 7 }
      for task in waiting.dropLast() { task.cancel() }
      for task in waiting.dropLast() { await #expect(throws: CancellationError.self) { try await task.value } }
      list.assets.resolve(.success(()))
      for task in running { _ = try await task.value }
      #expect(try await waiting[6].value[0]?.id == 801)
      #expect(list.batches.count == 3)
    }
  }

  /// A load runs while a change brings one of its assets. The load has that asset as it was before.
  @Test func aLoadDoesNotReplaceAnAssetThatCameWithAChange() async throws {
    let list = ScriptedList(Self.long, holdsAssets: true)
    try await ScriptedDaemon.with(list.answers) { daemon in
      let pages = AssetPages(of: daemon.library())
      let page = Array(Self.long[..<100])
      let before = Task { try await pages.assets([42], page: page) }
      try await eventually("the page is being loaded") { list.batches.count == 1 }
      let other = Task { try await pages.assets([901], page: [901]) }
      var changed = asset(42)
      changed.revision = "2"
      pages.invalidate([42])
      pages.keep([changed])
      // Two calls run, so the load of the last asset is queued once this request has been noted.
      let after = Task { try await pages.assets(page + [101], page: page + [101]) }
      try await eventually("the request is queued") { pages.queuedCount == 1 }
      list.assets.resolve(.success(()))
      #expect(try await after.value.map { $0?.id } == page + [101])
      #expect(try await after.value[41]?.revision == "2")
      #expect(try await before.value[0]?.revision == "2")
      _ = try await other.value
    }
  }

  @Test func aLongRangeIsLoadedInParts() async throws {
    let ids = Array(AssetID(1)...10_050)
    let list = ScriptedList(ids)
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      #expect(try await result.objects(at: 50..<10_050).map { $0?.id } == Array(ids[50...]))
      #expect(list.batches.allSatisfy { $0.count <= AssetPages.pageSize })
    }
  }

  /// The cost of the queue grows with the square of its length.
  @Test func theObjectsOfALargeChangeAreLoadedInParts() async throws {
    let ids = Array(AssetID(1)...5_050)
    let list = ScriptedList(ids, holdsAssets: true)
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let details = FetchResultChangeDetails(
        countBefore: 0, countAfter: ids.count, insertedAfter: [IndexRange(start: 0, count: ids.count)], insertedIDs: ids
      )
      let change = FetchResultChange(
        from: result.following(with: [], token: "l.1.2"), to: result, .details(details), isCollectionDeleted: false)
      let objects = Task { try await change.insertedObjects() }
      try await eventually("the first assets are requested") { !list.batches.isEmpty }
      #expect(result.lineage.pages.queuedCount < AssetPages.mostAtOnce / AssetPages.pageSize)
      list.assets.resolve(.success(()))
      #expect(try await objects.value.map { $0?.id } == ids)
      #expect(list.batches.allSatisfy { $0.count <= AssetPages.pageSize })
    }
  }

  @Test func aDeletedAssetIsNilAndNoOtherTakesItsPlace() async throws {
    let list = ScriptedList([5, 6, 7])
    list.state.withLock { $0.missing = [6] }
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      #expect(try await result.objects(at: 0..<3).map { $0?.id } == [5, nil, 7])
      #expect(try await result[1] == nil)
      var found: [Int: AssetID] = [:]
      for try await (index, asset) in result.enumerate() { found[index] = asset.id }
      #expect(found == [0: 5, 2: 7])
      #expect(try await result.firstObject?.id == 5)
    }
  }

  /// The last position is the last one of its page, so the page after it is only prefetched.
  @Test func aRangeOfWholePagesLoadsNoFurtherPage() async throws {
    let list = ScriptedList(Array(1...1_000))
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      #expect(try await result.objects(at: 0..<300).count == 300)
      let pages = result.lineage.pages
      try await eventually("the next page is prefetched") { pages.queuedCount == 0 && pages.keptCount >= 400 }
      _ = try await result[950]
      #expect(Set(list.batches.flatMap(\.self)) == Set(Array(1...400) + Array(901...1_000)))
    }
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func loadedAssetsAreBounded() async throws {
    let ids = Array(AssetID(1)...20_000)
    let list = ScriptedList(ids)
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      for index in stride(from: 0, to: result.count, by: 50) {
        #expect(try await result[index]?.id == ids[index])
        #expect(result.lineage.pages.keptCount <= AssetPages.capacity)
      }
      // The pages that were used last are kept, so no page was loaded twice.
      #expect(list.batches.flatMap(\.self).count == ids.count)
      var count = 0
      for try await (index, asset) in result.enumerate(in: 1_000..<9_999) {
        #expect(asset.id == ids[index])
        count += 1
      }
      #expect(count == 8_999)
    }
  }

  @Test func anEmptyListHasNoObjects() async throws {
    try await ScriptedDaemon.with(ScriptedList([]).answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      #expect(result.isEmpty && result.indices.isEmpty)
      #expect(try await result.firstObject == nil)
      #expect(try await result.lastObject == nil)
      #expect(try await result.objects(at: 0..<0).isEmpty)
      for try await _ in result.enumerate() { Issue.record("an asset of an empty list") }
    }
  }

  /// Fetches a list whose connection is lost after the first page, and reads the rest from a daemon with another token.
  private func restAfterARestart(token: String) async throws -> [AssetID] {
    let rest = Mutex<[AssetID]>([])
    try await withTemporaryDirectory { directory in
      let library = PhotoLibrary(socketPath: directory + "/photod.sock")
      let lost = Mutex<FetchResult?>(nil)
      let first: ScriptedDaemon.Answer = { call in
        try await call.replyContinuing(AssetIDPage(token: "l.1.1", total: 3, offset: 0, ids: [1, 2]))
        throw VarlinkError("org.photod.library.LibraryUnavailable", MessageError(message: "photod is stopping."))
      }
      try await ScriptedDaemon.with(["FetchIDs": first], in: directory) { _ in
        let result = try await library.fetchAssets()
        lost.withLock { $0 = result }
        // Otherwise the access would give up after two seconds, as without any photod.
        let isKnown = library.hasBeenReached.load(ordering: .relaxed)
        #expect(isKnown)
      }
      let second: ScriptedDaemon.Answer = { call in
        try await call.reply(AssetIDPage(token: token, total: 3, offset: 0, ids: [1, 2, 3]))
      }
      try await ScriptedDaemon.with(["FetchIDs": second], in: directory) { _ in
        let result = try #require(lost.withLock { $0 })
        let ids = try await result.ids
        rest.withLock { $0 = ids }
      }
    }
    return rest.withLock { $0 }
  }

  @Test func idsContinueAfterALostConnectionIfTheListIsTheSame() async throws {
    #expect(try await restAfterARestart(token: "l.1.1") == [1, 2, 3])
    // Another list's ids would be at wrong places.
    await #expect(throws: PhotoLibraryError.self) { _ = try await restAfterARestart(token: "l.1.2") }
  }

  @Test func anAccessWaitsForARestart() async throws {
    try await withTemporaryDirectory { directory in
      let library = PhotoLibrary(socketPath: directory + "/photod.sock")
      let list = ScriptedList([1, 2, 3])
      let held = Mutex<FetchResult?>(nil)
      try await ScriptedDaemon.with(list.answers, in: directory) { _ in
        let result = try await library.fetchAssets()
        held.withLock { $0 = result }
      }
      let result = try #require(held.withLock { $0 })
      let access = Task { try await result[1]?.id }
      try await ScriptedDaemon.with(list.answers, in: directory) { _ in
        let id = try await access.value
        #expect(id == 2)
      }
    }
  }

  @Test func withoutPhotodAnAccessEndsWithAnError() async throws {
    try await withTemporaryDirectory { directory in
      let library = PhotoLibrary(socketPath: directory + "/photod.sock", patience: .milliseconds(100))
      let missing = PhotoLibraryError.unreachable(socketPath: library.socketPath, reason: "there is no socket")
      await #expect(throws: missing) { try await library.fetchAssets() }
    }
  }

  @Test func aLibraryThatNeverReachedPhotodSoonEndsWithAnError() async throws {
    try await withTemporaryDirectory { directory in
      let library = PhotoLibrary(socketPath: directory + "/photod.sock")
      let time = await ContinuousClock().measure {
        await #expect(throws: PhotoLibraryError.self) { try await library.fetchAssets() }
      }
      // A library that has reached photod before would wait for 30 s.
      #expect(time < .seconds(25))
    }
  }

  @Test func faultsOfAPredicateHaveTheirPositionAndCannotAvoidTheIDs() async throws {
    let answer: ScriptedDaemon.Answer = { call in
      let predicate = try call.parameters(FetchIDsRequest.self).options?.predicate
      #expect(predicate == "(title == ')' AND rating >) AND id IN {3}")
      throw VarlinkError(
        "org.photod.library.InvalidPredicate", PositionError(message: "a value is missing", position: 25))
    }
    try await ScriptedDaemon.with(["FetchIDs": answer]) { daemon in
      func error(_ predicate: String) async -> PhotoLibraryError? {
        await #expect(throws: PhotoLibraryError.self) {
          _ = try await daemon.library().fetchAssets(withIDs: [3], with: FetchOptions(predicate: predicate))
        }
      }
      #expect(
        await error("title == ')' AND rating >") == .invalidPredicate(message: "a value is missing", position: 24))
      let refused = PhotoLibraryError.invalidPredicate(message: "this ) closes no parenthesis", position: 10)
      #expect(await error("rating > 1) OR (rating < 3") == refused)
      #expect(
        await error(#"a == "\")") OR (b"#) == .invalidPredicate(message: "this ) closes no parenthesis", position: 10))
      #expect(daemon.calls == ["FetchIDs"])
    }
  }

  @Test func idsAreFetchedByAPredicateAndCollectionsByTheirNumber() async throws {
    let fetched = Mutex<[FetchOptions?]>([])
    let answer: ScriptedDaemon.Answer = { call in
      let options = try call.parameters(FetchIDsRequest.self).options
      fetched.withLock { $0.append(options) }
      try await call.reply(AssetIDPage(token: "l.1.1", total: 0, offset: 0, ids: []))
    }
    try await ScriptedDaemon.with(["FetchIDs": answer]) { daemon in
      let library = daemon.library()
      _ = try await library.fetchAssets(withIDs: [3, 9], with: FetchOptions(predicate: "rating > 1"))
      _ = try await library.fetchAssets(withIDs: [])
      let album = AssetCollection(id: 42, kind: .album, title: "Trip", count: 0)
      _ = try await library.fetchAssets(in: album, with: FetchOptions(fetchLimit: 3))
      #expect(
        fetched.withLock { $0 } == [
          FetchOptions(predicate: "(rating > 1) AND id IN {3, 9}", includeHidden: true, includeTrashed: true),
          FetchOptions(predicate: "FALSEPREDICATE", includeHidden: true, includeTrashed: true),
          FetchOptions(collection: "id:42", fetchLimit: 3),
        ])
    }
  }
}
