import ChangeDetails
import Glibc
import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoClient

/// The changes of observed results, from a scripted photod.
@Suite(.timeLimit(.minutes(10))) struct ChangesTests {
  @Test func aChangeLeadsFromTheResultToTheNextOne() async throws {
    let list = ScriptedList([1, 2, 3, 4, 5])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let library = daemon.library()
      var result = try await library.fetchAssets()
      let held = try #require(try await result[2])
      let deleted = try #require(try await result[1])
      let kept = try #require(try await result[0])
      var changes = library.changes(for: [result]).makeAsyncIterator()
      // 2 is deleted, 9 comes, 5 moves, and 3 changes.
      list.change(to: [1, 5, 9, 3, 4], changed: [3, 5], deleted: [2])
      let change = try #require(await changes.next())
      #expect(change.token == "l.1.2" && change.origin == "watcher")
      let details = try #require(change.details(for: result))
      #expect(details.before == result && details.hasIncrementalChanges && details.reloadReason == nil)
      #expect(try await details.after.ids == [1, 5, 9, 3, 4])
      #expect(details.removedIDs == [2] && details.deletedIDs == [2] && details.insertedIDs == [9])
      #expect(Array(details.removedIndexes.ranges) == [1..<2] && Array(details.insertedIndexes.ranges) == [2..<3])
      #expect(details.changedIDs == [5, 3] && details.hasMoves)
      var moves: [[Int]] = []
      details.enumerateMoves { moves.append([$0, $1]) }
      #expect(moves == [[4, 1]])
      #expect(try await details.changedObjects().map { $0?.revision } == ["2", "2"])
      #expect(try await details.insertedObjects().map { $0?.id } == [9])
      #expect(try await details.removedObjects() == [nil])

      let object = try #require(try await change.details(for: held))
      #expect(object.assetContentChanged && !object.objectWasDeleted && object.after?.id == 3)
      let gone = try #require(try await change.details(for: deleted))
      #expect(gone.objectWasDeleted && !gone.assetContentChanged && gone.after == nil)
      #expect(try await change.details(for: kept) == nil)

      result = details.after
      #expect(change.details(for: result) == nil)
      list.change(to: [5, 9, 3, 4])
      let next = try #require(await changes.next()?.details(for: result))
      #expect(next.before == result && next.removedIDs == [1] && next.deletedIDs.isEmpty)
    }
  }

  @Test func detailsForAnOlderResultAreExact() async throws {
    for seed in 1...20 {
      var random = SeededGenerator(seed: UInt64(seed))
      let list = ScriptedList(Array(1...30))
      let results = Mutex<[(FetchResult, [AssetID])]>([])
      let seedOfChanges = random.next()
      try await ScriptedDaemon.with(list.answers) { daemon in
        var random = SeededGenerator(seed: seedOfChanges)
        let first = try await daemon.library().fetchAssets()
        results.withLock { $0 = [(first, Array(1...30))] }
        var changes = daemon.library().changes(for: [first]).makeAsyncIterator()
        // The options of both libraries are equal, but the results are not related.
        let foreign = try await daemon.library().fetchAssets()
        var nextID: AssetID = 100
        var changedByCommit: [Set<AssetID>] = []
        for _ in 0..<6 {
          var after = list.state.withLock { $0.ids }.filter { _ in Int.random(in: 0..<6, using: &random) > 0 }
          after.insert(nextID, at: Int.random(in: 0...after.count, using: &random))
          nextID = AssetID(rawValue: nextID.rawValue + 1)
          if let back = (AssetID(1)...30).randomElement(using: &random), !after.contains(back) { after.append(back) }
          if after.count > 2 { after.append(after.remove(at: 1)) }
          let changed = Set([after[0], after[after.count / 2], after[after.count - 1]])
          changedByCommit.append(changed)
          list.change(to: after, changed: changed)
          let change = try #require(await changes.next())
          #expect(change.details(for: foreign) == nil)
          let steps = results.withLock { $0 }
          for (place, (result, ids)) in steps.enumerated() {
            let details = try #require(change.details(for: result), "seed \(seed), result \(place)")
            let contract = try #require(details.details)
            #expect(details.before == result)
            #expect(try contract.applied(to: ids) == after)
            // Each asset that a commit since the result changed, and that stayed, is named.
            let changedSince = changedByCommit[place...].reduce(into: Set()) { $0.formUnion($1) }
            #expect(changedSince.intersection(ids).intersection(after).isSubset(of: details.changedIDs))
          }
          let last = try #require(steps.last)
          let following = try #require(change.details(for: last.0)?.after)
          results.withLock { $0.append((following, after)) }
        }
      }
    }
  }

  @Test func anAppThatSkippedTooManyChangesReloads() async throws {
    let list = ScriptedList([1, 2])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let first = try await daemon.library().fetchAssets()
      var held = first
      var changes = daemon.library().changes(for: [first]).makeAsyncIterator()
      var last: Change?
      for number in 0..<80 {
        list.change(to: number % 2 == 0 ? [2, 1] : [1, 2], changed: [1])
        let change: Change = try #require(await changes.next())
        held = try #require(change.details(for: held)?.after)
        last = change
      }
      let details = try #require(last?.details(for: first))
      #expect(details.reloadReason == .tooManySkipped && details.before == first && details.after == held)
    }
  }

  @Test func anAssetThatLeftAListWithoutBeingDeletedHasDetails() async throws {
    let list = ScriptedList([1, 2])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let held = try #require(try await result[1])
      var changes = daemon.library().changes(for: [result]).makeAsyncIterator()
      list.change(to: [1], changed: [2])
      let change = try #require(await changes.next())
      let object = try #require(try await change.details(for: held))
      #expect(object.after?.revision == "2" && !object.objectWasDeleted)
    }
  }

  @Test func anAssetHasDetailsAfterSkippedChanges() async throws {
    let list = ScriptedList([1, 2, 3])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let held = try await result.objects(at: 0..<3).map { try #require($0) }
      var changes = daemon.library().changes(for: [result]).makeAsyncIterator()
      list.change(to: [1, 3], changed: [1], deleted: [2])
      _ = try #require(await changes.next())
      list.change(to: [1, 3], changed: [3])
      let change = try #require(await changes.next())
      #expect(try await change.details(for: held[0])?.after?.revision == "2")
      #expect(try await change.details(for: held[1])?.objectWasDeleted == true)
      #expect(try await change.details(for: held[2])?.after?.revision == "2")
      // The app has the asset as it is now.
      let present = try #require(try await change.details(for: held[0])?.after)
      #expect(try await change.details(for: present) == nil)
    }
  }

  /// The ids of the result never arrive, so the change does not show which assets the list had.
  @Test func anAssetOfAListWithoutAllIDsHasDetails() async throws {
    let list = ScriptedList([1, 2], firstPage: 1)
    try await ScriptedDaemon.with(list.answers) { daemon in
      let library = daemon.library()
      let result = try await library.fetchAssets()
      let held = try #require(try await library.assets([1]).first)
      var changes = library.changes(for: [result]).makeAsyncIterator()
      list.change(to: [3], changed: [1])
      list.restOfIDs.resolve(
        .failure(VarlinkError("org.photod.library.LibraryUnavailable", MessageError(message: "photod is stopping."))))
      let change = try #require(await changes.next())
      #expect(change.details(for: result)?.reloadReason == .tokenExpired)
      #expect(try await change.details(for: held)?.after?.revision == "2")
    }
  }

  /// A photod with two lists.
  private static func answers(
    _ all: ScriptedList, favorites: ScriptedList
  ) -> [String: ScriptedDaemon.Answer] {
    let list: @Sendable (FetchOptions?) -> ScriptedList = { $0?.collection == nil ? all : favorites }
    return [
      "FetchIDs": { try await list($0.parameters(FetchIDsRequest.self).options).answers["FetchIDs"]?($0) },
      "Observe": { try await list($0.parameters(ObserveRequest.self).options).answers["Observe"]?($0) },
      "GetAssets": { try await all.answers["GetAssets"]?($0) },
    ]
  }

  private static let favorites = FetchOptions(collection: "smart:favorites")

  /// One of the lists takes far longer than the other, in both orders.
  @Test(arguments: [false, true])
  func changesOfOneCommitComeTogetherHoweverLateOneOfThemIs(isFirstLate: Bool) async throws {
    let late = Duration.milliseconds(300)
    let all = ScriptedList([1, 2, 3], delay: isFirstLate ? late : .zero)
    let favorites = ScriptedList([2], delay: isFirstLate ? .zero : late)
    try await ScriptedDaemon.with(Self.answers(all, favorites: favorites)) { daemon in
      let library = daemon.library()
      var shown = try await library.fetchAssets()
      var shownFavorites = try await library.fetchAssets(with: Self.favorites)
      var changes = library.changes(for: [shown, shownFavorites]).makeAsyncIterator()
      for round in 2...4 {
        all.change(to: [1, 2, 3], changed: [3])
        favorites.change(to: round % 2 == 0 ? [2, 3] : [2])
        let change = try #require(await changes.next())
        #expect(change.token == "l.1.\(round)")
        shown = try #require(change.details(for: shown)?.after)
        shownFavorites = try #require(change.details(for: shownFavorites)?.after)
      }
      // A commit that leaves one of the lists as it was is a change of the other one alone.
      favorites.change(to: [2, 3])
      all.change(to: [1, 2])
      let change = try #require(await changes.next())
      #expect(change.token == "l.1.5" && change.details(for: shownFavorites) == nil)
      #expect(try await change.details(for: shown)?.after.ids == [1, 2])
    }
  }

  @Test func onlyAnotherContentIsAChangeOfTheContent() {
    let before = asset(7)
    var (edited, rewritten) = (before, before)
    edited.isFavorite = true
    rewritten.revision = "2"
    #expect(!ObjectChangeDetails(before: before, after: edited).assetContentChanged)
    #expect(ObjectChangeDetails(before: before, after: rewritten).assetContentChanged)
    let deleted = ObjectChangeDetails(before: before, after: nil)
    #expect(deleted.objectWasDeleted && !deleted.assetContentChanged)
  }

  /// An earlier version of photod does not know the option of Observe by which a client knows that a list did not
  /// change.
  @Test func changesComeFromAnEarlierVersionOfPhotod() async throws {
    let (all, favorites) = (ScriptedList([1, 2, 3]), ScriptedList([2]))
    var answers = Self.answers(all, favorites: favorites)
    let observe = try #require(answers["Observe"])
    let isUpgraded = Atomic(false)
    let upgrade = PendingValue<Void>()
    let plainCount = Atomic(0)
    let optionCount = Atomic(0)
    answers["Observe"] = { call in
      let hasOption = try call.parameters(ObserveRequest.self).unchanged != nil
      if isUpgraded.load(ordering: .sequentiallyConsistent) {
        if hasOption { optionCount.add(1, ordering: .relaxed) }
        return try await observe(call)
      }
      if hasOption { throw VarlinkError.invalidParameter("unchanged") }
      plainCount.add(1, ordering: .relaxed)
      try await withThrowingTaskGroup { group in
        group.addTask { try await observe(call) }
        group.addTask {
          try await upgrade.value()
          throw VarlinkError("org.photod.library.LibraryUnavailable", MessageError(message: "photod is stopping."))
        }
        try await group.next()
      }
    }
    try await ScriptedDaemon.with(answers) { daemon in
      let library = daemon.library()
      let results = [try await library.fetchAssets(), try await library.fetchAssets(with: Self.favorites)]
      var changes = library.changes(for: results).makeAsyncIterator()
      all.change(to: [1, 2])
      let change = try #require(await changes.next())
      #expect(try await change.details(for: results[0])?.after.ids == [1, 2])
      #expect(change.details(for: results[1]) == nil)
      try await eventually("both lists are observed without the option") { plainCount.load(ordering: .relaxed) == 2 }
      // photod is upgraded. From then on, the option is used.
      isUpgraded.store(true, ordering: .sequentiallyConsistent)
      upgrade.resolve(.success(()))
      try await eventually("both lists are observed with the option") { optionCount.load(ordering: .relaxed) == 2 }
    }
  }

  /// photod refuses one of the lists. The other one has changes nevertheless.
  @Test func aRefusedListDelaysNoOther() async throws {
    let (all, favorites) = (ScriptedList([1, 2, 3]), ScriptedList([]))
    var answers = Self.answers(all, favorites: favorites)
    let observe = try #require(answers["Observe"])
    answers["Observe"] = { call in
      if try call.parameters(ObserveRequest.self).options?.collection != nil {
        throw VarlinkError("org.photod.library.SnapshotExpired", MessageError(message: "Too many lists. Close some."))
      }
      try await observe(call)
    }
    try await ScriptedDaemon.with(answers) { daemon in
      let library = daemon.library()
      let results = [try await library.fetchAssets(), try await library.fetchAssets(with: Self.favorites)]
      var changes = library.changes(for: results).makeAsyncIterator()
      all.change(to: [1, 2])
      let change = try #require(await changes.next())
      #expect(try await change.details(for: results[0])?.after.ids == [1, 2])
    }
  }

  /// A problem is reported while the loop waits, so none is reported after it has ended, nor is a report running then.
  @Test func noProblemIsReportedAfterTheLoopHasEnded() async throws {
    var answers = ScriptedList([1]).answers
    answers["Observe"] = { _ in
      throw VarlinkError(
        "org.photod.library.NoSuchCollection", NoSuchCollectionError(collection: "id:42", similar: []))
    }
    try await ScriptedDaemon.with(answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      for _ in 0..<50 {
        let loop = ReportedLoop()
        let task = Task {
          for await _ in daemon.library().changes(for: [result], onProblem: { _ in loop.report() }) {}
          loop.hasEnded.store(true, ordering: .sequentiallyConsistent)
        }
        try await loop.reported.value()
        task.cancel()
        await task.value
        #expect(loop.lateCount.load(ordering: .relaxed) == 0)
      }
    }
  }

  /// A loop over changes, and the reports of problems that ran after its end.
  private final class ReportedLoop: Sendable {
    let reported = PendingValue<Void>()
    let hasEnded = Atomic(false)
    let lateCount = Atomic(0)

    func report() {
      reported.resolve(.success(()))
      for _ in 0..<5_000 { sched_yield() }
      if hasEnded.load(ordering: .sequentiallyConsistent) { lateCount.add(1, ordering: .relaxed) }
    }
  }

  @Test func changesComeInTheirOrder() async throws {
    let (all, favorites) = (ScriptedList([1, 2, 3]), ScriptedList([2]))
    let answers = Self.answers(all, favorites: favorites)
    try await ScriptedDaemon.with(answers) { daemon in
      let library = daemon.library()
      let first = try await library.fetchAssets()
      let second = try await library.fetchAssets(with: FetchOptions(collection: "smart:favorites"))
      var changes = library.changes(for: [first, second]).makeAsyncIterator()
      var (shown, shownFavorites) = (first, second)
      all.change(to: [1, 2, 3], changed: [3])
      favorites.change(to: [2, 3])
      var tokens: [String] = []
      for round in 0..<2 {
        if round == 1 {
          favorites.change(to: [3])
          all.change(to: [1, 2, 3], changed: [2])
        }
        let goal: [AssetID] = round == 0 ? [2, 3] : [3]
        while shown.token != "l.1.\(round + 2)" || shownFavorites.token != "l.1.\(round + 2)" {
          let change = try #require(await changes.next())
          tokens.append(change.token)
          if let details = change.details(for: shown) {
            #expect(details.before == shown && details.after.token == change.token)
            shown = details.after
          }
          if let details = change.details(for: shownFavorites) {
            #expect(details.before == shownFavorites && details.after.token == change.token)
            shownFavorites = details.after
          }
        }
        #expect(try await shownFavorites.ids == goal)
      }
      #expect(tokens == ["l.1.2", "l.1.3"])
    }
  }

  @Test func aSlowReaderGetsTheLastState() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      var result = try await daemon.library().fetchAssets()
      var changes = daemon.library().changes(for: [result]).makeAsyncIterator()
      // The first commit is a change of its own. The others are made while the reader is busy with it.
      list.change(to: [1, 2])
      try await eventually("the daemon has sent the first change") { list.sentCount == 1 }
      for id in 3...200 { list.change(to: Array(1...AssetID(rawValue: Int64(id))), isSeen: id == 200) }
      var count = 0
      while result.count < 200 {
        let details = try #require(await changes.next()?.details(for: result))
        #expect(details.before == result)
        result = details.after
        count += 1
      }
      #expect(count == 2)
      #expect(try await result.ids == Array(1...200))
    }
  }

  /// Observes one list by scripted replies to Observe.
  private func changes(
    of ids: [AssetID], observe: @escaping ScriptedDaemon.Answer,
    _ body: @Sendable (FetchResult, LibraryChanges) async throws -> Void
  ) async throws {
    var answers = ScriptedList(ids).answers
    answers["Observe"] = observe
    try await ScriptedDaemon.with(answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      try await body(result, daemon.library().changes(for: [result]))
    }
  }

  private static func list(
    _ ids: [AssetID], _ token: String, reload: Observation.Reload? = nil, isDeleted: Bool = false
  ) -> ObserveReply {
    ObserveReply(
      observation: Observation(
        token: token, count: ids.count, digest: ListDigest(of: ids).description, offset: 0, ids: ids, complete: true,
        reload: reload, collectionDeleted: isDeleted ? true : nil))
  }

  private static let forever: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(3_600)) }

  @Test(arguments: Observation.Reload.allCases)
  func aReloadIsNoIncrementalChange(reload: Observation.Reload) async throws {
    guard reload != .notWanted else { return }
    let observe: ScriptedDaemon.Answer = { call in
      try await call.replyContinuing(Self.list([7, 8, 9], "l.1.4", reload: reload))
      try await Self.forever()
    }
    try await changes(of: [1, 2], observe: observe) { result, changes in
      var iterator = changes.makeAsyncIterator()
      let change = try #require(await iterator.next())
      let details = try #require(change.details(for: result))
      #expect(!details.hasIncrementalChanges && details.reloadReason == .init(reload))
      #expect(details.removedIndexes.isEmpty && !details.hasMoves && details.insertedIDs.isEmpty)
      #expect(try await details.after.ids == [7, 8, 9])
    }
  }

  /// After a restart, photod does not have the list at the token. It needs the ids, which are sent only then.
  @Test func aLongListIsSentOnlyIfPhotodNeedsIt() async throws {
    let ids = Array(AssetID(1)...20_000)
    let sent = Mutex<[Int?]>([])
    let observe: ScriptedDaemon.Answer = { call in
      let request = try call.parameters(ObserveRequest.self)
      sent.withLock { $0.append(request.sinceIDs?.count) }
      #expect(request.since == "l.1.1" && request.sinceDigest == ListDigest(of: ids).description)
      let after = Array(ids.dropLast())
      if request.sinceIDs == nil {
        try await call.replyContinuing(Self.list(after, "l.1.4", reload: .tokenExpired))
      } else {
        try await call.replyContinuing(
          ObserveReply(
            observation: Observation(
              token: "l.1.4", previousToken: "l.1.1", count: after.count, digest: ListDigest(of: after).description,
              details: FetchResultChangeDetails(
                countBefore: ids.count, countAfter: after.count,
                removedBefore: [IndexRange(start: after.count, count: 1)]))))
      }
      try await Self.forever()
    }
    try await changes(of: ids, observe: observe) { result, changes in
      var iterator = changes.makeAsyncIterator()
      let details = try #require(await iterator.next()?.details(for: result))
      #expect(details.hasIncrementalChanges && details.removedIDs == [20_000])
      #expect(sent.withLock { $0 } == [nil, 20_000])
    }
  }

  /// The connection is lost in the middle of the new list. Then photod knows the list before again.
  @Test func aReloadThatBreaksOffIsForgotten() async throws {
    let calls = Atomic(0)
    let observe: ScriptedDaemon.Answer = { call in
      if calls.add(1, ordering: .relaxed).newValue == 1 {
        let digest = ListDigest(of: [7, 8, 9]).description
        try await call.replyContinuing(
          ObserveReply(
            observation: Observation(
              token: "l.1.2", count: 3, digest: digest, offset: 0, ids: [7], reload: .tooManyChanges)))
        throw VarlinkError("org.photod.library.LibraryUnavailable", MessageError(message: "photod is stopping."))
      }
      #expect(try call.parameters(ObserveRequest.self).sinceIDs == [1, 2])
      try await call.replyContinuing(
        ObserveReply(
          observation: Observation(
            token: "l.1.3", previousToken: "l.1.1", count: 1, digest: ListDigest(of: [2]).description,
            details: FetchResultChangeDetails(
              countBefore: 2, countAfter: 1, removedBefore: [IndexRange(start: 0, count: 1)]))))
      try await Self.forever()
    }
    try await changes(of: [1, 2], observe: observe) { result, changes in
      var iterator = changes.makeAsyncIterator()
      let details = try #require(await iterator.next()?.details(for: result))
      #expect(details.hasIncrementalChanges && details.removedIDs == [1])
    }
  }

  @Test func aListThatDiffersFromThatOfPhotodIsReloaded() async throws {
    let calls = Atomic(0)
    let observe: ScriptedDaemon.Answer = { call in
      if calls.add(1, ordering: .relaxed).newValue == 1 {
        try await call.replyContinuing(
          ObserveReply(
            observation: Observation(
              token: "l.1.2", previousToken: "l.1.1", count: 1, digest: "00036800000ae692",
              details: FetchResultChangeDetails(
                countBefore: 2, countAfter: 1, removedBefore: [IndexRange(start: 0, count: 1)]))))
      } else {
        #expect(try call.parameters(ObserveRequest.self).since == nil)
        try await call.replyContinuing(Self.list([2, 3], "l.1.3"))
      }
      try await Self.forever()
    }
    try await changes(of: [1, 2], observe: observe) { result, changes in
      var iterator = changes.makeAsyncIterator()
      let details = try #require(await iterator.next()?.details(for: result))
      #expect(details.reloadReason == .digestMismatch)
      #expect(try await details.after.ids == [2, 3])
    }
  }

  @Test(arguments: [false, true])
  func aListWithoutItsAlbumOrAccessIsEmptyUntilItIsBack(isDenied: Bool) async throws {
    let isBack = Mutex(false)
    let problems = Mutex<[PhotoLibraryError]>([])
    var answers = ScriptedList([1, 2]).answers
    answers["Observe"] = { call in
      if isBack.withLock({ $0 }) {
        try await call.replyContinuing(Self.list([2], "l.1.5"))
        try await Self.forever()
      }
      throw isDenied
        ? VarlinkError(
          "org.photod.library.NotAuthorized", AuthorizationError(status: "denied", message: "No access. Ask for it."))
        : VarlinkError(
          "org.photod.library.NoSuchCollection", NoSuchCollectionError(collection: "album:A", similar: []))
    }
    answers["Status"] = { call in
      try await call.reply(
        StatusReply(
          status: LibraryStatus(
            state: .live, library: "l", token: "l.1.4", version: "1", assetCount: 2, roots: [])))
    }
    try await ScriptedDaemon.with(answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      var changes = daemon.library().changes(for: [result]) { problem in problems.withLock { $0.append(problem) } }
        .makeAsyncIterator()
      let details = try #require(await changes.next()?.details(for: result))
      #expect(details.after.isEmpty && details.reloadReason == (isDenied ? .accessChanged : .collectionDeleted))
      #expect(details.isCollectionDeleted == !isDenied)
      // Another list may have had a change to the commit that deleted the album.
      #expect(details.after.token == (isDenied ? "l.1.1" : "l.1.4"))
      isBack.withLock { $0 = true }
      let back = try #require(await changes.next()?.details(for: details.after))
      #expect(back.reloadReason == details.reloadReason && !back.isCollectionDeleted)
      #expect(try await back.after.ids == [2])
      #expect(problems.withLock { !$0.isEmpty })
    }
  }

  /// photod says on each connection that the album is deleted. The app gets one change.
  @Test(arguments: [[1, 2], []] as [[AssetID]]) func theListOfADeletedAlbumSaysSoOnce(ids: [AssetID]) async throws {
    let calls = Mutex(0)
    var answers = ScriptedList(ids).answers
    answers["Observe"] = { call in
      let number = calls.withLock { calls in
        calls += 1
        return calls
      }
      try await call.replyContinuing(Self.list([], "l.1.\(number + 1)", reload: .tokenExpired, isDeleted: true))
      if number < 3 {
        throw VarlinkError("org.photod.library.LibraryUnavailable", MessageError(message: "photod is stopping."))
      }
      // The deletion is undone.
      try await call.replyContinuing(
        ObserveReply(
          observation: Observation(
            token: "l.1.5", previousToken: "l.1.4", count: 1, digest: ListDigest(of: [7]).description,
            details: FetchResultChangeDetails(
              countBefore: 0, countAfter: 1, insertedAfter: [IndexRange(start: 0, count: 1)], insertedIDs: [7]))))
      try await Self.forever()
    }
    try await ScriptedDaemon.with(answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      var changes = daemon.library().changes(for: [result]).makeAsyncIterator()
      let details = try #require(await changes.next()?.details(for: result))
      #expect(details.isCollectionDeleted && details.after.isEmpty && details.after.token == "l.1.2")
      let back = try #require(await changes.next()?.details(for: details.after))
      #expect(!back.isCollectionDeleted && back.insertedIDs == [7] && back.after.token == "l.1.5")
    }
  }

  /// The list is the same, but the app shows whether the album exists.
  @Test func anEmptyAlbumThatIsDeletedAndComesBackIsTwoChanges() async throws {
    var answers = ScriptedList([]).answers
    answers["Observe"] = { call in
      for (number, isDeleted) in [true, true, false, false].enumerated() {
        try await call.replyContinuing(
          ObserveReply(
            observation: Observation(
              token: "l.1.\(number + 2)", previousToken: "l.1.\(number + 1)", count: 0,
              digest: ListDigest().description, collectionDeleted: isDeleted ? true : nil)))
      }
      try await Self.forever()
    }
    try await ScriptedDaemon.with(answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      var changes = daemon.library().changes(for: [result]).makeAsyncIterator()
      let deleted = try #require(await changes.next()?.details(for: result))
      #expect(deleted.isCollectionDeleted && deleted.hasIncrementalChanges && deleted.after.token == "l.1.2")
      let back = try #require(await changes.next()?.details(for: deleted.after))
      #expect(!back.isCollectionDeleted && back.hasIncrementalChanges && back.after.token == "l.1.4")
      #expect(back.after.isEmpty)
    }
  }

  /// An album that is named by its title is back, and has no photos.
  @Test func anAlbumThatComesBackEmptyByItsTitleIsAChange() async throws {
    let isBack = Mutex(false)
    var answers = ScriptedList([1]).answers
    answers["Observe"] = { call in
      guard isBack.withLock({ $0 }) else {
        throw VarlinkError(
          "org.photod.library.NoSuchCollection", NoSuchCollectionError(collection: "album:A", similar: []))
      }
      try await call.replyContinuing(Self.list([], "l.1.5"))
      try await Self.forever()
    }
    answers["Status"] = { call in
      try await call.reply(
        StatusReply(
          status: LibraryStatus(state: .live, library: "l", token: "l.1.4", version: "1", assetCount: 1, roots: [])))
    }
    try await ScriptedDaemon.with(answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      var changes = daemon.library().changes(for: [result]).makeAsyncIterator()
      let deleted = try #require(await changes.next()?.details(for: result))
      #expect(deleted.isCollectionDeleted && deleted.after.isEmpty)
      isBack.withLock { $0 = true }
      let back = try #require(await changes.next()?.details(for: deleted.after))
      #expect(!back.isCollectionDeleted && back.after.isEmpty && back.after.token == "l.1.5")
    }
  }

  /// Follows a result, and returns the length of the list after each change.
  private static func counts(
    after first: FetchResult, of library: PhotoLibrary
  ) -> (AsyncStream<Int>, following: Task<Void, Never>) {
    let (states, reached) = AsyncStream.makeStream(of: Int.self)
    let following = Task {
      var result = first
      for await change in library.changes(for: [first]) {
        guard let details = change.details(for: result) else { continue }
        #expect(details.before == result && details.hasIncrementalChanges)
        result = details.after
        reached.yield(result.count)
      }
      reached.finish()
    }
    return (states, following)
  }

  @Test func aLostConnectionContinuesFromTheLastState() async throws {
    let list = ScriptedList([1, 2, 3])
    try await withTemporaryDirectory { directory in
      let library = PhotoLibrary(socketPath: directory + "/photod.sock")
      let observed = Mutex<(AsyncStream<Int>, following: Task<Void, Never>)?>(nil)
      for round in 0..<4 {
        try await ScriptedDaemon.with(list.answers, in: directory) { _ in
          if round == 0 {
            let first = try await library.fetchAssets()
            observed.withLock { $0 = Self.counts(after: first, of: library) }
          } else {
            // Two commits came while photod did not run, and are one change.
            let counts = try #require(observed.withLock { $0?.0 })
            for await count in counts {
              #expect(count == 3 + round * 2)
              break
            }
          }
        }
        for number in 0..<2 {
          list.change(to: list.state.withLock { $0.ids } + [AssetID(rawValue: Int64(10 + round * 2 + number))])
        }
      }
      let (counts, following) = try #require(observed.withLock { $0 })
      following.cancel()
      for await count in counts { Issue.record("a change to \(count) after the cancellation") }
      #expect(list.state.withLock { $0.resumed.allSatisfy { $0 != nil } })
    }
  }

  @Test func aCancelledTaskGetsNothingMore() async throws {
    let list = ScriptedList([1])
    try await ScriptedDaemon.with(list.answers) { daemon in
      let result = try await daemon.library().fetchAssets()
      let (began, begin) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        var count = 0
        for await _ in daemon.library().changes(for: [result]) {
          count += 1
          begin.yield()
          // The task is cancelled here, and the next change has been made.
          while !Task.isCancelled { await Task.yield() }
        }
        return count
      }
      list.change(to: [1, 2])
      var iterator = began.makeAsyncIterator()
      await iterator.next()
      list.change(to: [1, 2, 3])
      task.cancel()
      #expect(await task.value == 1)
    }
  }
}
