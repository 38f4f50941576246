import PhotoModel
import PhotoTestSupport
import Synchronization

@testable import PhotoIndexer

/// A clock that stands still until it is moved. Nothing ever sleeps on it: a call that waits never returns.
final class SimulatedClock: LibraryClock {
  private struct Times {
    /// 2026-01-01.
    var wall: Int64 = 1_767_225_600_000_000_000
    var boot: Int64 = 3_600_000_000_000
  }

  private let times = Mutex(Times())
  private let start = ContinuousClock.now

  /// Nanoseconds since 1970.
  var wall: Int64 { times.withLock { $0.wall } }
  /// Nanoseconds since boot.
  var boot: Int64 { times.withLock { $0.boot } }
  var wallTime: WallTime { WallTime(nanoseconds: wall) }
  var bootTime: MonotonicTime { MonotonicTime(nanoseconds: boot) }
  var instant: ContinuousClock.Instant { start + .nanoseconds(boot) }

  func sleep(for duration: Duration) async throws { throw CancellationError() }

  func pass(_ nanoseconds: Int64) {
    times.withLock { times in
      times.wall += nanoseconds
      times.boot += nanoseconds
    }
  }

  /// Sets the wall clock, as a person or a time server does.
  func set(by nanoseconds: Int64) { times.withLock { $0.wall += nanoseconds } }
}

let milliseconds: Int64 = 1_000_000
let seconds: Int64 = 1_000_000_000

extension SeededGenerator {
  /// The seeds of simulations are small consecutive numbers. This spreads them, and each seed still gives the same run.
  init(simulation seed: UInt64) { self.init(seed: seed &* 0x2545_F491_4F6C_DD1D &+ 1) }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
