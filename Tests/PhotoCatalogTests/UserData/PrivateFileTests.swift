import Glibc
import PhotoModel
import Testing

@testable import PhotoCatalog

@Suite struct PrivateFileTests {
  /// Such a time overflows 64 bits in nanoseconds. ext4 can't store it, but tmpfs and Btrfs can.
  @Test func timeOfAFileMayBeAny() throws {
    let path = "/dev/shm/photod-time-\(getpid())"
    let descriptor = creat(path, 0o600)
    try #require(descriptor >= 0)
    close(descriptor)
    defer { unlink(path) }
    for (seconds, date) in [
      (10_000_000_000_000, WallTime.latest), (-10_000_000_000_000, .earliest), (7, WallTime(seconds: 7)),
    ] {
      let time = timespec(tv_sec: seconds, tv_nsec: 0)
      try #require(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
      #expect(try PrivateFile.date(of: path) == date)
    }
  }
}
