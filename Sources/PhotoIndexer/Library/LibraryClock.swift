import Glibc

/// The clocks of a library. Tests use a clock of their own, and do not wait.
protocol LibraryClock: Sendable {
  /// Nanoseconds since 1970. A person may set this clock.
  var wallTime: Int64 { get }
  /// Monotonic time: nanoseconds since boot, with the time that the machine slept.
  var bootTime: Int64 { get }
  /// The instant for the lifetimes of values that are kept for a while.
  var instant: ContinuousClock.Instant { get }

  /// - Throws: `CancellationError`.
  func sleep(for duration: Duration) async throws
}

/// The kernel's clocks.
struct SystemClock: LibraryClock {
  var wallTime: Int64 { Self.nanoseconds(CLOCK_REALTIME) }
  var bootTime: Int64 { Self.nanoseconds(CLOCK_BOOTTIME) }
  var instant: ContinuousClock.Instant { .now }

  func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }

  private static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// How long before `moment` this `time` was. A difference beyond 64 bits, as a wrong clock makes it, becomes the nearest that fits.
func age(of time: Int64, at moment: Int64) -> Int64 {
  let (age, overflows) = moment.subtractingReportingOverflow(time)
  return overflows ? (time < 0 ? .max : .min) : age
}
