#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A moment by the wall clock, in nanoseconds since 1970-01-01T00:00:00 UTC. A person may set this clock.
///
/// The range is from 1677 to 2262. An earlier or later moment becomes the nearest in this range.
///
/// The kernel dates files in nanoseconds. The catalog, the journal of user data and ``PhotoDate`` have dates in
/// microseconds. They are converted here and nowhere else.
@frozen
package struct WallTime: Hashable, Comparable, Sendable {
  package let nanoseconds: Int64

  @inlinable
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Stands for a moment that is not known, such as the birth of a file on a file system that does not record it.
  package static let unknown = WallTime(nanoseconds: 0)

  package static let earliest = WallTime(nanoseconds: .min)
  package static let latest = WallTime(nanoseconds: .max)

  /// The present moment.
  package static var now: WallTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(time)
  }

  @inlinable
  package static func == (one: WallTime, other: WallTime) -> Bool { one.nanoseconds == other.nanoseconds }

  @inlinable
  package static func < (one: WallTime, other: WallTime) -> Bool { one.nanoseconds < other.nanoseconds }

  @inlinable
  package func hash(into hasher: inout Hasher) { hasher.combine(nanoseconds) }
}

// MARK: - Units

extension WallTime {
  private static let nanosecondsPerMicrosecond: Int64 = 1_000

  /// - Parameter microseconds: since 1970.
  package init(microseconds: Int64) {
    let (product, overflows) = microseconds.multipliedReportingOverflow(by: Self.nanosecondsPerMicrosecond)
    self.init(nanoseconds: overflows ? (microseconds < 0 ? .min : .max) : product)
  }

  /// Microseconds since 1970. The rest is dropped.
  package var microseconds: Int64 { nanoseconds / Self.nanosecondsPerMicrosecond }

  /// - Parameter seconds: since 1970.
  package init(seconds: Int64) { self.init(timespec(tv_sec: Int(seconds), tv_nsec: 0)) }

  /// A time of a file, or of the clock.
  package init(_ time: timespec) {
    let (product, overflows) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflowsToo) = product.addingReportingOverflow(Int64(time.tv_nsec))
    self.init(nanoseconds: overflows || overflowsToo ? (time.tv_sec < 0 ? .min : .max) : sum)
  }

  package var isWholeSecond: Bool { nanoseconds % 1_000_000_000 == 0 }
}

extension PhotoDate {
  /// The moment in UTC, to the microsecond.
  package init(_ time: WallTime) { self.init(microseconds: time.microseconds) }
}

// MARK: - Differences

extension WallTime {
  /// How long after another moment this one is. No difference of two moments is too long.
  package static func - (later: WallTime, earlier: WallTime) -> Duration {
    Duration(wholeNanoseconds: later.nanoseconds) - Duration(wholeNanoseconds: earlier.nanoseconds)
  }

  package static func + (time: WallTime, duration: Duration) -> WallTime {
    WallTime(nanoseconds: (Duration(wholeNanoseconds: time.nanoseconds) + duration).wholeNanoseconds)
  }

  package static func - (time: WallTime, duration: Duration) -> WallTime { time + -duration }
}

extension WallTime: CustomStringConvertible {
  /// The moment in UTC, for messages of tests.
  package var description: String { PhotoDate(self).description }
}
