import ChangeDetails
import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoClient

@Suite(.timeLimit(.minutes(10))) struct CollectionChangesTests {
  private static func albums(_ titles: [Int: String]) -> [AssetCollection] {
    titles.sorted { $0.value < $1.value }.map { id, title in
      AssetCollection(id: CollectionID(rawValue: Int64(id)), kind: .album, title: title, count: id)
    }
  }

  private static func list(_ collections: [AssetCollection], _ token: String) -> CollectionObservation {
    CollectionObservation(
      token: token, count: collections.count, digest: ListDigest(of: collections.map(\.id.element)).description,
      offset: 0, collections: collections, complete: true)
  }

  /// photod names an album whose cover has another picture, and the album is as before.
  @Test func aCoverWithAnotherPictureIsAChange() async throws {
    let albums = Self.albums([1: "a", 2: "b"])
    let answers: [String: ScriptedDaemon.Answer] = [
      "FetchCollections": { try await $0.reply(CollectionPage(token: "l.1.1", collections: albums)) },
      "ObserveCollections": { call in
        try await call.replyContinuing(Self.list(albums, "l.1.1"))
        try await call.replyContinuing(
          CollectionObservation(
            token: "l.1.2", previousToken: "l.1.1", count: 2,
            digest: ListDigest(of: albums.map(\.id.element)).description,
            details: FetchResultChangeDetails(
              countBefore: 2, countAfter: 2, changedBefore: [IndexRange(start: 1, count: 1)],
              changedAfter: [IndexRange(start: 1, count: 1)], changedFields: ["keyAsset"]),
            inserted: [], updated: [albums[1]], deleted: []))
        try await Task.sleep(for: .seconds(3_600))
      },
    ]
    try await ScriptedDaemon.with(answers) { daemon in
      let result = try await daemon.library().fetchAssetCollections()
      var changes = daemon.library().changes(for: [result]).makeAsyncIterator()
      let details = try #require(await changes.next()?.details(for: result))
      #expect(details.changedObjects.map(\.id) == [2] && details.details.changedFields == ["keyAsset"])
    }
  }

  /// After a lost connection, the list comes whole. The app gets the difference nevertheless.
  @Test func aListThatComesWholeIsADifference() async throws {
    let before = Self.albums([1: "a", 2: "b", 3: "c"])
    let after = Self.albums([1: "x", 2: "b", 4: "d"])
    let answers: [String: ScriptedDaemon.Answer] = [
      "FetchCollections": { try await $0.reply(CollectionPage(token: "l.1.1", collections: before)) },
      "ObserveCollections": { call in
        try await call.replyContinuing(Self.list(after, "l.1.3"))
        var renamed = after[0]
        renamed.count = 77
        try await call.replyContinuing(
          CollectionObservation(
            token: "l.1.4", previousToken: "l.1.3", count: 3,
            digest: ListDigest(of: after.map(\.id.element)).description,
            details: FetchResultChangeDetails(
              countBefore: 3, countAfter: 3, changedBefore: [IndexRange(start: 0, count: 1)],
              changedAfter: [IndexRange(start: 0, count: 1)], changedFields: ["count"]),
            inserted: [], updated: [renamed], deleted: []))
        try await Task.sleep(for: .seconds(3_600))
      },
    ]
    try await ScriptedDaemon.with(answers) { daemon in
      let result = try await daemon.library().fetchAssetCollections()
      var changes = daemon.library().changes(for: [result]).makeAsyncIterator()
      let details = try #require(await changes.next()?.details(for: result))
      #expect(details.before.map(\.id) == [1, 2, 3] && details.after.map(\.id) == [2, 4, 1])
      #expect(details.removedObjects.map(\.id) == [3] && details.insertedObjects.map(\.id) == [4])
      #expect(details.changedObjects.map(\.title) == ["x"] && details.hasMoves)
      #expect(
        details.details.changedFields == ["title"] && details.details.deletedBefore == details.details.removedBefore)
      let change = try #require(await changes.next())
      let next = try #require(change.details(for: details.after))
      #expect(next.changedObjects.map(\.count) == [77] && next.details.changedFields == ["count"] && !next.hasMoves)
      #expect(next.details.deletedBefore.isEmpty)
      // An app that skipped the first change gets both.
      let both = try #require(change.details(for: result))
      #expect(both.removedObjects.map(\.id) == [3] && both.after.map(\.count) == next.after.map(\.count))
      #expect(change.details(for: next.after) == nil)
    }
  }

  /// While the connection was lost, covers got another picture. The albums are as before, and the whole list does not
  /// name them.
  @Test(arguments: [false, true], [false, true])
  func aCoverThatChangedBetweenTwoConnectionsIsAChange(isExpired: Bool, isOfAsset: Bool) async throws {
    var albums = Self.albums([1: "a", 2: "b", 3: "c", 4: "d"])
    for index in 0..<3 { albums[index].keyAssetID = AssetID(rawValue: Int64(10 + index)) }
    let since = Mutex<[String?]>([])
    let isLater = Mutex(false)
    let answers: [String: ScriptedDaemon.Answer] = [
      "FetchCollections": { [albums] call in
        try await call.reply(CollectionPage(token: isLater.withLock { $0 } ? "l.1.4" : "l.1.1", collections: albums))
      },
      "ObserveCollections": { [albums] call in
        isLater.withLock { $0 = true }
        try await call.replyContinuing(Self.list(albums, "l.1.4"))
        try await Task.sleep(for: .seconds(3_600))
      },
      "FetchPersistentChanges": { call in
        let request = try call.parameters(HistoryRequest.self)
        since.withLock { $0.append(request.since) }
        if isExpired {
          throw VarlinkError(
            "org.photod.library.ChangeTokenExpired", TokenError(message: "Too old.", currentToken: "l.1.4"))
        }
        func commit(_ number: Int, _ updated: [AssetID], _ fields: [String]) -> PersistentChange {
          PersistentChange(
            token: "l.1.\(number)", date: PhotoDate(microseconds: 0), origin: "watcher", updatedAssets: updated,
            changedFields: fields)
        }
        try await call.reply(
          HistoryPage(
            changes: [
              commit(2, [10], ["favorite"]), commit(3, [11, 77], ["content", "metadata"]), commit(5, [12], ["content"]),
            ], token: "l.1.5"))
      },
    ]
    try await ScriptedDaemon.with(answers) { daemon in
      let library = daemon.library()
      let result =
        isOfAsset
        ? try await library.fetchAssetCollections(containing: asset(10)) : try await library.fetchAssetCollections()
      var changes = library.changes(for: [result]).makeAsyncIterator()
      let details = try #require(await changes.next()?.details(for: result))
      #expect(details.changedObjects.map(\.id) == (isExpired ? [1, 2, 3] : [2]))
      #expect(details.details.changedFields == ["keyAsset"] && details.after.token == "l.1.4")
      #expect(since.withLock { $0 } == ["l.1.1"])
    }
  }

  /// An observation of a commit that changed albums of the list that follow each other, or none.
  private static func step(
    _ token: String, after previous: String, _ list: [AssetCollection], updated: [AssetCollection] = [],
    fields: [String] = []
  ) -> CollectionObservation {
    let start = updated.first.flatMap { album in list.firstIndex { $0.id == album.id } } ?? 0
    let ranges = [IndexRange(start: start, count: updated.count)]
    return CollectionObservation(
      token: token, previousToken: previous, count: list.count,
      digest: ListDigest(of: list.map(\.id.element)).description,
      details: updated.isEmpty
        ? nil
        : FetchResultChangeDetails(
          countBefore: list.count, countAfter: list.count, changedBefore: ranges, changedAfter: ranges,
          changedFields: fields),
      inserted: updated.isEmpty ? nil : [], updated: updated.isEmpty ? nil : updated,
      deleted: updated.isEmpty ? nil : [])
  }

  /// An album may lose one photo and get another with the same commit. Its title, count, dates and cover stay.
  @Test func anAlbumThatIsAsBeforeMayHaveLostTheAsset() async throws {
    let albums = Self.albums([1: "a", 2: "b"])
    var renamed = albums
    renamed[1].title = "c"
    let hasLost = Mutex(false)
    let wasFetched = PendingValue<Void>()
    let answers: [String: ScriptedDaemon.Answer] = [
      "FetchCollections": { call in
        guard hasLost.withLock({ $0 }) else {
          return try await call.reply(CollectionPage(token: "l.1.1", collections: [albums[0]]))
        }
        try await call.reply(CollectionPage(token: "l.1.2", collections: []))
        wasFetched.resolve(.success(()))
      },
      "ObserveCollections": { [renamed] call in
        try await call.replyContinuing(Self.list(albums, "l.1.1"))
        try await call.drained()
        hasLost.withLock { $0 = true }
        let givesTokens = try call.parameters(ObserveCollectionsRequest.self).unchanged == true
        if givesTokens {
          try await call.replyContinuing(Self.step("l.1.2", after: "l.1.1", albums))
          try await wasFetched.value()
        }
        try await call.replyContinuing(
          Self.step(
            "l.1.3", after: givesTokens ? "l.1.2" : "l.1.1", renamed, updated: [renamed[1]], fields: ["title"]))
        try await Task.sleep(for: .seconds(3_600))
      },
    ]
    try await ScriptedDaemon.with(answers) { daemon in
      let result = try await daemon.library().fetchAssetCollections(containing: asset(1))
      #expect(result.map(\.id) == [1])
      var changes = daemon.library().changes(for: [result]).makeAsyncIterator()
      let change = try #require(await changes.next())
      #expect(change.token == "l.1.2")
      #expect(change.details(for: result)?.removedObjects.map(\.id) == [1])
    }
  }

  /// photod commits between an observation and the fetch that follows it.
  ///
  /// - Parameter isMerged: whether the commit of the fetch has no observation of its own.
  @Test(arguments: [false, true]) func aFetchThatIsLaterThanItsObservationGivesItsToken(isMerged: Bool) async throws {
    let albums = Self.albums([1: "a", 2: "b"])
    let (renamed, again) = (Self.albums([1: "a2", 2: "b"]), Self.albums([1: "a3", 2: "b"]))
    let fetches = Mutex([
      CollectionPage(token: "l.1.1", collections: [albums[0]]),
      CollectionPage(token: "l.1.1", collections: [albums[0]]),
      CollectionPage(token: "l.1.3", collections: renamed),
      CollectionPage(token: "l.1.4", collections: again),
    ])
    let answers: [String: ScriptedDaemon.Answer] = [
      "FetchCollections": { call in
        try await call.reply(fetches.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })
      },
      "ObserveCollections": { call in
        try await call.replyContinuing(Self.list(albums, "l.1.1"))
        try await call.replyContinuing(
          Self.step("l.1.2", after: "l.1.1", renamed, updated: [renamed[0]], fields: ["title"]))
        if !isMerged {
          try await call.replyContinuing(
            Self.step("l.1.3", after: "l.1.2", renamed, updated: [renamed[1]], fields: ["keyAsset"]))
        }
        try await call.replyContinuing(
          Self.step(
            "l.1.4", after: isMerged ? "l.1.2" : "l.1.3", again, updated: isMerged ? again : [again[0]],
            fields: ["title"]))
        try await Task.sleep(for: .seconds(3_600))
      },
    ]
    try await ScriptedDaemon.with(answers) { daemon in
      let result = try await daemon.library().fetchAssetCollections(containing: asset(1))
      var changes = daemon.library().changes(for: [result]).makeAsyncIterator()
      let first = try #require(await changes.next())
      #expect(first.token == "l.1.3")
      let details = try #require(first.details(for: result))
      #expect(details.insertedObjects.map(\.id) == [2] && details.changedObjects.map(\.title) == ["a2"])
      let second = try #require(await changes.next())
      #expect(second.token == "l.1.4")
      let next = try #require(second.details(for: details.after))
      // The album with another cover picture is named with the last of the merged commits.
      #expect(next.changedObjects.map(\.title) == (isMerged ? ["a3", "b"] : ["a3"]))
    }
  }
}
