import Foundation
import PhotoContract
import PhotoModel
import Testing
import Varlink

@testable import PhotoIndexer
@testable import PhotoLive
@testable import PhotoServer

/// `org.photod.manage` over a socket.
@Suite(.timeLimit(.minutes(10))) struct ManageTests {
  private struct Clients: Decodable {
    struct Client: Decodable {
      struct Stream: Decodable {
        let method: String
        let options: String?
        let token: String?
        let behind: Bool
        let bytesUnsent: Int
        let bytesInSocket: Int
      }
      let number: Int
      let pid: Int32
      let uid: UInt32
      let program: String?
      let command: String?
      let clientName: String?
      let since: PhotoDate
      let callCount: Int
      let bytesReceived: Int
      let bytesSent: Int
      let method: String?
      let streams: [Stream]
      let isSelf: Bool
    }
    let clients: [Client]
  }

  private struct Events: Decodable {
    struct Event: Decodable {
      let number: Int
      let time: PhotoDate
      let source: String
      let kind: String
      let path: String?
      let assetID: AssetID?
      let detail: String
    }
    let events: [Event]
    let missed: Int
  }

  private struct Follow: Encodable { var follow = true }
  private struct Anything: Decodable {}

  @Test func bothInterfacesAreListedAndDescribed() async throws {
    struct Info: Decodable { let interfaces: [String] }
    struct Name: Encodable { let interface: String }
    struct Description: Decodable { let description: String }
    try await ServerFixture().serving { socket, _ in
      let client = try await VarlinkClient.connect(path: socket)
      let info = try await client.call("org.varlink.service.GetInfo", returning: Info.self)
      #expect(info.interfaces == ["org.varlink.service", "org.photod.library", "org.photod.manage"])
      for name in info.interfaces.dropFirst() {
        let text = try await client.call(
          "org.varlink.service.GetInterfaceDescription", Name(interface: name), returning: Description.self)
        #expect(text.description.contains("\ninterface \(name)\n"))
      }
    }
  }

  @Test func clientsListsStreamsAndTheCallingClient() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(3)
    try await fixture.serving { socket, _ in
      struct Parameters: Encodable { let options: FetchOptions }
      let observer = try await VarlinkClient.connect(path: socket)
      let options = FetchOptions(
        collection: "smart:favorites", predicate: "isFavorite=TRUE", fetchLimit: 5)
      var replies = observer.stream(
        "org.photod.library.Observe", Parameters(options: options), of: Anything.self
      ).makeAsyncIterator()
      _ = try await replies.next()
      let asker = try await VarlinkClient.connect(path: socket)
      _ = try await asker.call("org.photod.library.ListKeys", returning: Anything.self)
      let clients = try await asker.call("org.photod.manage.Clients", returning: Clients.self).clients
      #expect(clients.count == 2)
      let (first, second) = (try #require(clients.first), try #require(clients.last))
      for client in clients {
        #expect(client.pid == getpid() && client.uid == getuid())
        #expect(client.program?.isEmpty == false && client.command == CommandLine.arguments[0])
        #expect(client.bytesReceived > 0)
        #expect(abs(client.since.microseconds - WallTime.now.microseconds) < 120_000_000)
      }
      #expect(first.number < second.number)
      #expect(!first.isSelf && second.isSelf)
      let stream = try #require(first.streams.first)
      #expect(stream.method == "org.photod.library.Observe")
      #expect(stream.options == "smart:favorites; isFavorite == true; limit 5")
      #expect(stream.token == (try fixture.token()))
      #expect(stream.bytesUnsent == 0)
      #expect(first.method == nil && first.callCount == 0)
      #expect(second.method == "org.photod.manage.Clients" && second.streams.isEmpty && second.callCount == 1)
      await observer.close()
    }
  }

  /// A single Character may have any number of Unicode scalars.
  @Test func summaryOfOptionsIsShort() {
    let marks = String(repeating: "\u{301}", count: 30_000)
    for predicate in ["a" + marks, marks] {
      #expect(FetchOptions(text: predicate).summary(predicate: nil)?.unicodeScalars.count == 501)
    }
    #expect("a\(marks)".shortened.unicodeScalars.count == 501)
    let short = String(repeating: "é🙂", count: 250)
    #expect(short.shortened == short && "".shortened == "")
  }

  @Test func aStreamIsBehindUntilItHasLookedAtTheNewestCommit() {
    let feed = ChangeFeed(sequence: 4)
    #expect(ConnectionRegistry.Stream(reached: 1, feed: feed).behindBy == 3)
    #expect(ConnectionRegistry.Stream(reached: 4, feed: feed).behindBy == 0)
    #expect(ConnectionRegistry.Stream(reached: 5, feed: feed).behindBy == 0)
    #expect(ConnectionRegistry.Stream(reached: 0).behindBy == 0)
  }

  @Test func unreadBytesAreSeenInTheSocket() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(3)
    try await fixture.serving { socket, _ in
      let idle = try VarlinkSocketClient(path: socket)
      try idle.send(#"{"method":"org.photod.library.Observe","more":true,"parameters":{}}"#)
      let asker = try await VarlinkClient.connect(path: socket)
      func stream() async throws -> Clients.Client.Stream? {
        try await asker.call("org.photod.manage.Clients", returning: Clients.self).clients.first?.streams.first
      }
      // The list is in the kernel's buffer once its token is shown.
      var now: Clients.Client.Stream?
      repeat { now = try await stream() } while now?.token == nil || now?.bytesInSocket == 0
      let stopped = try #require(now)
      #expect(!stopped.behind && stopped.bytesUnsent == 0 && (100..<10_000).contains(stopped.bytesInSocket))
      try idle.receive()
      #expect(try await stream()?.bytesInSocket == 0)
    }
  }

  @Test func clientsWithMoreRepliesAgainWhenAClientConnectsOrLeaves() async throws {
    try await ServerFixture().serving { socket, _ in
      let watcher = try await VarlinkClient.connect(path: socket)
      var replies = watcher.stream("org.photod.manage.Clients", of: Clients.self).makeAsyncIterator()
      #expect(try await replies.next()?.clients.map(\.isSelf) == [true])
      let other = try await VarlinkClient.connect(path: socket)
      #expect(try await replies.next()?.clients.count == 2)
      await other.close()
      while try await replies.next()?.clients.count != 1 {}
    }
  }

  @Test func aNameGivenToPerformChangesIsShown() async throws {
    struct Parameters: Encodable {
      let requests: [ChangeRequest]
      let clientName: String
    }
    let fixture = try ServerFixture()
    let ids = try fixture.insert()
    try await fixture.serving { socket, _ in
      let client = try await VarlinkClient.connect(path: socket)
      _ = try await client.call(
        "org.photod.library.PerformChanges",
        Parameters(requests: [.init(editAsset: .init(ids: ids, isFavorite: true))], clientName: "slideshow"),
        returning: Anything.self)
      let clients = try await client.call("org.photod.manage.Clients", returning: Clients.self).clients
      #expect(clients.map(\.clientName) == ["slideshow"])
      // The commit is an event with its origin.
      let events = try await client.call("org.photod.manage.Events", returning: Events.self).events
      #expect(events.last?.kind == "committed")
      #expect(events.last?.detail.hasSuffix(" by client:slideshow: 1 updated") == true)
    }
  }

  @Test func eventsAreTheNewestOfTheRingAndFollowContinues() async throws {
    let fixture = try ServerFixture()
    let ring = fixture.library.events
    for session in 1...1_500 { ring.append(.watcherStarted(session: session)) }
    ring.announce()
    try await fixture.serving { socket, _ in
      let client = try await VarlinkClient.connect(path: socket)
      let all = try await client.call("org.photod.manage.Events", returning: Events.self)
      #expect(all.events.map(\.number) == Array(501...1_500))
      #expect(all.missed == 500)
      #expect(all.events[0].source == "watch" && all.events[0].kind == "watcherStarted")

      var replies = client.stream("org.photod.manage.Events", Follow(), of: Events.self).makeAsyncIterator()
      var numbers: [Int] = []
      while numbers.last != 1_500 { numbers += try #require(try await replies.next()).events.map(\.number) }
      #expect(numbers == Array(501...1_500))
      // More events come before the next announcement than the ring holds. The reply says how many were missed.
      for _ in 1...1_200 { ring.append(.overflow) }
      ring.announce()
      let next = try #require(try await replies.next())
      #expect(next.missed == 200)
      #expect(next.events.first?.number == 1_701)
    }
  }

  @Test func followNeedsMoreAndEndsWithTheLibrary() async throws {
    let fixture = try ServerFixture()
    try await fixture.serving { socket, _ in
      let client = try await VarlinkClient.connect(path: socket)
      await #expect(throws: VarlinkError.expectedMore) {
        try await client.call("org.photod.manage.Events", Follow(), returning: Events.self)
      }
      fixture.library.events.append(.overflow)
      fixture.library.events.announce()
      var replies = client.stream("org.photod.manage.Events", Follow(), of: Events.self).makeAsyncIterator()
      #expect(try await replies.next()?.events.count == 1)
      fixture.library.stopWaiting()
      do {
        _ = try await replies.next()
        Issue.record("it went on")
      } catch let error as VarlinkError {
        #expect(error.name == "org.photod.manage.Unavailable")
      }
    }
  }

  @Test func listedKeysAreAcceptedByAFetch() async throws {
    struct Keys: Decodable { let predicateKeys: [String], sortKeys: [String] }
    let fixture = try ServerFixture()
    try await fixture.serving { socket, _ in
      let client = try await VarlinkClient.connect(path: socket)
      let keys = try await client.call("org.photod.library.ListKeys", returning: Keys.self)
      #expect(keys.predicateKeys.contains("camera.model") && keys.predicateKeys.contains("isFavorite"))
      #expect(keys.sortKeys.first == "creationDate" && keys.sortKeys.last == "id")
      for key in keys.sortKeys {
        _ = try fixture.catalog.read {
          try $0.ids(try $0.plan(FetchOptions(sortDescriptors: [.init(key: key, ascending: true)])))
        }
      }
    }
  }

  @Test func withoutALibraryBothInterfacesAnswer() async throws {
    struct Keys: Decodable { let sortKeys: [String] }
    let service = VarlinkService(
      identity: .init(vendor: "v", product: "p", version: "1", url: "u"),
      interfaces: [
        DegradedService(reasons: ["There is no configuration."], version: "1"),
        ManageService(connections: ConnectionRegistry()),
      ])
    let socket = NSTemporaryDirectory() + "photod-degraded-\(UUID().uuidString)"
    let descriptor = try VarlinkSocket.listen(path: socket)
    defer { unlink(socket) }
    try await withThrowingTaskGroup { group in
      group.addTask { try await service.serve(listeningDescriptor: descriptor) }
      defer { service.shutDown(within: .zero) }
      let client = try await VarlinkClient.connect(path: socket)
      #expect(try await client.call("org.photod.manage.Clients", returning: Clients.self).clients.count == 1)
      #expect(try await client.call("org.photod.manage.Events", returning: Events.self).events.isEmpty)
      #expect(!(try await client.call("org.photod.library.ListKeys", returning: Keys.self).sortKeys.isEmpty))
    }
  }

  @Test func aMissingProcessHasNoName() {
    // This number is above the largest pid_max (proc(5)).
    #expect(ProcessName(of: 4_194_305) == ProcessName(of: -1))
    #expect(ProcessName(of: 4_194_305).program == nil)
    #expect(ProcessName(of: getpid()).command == CommandLine.arguments[0])
  }

  @Test func theSummaryOfOptionsListsThoseThatAreSet() {
    #expect(FetchOptions().summary(predicate: nil) == nil)
    let options = FetchOptions(
      mediaTypes: ["image", "video"], sortDescriptors: [.init(key: "rating", ascending: false)], includeHidden: true)
    #expect(options.summary(predicate: nil) == "image, video; by rating descending; with hidden")
    #expect(FetchOptions(collection: String(repeating: "x", count: 600)).summary(predicate: nil)?.count == 501)
  }
}
