import Glibc
import PhotoModel
import WatchRecords

extension FileStat {
  /// The stat without a birth time, which stat(2) does not return.
  init?(_ status: stat) {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    self.init(
      identity: FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino), birthTime: .unknown),
      byteCount: Int64(status.st_size),
      modificationTime: FileTime(WallTime(status.st_mtim)), changeTime: FileTime(WallTime(status.st_ctim)))
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
