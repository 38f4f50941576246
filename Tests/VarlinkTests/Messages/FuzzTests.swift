import Foundation
import TestTools
import Testing
import Varlink

extension LiveService {
  @Suite struct Fuzzing {
    /// Valid messages that the test damages.
    private static let seeds = [
      #"{"method":"org.example.test.Echo","parameters":{"text":"é🙂\n","note":null}}"#,
      #"{"method":"org.example.test.Count","more":true,"parameters":{"to":3,"bytes":100}}"#,
      #"{"method":"org.varlink.service.GetInfo"}"#,
      #"{"method":"org.example.test.Items","parameters":{"items":[{"name":"a","size":1},{"name":"b"}]}}"#,
      #"{"method":"org.example.test.Fail","oneway":true,"parameters":{"how":"refused"}}"#,
    ]

    private static func garbage(_ random: inout SeededGenerator) -> [UInt8] {
      let seed = Array(Self.seeds[Int(random.next() % UInt64(seeds.count))].utf8)
      switch random.next() % 9 {
      case 0:  // noise
        return (0..<Int(random.next() % 4000)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      case 1:  // cut short
        return Array(seed.prefix(Int(random.next() % UInt64(seed.count)))) + (random.next() % 2 == 0 ? [0] : [])
      case 2:  // some bytes changed
        var bytes = seed
        for _ in 0...Int(random.next() % 6) {
          bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        return bytes + [0]
      case 3:  // a piece repeated
        let start = Int(random.next() % UInt64(seed.count))
        let piece = seed[start..<min(seed.count, start + 1 + Int(random.next() % 20))]
        return seed[..<start] + (0..<Int(random.next() % 300)).flatMap { _ in piece } + seed[start...] + [0]
      case 4:  // nested
        let open = ["[", "{\"a\":", "{\"method\":[", "\"", "\\"][Int(random.next() % 5)]
        return Array(String(repeating: open, count: Int(random.next() % 100_000)).utf8) + [0]
      case 5:  // huge
        return [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: Int(random.next() % (6 << 20)))
      case 6:  // NULs
        return [UInt8](repeating: 0, count: Int(random.next() % 5000))
      case 7:  // many calls at once, some of them damaged
        return (0..<Int(random.next() % 100)).flatMap { _ -> [UInt8] in
          var bytes = seed
          if random.next() % 3 == 0 { bytes[Int(random.next() % UInt64(bytes.count))] ^= 0x20 }
          return bytes + [0]
        }
      default:  // members with the wrong types
        let values = ["null", "1", "-1e400", "\"\"", "[]", "{}", "true", "\"\\ud800\"", "18446744073709551616"]
        let members = ["method", "parameters", "more", "oneway", "upgrade", "text"].map { name in
          "\"\(name)\":\(values[Int(random.next() % UInt64(values.count))])"
        }
        return Array("{\(members.shuffled(using: &random).joined(separator: ","))}".utf8) + [0]
      }
    }

    @Test func aGoodClientIsAnsweredAfterAnyGarbage() async throws {
      var limits = VarlinkService.Limits()
      limits.maximumMessageBytes = 1 << 20
      limits.maximumConnections = 500
      try await Fixture.with(limits: limits) { fixture in
        let before = try residentBytes()
        var random = SeededGenerator(seed: 20_240_601)
        let good = try await fixture.connect()
        var open: [RawClient] = []
        for round in 0..<400 {
          let bad = try RawClient(path: fixture.path)
          for _ in 0...Int(random.next() % 3) {
            _ = try await bad.offer(Self.garbage(&random), timeout: 2)
          }
          switch random.next() % 4 {
          case 0: bad.close()
          case 1: bad.halfClose()
          case 2: open.append(bad)
          default: break
          }
          if open.count > 8 { open.removeFirst(4) }
          let text = "good \(round)"
          let reply = try await good.call("org.example.test.Echo", Echo(text: text), returning: Echo.self)
          try #require(reply.text == text, "after round \(round)")
        }
        open = []
        // Only the good one of the 401 connections is left.
        await fixture.log.wait { events in
          events.count { $0.hasPrefix("closed") } == events.count { $0.hasPrefix("accepted") } - 1
            && events.count { $0.hasPrefix("accepted") } == 401
        }
        #expect(fixture.service.connectionCount == 1)
        let fresh = try await fixture.connect()
        #expect(try await fresh.call("org.example.test.Echo", Echo(text: "x"), returning: Echo.self).text == "x")
        let grown = try residentBytes() - before
        #expect(grown < 100 << 20, "resident memory grew by \(grown) bytes")
      }
    }
  }
}
