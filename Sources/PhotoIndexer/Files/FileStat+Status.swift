import Glibc
import WatchRecords

extension FileStat {
  /// The stat without a birth time, which stat(2) does not return.
  init?(_ status: stat) {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    self.init(
      identity: FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino), birthTime: 0),
      byteCount: Int64(status.st_size),
      modificationTime: nanoseconds(status.st_mtim), changeTime: nanoseconds(status.st_ctim))
  }

  /// The stat of a name in an open directory. A link is not followed.
  init?(name: [UInt8], in directory: Int32) {
    var status = Glibc.stat()
    guard withCPath(name, { fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else { return nil }
    self.init(status)
  }

  init?(descriptor: Int32) {
    var status = Glibc.stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }
}

/// The time of a file. A time beyond 64 bits (before 1677, after 2262) becomes the nearest that fits, as in photod-watch.
private func nanoseconds(_ time: timespec) -> Int64 {
  let (product, overflows) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
  let (sum, overflowsToo) = product.addingReportingOverflow(Int64(time.tv_nsec))
  return overflows || overflowsToo ? (time.tv_sec < 0 ? .min : .max) : sum
}
