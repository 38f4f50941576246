import Testing
import Varlink

extension LiveService {
  /// What a service says of how busy it is.
  @Suite struct Load {
    @Test func aServiceWithoutConnectionsIsIdleSinceItWasMade() async throws {
      let made = SuspendingClock.now
      try await Fixture.with { fixture in
        let load = fixture.service.load
        #expect(load.connectionCount == 0)
        #expect(load.activeCallCount == 0)
        #expect(load.idleTime <= SuspendingClock.now - made)
        // It only grows.
        #expect(fixture.service.load.idleTime >= load.idleTime)
      }
    }

    @Test func aRunningCallAndThoseBehindItAreActive() async throws {
      try await Fixture.with { fixture in
        let client = try RawClient(path: fixture.path)
        let echo = #"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#
        try await client.send(#"{"method":"org.example.test.Wait"}"# + "\0" + echo + "\0" + echo)
        await fixture.interface.log.wait(for: "waiting")
        // The first may be begun before the others are read.
        while fixture.service.load.activeCallCount < 3 { await Task.yield() }
        #expect(fixture.service.load == .init(connectionCount: 1, activeCallCount: 3, idleTime: .zero))
        client.close()
        await fixture.log.wait(for: "closed")
      }
    }

    @Test func anAnsweredCallLeavesTheConnectionAndStartsTheClock() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let before = SuspendingClock.now
        _ = try await client.call("org.example.test.Echo", Echo(text: "a"), returning: Echo.self)
        // The reply is here before the service has looked for the next call.
        while fixture.service.load.activeCallCount > 0 { await Task.yield() }
        let load = fixture.service.load
        #expect(load.connectionCount == 1)
        #expect(load.idleTime <= SuspendingClock.now - before)

        await client.close()
        await fixture.log.wait(for: "closed")
        while fixture.service.load.connectionCount > 0 { await Task.yield() }
        #expect(fixture.service.load.activeCallCount == 0)
      }
    }
  }
}
