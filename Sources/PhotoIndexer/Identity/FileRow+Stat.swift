import PhotoCatalog
import PhotoModel
import WatchRecords

// The rules by which the stat of a file on the disk shows that it is a file of the catalog. They stand here and
// nowhere else, because ReadAhead, the reconciler and dry runs decide by them. If they differed, files would be read in
// vain, or in the turn of the library. A dry run would count other differences than a scan.
//
// 1. A file has the identity of a row if inode and birth time are the same.
// 2. A file was read as it is if its size and modification time are those of the reading. A rename changes only the change
//    time.
// 3. A file is unchanged if its change time is the same, too. So no program has written it and set its time back. FAT
//    and exFAT do not store a change time: it equals the modification time, on FAT always and on exFAT after a mount.
//    There, such a change time proves nothing. Only another birth time, or the event of a write
//    (`Reconciler.needsNoReading(_:_:in:)`), shows that a program set the time back.
// 4. The file in a row's place is the row's file if it has the identity, or if it is unchanged. On some file systems, such
//    as FAT, the inodes change at a mount.
// 5. A file in another place is the row's file if it has the identity, and both are on one volume
//    (`Reconciler.isFile`). An inode may be used again for a new file. If no birth time distinguishes the two, or if
//    the file system gives out new inodes at a mount, size and modification time must be the same as well.

/// A file of the catalog: that of a photo, or the last one of a deleted photo.
protocol IdentifiedFile {
  var inode: UInt64 { get }
  var birthTime: WallTime { get }
  func hasSizeAndTime(of stat: FileStat) -> Bool
}

extension IdentifiedFile {
  /// Rule 1.
  func hasIdentity(of stat: FileStat) -> Bool {
    inode == stat.identity.inode && birthTime == stat.identity.born
  }

  /// Rule 5, for a file on the same volume.
  func isFile(elsewhere stat: FileStat, inodesLast: Bool) -> Bool {
    hasIdentity(of: stat) && (inodesLast && stat.identity.born != .unknown || hasSizeAndTime(of: stat))
  }
}

extension Tombstone: IdentifiedFile {
  func hasSizeAndTime(of stat: FileStat) -> Bool {
    byteCount == stat.byteCount && modificationTime == stat.modified
  }
}

extension FileRow: IdentifiedFile {
  func hasSizeAndTime(of stat: FileStat) -> Bool { recorded.hasSizeAndTime(of: stat) }

  /// Whether the birth times of both are known, and differ.
  func hasOtherBirth(than stat: FileStat) -> Bool {
    birthTime != .unknown && stat.identity.born != .unknown && birthTime != stat.identity.born
  }

  func hasTimes(of stat: FileStat) -> Bool { hasSizeAndTime(of: stat) && changeTime == stat.changed }

  /// Rule 2.
  func wasRead(as stat: FileStat) -> Bool { recorded.wasRead(as: stat) }

  /// Rule 3. It is false for a file that was never read.
  ///
  /// - Parameter inodesLast: false for a file system that gives out new inodes at a mount. It may store no change time.
  func isUnchanged(as stat: FileStat, inodesLast: Bool) -> Bool {
    wasRead(as: stat) && (inodesLast ? hasTimes(of: stat) : mayBeMountedAnew(as: stat))
  }

  /// Whether the file may be the same after a mount, on a file system that gives out new inodes then.
  func mayBeMountedAnew(as stat: FileStat) -> Bool {
    hasSizeAndTime(of: stat) && !hasOtherBirth(than: stat)
      && (changeTime == stat.changed || stat.changed == stat.modified)
  }

  /// Rule 4.
  func isFile(inItsPlace stat: FileStat, inodesLast: Bool) -> Bool {
    hasIdentity(of: stat) || isUnchanged(as: stat, inodesLast: inodesLast)
  }

  /// Whether a file has the inode, size and modification time, whatever its birth time.
  func hasInodeSizeAndTime(of stat: FileStat) -> Bool {
    inode == stat.identity.inode && hasSizeAndTime(of: stat)
  }

  /// Whether a file can't be this row's file. This also holds if the file system's inodes change, because its files
  /// keep birth time, or size and modification time.
  func isAnother(than stat: FileStat) -> Bool {
    if hasIdentity(of: stat) { return false }
    if birthTime != .unknown && stat.identity.born != .unknown { return birthTime != stat.identity.born }
    return !hasSizeAndTime(of: stat)
  }
}

extension RecordedStat {
  func hasSizeAndTime(of stat: FileStat) -> Bool {
    byteCount == stat.byteCount && modificationTime == stat.modified
  }

  func wasRead(as stat: FileStat) -> Bool { hasSizeAndTime(of: stat) && readTime != .unknown }
}
