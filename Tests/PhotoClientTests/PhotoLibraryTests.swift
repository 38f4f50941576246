import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoClient

struct PhotoLibraryTests {
  /// An answer that comes when it is allowed to.
  private final class HeldAnswer: Sendable {
    private let state = Mutex((begun: 0, isAllowed: false, waiting: [CheckedContinuation<Void, Never>]()))

    /// How many calls have begun.
    var begunCount: Int { state.withLock { $0.begun } }

    func wait() async {
      await withCheckedContinuation { continuation in
        let isAllowed = state.withLock { state in
          state.begun += 1
          if !state.isAllowed { state.waiting.append(continuation) }
          return state.isAllowed
        }
        if isAllowed { continuation.resume() }
      }
    }

    func allow() {
      let waiting = state.withLock { state in
        state.isAllowed = true
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: [1, 3]) func aSlowCallHoldsUpNoOther(slowCount: Int) async throws {
    let held = HeldAnswer()
    let slow: ScriptedDaemon.Answer = { call in
      await held.wait()
      try await call.reply(UndoableChangesReply(changes: []))
    }
    let quick: ScriptedDaemon.Answer = { try await $0.reply(Authorization(status: .authorized, client: "test")) }
    try await ScriptedDaemon.with(["FetchUndoableChanges": slow, "AuthorizationStatus": quick]) { daemon in
      let library = daemon.library()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<slowCount { group.addTask { _ = try await library.undoableChanges() } }
        try await eventually("the slow calls run") { held.begunCount == slowCount }
        for _ in 0..<10 { _ = try await library.authorization() }
        #expect(daemon.service.connections.count == slowCount + 1, "calls one after another use the same connection")
        held.allow()
        try await group.waitForAll()
      }
    }
  }

  @Test(.timeLimit(.minutes(1))) func manyCallsShareFewConnections() async throws {
    let held = HeldAnswer()
    let slow: ScriptedDaemon.Answer = { call in
      await held.wait()
      try await call.reply(UndoableChangesReply(changes: []))
    }
    try await ScriptedDaemon.with(["FetchUndoableChanges": slow]) { daemon in
      let library = daemon.library()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 1...4 {
          group.addTask { _ = try await library.undoableChanges() }
          try await eventually("\(number) calls run") { held.begunCount == number }
        }
        for _ in 0..<20 { group.addTask { _ = try await library.undoableChanges() } }
        held.allow()
        try await group.waitForAll()
      }
      #expect(held.begunCount == 24 && daemon.service.connections.count <= 4)
    }
  }

  /// photod goes on with a call whose task was cancelled.
  @Test(.timeLimit(.minutes(1))) func aCallDoesNotWaitForACancelledOne() async throws {
    let held = HeldAnswer()
    let slow: ScriptedDaemon.Answer = { call in
      await held.wait()
      try await call.reply(UndoableChangesReply(changes: []))
    }
    let quick: ScriptedDaemon.Answer = { try await $0.reply(Authorization(status: .authorized, client: "test")) }
    try await ScriptedDaemon.with(["FetchUndoableChanges": slow, "AuthorizationStatus": quick]) { daemon in
      let library = daemon.library()
      let cancelled = Task { try await library.undoableChanges() }
      try await eventually("the call runs") { held.begunCount == 1 }
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      for _ in 0..<8 { _ = try await library.authorization() }
      held.allow()
    }
  }

  @Test func fetchSendsItsOptionsAndReturnsThePagesInOrder() async throws {
    struct Parameters: Decodable, Equatable {
      let options: FetchOptions
      let offset: Int?
      let count: Int?
    }
    let answer: ScriptedDaemon.Answer = { call in
      let parameters = try call.parameters(Parameters.self)
      #expect(parameters == Parameters(options: FetchOptions(collection: "Favorites"), offset: 2, count: 1))
      #expect(call.wantsMore)
      try await call.replyContinuing(AssetPage(token: "l.1.1", total: 4, offset: 2, assets: [asset(7)]))
      try await call.reply(AssetPage(token: "l.1.1", total: 4, offset: 3, assets: [asset(8)]))
    }
    try await ScriptedDaemon.with(["Fetch": answer]) { daemon in
      var ids: [AssetID] = []
      for try await page in daemon.library().fetch(FetchOptions(collection: "Favorites"), offset: 2, pageSize: 1) {
        #expect(page.total == 4)
        #expect(page.offset == ids.count + 2)
        ids += page.assets.map(\.id)
      }
      #expect(ids == [7, 8])
    }
  }

  @Test func userDataIsReadPageByPage() async throws {
    let answer: ScriptedDaemon.Answer = { call in
      let request = try call.parameters(FetchUserDataRequest.self)
      #expect(request.ids == nil)
      let id: AssetID = request.after == nil ? 3 : 9
      try await call.reply(
        UserDataPage(token: "l.1.1", assets: [UserData(assetID: id, title: "t")], next: request.after == nil ? id : nil)
      )
    }
    try await ScriptedDaemon.with(["FetchUserData": answer]) { daemon in
      let data = try await daemon.library().userData()
      #expect(data.map(\.assetID) == [3, 9])
    }
    // A page that does not advance would be requested for ever.
    let stuck: ScriptedDaemon.Answer = { try await $0.reply(UserDataPage(token: "l.1.1", assets: [], next: 3)) }
    try await ScriptedDaemon.with(["FetchUserData": stuck]) { daemon in
      await #expect(
        throws: PhotoLibraryError.malformedReply("FetchUserData continues at 3, which is not after the last page")
      ) { try await daemon.library().userData() }
    }
  }

  @Test func assetsThatDidNotFitAreRequestedAgainAndComeInTheOrderOfTheIDs() async throws {
    struct Parameters: Decodable { let ids: [AssetID] }
    struct Reply: Encodable { let token: String, assets: [Asset], missing: [AssetID] }
    let sizes = Mutex<[Int]>([])
    let answer: ScriptedDaemon.Answer = { call in
      let ids = try call.parameters(Parameters.self).ids
      sizes.withLock { $0.append(ids.count) }
      // A reply has at most 400 assets. Ids divisible by 10 have no asset.
      let there = ids.filter { $0.rawValue % 10 != 0 }.prefix(400)
      try await call.reply(
        Reply(token: "l.1.1", assets: there.map { asset($0) }, missing: ids.filter { $0.rawValue % 10 == 0 }))
    }
    try await ScriptedDaemon.with(["GetAssets": answer]) { daemon in
      let ids = Array(AssetID(1)...1_500).shuffled()
      let assets = try await daemon.library().assets(ids)
      #expect(assets.map(\.id) == ids.filter { $0.rawValue % 10 != 0 })
      #expect(sizes.withLock { $0.max() } == 1_000)
    }
  }

  @Test func aDaemonThatAnswersForNoIDIsAnErrorAndNoEndlessLoop() async throws {
    struct Reply: Encodable { let token: String, assets: [Asset], missing: [AssetID] }
    let answer: ScriptedDaemon.Answer = { try await $0.reply(Reply(token: "l.1.1", assets: [], missing: [])) }
    try await ScriptedDaemon.with(["GetAssets": answer]) { daemon in
      await #expect(throws: PhotoLibraryError.malformedReply("GetAssets replied with none of 1 ids")) {
        try await daemon.library().assets([1])
      }
    }
  }

  @Test func pathsWithoutAnAssetAreNilAndManyPathsTakeSeveralCalls() async throws {
    struct Parameters: Decodable { let paths: [String] }
    struct Reply: Encodable { let token: String, ids: [AssetID] }
    let answer: ScriptedDaemon.Answer = { call in
      let paths = try call.parameters(Parameters.self).paths
      #expect(paths.count <= 1_000)
      try await call.reply(Reply(token: "l.1.1", ids: paths.map { AssetID(String($0.dropFirst())) ?? 0 }))
    }
    try await ScriptedDaemon.with(["FindAssets": answer]) { daemon in
      let found = try await daemon.library().findAssets(paths: (1...1_001).map { "/\($0)" } + ["/nowhere"])
      #expect(found == (1...1_001).map { AssetID($0) } + [nil])
      #expect(daemon.calls.count == 2)
    }
  }

  @Test func changesCarryTheNameOfTheProgram() async throws {
    struct Parameters: Decodable { let requests: [ChangeRequest], clientName: String? }
    let answer: ScriptedDaemon.Answer = { call in
      let parameters = try call.parameters(Parameters.self)
      #expect(parameters.clientName == "slideshow")
      #expect(parameters.requests == [ChangeRequest(editAsset: .init(ids: [4], isFavorite: true))])
      try await call.reply(ChangeResult(token: "l.1.9", createdCollectionIDs: []))
    }
    try await ScriptedDaemon.with(["PerformChanges": answer]) { daemon in
      let result = try await daemon.library(clientName: "slideshow").performChanges([
        ChangeRequest(editAsset: .init(ids: [4], isFavorite: true))
      ])
      #expect(result.token == "l.1.9")
    }
  }

  @Test func aCallReconnectsAfterItsConnectionWasClosed() async throws {
    struct Reply: Encodable { let token = "l.1.1", ids: [AssetID] }
    let first: ScriptedDaemon.Answer = { try await $0.reply(Reply(ids: [1])) }
    let second: ScriptedDaemon.Answer = { try await $0.reply(Reply(ids: [2])) }
    try await withTemporaryDirectory { directory in
      let library = PhotoLibrary(socketPath: directory + "/photod.sock")
      // The first daemon ends, and with it the connection. A second daemon has the same path.
      try await ScriptedDaemon.with(["FindAssets": first], in: directory) { _ in
        let ids = try await library.findAssets(paths: ["/a"])
        #expect(ids == [1])
      }
      try await ScriptedDaemon.with(["FindAssets": second], in: directory) { _ in
        let ids = try await library.findAssets(paths: ["/a"])
        #expect(ids == [2])
      }
      let missing = PhotoLibraryError.unreachable(socketPath: library.socketPath, reason: "there is no socket")
      await #expect(throws: missing) { try await library.findAssets(paths: ["/a"]) }
    }
  }

  /// Each of these calls ends only when another one has been answered.
  @Test func noCallWaitsForACallThatTakesLong() async throws {
    struct Reply: Encodable { let token = "l.1.1", ids: [AssetID] }
    let hasAnswered = Mutex(false)
    let waiting: ScriptedDaemon.Answer = { call in
      try await eventually("another call was answered") { hasAnswered.withLock { $0 } }
      try await call.reply(VarlinkEmpty())
    }
    let long: [String: @Sendable (PhotoLibrary) async throws -> Void] = [
      "Synchronize": { try await $0.synchronize() },
      "RequestAuthorization": { _ = try await $0.requestAuthorization(.readWrite) },
      "Rescan": { _ = try await $0.rescan() },
      "Check": { _ = try await PhotoDaemonManagement(of: $0).check(deep: true) },
    ]
    for (method, call) in long {
      hasAnswered.withLock { $0 = false }
      try await ScriptedDaemon.with([
        method: waiting, "FindAssets": { try await $0.reply(Reply(ids: [1])) },
      ]) { daemon in
        let library = daemon.library()
        // The connection for calls exists, and would be used.
        _ = try await library.findAssets(paths: ["/a"])
        async let longCall: Void = call(library)
        try await eventually("the long call has begun") { daemon.calls.contains(method) }
        _ = try await library.findAssets(paths: ["/b"])
        hasAnswered.withLock { $0 = true }
        // The reply has no members, which is an error for some of them.
        do { try await longCall } catch is PhotoLibraryError {}
      }
    }
  }

  @Test func leavingTheLoopEndsTheCallAtTheDaemon() async throws {
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    let answer: ScriptedDaemon.Answer = { call in
      defer { end.finish() }
      while true { try await call.replyContinuing(HistoryPage(changes: [], token: "l.1.1")) }
    }
    try await ScriptedDaemon.with(["FetchPersistentChanges": answer]) { daemon in
      for try await _ in daemon.library().persistentChanges(follow: true) { break }
      for await _ in ended {}
    }
  }

  @Test func observeSendsTheReplicasStateAndUnwrapsTheReplies() async throws {
    struct Parameters: Decodable {
      let since: String?
      let sinceDigest: String?
      let sinceIDs: [AssetID]?
      let objects: Bool?
    }
    struct Reply: Encodable { let observation: Observation }
    let list = Observation(
      token: "l.1.4", count: 3, digest: "00036800000ae692", offset: 0, ids: [1, 2, 3], complete: true)
    var replica = FetchResultReplica()
    #expect(try replica.apply(list) == .list(nil))
    let same = Observation(token: "l.1.5", previousToken: "l.1.4", count: 3, digest: "00036800000ae692")
    let answer: ScriptedDaemon.Answer = { call in
      let parameters = try call.parameters(Parameters.self)
      #expect(parameters.since == "l.1.4")
      #expect(parameters.sinceDigest == "00036800000ae692")
      #expect(parameters.sinceIDs == [1, 2, 3])
      #expect(parameters.objects == true)
      try await call.reply(Reply(observation: same))
    }
    let held = replica
    try await ScriptedDaemon.with(["Observe": answer]) { daemon in
      var observations: [Observation] = []
      for try await observation in daemon.library().observe(resuming: held, objects: true) {
        observations.append(observation)
      }
      #expect(observations == [same])
    }
    #expect(try replica.apply(same) == .unchanged)
    #expect(replica.token == "l.1.5")
  }

  @Test func anErrorInTheMiddleOfAStreamEndsIt() async throws {
    let answer: ScriptedDaemon.Answer = { call in
      try await call.replyContinuing(HistoryPage(changes: [], token: "l.1.1"))
      throw VarlinkError("org.photod.library.LibraryUnavailable", ["message": "photod is stopping. Go on later."])
    }
    try await ScriptedDaemon.with(["FetchPersistentChanges": answer]) { daemon in
      var pages = daemon.library().persistentChanges(follow: true).makeAsyncIterator()
      let first = try await pages.next()
      #expect(first?.token == "l.1.1")
      await #expect(throws: PhotoLibraryError.libraryUnavailable(message: "photod is stopping. Go on later.")) {
        try await pages.next()
      }
      let afterTheError = try await pages.next()
      #expect(afterTheError == nil)
    }
  }

  @Test func theDefaultSocketIsTheUsersOwn() {
    #expect(PhotoLibrary.socketPath(runtimeDirectory: "/run/user/7/", userID: 7) == "/run/user/7/photod/photod.sock")
    #expect(PhotoLibrary.socketPath(chosen: "/tmp/s", runtimeDirectory: "/run/user/7", userID: 7) == "/tmp/s")
    #expect(
      PhotoLibrary.socketPath(chosen: "", runtimeDirectory: "/run/user/7", userID: 7)
        == "/run/user/7/photod/photod.sock")
    #expect(PhotoLibrary.socketPath(runtimeDirectory: nil, userID: 7) == "/run/user/7/photod/photod.sock")
    #expect(PhotoLibrary.socketPath(runtimeDirectory: "here", userID: 7) == "/run/user/7/photod/photod.sock")
  }
}

func asset(_ id: AssetID) -> Asset {
  let date = PhotoDate(microseconds: id.rawValue)
  return Asset(
    id: id, mediaType: .image, creationDate: date, creationDateSource: .file, modificationDate: date, addedDate: date)
}
