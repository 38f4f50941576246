import Foundation
import Testing
import Varlink

extension LiveService {
  @Suite struct Streams {
    @Test func aStreamReturnsAllItsRepliesAndFreesItsConnection() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        for count in [1, 2, 1000] {
          var numbers: [Int] = []
          for try await reply in client.stream(
            "org.example.test.Count", CountOptions(to: count), of: Number.self)
          {
            numbers.append(reply.number)
          }
          #expect(numbers == Array(1...count))
        }
        #expect(try await client.call("org.example.test.Echo", Echo(text: "on"), returning: Echo.self).text == "on")
      }
    }

    @Test func encodedRepliesPassAsTheyAre() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        var texts: [String] = []
        let parameters = try VarlinkEncoded(encoding: CountOptions(to: 2))
        for try await reply in client.stream("org.example.test.Count", encoded: parameters) {
          texts.append(String(decoding: reply, as: UTF8.self))
        }
        #expect(texts == [#"{"number":1}"#, #"{"number":2}"#])
      }
    }

    @Test func onTheWireAllRepliesButTheLastContinue() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        try await raw.send(#"{"method":"org.example.test.Count","more":true,"parameters":{"to":2}}"#)
        #expect(try await raw.receive() == #"{"parameters":{"number":1},"continues":true}"#)
        #expect(try await raw.receive() == #"{"parameters":{"number":2}}"#)
      }
    }

    @Test func aStreamWithoutMoreIsExpectedMore() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let error = await #expect(throws: VarlinkError.self) {
          try await client.call("org.example.test.Count", CountOptions(to: 3), returning: Number.self)
        }
        #expect(error == .expectedMore)
      }
    }

    @Test func anErrorMidwayEndsTheStream() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        var replies = client.stream("org.example.test.Fail", ["how": "midway"], of: Number.self).makeAsyncIterator()
        #expect(try await replies.next()?.number == 1)
        let error = await #expect(throws: VarlinkError.self) { _ = try await replies.next() }
        #expect(error?.name == "org.example.test.Refused")
        #expect(try await replies.next() == nil)
        #expect(try await client.call("org.example.test.Echo", Echo(text: "on"), returning: Echo.self).text == "on")
      }
    }

    @Test func aCallBesideAStreamIsRefusedAtOnce() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        var replies = client.stream("org.example.test.Count", CountOptions(to: 5), of: Number.self)
          .makeAsyncIterator()
        #expect(try await replies.next()?.number == 1)
        await #expect(throws: VarlinkClientError.streamRunning) {
          try await client.call("org.example.test.Echo", Echo(text: "x"), returning: Echo.self)
        }
        while let reply = try await replies.next() { #expect(reply.number <= 5) }
      }
    }

    @Test func leavingTheLoopCancelsTheCall() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        for try await reply in client.stream(
          "org.example.test.Count", CountOptions(to: 1 << 40, bytes: 1000), of: Number.self)
        where reply.number == 3 { break }
        await fixture.interface.log.wait(for: "count cancelled")
        await fixture.log.wait(for: "closed")
        await #expect(throws: VarlinkClientError.connectionClosed) {
          try await client.call("org.example.test.Echo", Echo(text: "x"), returning: Echo.self)
        }
      }
    }

    @Test func aPeerThatDisconnectsBeforeItsReplyIsNoFailure() async throws {
      try await Fixture.with { fixture in
        let message = #"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#
        // The channel closes before the call is cancelled. In some of these rounds, the answer must fall in between.
        for _ in 0..<1_000 {
          let client = try RawClient(path: fixture.path)
          try await client.send(message)
        }
        await fixture.log.wait { events in events.count { $0.contains("closed") } == 1_000 }
        #expect(!fixture.log.events.contains { $0.contains("failed") })
      }
    }

    @Test func cancellingTheTaskCancelsTheCall() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let reading = Task {
          for try await _ in client.stream("org.example.test.Wait", of: VarlinkEmpty.self) {}
        }
        await fixture.interface.log.wait(for: "waiting")
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        await fixture.interface.log.wait(for: "cancelled")
      }
    }

    @Test func aClientThatDiesCancelsItsCall() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        try await raw.send(#"{"method":"org.example.test.Wait","more":true}"#)
        await fixture.interface.log.wait(for: "waiting")
        raw.close()
        await fixture.interface.log.wait(for: "cancelled")
        await fixture.log.wait(for: "closed")
        #expect(fixture.service.connectionCount == 0)
      }
    }

    /// This also holds while the service does not read from it, because too many of its calls wait.
    @Test func aClientThatDiesBehindAFullQueueCancelsItsCall() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        let flood = String(repeating: #"{"method":"org.example.test.Wait","parameters":{}}"# + "\0", count: 2000)
        try await raw.send(Array(flood.utf8))
        await fixture.interface.log.wait(for: "waiting")
        raw.close()
        await fixture.interface.log.wait(for: "cancelled")
        await fixture.log.wait(for: "closed")
        #expect(fixture.interface.log.events.filter { $0 == "waiting" }.count == 1)
      }
    }

    @Test func aReaderThatDoesNotReadCostsBoundedMemoryAndDelaysNoOther() async throws {
      try await Fixture.with { fixture in
        let slow = try RawClient(path: fixture.path)
        let good = try await fixture.connect()
        _ = try await good.call("org.example.test.Echo", Echo(text: "warm"), returning: Echo.self)
        let before = try residentBytes()
        try await slow.send(
          #"{"method":"org.example.test.Count","more":true,"parameters":{"to":10000,"bytes":65536}}"#)
        #expect(try await slow.receive() != nil)
        var times: [Duration] = []
        for number in 0..<500 {
          let start = ContinuousClock.now
          _ = try await good.call("org.example.test.Echo", Echo(text: "\(number)"), returning: Echo.self)
          times.append(ContinuousClock.now - start)
        }
        times.sort()
        let grown = try residentBytes() - before
        #expect(grown < 24 << 20, "resident memory grew by \(grown) bytes")
        #expect(fixture.interface.counted.load(ordering: .relaxed) < 100)
        #expect(times[250] < .milliseconds(20), "the median call took \(times[250])")

        // The stream was not dropped. It continues as the client reads.
        for number in 2...300 {
          struct Reply: Decodable { let parameters: Number }
          let text = try #require(await slow.receive())
          #expect(try JSONDecoder().decode(Reply.self, from: Data(text.utf8)).parameters.number == number)
        }
        slow.close()
        await fixture.interface.log.wait(for: "count cancelled")
      }
    }

    @Test func aStreamThatIsNotIteratedStopsItsService() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let before = try residentBytes()
        var replies = client.stream(
          "org.example.test.Count", CountOptions(to: 600, bytes: 65536), of: Number.self
        ).makeAsyncIterator()
        #expect(try await replies.next()?.number == 1)
        let other = try await fixture.connect()
        for number in 0..<500 {
          _ = try await other.call("org.example.test.Echo", Echo(text: "\(number)"), returning: Echo.self)
        }
        #expect(fixture.interface.counted.load(ordering: .relaxed) < 200)
        #expect(try residentBytes() - before < 32 << 20)
        var last = 1
        while let reply = try await replies.next() {
          #expect(reply.number == last + 1)
          last = reply.number
        }
        #expect(last == 600)
      }
    }
  }
}
