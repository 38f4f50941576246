import NIOCore
import Testing

@testable import Varlink

/// The limit for the messages of all connections together.
@Suite struct MessageMemoryTests {
  @Test func aReplyForSeveralConnectionsCountsOnce() {
    let memory = MessageMemory(limit: 1_000_000)
    let (page, end) = (ByteBuffer(repeating: 1, count: 600_000), ByteBuffer(repeating: 2, count: 10))
    for connection in 0..<100 {
      memory.open(connection)
      #expect(memory.addReply([page, end], to: connection) == nil)
    }
    #expect(memory.total == 600_000 + 100 * 10)
    let other = ByteBuffer(repeating: 3, count: 500_000)
    #expect(memory.addReply([other], to: 7) == 7, "it holds the most")
    memory.removeReply([other], from: 7)
    for connection in 0..<100 {
      memory.removeReply([page, end], from: connection)
      memory.close(connection)
    }
    #expect(memory.total == 0)
  }

  @Test func callsOfAClosedConnectionAreForgotten() {
    let memory = MessageMemory(limit: 100)
    memory.open(1)
    memory.open(2)
    #expect(memory.addCalls(60, to: 1) == nil && memory.addCalls(30, to: 2) == nil)
    #expect(memory.addCalls(20, to: 2) == 1)
    memory.close(1)
    #expect(memory.total == 50)
    // The call that was being answered ends later.
    #expect(memory.addCalls(-60, to: 1) == nil && memory.total == 50)
  }
}

extension LiveService {
  @Suite struct Memory {
    @Test func connectionsThatHoldTooMuchAreClosedAndOthersAreAnswered() async throws {
      var limits = VarlinkService.Limits()
      limits.maximumHeldBytes = 8 << 20
      try await Fixture.with(limits: limits) { fixture in
        let good = try await fixture.connect()
        var hostile: [RawClient] = []
        for _ in 0..<8 {
          let client = try RawClient(path: fixture.path)
          hostile.append(client)
          // A long message without its end.
          _ = try await client.offer([UInt8](repeating: 0x20, count: 3 << 20), timeout: 2_000)
          let answer = try await good.call("org.example.test.Echo", Echo(text: "here"), returning: Echo.self)
          #expect(answer.text == "here")
          #expect(fixture.service.memory.total <= (8 << 20) + (256 << 10))
        }
        await fixture.log.wait(for: "evicted")
        #expect(fixture.service.connectionCount < 9)
        for client in hostile { client.close() }
      }
    }

    /// A message of one byte takes some twenty bytes as a frame, and is counted as nothing.
    @Test func onlyAFewOfTheMessagesSentAheadAreFrames() async throws {
      try await Fixture.with { fixture in
        let hostile = try RawClient(path: fixture.path)
        try await hostile.send(#"{"method":"org.example.test.Wait","more":true}"#)
        await fixture.interface.log.wait(for: "waiting")
        try await hostile.send([UInt8](repeating: 0, count: 50_000))
        while fixture.service.load.activeCallCount < 17 { await Task.yield() }
        // After this round trip, the thread of the network has processed all bytes that it had read.
        let good = try await fixture.connect()
        _ = try await good.call("org.example.test.Echo", Echo(text: "here"), returning: Echo.self)
        #expect(fixture.service.load.activeCallCount <= 17 + 1)
        #expect(fixture.service.memory.total <= 128 << 10)
        hostile.close()
        await fixture.log.wait(for: "closed")
        await good.close()
      }
    }

    /// Messages that were held back reach the service later, although their sender has shut down its side.
    @Test func allMessagesSentAheadAreAnswered() async throws {
      try await Fixture.with { fixture in
        let client = try RawClient(path: fixture.path)
        let calls = (0..<500).map { #"{"method":"org.example.test.Echo","parameters":{"text":"\#($0)"}}"# }
        try await client.send(calls.joined(separator: "\0"))
        client.halfClose()
        for number in 0..<500 { #expect(try await client.receive() == #"{"parameters":{"text":"\#(number)"}}"#) }
        #expect(try await client.receive() == nil)
      }
    }

    @Test func aReleasedMessageTakesNoMemoryDuringItsCall() async throws {
      try await Fixture.with { fixture in
        let client = try RawClient(path: fixture.path)
        let parameters = #"{"text":"\#(String(repeating: "x", count: 300_000))"}"#
        try await client.send(#"{"method":"org.example.test.Release","parameters":\#(parameters)}"#)
        await fixture.interface.log.wait(for: "released")
        #expect(fixture.service.load.activeCallCount == 1 && fixture.service.memory.total == 0)
        fixture.interface.log.append("go on")
        let reply = try #require(try await client.receive())
        // A general encoder writes the members in any order.
        #expect(reply.contains(#""before":\#(parameters.utf8.count)"#) && reply.contains(#""after":0"#))
        client.close()
        await fixture.log.wait(for: "closed")
      }
    }

    @Test func messagesThatWereAnsweredAreNotHeld() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let text = String(repeating: "x", count: 300_000)
        for _ in 0..<20 { _ = try await client.call("org.example.test.Echo", Echo(text: text), returning: Echo.self) }
        await client.close()
        await fixture.log.wait(for: "closed")
        #expect(fixture.service.memory.total == 0)
      }
    }
  }
}
