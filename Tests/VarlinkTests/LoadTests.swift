import Foundation
import Testing
import Varlink

extension LiveService {
  /// The state of a service's connections, and its load.
  @Suite struct Load {
    @Test func aServiceWithoutConnectionsIsIdleSinceItsCreation() async throws {
      let made = SuspendingClock.now
      try await Fixture.with { fixture in
        let load = fixture.service.load
        #expect(load.connectionCount == 0)
        #expect(load.activeCallCount == 0)
        #expect(load.idleTime <= SuspendingClock.now - made)
        // The time only grows.
        #expect(fixture.service.load.idleTime >= load.idleTime)
      }
    }

    @Test func aRunningCallAndTheCallsBehindItAreActive() async throws {
      try await Fixture.with { fixture in
        let client = try RawClient(path: fixture.path)
        let echo = #"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#
        try await client.send(#"{"method":"org.example.test.Wait"}"# + "\0" + echo + "\0" + echo)
        await fixture.interface.log.wait(for: "waiting")
        // The first call may begin before the others are read.
        while fixture.service.load.activeCallCount < 3 { await Task.yield() }
        #expect(fixture.service.load == .init(connectionCount: 1, activeCallCount: 3, idleTime: .zero))
        client.close()
        await fixture.log.wait(for: "closed")
      }
    }

    @Test func aConnectionIsIdleFromTheReplyToItsLastCall() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let before = SuspendingClock.now
        _ = try await client.call("org.example.test.Echo", Echo(text: "a"), returning: Echo.self)
        // The reply arrives before the service has looked for the next call.
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

    @Test func aConnectionReportsItsPastAndRunningCalls() async throws {
      try await Fixture.with { fixture in
        let before = ContinuousClock.now
        let client = try RawClient(path: fixture.path)
        let echo = #"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#
        try await client.send(echo)
        let reply = try #require(try await client.receive())
        let wait = #"{"method":"org.example.test.Wait","more":true}"#
        try await client.send(wait)
        await fixture.interface.log.wait(for: "waiting")

        let connections = fixture.service.connections
        let connection = try #require(connections.first)
        #expect(connections.count == 1)
        #expect(connection.peer.pid == getpid())
        #expect(connection.connectedAt >= before)
        #expect(connection.answeredCallCount == 1)
        #expect(connection.runningCall == .init(method: "org.example.test.Wait", wantsMore: true))
        #expect(connection.bytesReceived == echo.utf8.count + wait.utf8.count + 2)
        #expect(connection.bytesSent == reply.utf8.count + 1)
        #expect(connection.bytesUnsent == 0)
        client.close()
        await fixture.log.wait(for: "closed")
      }
    }

    @Test func unreadBytesAreReportedAsUnsent() async throws {
      try await Fixture.with { fixture in
        let client = try RawClient(path: fixture.path)
        try await client.send(
          #"{"method":"org.example.test.Pages","more":true,"parameters":{"to":1000,"bytes":65536}}"#)
        // The service stops writing above its high-water mark.
        while fixture.service.connections.first?.bytesUnsent ?? 0 < 1 << 20 { await Task.yield() }
        let connection = try #require(fixture.service.connections.first)
        #expect(connection.bytesUnsent < (1 << 20) + (128 << 10))
        #expect(connection.bytesSent > 0)
        for _ in 1...1000 { #expect(try await client.receive() != nil) }
        while fixture.service.load.activeCallCount > 0 { await Task.yield() }
        let later = try #require(fixture.service.connections.first)
        #expect(later.bytesUnsent == 0)
        #expect(later.bytesSent > 1000 * 65536)
        client.close()
        await fixture.log.wait(for: "closed")
      }
    }
  }
}
