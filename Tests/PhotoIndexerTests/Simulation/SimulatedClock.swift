import Synchronization

@testable import PhotoIndexer

/// A clock that stands still until it is moved. Nothing ever sleeps on it: who wants to wait waits for ever.
final class SimulatedClock: LibraryClock {
  private struct Times {
    /// 2026-01-01.
    var wall: Int64 = 1_767_225_600_000_000_000
    var boot: Int64 = 3_600_000_000_000
  }

  private let times = Mutex(Times())
  private let start = ContinuousClock.now

  var wallTime: Int64 { times.withLock { $0.wall } }
  var bootTime: Int64 { times.withLock { $0.boot } }
  var instant: ContinuousClock.Instant { start + .nanoseconds(bootTime) }

  func sleep(for duration: Duration) async throws { throw CancellationError() }

  func pass(_ nanoseconds: Int64) {
    times.withLock { times in
      times.wall += nanoseconds
      times.boot += nanoseconds
    }
  }

  /// A person, or a time server, sets the clock on the wall.
  func set(by nanoseconds: Int64) { times.withLock { $0.wall += nanoseconds } }
}

let milliseconds: Int64 = 1_000_000
let seconds: Int64 = 1_000_000_000

/// SplitMix64: the same numbers from the same seed, everywhere (https://doi.org/10.1145/2714064.2660195).
struct SimulatedRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x2545_F491_4F6C_DD1D &+ 1 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
