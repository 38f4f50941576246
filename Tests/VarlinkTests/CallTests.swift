import Foundation
import TestTools
import Testing
import Varlink

/// The parent of all tests with a live service. They run one after another, because some measure memory and time.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LiveService {}

extension LiveService {
  @Suite struct Calls {
    @Test func aCallGetsItsReply() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let sent = Echo(text: "a \u{0} \"é\" \n / 🙂", note: "n")
        let reply = try await client.call("org.example.test.Echo", sent, returning: Echo.self)
        #expect(reply == sent)
        await client.close()
      }
    }

    @Test func anOptionalFieldIsLeftOutAndNullIsTheSame() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        try await raw.send(#"{"method":"org.example.test.Echo","parameters":{"text":"x"}}"#)
        #expect(try await raw.receive() == #"{"parameters":{"text":"x"}}"#)
        try await raw.send(#"{"method":"org.example.test.Echo","parameters":{"text":"x","note":null},"more":null}"#)
        #expect(try await raw.receive() == #"{"parameters":{"text":"x"}}"#)
      }
    }

    @Test func theServiceDescribesItself() async throws {
      try await Fixture.with { fixture in
        struct Info: Decodable { let vendor, product, version, url: String, interfaces: [String] }
        let client = try await fixture.connect()
        let info = try await client.call("org.varlink.service.GetInfo", returning: Info.self)
        #expect(info.interfaces == ["org.varlink.service", "org.example.test"])
        #expect(
          [info.vendor, info.product, info.version, info.url] == ["Example", "exampled", "1.2", "https://example.org"])
        for name in info.interfaces {
          let answer = try await client.call(
            "org.varlink.service.GetInterfaceDescription", ["interface": name], returning: [String: String].self)
          let text = try #require(answer["description"])
          #expect(try VarlinkInterfaceDefinition(parsing: text).name == name)
          if name == "org.example.test" { #expect(text == fixture.interface.definition) }
        }
        let error = await #expect(throws: VarlinkError.self) {
          try await client.call(
            "org.varlink.service.GetInterfaceDescription", ["interface": "org.none"], returning: VarlinkEmpty.self)
        }
        #expect(error == .interfaceNotFound("org.none"))
      }
    }

    @Test(arguments: [
      ("org.nobody.Echo", VarlinkError.interfaceNotFound("org.nobody")),
      ("org.example.test.Nothing", .methodNotFound("org.example.test.Nothing")),
      ("org.example.test.Item", .methodNotFound("org.example.test.Item")),
      ("org.example.test.", .methodNotFound("org.example.test.")),
      ("org.example.test.Later", .methodNotImplemented("org.example.test.Later")),
      ("org.varlink.service.Nothing", .methodNotFound("org.varlink.service.Nothing")),
      ("Echo", .invalidParameter("method")),
      ("org.example.test.Echo", .invalidParameter("text")),
      ("org.example.test.Count", .invalidParameter("to")),
    ])
    func callsOfMissingMethodsGetTheStandardError(_ method: String, _ expected: VarlinkError) async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let error = await #expect(throws: VarlinkError.self) {
          try await client.call(method, returning: VarlinkEmpty.self)
        }
        #expect(error == expected)
        #expect(try await client.call("org.example.test.Echo", Echo(text: "on"), returning: Echo.self).text == "on")
      }
    }

    @Test func invalidParameterNamesTheFieldAtFault() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        try await raw.send(
          #"{"method":"org.example.test.Items","parameters":{"items":[{"name":"a"},{"name":"b","size":"big"}]}}"#)
        #expect(
          try await raw.receive()
            == #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"items[1].size"}}"#)
      }
    }

    @Test func anErrorOfTheInterfaceArrivesWithItsParameters() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let error = await #expect(throws: VarlinkError.self) {
          try await client.call("org.example.test.Fail", ["how": "refused"], returning: VarlinkEmpty.self)
        }
        #expect(error?.name == "org.example.test.Refused")
        #expect(try error?.decodeParameters([String: String].self) == ["reason": "because"])
      }
    }

    @Test(arguments: ["crash", "silent"])
    func aFailingInterfaceIsReportedAndTheConnectionContinues(_ how: String) async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let error = await #expect(throws: VarlinkError.self) {
          try await client.call("org.example.test.Fail", ["how": how], returning: VarlinkEmpty.self)
        }
        #expect(error?.name == "org.example.test.InternalError")
        #expect(fixture.log.events.contains { $0.hasPrefix("failed") && $0.contains("org.example.test.Fail") })
        #expect(try await client.call("org.example.test.Echo", Echo(text: "on"), returning: Echo.self).text == "on")
      }
    }

    @Test func aSecondReplyIsNotSent() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        _ = try await client.call("org.example.test.Fail", ["how": "twice"], returning: VarlinkEmpty.self)
        #expect(try await client.call("org.example.test.Echo", Echo(text: "on"), returning: Echo.self).text == "on")
        #expect(fixture.log.events.contains { $0.contains("a reply after the last one") })
      }
    }

    @Test func aOnewayCallGetsNoReplyNotEvenAnError() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        for parameters in [#"{"text":"quiet"}"#, "{}"] {
          try await raw.send(#"{"method":"org.example.test.Echo","oneway":true,"parameters":\#(parameters)}"#)
        }
        try await raw.send(#"{"method":"org.nobody.Echo","oneway":true}"#)
        try await raw.send(#"{"method":17,"oneway":true}"#)
        try await raw.send(#"{"method":"org.example.test.Count","oneway":true,"more":true,"parameters":{"to":9}}"#)
        try await raw.send(#"{"method":"org.example.test.Echo","parameters":{"text":"loud"}}"#)
        #expect(try await raw.receive() == #"{"parameters":{"text":"loud"}}"#)
        #expect(fixture.interface.log.events.contains("echo quiet"))
      }
    }

    @Test func aOnewayCallOfAClosedConnectionIsNotBegun() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        try await raw.send(#"{"method":"org.example.test.Wait"}"#)
        await fixture.interface.log.wait(for: "waiting")
        for number in 0..<10 {
          try await raw.send(
            #"{"method":"org.example.test.Echo","oneway":true,"parameters":{"text":"late \#(number)"}}"#)
        }
        raw.close()
        await fixture.log.wait(for: "closed")
        #expect(fixture.interface.log.events == ["waiting", "cancelled"])
      }
    }

    @Test func aOnewayCallThatBeganIsCompletedEvenIfItsSenderLeaves() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        try await client.oneway("org.example.test.Wait", VarlinkEmpty())
        await fixture.interface.log.wait(for: "waiting")
        await client.close()
        #expect(fixture.interface.log.events == ["waiting"])
      }
    }

    @Test func pipelinedCallsAreAnsweredInOrderOneAtATime() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        let calls = (0..<500).map { #"{"method":"org.example.test.Echo","parameters":{"text":"\#($0)"}}"# + "\0" }
        async let sending: Void = raw.send(Array(calls.joined().utf8))
        for number in 0..<500 {
          #expect(try await raw.receive() == #"{"parameters":{"text":"\#(number)"}}"#)
        }
        try await sending
        #expect(fixture.interface.mostRunning.load(ordering: .relaxed) == 1)
      }
    }

    @Test func callsOfManyTasksShareAConnection() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        try await withThrowingTaskGroup { group in
          for number in 0..<200 {
            group.addTask {
              let reply = try await client.call(
                "org.example.test.Echo", Echo(text: "\(number)"), returning: Echo.self)
              #expect(reply.text == "\(number)")
            }
          }
          try await group.waitForAll()
        }
      }
    }

    @Test func aCancelledCallDoesNotDisturbTheNext() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        for number in 0..<100 {
          let call = Task {
            try await client.call("org.example.test.Echo", Echo(text: "lost \(number)"), returning: Echo.self)
          }
          call.cancel()
          _ = await call.result
          let reply = try await client.call("org.example.test.Echo", Echo(text: "\(number)"), returning: Echo.self)
          #expect(reply.text == "\(number)")
        }
      }
    }

    @Test func upgradeIsRefused() async throws {
      try await Fixture.with { fixture in
        let raw = try RawClient(path: fixture.path)
        try await raw.send(#"{"method":"org.example.test.Echo","upgrade":true,"parameters":{"text":"x"}}"#)
        #expect(
          try await raw.receive()
            == #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"upgrade"}}"#)
      }
    }

    @Test func encodedParametersPassAsTheyAre() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let reply = try await client.call(
          "org.example.test.Echo", encoded: VarlinkEncoded(Array(#"{"text":"raw"}"#.utf8)))
        #expect(String(decoding: reply, as: UTF8.self) == #"{"text":"raw"}"#)
      }
    }

    @Test func connectingToNothingNamesTheProblem() async throws {
      let folder = try TemporaryFolder("varlink")
      defer { withExtendedLifetime(folder) {} }
      let directory = folder.path
      let path = directory + "/none.sock"
      await #expect(throws: VarlinkClientError.noSuchSocket(path: path)) {
        try await VarlinkClient.connect(path: path)
      }
      close(try VarlinkSocket.listen(path: path))
      await #expect(throws: VarlinkClientError.connectionRefused(path: path)) {
        try await VarlinkClient.connect(path: path)
      }
      let long = directory + "/" + String(repeating: "x", count: 200)
      let error = await #expect(throws: VarlinkClientError.self) { try await VarlinkClient.connect(path: long) }
      #expect(error?.description.contains("107 bytes") == true)
    }
  }
}
