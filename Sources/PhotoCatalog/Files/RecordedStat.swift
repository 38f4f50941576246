import PhotoModel

/// The size and time that a file had when its content was read.
package struct RecordedStat: Hashable, Sendable {
  package let byteCount: Int64
  package let modificationTime: WallTime
  /// When its content was read. Unknown if it has not been readable yet.
  package let readTime: WallTime
}

extension FileRow {
  package var recorded: RecordedStat {
    RecordedStat(byteCount: byteCount, modificationTime: modificationTime, readTime: readTime)
  }
}
