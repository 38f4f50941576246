import PhotoModel
import WatchRecords

// The records of photod-watch have times as numbers of nanoseconds, because photod-watch imports no values of photod.

extension FileIdentity {
  /// The birth time, which is unknown on some file systems.
  var born: WallTime { WallTime(nanoseconds: birthTime) }
}

extension FileStat {
  /// The modification time.
  var modified: WallTime { WallTime(nanoseconds: modificationTime) }
  /// The change time.
  var changed: WallTime { WallTime(nanoseconds: changeTime) }
}

extension FileEvent {
  /// When photod-watch read the first of the events. Unknown if a listing found the file.
  var readAt: WallTime { WallTime(nanoseconds: time) }
}
