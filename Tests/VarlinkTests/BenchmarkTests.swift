import Foundation
import Testing
import Varlink

extension LiveService {
  /// Prints figures and checks nothing. To run it with optimisation:
  /// `VARLINK_BENCHMARK=1 swift test -c release -Xswiftc -enable-testing --filter Benchmark`
  @Suite(
    .enabled(
      if: ProcessInfo.processInfo.environment["VARLINK_BENCHMARK"] != nil, "a measurement: VARLINK_BENCHMARK is not set"
    ))
  struct Benchmark {
    @Test func aSmallCall() async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        for (name, echo) in [("typed call", true), ("encoded call", false)] {
          let encoded = try VarlinkEncoded(encoding: CountOptions(to: 1))
          var times: [Duration] = []
          for _ in 0..<20_000 {
            let start = ContinuousClock.now
            if echo {
              _ = try await client.call("org.varlink.service.GetInfo", returning: VarlinkEmpty.self)
            } else {
              _ = try await client.call("org.varlink.service.GetInfo", encoded: encoded)
            }
            times.append(ContinuousClock.now - start)
          }
          times.sort()
          print("\(name): p50 \(times[10_000]), p99 \(times[19_800]), worst \(times[19_999])")
        }
      }
    }

    @Test(arguments: [64 << 10, 512 << 10, 1 << 20])
    func largeReplies(_ bytes: Int) async throws {
      try await Fixture.with { fixture in
        let client = try await fixture.connect()
        let count = (512 << 20) / bytes
        for typed in [false, true] {
          let start = ContinuousClock.now
          if typed {
            for try await _ in client.stream(
              "org.example.test.Count", CountOptions(to: count, bytes: bytes), of: Number.self)
            {}
          } else {
            let options = try VarlinkEncoded(encoding: CountOptions(to: count, bytes: bytes))
            let stream = client.stream("org.example.test.Pages", encoded: options)
            for try await page in stream { #expect(page.count > 1) }
          }
          let time = ContinuousClock.now - start
          let rate = 512 / (Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18)
          print("\(bytes >> 10) KiB replies, \(typed ? "encoded and decoded" : "bytes only"): \(Int(rate)) MiB/s")
        }
      }
    }
  }
}
