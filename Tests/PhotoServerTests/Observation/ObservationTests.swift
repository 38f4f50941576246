import ChangeDetails
import Foundation
import PhotoCatalog
import PhotoContract
import PhotoModel
import Testing

@testable import PhotoLive
@testable import PhotoServer

/// The observations that are sent when commits come between the steps.
@Suite struct ObservationTests {
  private func begun(_ fixture: ServerFixture, _ parameters: ObserveRequest) async throws -> [Observation] {
    var observation = try fixture.observation(parameters)
    var sent: [Observation] = []
    try await observation.begin { observation, _ in sent.append(observation) }
    return sent
  }

  @Test func anObservationContinuesFromATokenAheadOfTheFeed() async throws {
    let fixture = try ServerFixture()
    let first = try fixture.insert()
    _ = try await begun(fixture, ObserveRequest())
    let second = try fixture.insert(announced: false)
    let token = try fixture.token()
    // Only the token is given. Fetch may have returned it.
    let byToken = try await begun(fixture, ObserveRequest(since: token))
    #expect(byToken.count == 1 && byToken[0].reload == nil && byToken[0].ids == nil && byToken[0].token == token)
    let byList = try await begun(fixture, ObserveRequest(since: token, sinceIDs: second + first))
    #expect(byList.count == 1 && byList[0].reload == nil && byList[0].details == nil && byList[0].count == 2)
  }

  /// An observer gets exact details also when the query of the album changes.
  @Test func smartAlbumIsFollowedThroughItsQueries() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(40)
    var album: CollectionID = 0
    func edit(_ changes: [LibraryChange]) throws {
      try fixture.commit { writer in album = try writer.perform(changes).first ?? album }
    }
    try edit([.createSmartAlbum(title: "A", SmartAlbumQuery(predicate: "isFavorite == TRUE"), parent: nil)])
    let request = ObserveRequest(options: FetchOptions(collection: "id:\(album)"))
    var observation = try fixture.observation(request)
    var other = try fixture.observation(request)
    var (list, sent): ([AssetID], [Observation]) = ([], [])
    try await observation.begin { first, _ in list = first.ids ?? [] }
    try await other.begin { _, _ in }
    func advance() async throws {
      sent = []
      try await observation.advance { observation, _ in sent.append(observation) }
      #expect(sent.allSatisfy { $0.reload == nil && $0.details != nil })
      for observation in sent { list = try #require(try observation.details?.applied(to: list)) }
      // The second observer may be sent what was computed for the first.
      var others: [Observation] = []
      try await other.advance { observation, _ in others.append(observation) }
      #expect(others == sent)
    }
    func expect(_ predicate: String, limit: Int? = nil) throws {
      let found = try fixture.catalog.read { reader in
        try reader.ids(reader.plan(FetchOptions(predicate: predicate, fetchLimit: limit)))
      }
      #expect(list == found)
    }
    try edit([.editAssets(Array(ids[3..<9]), AssetEdit(isFavorite: true))])
    try await advance()
    #expect(list.count == 6 && sent.count == 1)
    try edit([
      .editSmartAlbum(album, SmartAlbumQuery(predicate: "isFavorite == FALSE", fetchLimit: 9)),
      .editAssets([ids[3]], AssetEdit(isFavorite: false)),
    ])
    try await advance()
    #expect(list.count == 9 && sent.count == 1)
    try expect("isFavorite == FALSE", limit: 9)
    // Another asset enters because one leaves.
    try edit([.editAssets([list[2]], AssetEdit(isFavorite: true))])
    try await advance()
    #expect(list.count == 9 && sent.first?.details?.insertedIDs.count == 1)
    try expect("isFavorite == FALSE", limit: 9)
    let token = try #require(sent.last?.token)
    try edit([.editSmartAlbum(album, SmartAlbumQuery(predicate: "rating == 5"))])
    // The client comes back with its list of the query before.
    let back = try await begun(
      fixture, ObserveRequest(options: request.options, since: token, sinceIDs: list))
    #expect(try back.first?.details?.applied(to: list) == [] && back.count == 1)
    try await advance()
    #expect(list == [])
    var rated = AssetEdit()
    rated.rating = 5
    try edit([.editAssets([ids[1], ids[2]], rated)])
    try await advance()
    try expect("rating == 5")
    #expect(list.count == 2)
    try edit([.deleteCollection(album)])
    sent = []
    try await observation.advance { observation, _ in sent.append(observation) }
    #expect(sent.map(\.collectionDeleted) == [true] && sent.first?.details?.countAfter == 0)
    var others: [Observation] = []
    try await other.advance { observation, _ in others.append(observation) }
    #expect(others == sent)
    list = []
    try edit([.editAssets([ids[7]], rated)])
    try await advance()
    #expect(sent.isEmpty)
  }

  /// A client can tell a deleted album from an empty one.
  @Test(arguments: [0, 2], [false, true]) func theListOfADeletedAlbumIsEmptyAndSaysSo(count: Int, isKnown: Bool)
    async throws
  {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(3)
    var album: CollectionID = 0
    try fixture.commit { writer in
      album =
        try writer.perform([.createAlbum(title: "A", assets: Array(ids.prefix(count)), parent: nil)]).first ?? album
    }
    let options = FetchOptions(collection: "id:\(album)")
    var observation = try fixture.observation(ObserveRequest(options: options))
    var sent: [Observation] = []
    try await observation.begin { observation, _ in sent.append(observation) }
    #expect(sent.map(\.count) == [count])
    let before = try #require(sent.first)
    var deletion = ChangeRecording()
    try fixture.commit(isKnown: isKnown) { deletion = try $0.performRecorded([.deleteCollection(album)]).1 }
    let token = try fixture.token()
    sent = []
    try await observation.advance { observation, _ in sent.append(observation) }
    #expect(sent.map(\.collectionDeleted) == [true] && sent.map(\.token) == [token])
    #expect(sent.first?.ids == nil && sent.first?.reload == nil && sent.first?.previousToken == before.token)
    // The photos are still in the library.
    let details = sent.first?.details
    #expect(details?.removedBefore == (count == 0 ? nil : [IndexRange(start: 0, count: count)]))
    #expect(details?.deletedBefore ?? [] == [])

    // A client that was away, also if it was there before.
    for (token, list) in [(before.token, before.ids ?? []), (token, [])] {
      let back = try await begun(fixture, ObserveRequest(options: options, since: token, sinceIDs: list))
      #expect(back.map(\.collectionDeleted) == [true] && back.first?.ids == nil && back.first?.reload == nil)
      #expect(try back.first?.details?.applied(to: list) ?? [] == [] && (back.first?.details == nil) == list.isEmpty)
    }
    // Without the ids, the list is sent as usual.
    let byToken = try await begun(fixture, ObserveRequest(options: options, since: before.token))
    #expect(byToken.map(\.collectionDeleted) == [true] && byToken.first?.count == 0)
    #expect(byToken.first?.reload == .tokenExpired && byToken.first?.ids == [])
    // A client that has not had the list made a mistake.
    #expect(throws: (any Error).self) { try fixture.observation(ObserveRequest(options: options)) }
    let titled = ObserveRequest(options: FetchOptions(collection: "album:A"), since: before.token)
    #expect(throws: (any Error).self) { try fixture.observation(titled) }

    // Other commits are not reported again.
    try fixture.insert()
    sent = []
    try await observation.advance { observation, _ in sent.append(observation) }
    #expect(sent.isEmpty)

    // The deletion is undone.
    var back = try fixture.observation(ObserveRequest(options: options, since: token, sinceIDs: []))
    try await back.begin { _, _ in }
    try fixture.commit(isKnown: isKnown) { try $0.undo(deletion) }
    for var observation in [observation, back] {
      sent = []
      try await observation.advance { observation, _ in sent.append(observation) }
      #expect(sent.map(\.collectionDeleted) == [nil] && sent.first?.reload == nil && sent.first?.count == count)
      #expect(sent.first?.details?.insertedIDs ?? [] == before.ids ?? [])
    }
  }

  /// The details of a folder that was removed say that its photos left the library.
  @Test func thePhotosOfADeletedFolderAlbumAreDeletedInTheDetails() async throws {
    let fixture = try ServerFixture()
    let root = try #require(try fixture.catalog.read { try $0.directories() }.first)
    var directory: DirectoryID = 0
    try fixture.commit { writer in
      let volume = root.volumeID
      directory = try writer.insertDirectory(
        parentID: fixture.directoryID, rootID: nil, name: Array("d".utf8), volumeID: volume, inode: 7, birthTime: 1)
      for number in 0..<2 {
        let row = FileRow(
          assetID: 0, directoryID: directory, name: Array("\(number)".utf8), byteCount: 1, modificationTime: 1,
          changeTime: 1, inode: UInt64(number), birthTime: 1, readTime: 1)
        let content = AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg")
        try writer.insertAsset(content, file: row, addedDate: .init(microseconds: 1))
      }
    }
    let options = FetchOptions(collection: "folder:/p/d")
    var observation = try fixture.observation(ObserveRequest(options: options))
    var sent: [Observation] = []
    try await observation.begin { observation, _ in sent.append(observation) }
    #expect(sent.map(\.count) == [2])
    sent = []
    try fixture.commit { try $0.deleteDirectory(directory) }
    try await observation.advance { observation, _ in sent.append(observation) }
    let all = [IndexRange(start: 0, count: 2)]
    #expect(sent.map(\.collectionDeleted) == [true] && sent.first?.reload == nil)
    #expect(sent.first?.details?.removedBefore == all && sent.first?.details?.deletedBefore == all)
  }

  /// A client gets the deleted collection only with a token of this library.
  @Test func aDeletedCollectionNeedsAValidToken() async throws {
    let fixture = try ServerFixture(isReopened: true)
    try fixture.insert()
    var album: CollectionID = 0
    try fixture.commit { album = try $0.perform([.createAlbum(title: "A", assets: [], parent: nil)]).first ?? album }
    try fixture.commit { _ = try $0.perform([.deleteCollection(album)]) }
    let (token, uuid, epoch) = (try fixture.token(), fixture.catalog.uuid, fixture.catalog.epoch)
    func answer(_ since: String, id: CollectionID? = nil) async throws -> Observation? {
      let options = FetchOptions(collection: "id:\(id ?? album)")
      return try await begun(fixture, ObserveRequest(options: options, since: since, sinceIDs: [])).first
    }
    #expect(try await answer(token)?.collectionDeleted == true)
    for since in ["no token", "other.\(epoch).1", "\(uuid).\(epoch - 1).1", "\(uuid).\(epoch).99"] {
      await #expect(throws: FetchError.self, "\(since)") { try await answer(since) }
    }
    // The last one is ahead of the library.
    #expect(fixture.catalog.epoch == epoch + 1)
    await #expect(throws: FetchError.self) { try await answer(token) }
    let now = try fixture.token()
    #expect(try await answer(now)?.collectionDeleted == true)
    // A collection with this id never existed.
    await #expect(throws: FetchError.self) { try await answer(now, id: 1_000_000) }
    await #expect(throws: FetchError.self) { try await answer(now, id: -1) }
  }

  /// Otherwise its token would be later than that of a list that is known at a higher sequence.
  @Test func aListFromBeforeTheEndOfAnEpochHasATokenOfThatEpoch() async throws {
    let fixture = try ServerFixture(isReopened: true)
    let ids = try fixture.insert(2)
    var observation = try fixture.observation()
    try await observation.begin { _, _ in }
    let epoch = fixture.catalog.epoch
    try fixture.delete([ids[0]])
    let earlier = try fixture.token()
    let plan = try fixture.catalog.read { try $0.plan(FetchOptions()) }
    _ = try fixture.live.lists.current(plan)
    // The epoch ends before the difference is computed.
    try fixture.delete([ids[1]], announced: false)
    #expect(try fixture.catalog.endTokens())
    var sent: [Observation] = []
    try await observation.advance { observation, _ in sent.append(observation) }
    #expect(sent.map(\.token) == [earlier])
    try fixture.insert()
    try await observation.advance { observation, _ in sent.append(observation) }
    let later = try fixture.token()
    #expect(sent.last?.token == later && ChangeToken(later)?.epoch == epoch + 1)
  }

  @Test func tokenOfAFutureCommitIsExpired() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert()
    let token = fixture.catalog.token(7).description
    #expect(try await begun(fixture, ObserveRequest(since: token, sinceIDs: ids)).first?.reload == .tokenExpired)
  }

  @Test func tokenStillWorksAfterManyCommitsThatLeftTheListAlone() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(3)
    let plan = try fixture.catalog.read { try $0.plan(FetchOptions()) }
    let start = try #require(try await begun(fixture, ObserveRequest()).first)
    for _ in 0..<100 {
      try fixture.delete([])
      _ = try fixture.live.lists.current(plan)
    }
    let unchanged = try #require(try await begun(fixture, ObserveRequest(since: start.token)).first)
    #expect(unchanged.reload == nil && unchanged.ids == nil && unchanged.digest == start.digest)
    try fixture.delete([ids[0]])
    let changed = try #require(try await begun(fixture, ObserveRequest(since: start.token)).first)
    #expect(try changed.details?.applied(to: start.ids ?? []) == fixture.ids())
  }

  /// A client that observes several lists learns how far each of them is.
  @Test(arguments: [false, true])
  func commitsThatLeaveAListAsItWasAreRepliesIfTheClientWantsThem(isWanted: Bool) async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(3)
    var observation = try fixture.observation(
      ObserveRequest(options: FetchOptions(collection: "smart:favorites"), unchanged: isWanted))
    var sent: [Observation] = []
    try await observation.begin { reply, _ in sent.append(reply) }
    #expect(sent.count == 1)
    try fixture.delete([ids[0]])
    let middle = try fixture.token()
    try await observation.advance { reply, _ in sent.append(reply) }
    // It is sent once.
    try await observation.advance { reply, _ in sent.append(reply) }
    #expect(sent.count == (isWanted ? 2 : 1))
    if isWanted {
      #expect(sent[1].token == middle && sent[1].previousToken == sent[0].token && sent[1].digest == sent[0].digest)
      #expect(sent[1].ids == nil && sent[1].details == nil && sent[1].count == 0)
    }
    try fixture.commit { writer in
      try writer.setUserData(of: ids[1], isFavorite: true, isHidden: nil)
    }
    try await observation.advance { reply, _ in sent.append(reply) }
    let last = try #require(sent.last)
    #expect(last.details?.insertedIDs == [ids[1]] && last.previousToken == (isWanted ? middle : sent[0].token))
  }

  @Test func digestOfAnUnchangedListReplacesTheList() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(3)
    let token = try fixture.token()
    let digest = ListDigest(of: ids.reversed()).description
    // The list at the token was never requested.
    try fixture.commit { writer in
      try writer.setUserData(of: ids[1], isFavorite: true, isHidden: nil)
    }
    func first(_ digest: String?) async throws -> Observation {
      try #require(
        try await begun(
          fixture,
          ObserveRequest(
            options: nil, since: token, sinceDigest: digest, sinceIDs: nil, objects: nil, reloadOnly: nil)
        ).first)
    }
    let list = try await begun(fixture, ObserveRequest())[0].ids
    let known = try await first(ListDigest(of: list ?? []).description)
    #expect(known.reload == nil && known.previousToken == token && known.details?.changedFields == ["favorite"])
    #expect(try known.details?.applied(to: list ?? []) == list)
    #expect(try await first(nil).reload == .tokenExpired)
    let other = try fixture.insert()
    #expect(try await first(digest).reload == .tokenExpired)
    // The list is the same again.
    try fixture.delete(other)
    #expect(try await first(ListDigest(of: list ?? []).description).reload == nil)
  }

  @Test func observerThatSleptLongerThanTheHistoryGetsTheList() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(6)
    var observers = try await Observers(fixture, count: 1)
    for id in ids.dropLast() {
      // With `isKnown: false`, the commit is not in memory, as after many others.
      try fixture.commit(isKnown: false) { writer in
        try writer.setUserData(of: id, isFavorite: true, isHidden: nil)
      }
    }
    try fixture.catalog.write { try $0.pruneHistory(before: 4) }
    try await observers.advance()
    let last = try #require(observers.sent[0].last)
    // It is not recorded that assets 1 and 2 changed, so a difference would lack them.
    #expect(last.reload == .tokenExpired && last.previousToken == observers.sent[0][0].token && last.complete == true)
    let token = try fixture.token()
    #expect(last.ids == observers.sent[0][0].ids && last.token == token)
    try fixture.delete([ids[5]])
    try await observers.advance()
    #expect(observers.sent[0].last?.details != nil)
  }

  /// Observers of different lists may hold one each, although they do not read.
  @Test(.timeLimit(.minutes(10))) func anObservationBeyondTheBoundOfAllListsEndsWithAnError() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(300)
    let held = fixture.live.lists.held
    held.setMaximumBytes(1)
    // Ten lists of the greatest length fit anyway.
    let fitting = 10
    try await fixture.serving { path, failures in
      var sockets: [RawSocket] = []
      for number in 0..<fitting + 1 {
        let socket = try RawSocket(path: path)
        try socket.send(
          #"{"method":"org.photod.library.Observe","parameters":{"options":{"predicate":"id >= -\#(number)"}},"more":true}"#
        )
        var reply = String(decoding: try await socket.receive(), as: UTF8.self)
        // The list may be sent before the observation ends.
        if number == fitting, reply.contains("complete") {
          reply = String(decoding: try await socket.receive(), as: UTF8.self)
        }
        #expect(reply.contains(number < fitting ? "complete" : "org.photod.library.SnapshotExpired"), "\(reply)")
        #expect(reply.contains("fetchLimit") == (number == fitting))
        sockets.append(socket)
      }
      // The others go on.
      try fixture.insert()
      for socket in sockets.prefix(fitting) {
        #expect(String(decoding: try await socket.receive(), as: UTF8.self).contains("insertedIDs"))
      }
      #expect(held.byteCount > 0)
      #expect(failures() == [])
    }
    #expect(held.byteCount == 0)
  }

  /// A predicate of 64 KiB takes several times as much in the plan that its observation keeps.
  @Test(.timeLimit(.minutes(10))) func thePredicatesOfObservationsCountToTheBoundOfAllLists() async throws {
    let fixture = try ServerFixture()
    try fixture.insert()
    let held = fixture.live.lists.held
    held.setMaximumBytes(4 << 20)
    let calls = 15
    try await fixture.serving { path, failures in
      var sockets: [RawSocket] = []
      for number in 0..<calls {
        let words = (0..<4_000).map { "'\(100_000 * (number + 1) + $0)'" }.joined(separator: ",")
        let socket = try RawSocket(path: path)
        try socket.send(
          #"{"method":"org.photod.library.Observe","parameters":{"options":{"predicate":"NOT title IN {\#(words)}"}},"more":true}"#
        )
        let reply = String(decoding: try await socket.receive(), as: UTF8.self)
        #expect(held.byteCount <= 4 << 20)
        if number == 0 { #expect(reply.contains("complete") && held.byteCount > 64 << 10, "\(held.byteCount)") }
        if number == calls - 1 { #expect(reply.contains("org.photod.library.SnapshotExpired"), "\(reply.prefix(300))") }
        sockets.append(socket)
      }
      #expect(failures() == [])
    }
    #expect(held.byteCount == 0)
  }

  @Test func observationsOfTheSameListShareIt() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(1_000)
    let held = fixture.live.lists.held
    var observers = try await Observers(fixture, count: 1)
    let bytes = held.byteCount
    var others = try await Observers(fixture, count: 20)
    #expect(held.byteCount == bytes && bytes > 8_000)
    try fixture.insert()
    try await others.advance()
    #expect(held.byteCount > bytes && held.byteCount < 2 * bytes, "the new list shares parts with the old one")
    try await observers.advance()
    #expect(held.byteCount < bytes + 100)
  }

  @Test func objectsAreLeftOutIfOneHasBeenDeleted() async throws {
    let fixture = try ServerFixture()
    let first = try fixture.insert()
    var observation = try fixture.observation(ObserveRequest(objects: true))
    var sent: [Observation] = []
    try await observation.begin { observation, _ in sent.append(observation) }

    let present = try fixture.insert()
    try await observation.advance { observation, _ in sent.append(observation) }
    #expect(sent.last?.insertedAssets?.map(\.id) == present)

    let gone = try fixture.insert(2)
    let plan = try fixture.catalog.read { try $0.plan(FetchOptions()) }
    _ = try fixture.live.lists.current(plan)
    try fixture.delete([gone[0]], announced: false)
    try await observation.advance { observation, _ in sent.append(observation) }
    let details = try #require(sent.last?.details)
    #expect(details.insertedIDs.count == 2 && sent.last?.insertedAssets == nil && sent.last?.changedAssets == nil)

    // The next commit announces the deletion, too.
    try fixture.delete([])
    try await observation.advance { observation, _ in sent.append(observation) }
    #expect(sent.last?.count == first.count + present.count + 1 && sent.last?.details?.removedBefore.count == 1)
  }
}

extension ServerFixture {
  func ids() throws -> [AssetID] { try catalog.read { try $0.ids(try $0.plan(FetchOptions())) } }
}
