import Glibc
import TestTools
import Testing
import Varlink

extension LiveService {
  /// A service that hands its socket to another process.
  @Suite struct Leaving {
    @Test func openConnectionsStay() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let before = try await client.call("org.example.test.Echo", Echo(text: "a"), returning: Echo.self)
        #expect(before.text == "a")
        fixture.service.stopAccepting()
        let after = try await client.call("org.example.test.Echo", Echo(text: "b"), returning: Echo.self)
        #expect(after.text == "b")
        #expect(fixture.service.connectionCount == 1)
        await client.close()
        await fixture.log.wait(for: "closed")
      }
    }

    @Test func openConnectionsStayIfTheServiceMovesToAnotherSocket() async throws {
      try await Fixture.with { fixture in
        let first = try await fixture.connect()
        _ = try await first.call("org.example.test.Echo", Echo(text: "a"), returning: Echo.self)
        for round in 0..<3 {
          // The file is gone, so no client reaches the former socket.
          #expect(unlink(fixture.path) == 0)
          let descriptor = try VarlinkSocket.listen(path: fixture.path)
          let hasMoved = try await fixture.service.move(to: descriptor)
          #expect(hasMoved)
          let client = try await fixture.connect()
          let reply = try await client.call("org.example.test.Echo", Echo(text: "\(round)"), returning: Echo.self)
          #expect(reply.text == "\(round)")
          await client.close()
        }
        let after = try await first.call("org.example.test.Echo", Echo(text: "b"), returning: Echo.self)
        #expect(after.text == "b")
        await first.close()
        // A service that accepts no connections takes no socket, and closes it.
        fixture.service.stopAccepting()
        #expect(unlink(fixture.path) == 0)
        let descriptor = try VarlinkSocket.listen(path: fixture.path)
        while try await fixture.service.move(to: fcntl(descriptor, F_DUPFD_CLOEXEC, 3)) { await Task.yield() }
        close(descriptor)
        await #expect(throws: (any Error).self) { _ = try await fixture.connect() }
      }
    }

    /// The service must know each listening socket, or it could not close it.
    @Test func concurrentMovesLeaveOneSocket() async throws {
      try await Fixture.with { fixture in
        try await Self.waitForTheListener(of: fixture)
        let paths = (0..<40).map { "\(fixture.directory)/\($0).sock" }
        for round in 0..<20 {
          let (first, second) = (paths[2 * round], paths[2 * round + 1])
          async let hasMoved = fixture.service.move(to: VarlinkSocket.listen(path: first))
          async let hasMovedToo = fixture.service.move(to: VarlinkSocket.listen(path: second))
          let areMoved = try await [hasMoved, hasMovedToo]
          #expect(areMoved == [true, true])
        }
        fixture.service.stopAccepting()
        try await eventually("no socket listens") { !([fixture.path] + paths).contains(where: Self.listens) }
      }
    }

    @Test func aServiceThatStopsAcceptingDuringAMoveListensNoMore() async throws {
      for _ in 0..<20 {
        try await Fixture.with { fixture in
          try await Self.waitForTheListener(of: fixture)
          #expect(unlink(fixture.path) == 0)
          let descriptor = try VarlinkSocket.listen(path: fixture.path)
          async let hasMoved = fixture.service.move(to: descriptor)
          fixture.service.stopAccepting()
          _ = try await hasMoved
          try await eventually("no socket listens") { !Self.listens(fixture.path) }
        }
      }
    }

    @Test func aServiceThatIsServedAfterItStoppedAcceptingListensNoMore() async throws {
      try await Fixture.with { fixture in
        fixture.service.stopAccepting()
        let path = "\(fixture.directory)/second.sock"
        try await fixture.service.serve(listeningDescriptor: VarlinkSocket.listen(path: path))
        #expect(!Self.listens(path))
      }
    }

    private static func waitForTheListener(of fixture: Fixture) async throws {
      let client = try await fixture.connect()
      _ = try await client.call("org.example.test.Echo", Echo(text: "a"), returning: Echo.self)
      await client.close()
    }

    /// Whether a connection to the socket is possible.
    private static func listens(_ path: String) -> Bool {
      do {
        _ = try RawClient(path: path)
        return true
      } catch {
        return false
      }
    }
  }
}
