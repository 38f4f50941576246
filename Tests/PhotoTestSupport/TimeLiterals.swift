import PhotoModel
import WatchRecords

// Tests write times of files, and of the monotonic clock, as numbers of nanoseconds.

extension WallTime: ExpressibleByIntegerLiteral {
  package init(integerLiteral nanoseconds: Int64) { self.init(nanoseconds: nanoseconds) }
}

extension MonotonicTime: ExpressibleByIntegerLiteral {
  package init(integerLiteral nanoseconds: Int64) { self.init(nanoseconds: nanoseconds) }
}

extension FileIdentity {
  package init(device: UInt64, inode: UInt64, birthTime: Int64) {
    self.init(device: device, inode: inode, birthTime: FileTime(nanoseconds: birthTime))
  }
}

extension FileStat {
  package init(identity: FileIdentity, byteCount: Int64, modificationTime: Int64, changeTime: Int64) {
    self.init(
      identity: identity, byteCount: byteCount, modificationTime: FileTime(nanoseconds: modificationTime),
      changeTime: FileTime(nanoseconds: changeTime))
  }
}

extension FileEvent {
  package init(time: Int64, isWritten: Bool, naming: Naming = .unknown) {
    self.init(time: FileTime(nanoseconds: time), isWritten: isWritten, naming: naming)
  }
}

extension FileTime {
  package static func += (time: inout FileTime, nanoseconds: Int64) {
    time = FileTime(nanoseconds: time.nanoseconds + nanoseconds)
  }
}
