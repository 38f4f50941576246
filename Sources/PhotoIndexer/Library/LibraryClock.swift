import PhotoModel

/// The clocks of a library. Tests use a clock of their own, and do not wait.
protocol LibraryClock: Sendable {
  var wallTime: WallTime { get }
  var bootTime: MonotonicTime { get }
  /// The instant for the lifetimes of values that are kept for a while.
  var instant: ContinuousClock.Instant { get }

  /// - Throws: `CancellationError`.
  func sleep(for duration: Duration) async throws
}

/// The kernel's clocks.
struct SystemClock: LibraryClock {
  var wallTime: WallTime { .now }
  var bootTime: MonotonicTime { .now }
  var instant: ContinuousClock.Instant { .now }

  func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}

/// How long before `moment` this `time` was.
func age(of time: WallTime, at moment: WallTime) -> Duration { moment - time }
