import Foundation
import TestTools
import Testing

@testable import Varlink

extension LiveService {
  @Suite struct ShuttingDown {
    private static func serve(
      gracePeriod: Duration, _ body: @Sendable (Fixture, ServeState) async throws -> Void
    ) async throws {
      let folder = try TemporaryFolder("varlink")
      defer { withExtendedLifetime(folder) {} }
      let directory = folder.path
      let interface = ExampleInterface()
      let log = EventLog()
      var limits = VarlinkService.Limits()
      limits.gracePeriod = gracePeriod
      let service = VarlinkService(
        identity: .init(vendor: "", product: "", version: "", url: ""), interfaces: [interface], limits: limits,
        onEvent: { log.append($0) })
      let fixture = Fixture(directory: directory, service: service, interface: interface, log: log)
      let descriptor = try VarlinkSocket.listen(path: fixture.path)
      let serving = Task { try await service.serve(listeningDescriptor: descriptor) }
      try await body(fixture, ServeState(task: serving))
      service.shutDown(within: .zero)
      _ = await serving.result
      #expect(service.connectionCount == 0)
    }

    struct ServeState: Sendable { let task: Task<Void, any Error> }

    @Test func aCallThatEndsInTimeGetsItsReply() async throws {
      try await Self.serve(gracePeriod: .seconds(60)) { fixture, serving in
        let streaming = try RawClient(path: fixture.path)
        try await streaming.send(
          #"{"method":"org.example.test.Count","more":true,"parameters":{"to":100,"bytes":65536}}"#)
        #expect(try await streaming.receive() != nil)
        fixture.service.shutDown()
        for _ in 2...100 { #expect(try await streaming.receive() != nil) }
        #expect(try await streaming.receive() == nil)
        try await serving.task.value
        #expect(throws: SystemCallError.self) { try RawClient(path: fixture.path) }
      }
    }

    @Test func aCallThatDoesNotEndIsCancelledAfterTheGracePeriod() async throws {
      try await Self.serve(gracePeriod: .milliseconds(50)) { fixture, serving in
        let waiting = try RawClient(path: fixture.path)
        let idle = try RawClient(path: fixture.path)
        try await waiting.send(#"{"method":"org.example.test.Wait"}"#)
        await fixture.interface.log.wait(for: "waiting")
        fixture.service.shutDown()
        try await serving.task.value
        #expect(fixture.interface.log.events.last == "cancelled")
        #expect(try await idle.receive() == nil)
      }
    }

    @Test(.timeLimit(.minutes(10))) func aLongMessageThatIsBeingScannedDoesNotDelayTheEnd() async throws {
      try await Self.serve(gracePeriod: .milliseconds(50)) { fixture, serving in
        // The scan of another message takes as long as the test.
        let mayGoOn = DispatchSemaphore(value: 0)
        fixture.service.scanning.thread.add { mayGoOn.wait() }
        defer { mayGoOn.signal() }
        let raw = try RawClient(path: fixture.path)
        try await raw.send(Boundaries.echo + String(repeating: " ", count: 100_000))
        while fixture.service.load.activeCallCount == 0 { await Task.yield() }
        fixture.service.shutDown()
        try await serving.task.value
        #expect(try await raw.receive() == nil)
        #expect(fixture.interface.log.events == [])
      }
    }

    @Test func aOnewayCallIsCancelledToo() async throws {
      try await Self.serve(gracePeriod: .milliseconds(50)) { fixture, serving in
        let client = try await fixture.connect()
        try await client.oneway("org.example.test.Wait", VarlinkEmpty())
        await fixture.interface.log.wait(for: "waiting")
        await client.close()
        fixture.service.shutDown()
        try await serving.task.value
        #expect(fixture.interface.log.events.last == "cancelled")
      }
    }

    @Test func aReaderThatDoesNotReadDoesNotDelayTheShutdown() async throws {
      try await Self.serve(gracePeriod: .milliseconds(50)) { fixture, serving in
        let slow = try RawClient(path: fixture.path)
        try await slow.send(
          #"{"method":"org.example.test.Count","more":true,"parameters":{"to":10000,"bytes":65536}}"#)
        #expect(try await slow.receive() != nil)
        fixture.service.shutDown()
        try await serving.task.value
        #expect(fixture.interface.log.events.last == "count cancelled")
        slow.close()  // keeps it alive until here
      }
    }

    /// The reply fits this side's buffer, so its call has ended. The socket accepts only a part of it.
    @Test func anUnreadReplyDoesNotDelayTheShutdown() async throws {
      try await Self.serve(gracePeriod: .milliseconds(50)) { fixture, serving in
        let slow = try RawClient(path: fixture.path)
        let text = String(repeating: "x", count: 700_000)
        try await slow.send(#"{"method":"org.example.test.Echo","parameters":{"text":"\#(text)"}}"#)
        await fixture.interface.log.wait(for: "echo")
        fixture.service.shutDown()
        try await serving.task.value
        slow.close()
      }
    }

    @Test func cancellingTheTaskEndsEverything() async throws {
      try await Self.serve(gracePeriod: .seconds(60)) { fixture, serving in
        let waiting = try RawClient(path: fixture.path)
        try await waiting.send(#"{"method":"org.example.test.Wait"}"#)
        await fixture.interface.log.wait(for: "waiting")
        serving.task.cancel()
        try await serving.task.value
        #expect(fixture.interface.log.events.last == "cancelled")
        #expect(try await waiting.receive() == nil)
      }
    }

    @Test func anIdleServiceEndsAtOnce() async throws {
      try await Self.serve(gracePeriod: .seconds(60)) { fixture, serving in
        let client = try await fixture.connect()
        _ = try await client.call("org.example.test.Echo", Echo(text: "x"), returning: Echo.self)
        fixture.service.shutDown()
        try await serving.task.value
        await #expect(throws: VarlinkClientError.connectionClosed) {
          try await client.call("org.example.test.Echo", Echo(text: "x"), returning: Echo.self)
        }
      }
    }

    @Test func twoSocketsAreServedAsOneService() async throws {
      try await Self.serve(gracePeriod: .seconds(60)) { fixture, serving in
        let second = try VarlinkSocket.listen(path: fixture.directory + "/second.sock")
        let serving2 = Task { try await fixture.service.serve(listeningDescriptor: second) }
        let one = try await fixture.connect()
        let two = try await VarlinkClient.connect(path: fixture.directory + "/second.sock")
        for client in [one, two] {
          _ = try await client.call("org.example.test.Echo", Echo(text: "x"), returning: Echo.self)
        }
        #expect(fixture.service.connectionCount == 2)
        fixture.service.shutDown()
        try await serving.task.value
        try await serving2.value
      }
    }

    @Test func aDescriptorThatDoesNotListenIsAnError() async throws {
      try await Fixture.with { fixture in
        let file = open("/dev/null", O_RDONLY)
        defer { close(file) }
        await #expect(throws: VarlinkSocket.Failure.self) {
          try await fixture.service.serve(listeningDescriptor: file)
        }
      }
    }
  }
}
