import PhotoModel
import WatchRecords

// photod-watch imports no values of photod, so its records have a type of their own for times. It is converted here.

extension WallTime {
  init(_ time: FileTime) { self.init(nanoseconds: time.nanoseconds) }
}

extension FileTime {
  init(_ time: WallTime) { self.init(nanoseconds: time.nanoseconds) }
}

extension FileIdentity {
  /// The birth time, which is unknown on some file systems.
  var born: WallTime { WallTime(birthTime) }
}

extension FileStat {
  /// The modification time.
  var modified: WallTime { WallTime(modificationTime) }
  /// The change time.
  var changed: WallTime { WallTime(changeTime) }
}

extension FileEvent {
  /// When photod-watch read the first of the events. Unknown if a listing found the file.
  var readAt: WallTime { WallTime(time) }
}
