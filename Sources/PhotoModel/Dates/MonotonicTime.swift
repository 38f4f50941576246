#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A moment by the monotonic clock, in nanoseconds since boot. The time that the machine slept counts (CLOCK_BOOTTIME).
///
/// No person can set this clock, so differences are true. A moment means nothing in another boot, and is never stored.
/// The first moment is 0, and the last is 292 years later.
@frozen
package struct MonotonicTime: Hashable, Comparable, Sendable {
  package let nanoseconds: Int64

  @inlinable
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static let boot = MonotonicTime(nanoseconds: 0)

  /// The present moment.
  package static var now: MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  @inlinable
  package static func == (one: MonotonicTime, other: MonotonicTime) -> Bool { one.nanoseconds == other.nanoseconds }

  @inlinable
  package static func < (one: MonotonicTime, other: MonotonicTime) -> Bool { one.nanoseconds < other.nanoseconds }

  @inlinable
  package func hash(into hasher: inout Hasher) { hasher.combine(nanoseconds) }

  /// How long after another moment this one is.
  package static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
    Duration(wholeNanoseconds: later.nanoseconds) - Duration(wholeNanoseconds: earlier.nanoseconds)
  }

  package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
    MonotonicTime(nanoseconds: (Duration(wholeNanoseconds: time.nanoseconds) + duration).wholeNanoseconds)
  }
}

extension MonotonicTime: CustomStringConvertible {
  package var description: String { "\(Duration(wholeNanoseconds: nanoseconds)) since boot" }
}
