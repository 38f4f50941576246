import Foundation
import Glibc
import PhotoTestSupport
import Testing

/// Tests many rescans at once. photod-watch is stopped while they are requested, so that all of them wait.
@Suite(.timeLimit(.minutes(10))) struct RescanFloodTests {
  private static let count = 300
  /// photod-watch runs four at a time. If it is stopped for long, photod starts another one, which scans the root.
  private static let most = 12

  private final class Caller {
    private let socket: CInt

    init(_ fixture: DaemonFixture, path: String) throws {
      socket = try connectedSocket(path: fixture.socket)
      let call = Array(#"{"method":"org.photod.library.Rescan","parameters":{"path":"\#(path)"}}"#.utf8) + [0]
      try #require(write(socket, call, call.count) == call.count)
    }

    deinit { close(socket) }

    func reply() throws -> String {
      var reply: [UInt8] = []
      var bytes = [UInt8](repeating: 0, count: 4_096)
      while reply.last != 0 {
        let count = read(socket, &bytes, bytes.count)
        try #require(count >= 0, "read: \(String(cString: strerror(errno)))")
        try #require(count > 0, "photod closed the connection")
        reply += bytes[..<count]
      }
      return String(decoding: reply.dropLast(), as: UTF8.self)
    }
  }

  /// The number of clients that wait for a rescan.
  private func waiting(_ fixture: DaemonFixture) async throws -> Int {
    struct Clients: Decodable {
      struct Client: Decodable { let method: String? }
      let clients: [Client]
    }
    let client = try await fixture.connect()
    let clients = try await client.call("org.photod.manage.Clients", returning: Clients.self).clients
    await client.close()
    return clients.count { $0.method == "org.photod.library.Rescan" }
  }

  private func scanCount(_ fixture: DaemonFixture) async throws -> Int {
    try await fixture.synchronize()
    return try #require(try await fixture.status().counters).scans
  }

  /// Returns when photod has begun all of these calls.
  private func ask(_ fixture: DaemonFixture, for paths: [String]) async throws -> [Caller] {
    Glibc.kill(try fixture.watchProcessID(), SIGSTOP)
    let callers = try paths.map { try Caller(fixture, path: $0) }
    try await eventually("all rescans wait") { try await waiting(fixture) == paths.count }
    return callers
  }

  private func start(_ fixture: DaemonFixture) async throws -> [String] {
    let folders = (0..<Self.count).map { "d\($0)" }
    for folder in folders { try fixture.write(folder + "/a.jpg") }
    try await fixture.start()
    return folders.map(fixture.path)
  }

  @Test func callersOfOneFolderShareAScan() async throws {
    try await DaemonFixture.with { fixture in
      let folders = try await start(fixture)
      let before = try await scanCount(fixture)
      let watch = try fixture.watchProcessID()
      let callers = try await ask(fixture, for: folders.map { _ in folders[0] })
      Glibc.kill(watch, SIGCONT)
      for caller in callers { #expect(try caller.reply().contains(#""removed":0"#)) }
      let made = try await scanCount(fixture) - before
      #expect(made > 0 && made <= Self.most)
    }
  }

  @Test func scansWhoseCallersHaveGoneAreNotMade() async throws {
    try await DaemonFixture.with { fixture in
      let folders = try await start(fixture)
      let before = try await scanCount(fixture)
      let watch = try fixture.watchProcessID()
      var callers = try await ask(fixture, for: folders)
      #expect(callers.count == Self.count)
      callers = []
      try await eventually("all callers have gone") { try await waiting(fixture) == 0 }
      // This call waits behind the earlier ones.
      let last = try Caller(fixture, path: folders[0])
      Glibc.kill(watch, SIGCONT)
      #expect(try last.reply().contains(#""removed":0"#))
      let made = try await scanCount(fixture) - before
      #expect(made > 0 && made <= Self.most)
    }
  }
}
