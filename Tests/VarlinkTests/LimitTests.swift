import Foundation
import TestTools
import Testing
import Varlink

extension LiveService {
  @Suite struct Boundaries {
    static let echo = #"{"method":"org.example.test.Echo","parameters":{"text":"on"}}"#
    static let answer = #"{"parameters":{"text":"on"}}"#

    private static func invalid(_ parameter: String) -> String {
      #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"\#(parameter)"}}"#
    }

    @Test(arguments: [
      ("", "message"), (" ", "message"), ("nonsense", "message"), ("[]", "message"), ("17", "message"),
      ("{", "message"), (#"{"method":"a"}x"#, "message"), (#"{"method":"#, "message"), ("\u{1}", "message"),
      ("{}", "method"), (#"{"method":null}"#, "method"), (#"{"method":17}"#, "method"), (#"{"method":""}"#, "method"),
      (#"{"method":"\ud800"}"#, "method"),
      (#"{"method":"org.example.test.Echo","parameters":[]}"#, "parameters"),
      (#"{"method":"org.example.test.Echo","parameters":"text"}"#, "parameters"),
      (#"{"method":"org.example.test.Echo","more":1}"#, "more"),
      (#"{"method":"org.example.test.Echo","oneway":"yes"}"#, "oneway"),
      (#"{"method":"org.example.test.Echo","parameters":{"text":17}}"#, "text"),
      // Foundation's decoder does not report which number it could not represent.
      (#"{"method":"org.example.test.Count","parameters":{"to":1e999}}"#, "parameters"),
      (#"{"method":"org.example.test.Count","parameters":{"to":99999999999999999999}}"#, "parameters"),
    ])
    func anInvalidMessageIsAnsweredAndTheConnectionStaysOpen(_ message: String, _ parameter: String) async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        try await raw.send(message)
        #expect(try await raw.receive() == Self.invalid(parameter))
        try await raw.send(Self.echo)
        #expect(try await raw.receive() == Self.answer)
      }
    }

    @Test func deepNestingIsRefusedBeforeItIsParsed() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        for open in ["[", #"{"a":"#, "[["] {
          let deep = String(repeating: open, count: 100_000)
          for message in [deep, #"{"method":"org.example.test.Echo","parameters":{"text":"# + deep] {
            try await raw.send(message)
            #expect(try await raw.receive() == Self.invalid("message"))
          }
        }
        try await raw.send(Self.echo)
        #expect(try await raw.receive() == Self.answer)
      }
    }

    @Test func invalidUTF8IsRefused() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        for bad: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] {
          let start = Array(#"{"method":"org.example.test.Echo","parameters":{"text":""#.utf8)
          try await raw.send(start + bad + Array(#""}}"#.utf8) + [0])
          #expect(try await raw.receive() == Self.invalid("message"))
        }
      }
    }

    @Test func aMessageThatIsTooLargeIsRefusedInItsTurn() async throws {
      var limits = VarlinkService.Limits()
      limits.maximumMessageBytes = 1 << 20
      try await Fixture.with(limits: limits) { fixture in
        let raw = try RawClient(path: fixture.path)
        try await raw.send(Self.echo)
        try await raw.send([UInt8](repeating: UInt8(ascii: "x"), count: 2 << 20) + [0])
        try await raw.send(Self.echo)
        #expect(try await raw.receive() == Self.answer)
        #expect(try await raw.receive() == Self.invalid("message"))
        #expect(try await raw.receive() == Self.answer)
      }
    }

    @Test func aMessageOfExactlyTheMaximumIsAccepted() async throws {
      var limits = VarlinkService.Limits()
      limits.maximumMessageBytes = 100_000
      try await Fixture.with(limits: limits) { fixture in
        let raw = try RawClient(path: fixture.path)
        let padding = String(repeating: " ", count: 100_000 - Self.echo.utf8.count)
        try await raw.send(Self.echo + padding)
        #expect(try await raw.receive() == Self.answer)
        try await raw.send(Self.echo + padding + " ")
        #expect(try await raw.receive() == Self.invalid("message"))
      }
    }

    @Test func aMessageWithoutEndClosesTheConnection() async throws {
      var limits = VarlinkService.Limits()
      limits.maximumMessageBytes = 1 << 20
      try await Fixture.with(limits: limits) { fixture in
        let raw = try RawClient(path: fixture.path)
        let sent = try await raw.offer([UInt8](repeating: UInt8(ascii: " "), count: 32 << 20), timeout: 20_000)
        #expect(sent < 8 << 20)
        #expect(try await raw.receive() == nil)
      }
    }

    @Test func largeCallsAndRepliesPass() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let text = String(repeating: "0123456789abcdef", count: 900_000)
        #expect(try await client.call("org.example.test.Echo", Echo(text: text), returning: Echo.self).text == text)
      }
    }

    @Test func aReplyBeyondTheClientsLimitIsAnError() async throws {
      try await Fixture.with { fixture in
        let client = try await VarlinkClient.connect(path: fixture.path, maximumReplyBytes: 1000)
        await #expect(throws: VarlinkClientError.replyTooLarge(maximumBytes: 1000)) {
          try await client.call(
            "org.example.test.Echo", Echo(text: String(repeating: "x", count: 2000)), returning: Echo.self)
        }
      }
    }

    @Test func connectionsBeyondTheMaximumAreClosedAndReported() async throws {
      var limits = VarlinkService.Limits()
      limits.maximumConnections = 3
      try await Fixture.with(limits: limits) { fixture in
        var clients: [RawClient] = []
        for _ in 0..<3 {
          let client = try RawClient(path: fixture.path)
          try await client.send(Self.echo)
          #expect(try await client.receive() == Self.answer)
          clients.append(client)
        }
        #expect(fixture.service.connectionCount == 3)
        #expect(try await RawClient(path: fixture.path).receive() == nil)
        await fixture.log.wait(for: "tooManyConnections")
        clients[0].close()
        await fixture.log.wait(for: "closed")
        let next = try RawClient(path: fixture.path)
        try await next.send(Self.echo)
        #expect(try await next.receive() == Self.answer)
      }
    }

    @Test func connectionsOfOneProcessHaveASeparateMaximum() async throws {
      var limits = VarlinkService.Limits()
      limits.maximumConnectionsOfProcess = 2
      try await Fixture.with(limits: limits) { fixture in
        let clients = try (0..<2).map { _ in try RawClient(path: fixture.path) }
        for client in clients {
          try await client.send(Self.echo)
          #expect(try await client.receive() == Self.answer)
        }
        #expect(try await RawClient(path: fixture.path).receive() == nil)
        await fixture.log.wait(for: "tooManyOfProcess")
        #expect(fixture.service.connectionCount == 2)
        clients[0].close()
        await fixture.log.wait(for: "closed")
        let next = try RawClient(path: fixture.path)
        try await next.send(Self.echo)
        #expect(try await next.receive() == Self.answer)
      }
    }

    @Test func anIdleConnectionIsClosedARunningStreamIsNot() async throws {
      var limits = VarlinkService.Limits()
      limits.idleTimeout = .milliseconds(150)
      try await Fixture.with(limits: limits) { fixture in
        let streaming = try RawClient(path: fixture.path)
        try await streaming.send(#"{"method":"org.example.test.Wait","more":true}"#)
        await fixture.interface.log.wait(for: "waiting")
        let idle = try RawClient(path: fixture.path)
        try await idle.send(Self.echo)
        #expect(try await idle.receive() == Self.answer)
        // A message that is never completed does not keep a connection open.
        try await idle.send(Array(#"{"method":"#.utf8))
        #expect(try await idle.receive() == nil)
        // This second connection proves that the stream has been silent for two time-outs.
        #expect(try await RawClient(path: fixture.path).receive() == nil)
        #expect(fixture.log.events.filter { $0.hasPrefix("idle") }.count == 2)
        #expect(fixture.interface.log.events == ["waiting", "echo on"])
      }
    }

    @Test func aHalfClosedConnectionGetsItsReplies() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        try await raw.send(Self.echo)
        try await raw.send(#"{"method":"org.example.test.Count","more":true,"parameters":{"to":40,"bytes":65536}}"#)
        raw.halfClose()
        #expect(try await raw.receive() == Self.answer)
        for number in 1...40 { #expect(try await raw.receive()?.contains(#""number":\#(number)"#) == true) }
        #expect(try await raw.receive() == nil)
      }
    }

    @Test func manyConnectionsOpenAndClose() async throws {
      try await Fixture.with { fixture in
        for _ in 0..<20 {
          try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
              group.addTask {
                let client = try await fixture.connect()
                let reply = try await client.call("org.example.test.Echo", Echo(text: "x"), returning: Echo.self)
                #expect(reply.text == "x")
                await client.close()
              }
            }
            try await group.waitForAll()
          }
        }
        #expect(fixture.interface.log.events.filter { $0 == "echo x" }.count == 400)
        try await eventually("no connection is left") { fixture.service.connectionCount == 0 }
      }
    }
  }
}
