import Glibc
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
  }
}
