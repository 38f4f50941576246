// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// A length of time, in nanoseconds.
struct Interval: Hashable, Comparable {
  let nanoseconds: Int64

  static let none = Interval(nanoseconds: 0)
  static func milliseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count * 1_000_000) }
  static func seconds(_ count: Int64) -> Interval { Interval(nanoseconds: count * 1_000_000_000) }

  /// The processor time that this thread has used (CLOCK_THREAD_CPUTIME_ID).
  static var ofProcessor: Interval {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Interval(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Twice as long for each attempt, up to 2^20 times as long.
  func doubled(_ attempts: Int) -> Interval { Interval(nanoseconds: nanoseconds << Int64(min(attempts, 20))) }

  static func < (one: Interval, other: Interval) -> Bool { one.nanoseconds < other.nanoseconds }
  static func + (one: Interval, other: Interval) -> Interval {
    Interval(nanoseconds: one.nanoseconds + other.nanoseconds)
  }
  static func - (one: Interval, other: Interval) -> Interval {
    Interval(nanoseconds: one.nanoseconds - other.nanoseconds)
  }
  static func -= (one: inout Interval, other: Interval) { one = one - other }
  static func * (count: Int64, interval: Interval) -> Interval { Interval(nanoseconds: count * interval.nanoseconds) }
  static func / (interval: Interval, count: Int64) -> Interval { Interval(nanoseconds: interval.nanoseconds / count) }
  static func / (interval: Interval, other: Interval) -> Double {
    Double(interval.nanoseconds) / Double(other.nanoseconds)
  }
}

/// A moment by the monotonic clock, in nanoseconds. No person can set this clock, so differences are true.
struct Moment: Hashable, Comparable {
  let nanoseconds: Int64

  static var now: Moment { Moment(nanoseconds: watchshim_now()) }
  static let start = Moment(nanoseconds: 0)
  /// Before every other moment. All intervals since then have passed.
  static let longAgo = Moment(nanoseconds: .min / 2)
  /// After every other moment.
  static let never = Moment(nanoseconds: .max)

  static func < (one: Moment, other: Moment) -> Bool { one.nanoseconds < other.nanoseconds }
  static func + (moment: Moment, interval: Interval) -> Moment {
    Moment(nanoseconds: moment.nanoseconds + interval.nanoseconds)
  }
  static func - (later: Moment, earlier: Moment) -> Interval {
    Interval(nanoseconds: later.nanoseconds - earlier.nanoseconds)
  }
}

extension FileTime {
  /// CLOCK_REALTIME.
  static var now: FileTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// After every other time.
  static let latest = FileTime(nanoseconds: .max)

  /// Whole seconds since 1970; 0 for an earlier time.
  var seconds: UInt32 { UInt32(clamping: nanoseconds / 1_000_000_000) }

  static func - (later: FileTime, earlier: FileTime) -> Interval {
    Interval(nanoseconds: later.nanoseconds - earlier.nanoseconds)
  }
  static func - (time: FileTime, interval: Interval) -> FileTime {
    FileTime(nanoseconds: time.nanoseconds - interval.nanoseconds)
  }
}
