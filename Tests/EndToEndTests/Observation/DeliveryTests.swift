import Foundation
import Glibc
import PhotoClient
import PhotoContract
import PhotoModel
import PhotoTestSupport
import Synchronization
import TestTools
import Testing
import Varlink

/// A client that does not read must cost photod and the other clients little. PHOTOD_DELIVERY_ASSETS=50000 selects the
/// large run.
@Suite(.timeLimit(.minutes(30))) struct DeliveryTests {
  private struct Options: Encodable { var options: FetchOptions?, objects: Bool?, follow: Bool?, since: String? }
  private struct ListReply: Decodable { let observation: Observation }
  private struct HistoryReply: Decodable { let changes: [PersistentChange], token: String }

  private static let favorites = FetchOptions(predicate: "isFavorite == true")
  /// The same list, but with a limit, by which the test recognizes this stream among those of the clients.
  private static let drowsy = FetchOptions(predicate: "isFavorite == true", fetchLimit: 999_999)

  @Test func clientThatReadsAByteASecondDelaysNoOtherAndGetsOneDifference() async throws {
    let count = effort("PHOTOD_DELIVERY_ASSETS", 2_500)
    try await DaemonFixture.with { fixture in
      for index in 0..<count { try fixture.write("\(index / 500)/\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize(timeout: 1_200)
      let ids = try await fixture.ids().ids.shuffled()
      try #require(ids.count == count)
      let perCommit = max(10, count / 1_000)
      let quick = QuickClient()
      let client = try await fixture.connect()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await quick.run(client, Self.favorites) }
        // After a change there and back, the memory that photod keeps in any case is allocated.
        var used = [try residentBytes(fixture)]
        for isFavorite in [true, false] {
          _ = try await change(ids, isFavorite, perCommit, fixture, quick)
          used.append(try residentBytes(fixture))
        }
        let alone = try await change(ids, true, perCommit, fixture, quick)
        used.append(try residentBytes(fixture))
        _ = try await change(ids, false, perCommit, fixture, quick)
        used.append(try residentBytes(fixture))
        let token = try await fixture.synchronize()

        let sleepers = try Sleepers(fixture, since: token)
        let together = try await change(ids, true, perCommit, fixture, quick, between: sleepers.readOneBytePerSecond)
        used.append(try residentBytes(fixture))
        let grown = used[5] - max(used[3], used[4])
        let final = try await fixture.status().token

        let shown = try await sleepers.shown(fixture)
        let clients = try clientsTable(fixture)
        print(
          """
          \(count) assets in \(together.count) commits: commit to receipt \(alone.median) alone, \
          \(together.median) beside \(Sleepers.count) sleepers; photod took \(used.map { $0 >> 20 }) MiB
          \(clients)
          """)
        #expect(together.median < alone.median * 3 + .milliseconds(10))
        // photod keeps the list of each client as it was last sent, and a reply. (A megabyte for each client would be
        // 24.)
        #expect(grown < 12 << 20)
        #expect(clients.contains(#/[0-9,]+ commits, [0-9.]+ [kKM]?B unread +Observe isFavorite == true; limit 999999/#))
        try sleepers.wake(shown, final)
        let list = try await fixture.ids(Self.favorites).ids
        #expect(sleepers.list.ids == list && list.count == count)
        let collections = try await PhotoLibrary(socketPath: fixture.socket).collections()
        #expect(sleepers.collections.collections == collections)
        #expect(Set(sleepers.updated) == Set(ids) && sleepers.updated.count == count)
        group.cancelAll()
      }
    }
  }

  /// Changes `perCommit` photos in each commit, as soon as the quick client has received the previous commit.
  ///
  /// - Returns: the time of each change from the call to the client's receipt.
  private func change(
    _ ids: [AssetID], _ isFavorite: Bool, _ perCommit: Int, _ fixture: DaemonFixture, _ quick: QuickClient,
    between: () throws -> Void = {}
  ) async throws -> [Duration] {
    var times: [Duration] = []
    for start in stride(from: 0, to: ids.count, by: perCommit) {
      let began = ContinuousClock.now
      let token = try await fixture.setFavorite(Array(ids[start..<min(start + perCommit, ids.count)]), isFavorite)
      times.append(try await quick.receipt(of: token) - began)
      try between()
    }
    return times
  }

  private func residentBytes(_ fixture: DaemonFixture) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(fixture.processID)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) << 10
  }

  private func clientsTable(_ fixture: DaemonFixture) throws -> String {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
    process.arguments = ["--socket", fixture.socket, "clients", "--format", "table"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }

  // MARK: - Clients

  /// Reads everything at once, and reports when it arrived.
  private final class QuickClient: Sendable {
    private let replica = Mutex(Replica())
    private let arrivals = Mutex<(token: String, waiter: CheckedContinuation<Void, Never>?)>(("", nil))

    func run(_ client: VarlinkClient, _ options: FetchOptions) async throws {
      for try await reply in client.stream("org.photod.library.Observe", Options(options: options), of: ListReply.self)
      {
        try replica.withLock { try $0.apply(reply.observation) }
        let waiter = arrivals.withLock { arrivals in
          arrivals.token = reply.observation.token
          defer { arrivals.waiter = nil }
          return arrivals.waiter
        }
        waiter?.resume()
      }
    }

    /// Waits until the change of this token has arrived, and returns that time. Each change must concern the list.
    func receipt(of token: String) async throws -> ContinuousClock.Instant {
      while true {
        await withCheckedContinuation { continuation in
          let isHere = arrivals.withLock { arrivals in
            if arrivals.token == token { return true }
            arrivals.waiter = continuation
            return false
          }
          if isHere { continuation.resume() }
        }
        if arrivals.withLock({ $0.token == token }) { return .now }
      }
    }
  }

  /// One client of each stream reads a byte each second. The others read nothing.
  private final class Sleepers {
    static let count = 24
    private let streams: [String: RawStream]
    private let others: [RawStream]
    private(set) var list = Replica()
    private(set) var collections = CollectionListReplica()
    private(set) var updated: [AssetID] = []
    private var lastByte = ContinuousClock.now

    init(_ fixture: DaemonFixture, since token: String) throws {
      func observe(_ options: FetchOptions) throws -> RawStream {
        try RawStream(fixture, "org.photod.library.Observe", Options(options: options, objects: true))
      }
      streams = [
        "Observe": try observe(DeliveryTests.drowsy),
        "ObserveCollections": try RawStream(fixture, "org.photod.library.ObserveCollections", Options()),
        "FetchPersistentChanges": try RawStream(
          fixture, "org.photod.library.FetchPersistentChanges", Options(follow: true, since: token)),
      ]
      others = try (streams.count..<Self.count).map { _ in try observe(DeliveryTests.favorites) }
      for stream in streams.values { try stream.read(1) }
      for stream in others { try stream.read(1) }
    }

    func readOneBytePerSecond() throws {
      guard ContinuousClock.now - lastByte >= .seconds(1) else { return }
      lastByte = .now
      for stream in streams.values { try stream.read(1) }
    }

    struct Shown: Decodable {
      let method: String
      let options: String?
      let token: String?
      let behindBy: Int
      let bytesUnsent: Int
    }

    /// The clients' streams as photod reports them, after it has sent as much as the sockets accept.
    func shown(_ fixture: DaemonFixture) async throws -> [String: Shown] {
      struct Reply: Decodable {
        struct Client: Decodable { let streams: [Shown] }
        let clients: [Client]
      }
      let reply = try await fixture.connect().call("org.photod.manage.Clients", returning: Reply.self)
      let all = reply.clients.flatMap(\.streams)
      #expect(all.filter { $0.bytesUnsent > 0 }.count >= Self.count - 2, "they were not sent enough")
      // At most one reply waits for each client: 512 KiB of assets.
      #expect(all.allSatisfy { $0.bytesUnsent < 520 << 10 })
      var shown: [String: Shown] = [:]
      for stream in all where stream.method.hasSuffix("Observe") ? stream.options?.hasSuffix("999999") == true : true {
        shown[String(stream.method.split(separator: ".").last ?? "")] = stream
      }
      return shown
    }

    /// Reads up to the newest reply. After the reply that was already sent, one more must lead to the final state.
    func wake(_ shown: [String: Shown], _ final: String) throws {
      let (lists, albums, history) = (
        try #require(streams["Observe"]), try #require(streams["ObserveCollections"]),
        try #require(streams["FetchPersistentChanges"])
      )
      func expectOneStep(_ name: String, _ tokens: [String], _ previous: String?) throws {
        let stream = try #require(shown[name])
        let sent = try #require(stream.token)
        #expect(stream.behindBy > 0, "\(name)")
        #expect(tokens.drop { $0 != sent }.dropFirst() == [final], "\(name) after \(sent)")
        if let previous { #expect(previous == sent) }
        print("\(name): \(tokens.count) replies, \(stream.behindBy) commits behind, \(stream.bytesUnsent) bytes unsent")
      }
      var tokens: [String] = []
      var previous: String?
      while tokens.last != final {
        let observation = try lists.next(ListReply.self).observation
        try list.apply(observation)
        // A difference that is larger than the list comes as the list, in pages.
        if observation.offset ?? 0 == 0 { previous = observation.previousToken }
        if observation.complete ?? true { tokens.append(observation.token) }
      }
      try expectOneStep("Observe", tokens, previous)
      tokens = []
      while tokens.last != final {
        let observation = try albums.next(CollectionObservation.self)
        _ = try collections.apply(observation)
        tokens.append(observation.token)
        previous = observation.previousToken
      }
      try expectOneStep("ObserveCollections", tokens, previous)
      tokens = []
      while tokens.last != final {
        let page = try history.next(HistoryReply.self)
        updated += page.changes.flatMap(\.updatedAssets)
        tokens.append(page.token)
      }
    }
  }
}

extension [Duration] {
  fileprivate var median: Duration { sorted()[count / 2] }
}
