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
  }
}
