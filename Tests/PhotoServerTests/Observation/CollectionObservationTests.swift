import ChangeDetails
import Dispatch
import Glibc
import PhotoContract
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing
import Varlink

import class Foundation.ProcessInfo

@testable import PhotoCatalog
@testable import PhotoIndexer
@testable import PhotoLive
@testable import PhotoServer

/// An observer of the list of collections has the same list as FetchCollections, at a cost proportional to the change.
@Suite struct CollectionObservationTests {
  /// A client's list, made from the observations that it receives.
  private struct Replica {
    var observation: CollectionListObservation
    var ids: [CollectionID] = []
    var collections: [CollectionID: AssetCollection] = [:]
    var token = ""
    var all: [CollectionObservation] = []
    var encoded: [VarlinkEncoded] = []

    init(_ fixture: ServerFixture, _ kinds: Set<AssetCollection.Kind>? = nil) async throws {
      observation = CollectionListObservation(
        of: fixture.live, reads: fixture.reads, kinds: kinds, holder: ClientLists.Holder(process: getpid()))
      fixture.live.collections.beginObserving()
      var sent: [(CollectionObservation, VarlinkEncoded)] = []
      try await observation.begin { sent.append(($0, $1)) }
      for (next, encoded) in sent { try take(next, encoded) }
    }

    var list: [AssetCollection] { ids.compactMap { collections[$0] } }

    @discardableResult
    mutating func advance() async throws -> Bool {
      var sent: [(CollectionObservation, VarlinkEncoded)] = []
      let hasChanged = try await observation.advance { sent.append(($0, $1)) }
      for (next, encoded) in sent { try take(next, encoded) }
      return hasChanged
    }

    mutating func take(_ sent: CollectionObservation, _ encoded: VarlinkEncoded) throws {
      all.append(sent)
      self.encoded.append(encoded)
      if let page = sent.collections {
        if sent.offset == 0 { (ids, collections) = ([], [:]) }
        #expect(sent.offset == ids.count)
        ids += page.map(\.id)
        for collection in page { collections[collection.id] = collection }
        token = sent.token
        if sent.complete != true { return }
      } else {
        #expect(sent.previousToken == token)
        let details = try #require(sent.details)
        ids = try details.applied(to: ids.map(\.element)).map(CollectionID.init(element:))
        for id in sent.deleted ?? [] { collections[id] = nil }
        for collection in (sent.inserted ?? []) + (sent.updated ?? []) { collections[collection.id] = collection }
        token = sent.token
      }
      #expect(sent.count == ids.count && sent.digest == ListDigest(of: ids.map(\.element)).description)
      #expect(collections.count == ids.count)
    }
  }

  private func fetched(_ fixture: ServerFixture, _ kinds: Set<AssetCollection.Kind>? = nil) throws -> [AssetCollection]
  {
    try fixture.catalog.read { try $0.collections(kinds: kinds) }
  }

  /// Adds folders with one photo each.
  private func addFolders(_ fixture: ServerFixture, _ count: Int, nameLength: Int = 0) throws {
    let name = [UInt8](repeating: UInt8(ascii: "f"), count: nameLength)
    try fixture.commit { writer in
      for number in 0..<count {
        let made = try writer.insertDirectory(
          parentID: fixture.directoryID, rootID: nil, name: name + Array("\(number)".utf8), volumeID: 1,
          inode: 2, birthTime: 1)
        let row = FileRow(
          assetID: 0, directoryID: made, name: Array("a.jpg".utf8), byteCount: 1, modificationTime: 1,
          changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
        try writer.insertAsset(
          AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg"), file: row,
          addedDate: .init(microseconds: 1))
      }
    }
  }

  @Test func favoriteChangesOnlyTheAlbumsThatContainTheAsset() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(5)
    var replica = try await Replica(fixture)
    #expect(try replica.list == fetched(fixture))
    try fixture.commit { writer in
      try writer.setUserData(of: ids[2], isFavorite: true, isHidden: nil)
    }
    try await replica.advance()
    let sent = try #require(replica.all.last)
    // In Recents and in its folder, nothing visible differs.
    #expect(sent.updated?.map(\.title) == ["Favorites"] && sent.updated?.first?.count == 1)
    #expect(sent.updated?.first?.keyAssetID == ids[2] && sent.inserted == [] && sent.deleted == [])
    #expect(sent.details?.changedAfter == [IndexRange(start: 1, count: 1)])
    #expect(sent.details?.changedFields == ["count", "keyAsset", "dates"])
    #expect(try replica.list == fetched(fixture))
    // A commit that concerns no collection is not sent.
    try fixture.commit { $0.record.update(asset: ids[0], .keywords) }
    #expect(try await !replica.advance())
    #expect(replica.all.count == 2)
  }

  /// A client that observes several lists learns how far this one is.
  @Test func aCommitThatConcernsNoCollectionIsAReplyIfTheClientWantsIt() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(3)
    var observation = CollectionListObservation(
      of: fixture.live, reads: fixture.reads, kinds: nil, unchanged: true,
      holder: ClientLists.Holder(process: getpid()))
    fixture.live.collections.beginObserving()
    var sent: [CollectionObservation] = []
    try await observation.begin { reply, _ in sent.append(reply) }
    try fixture.commit { $0.record.update(asset: ids[0], .keywords) }
    let middle = try fixture.token()
    #expect(try await observation.advance { reply, _ in sent.append(reply) })
    // It is sent once.
    #expect(try await !observation.advance { reply, _ in sent.append(reply) })
    #expect(sent.count == 2 && sent[1].token == middle && sent[1].previousToken == sent[0].token)
    #expect(sent[1].details == nil && sent[1].collections == nil && sent[1].digest == sent[0].digest)
    try fixture.commit { writer in
      try writer.setUserData(of: ids[2], isFavorite: true, isHidden: nil)
    }
    #expect(try await observation.advance { reply, _ in sent.append(reply) })
    #expect(sent.last?.updated?.map(\.title) == ["Favorites"] && sent.last?.previousToken == middle)
  }

  @Test func coverWithAnotherPictureIsAChange() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(3)
    var replica = try await Replica(fixture, [.folderAlbum])
    try fixture.commit { $0.record.update(asset: ids[2], .content) }
    try await replica.advance()
    #expect(replica.all.last?.details?.changedFields == ["keyAsset"])
    try fixture.commit { $0.record.update(asset: ids[0], .content) }
    #expect(try await !replica.advance())
  }

  @Test func anObserverThatFallsBehindGetsOneDifference() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(30)
    var (awake, asleep) = (try await Replica(fixture), try await Replica(fixture))
    for id in ids.prefix(20) {
      try fixture.commit { writer in
        try writer.setUserData(of: id, isFavorite: true, isHidden: id.rawValue % 2 == 0)
      }
      try await awake.advance()
    }
    try await asleep.advance()
    #expect(awake.all.count == 21 && asleep.all.count == 2)
    #expect(try asleep.list == fetched(fixture) && awake.list == asleep.list && awake.token == asleep.token)
  }

  @Test func differenceOfAThousandObserversIsMadeOnce() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(10)
    var replicas: [Replica] = []
    for _ in 0..<1_000 { replicas.append(try await Replica(fixture)) }
    try fixture.insert(3)
    for index in replicas.indices { try await replicas[index].advance() }
    let counts = fixture.live.collections.countsSinceStart
    #expect(counts.reads == 1 && counts.updates == 1 && counts.made == 1 && counts.shared == 999)
    #expect(fixture.differences.counts == .init(made: 1, shared: 999))
    #expect(fixture.live.commits.readCount == 0, "history is not read")
    #expect(replicas.allSatisfy { $0.encoded.last == replicas[0].encoded.last })
    // The counts are dropped with the last observer.
    for _ in replicas { fixture.live.collections.endObserving() }
    _ = try await Replica(fixture)
    #expect(fixture.live.collections.countsSinceStart.reads == 2)
  }

  /// A task that waited for the lock of the counts would take its thread from all clients.
  @Test(.timeLimit(.minutes(10))) func observersBeginAndEndWhileTheCountsAreRead() async throws {
    let fixture = try ServerFixture()
    let collections = fixture.live.collections
    // All readers of the catalog are busy until this test ends their reads, so the counts cannot be read before.
    let readers = 8
    let begun = Begun()
    let mayEnd = DispatchSemaphore(value: 0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<readers {
        group.addTask {
          try await Self.onThread("reader \(number)") {
            try fixture.catalog.read { _ in
              begun.readers.add(1, ordering: .relaxed)
              mayEnd.wait()
            }
          }
        }
      }
      while begun.readers.load(ordering: .relaxed) < readers { await Task.yield() }
      group.addTask {
        try await Self.onThread("counts") {
          begun.counts.store(true, ordering: .relaxed)
          _ = try collections.list([.album])
        }
      }
      while !begun.counts.load(ordering: .relaxed) { await Task.yield() }
      // This thread is none of the tasks' pool. Otherwise a lock would keep this test from ever failing.
      let isOver = DispatchSemaphore(value: 0)
      DispatchQueue(label: "observers").async {
        for _ in 0..<10_000 {
          collections.beginObserving()
          collections.endObserving()
        }
        isOver.signal()
      }
      #expect(Self.wait(isOver, seconds: 20), "an observation waits for the lock of the counts")
      for _ in 0..<readers { mayEnd.signal() }
      try await group.waitForAll()
    }
    // Without observers, the counts that were read are not kept.
    collections.beginObserving()
    _ = try collections.list([.album])
    #expect(collections.countsSinceStart.reads == 2)
  }

  private static func wait(_ semaphore: DispatchSemaphore, seconds: Int) -> Bool {
    semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
  }

  private final class Begun: Sendable {
    let readers = Atomic(0)
    let counts = Atomic(false)
  }

  private static func onThread(_ name: String, _ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: name).async { continuation.resume(with: Result { try body() }) }
    }
  }

  /// A commit costs a few statements for whatever it touched, independent of the size of the library.
  @Test(arguments: [(10, 2), (3_000, 300)])
  func costOfACommitDoesNotGrowWithTheLibrary(photos: Int, folders: Int) async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(photos)
    try addFolders(fixture, folders)
    var replica = try await Replica(fixture)
    func statements(_ body: (CatalogWriter) throws -> Void) async throws -> Int {
      let before = fixture.live.collections.countsSinceStart.statements
      try fixture.commit(body)
      try await replica.advance()
      #expect(try replica.list == fetched(fixture))
      return fixture.live.collections.countsSinceStart.statements - before
    }
    // The asset, and the rows of Recents, of Favorites, of No Location, of Recently Added and of its folder.
    let favorite = try await statements { try $0.setUserData(of: ids[4], isFavorite: true, isHidden: nil) }
    #expect(favorite == 6)
    // The row of Hidden is read, too. Favorites is empty after this, so its cover needs no statement.
    let hidden = try await statements { try $0.setUserData(of: ids[4], isFavorite: false, isHidden: true) }
    // If Recently Added had it, the dates of that album need two more.
    #expect([7, 9].contains(hidden), "\(hidden)")
    let newest = try #require(ids.last)
    let removed = try await statements { writer in
      try writer.deleteAsset(newest)
    }
    #expect((7...10).contains(removed), "\(removed)")
    #expect(fixture.live.collections.countsSinceStart.reads == 1)
  }

  /// PHOTOD_REPLICA_SEEDS sets the number of libraries, which is three by default.
  private static let seeds: ClosedRange<UInt64> =
    1...(ProcessInfo.processInfo.environment["PHOTOD_REPLICA_SEEDS"].flatMap(UInt64.init) ?? 3)

  /// Commits may be known or only in the history, announced or not yet. Observers look at any time.
  @Test(arguments: seeds)
  func replicaEqualsTheListAfterEveryLook(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let fixture = try ServerFixture()
    var live = try fixture.insert(60)
    try addFolders(fixture, 5)
    let choices: [Set<AssetCollection.Kind>?] = [nil, nil, [.folderAlbum], [.smartAlbum, .album]]
    var replicas: [Replica] = []
    for kinds in choices { replicas.append(try await Replica(fixture, kinds)) }
    for round in 0..<120 {
      try fixture.commit(announced: round % 3 > 0, isKnown: round % 4 > 0) { writer in
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          guard let id = live.randomElement(using: &random), let row = try writer.file(ofAsset: id) else { continue }
          switch Int.random(in: 0..<6, using: &random) {
          case 0: try writer.setUserData(of: id, isFavorite: .random(using: &random), isHidden: nil)
          case 1: try writer.setUserData(of: id, isFavorite: nil, isHidden: .random(using: &random))
          case 2:
            try writer.moveFile(
              row, to: DirectoryID(rawValue: .random(in: 1...6, using: &random)),
              name: Array("\(round)-\(UInt64.random(in: 0 ... .max, using: &random))".utf8), changesAvailability: false)
          case 3:
            try writer.deleteAsset(id)
            live.removeAll { $0 == id }
          case 4:
            let directory = DirectoryID(rawValue: .random(in: 2...6, using: &random))
            let rename = try RawStatement(writer.database, "UPDATE directory SET name = ? WHERE id = ?")
            rename.bind(1, "\(UInt64.random(in: 0 ... .max, using: &random))")
            rename.bind(2, directory)
            try rename.run()
            writer.record.renamedDirectories.append(
              .init(directoryID: directory, fromPath: Array("/from".utf8), toPath: Array("/to".utf8)))
          default:
            let new = FileRow(
              assetID: 0, directoryID: DirectoryID(rawValue: .random(in: 1...6, using: &random)),
              name: Array("n\(round)-\(id)-\(live.count)".utf8),
              byteCount: 1, modificationTime: 1, changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
            let content = AssetContent(
              mediaType: .random(using: &random) ? .image : .video, mediaSubtypes: [], contentType: "image/jpeg",
              creationDate: .random(using: &random) ? PhotoDate(microseconds: .random(in: -5...5, using: &random)) : nil
            )
            let added = WallTime(microseconds: .random(in: -5...5, using: &random))
            live.append(try writer.insertAsset(content, file: new, addedDate: added))
          }
        }
      }
      for index in replicas.indices where Int.random(in: 0..<3, using: &random) == 0 {
        try await replicas[index].advance()
        // The feed may not have announced the newest commit.
        guard replicas[index].observation.checkedSequence == (try fixture.catalog.read { try $0.sequence() }) else {
          continue
        }
        #expect(try replicas[index].list == fetched(fixture, choices[index]), "round \(round)")
      }
    }
    try fixture.insert()
    for index in replicas.indices {
      try await replicas[index].advance()
      #expect(try replicas[index].list == fetched(fixture, choices[index]))
    }
  }

  @Test func tooManyChangesAreSentAsAWholeList() async throws {
    let fixture = try ServerFixture()
    var replica = try await Replica(fixture, [.folderAlbum])
    try addFolders(fixture, 2_500, nameLength: 240)
    try await replica.advance()
    let first = try #require(replica.all.dropFirst().first)
    #expect(first.reload == .tooManyChanges && first.previousToken == replica.all[0].token && first.offset == 0)
    #expect(replica.all.last?.complete == true && replica.all.count > 5)
    #expect(try replica.list == fetched(fixture, [.folderAlbum]))
  }

  @Test func anObserverOlderThanTheHistoryGetsTheDifference() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(6)
    var replica = try await Replica(fixture)
    for id in ids {
      try fixture.commit(isKnown: false) { writer in
        try writer.setUserData(of: id, isFavorite: true, isHidden: nil)
      }
    }
    try fixture.catalog.write { try $0.pruneHistory(before: 5) }
    try await replica.advance()
    #expect(fixture.live.collections.countsSinceStart.reads == 2 && replica.all.count == 2)
    #expect(try replica.list == fetched(fixture))
    try fixture.insert()
    try await replica.advance()
    #expect(try replica.list == fetched(fixture))
  }

  @Test func collectionsAreObservedOverTheSocket() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(4)
    try await fixture.serving { socket, failures in
      struct Parameters: Encodable, Sendable { let kinds: [String]? }
      let client = try await VarlinkClient.connect(path: socket)
      await #expect(throws: VarlinkError.self) {
        try await client.call(
          "org.photod.library.ObserveCollections", Parameters(kinds: nil), returning: CollectionObservation.self)
      }
      let stream = client.stream(
        "org.photod.library.ObserveCollections", Parameters(kinds: ["smartAlbum"]), of: CollectionObservation.self)
      var replies = stream.makeAsyncIterator()
      let list = try #require(try await replies.next())
      #expect(list.complete == true && list.collections?.map(\.count) == [4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 4, 0])
      try fixture.commit { writer in
        try writer.setUserData(of: ids[1], isFavorite: true, isHidden: nil)
      }
      let change = try #require(try await replies.next())
      #expect(change.previousToken == list.token && change.updated?.map(\.title) == ["Favorites"])
      #expect(change.token == (try fixture.token()) && change.details?.changedFields == ["count", "keyAsset", "dates"])
      #expect(failures() == [])
    }
  }
}
