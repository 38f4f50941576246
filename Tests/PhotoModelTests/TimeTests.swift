import Glibc
import Testing

@testable import PhotoModel

/// Moments, their differences and their units.
@Suite struct TimeTests {
  private static let numbers: [Int64] = [
    0, 1, -1, 999, -999, 1_000, 1_999_999_999, -1_999_999_999, .max, .max - 1, .min, .min + 1,
  ]

  @Test(arguments: numbers) func aDurationKeepsEachNanosecond(number: Int64) {
    let duration = Duration(wholeNanoseconds: number)
    #expect(duration == .nanoseconds(number) && duration.wholeNanoseconds == number)
    #expect(duration.wholeMicroseconds == number / 1_000)
    #expect(-duration + duration == .zero)
  }

  @Test func aDurationBeyond64BitsIsTheLongestNumber() {
    #expect((Duration(wholeNanoseconds: .max) * 2).wholeNanoseconds == .max)
    #expect((Duration(wholeNanoseconds: .min) * 2).wholeNanoseconds == .min)
    #expect(Duration.seconds(Int64.max).wholeMicroseconds == .max)
    #expect(Duration.seconds(Int64.min).wholeMicroseconds == .min)
  }

  @Test func microsecondsDropTheRest() {
    #expect(WallTime(nanoseconds: 1_999).microseconds == 1 && WallTime(nanoseconds: -1_999).microseconds == -1)
    #expect(WallTime(microseconds: -7) == WallTime(nanoseconds: -7_000))
    #expect(PhotoDate(WallTime(seconds: 86_400)).description == "1970-01-02T00:00:00Z")
  }

  @Test func aTimeOutsideTheRangeIsClamped() {
    #expect(WallTime(microseconds: .max) == .latest && WallTime(microseconds: .min) == .earliest)
    #expect(WallTime(timespec(tv_sec: .max, tv_nsec: 0)) == .latest)
    #expect(WallTime(timespec(tv_sec: .min, tv_nsec: 999_999_999)) == .earliest)
    #expect(WallTime.latest + .nanoseconds(1) == .latest && WallTime.earliest - .nanoseconds(1) == .earliest)
  }

  @Test(arguments: numbers, numbers) func aDifferenceIsExact(one: Int64, other: Int64) {
    let expected = Duration.nanoseconds(one) - .nanoseconds(other)
    #expect(WallTime(nanoseconds: one) - WallTime(nanoseconds: other) == expected)
    #expect(MonotonicTime(nanoseconds: one) - MonotonicTime(nanoseconds: other) == expected)
    #expect((WallTime(nanoseconds: one) < WallTime(nanoseconds: other)) == (one < other))
    #expect((MonotonicTime(nanoseconds: one) < MonotonicTime(nanoseconds: other)) == (one < other))
  }

  @Test func theClocksAreThoseOfTheKernel() {
    func seconds(_ clock: clockid_t) -> Int64 {
      var time = timespec()
      clock_gettime(clock, &time)
      return Int64(time.tv_sec)
    }
    #expect(
      (seconds(CLOCK_BOOTTIME)...seconds(CLOCK_BOOTTIME) + 60).contains((MonotonicTime.now - .boot).components.seconds))
    #expect(abs(WallTime.now.microseconds / 1_000_000 - seconds(CLOCK_REALTIME)) < 60)
    let start = MonotonicTime.now
    #expect(start + .seconds(5) - start == .seconds(5) && start <= .now)
  }

  @Test func idsAreNumbersInMessagesAndInOrder() {
    #expect("\(7 as DirectoryID) \(8 as RootID) \(9 as VolumeID)" == "7 8 9")
    #expect(([3, 1, 2] as [DirectoryID]).sorted() == [1, 2, 3] && (2 as RootID) < 10 && (9 as VolumeID) != 10)
    #expect(Set([1, 1, 2] as [VolumeID]).count == 2)
  }
}
