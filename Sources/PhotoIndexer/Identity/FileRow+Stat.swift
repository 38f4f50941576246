import PhotoCatalog
import PhotoModel
import WatchRecords

// Whether a file is the one that the catalog has, by its stat. Both the reader of files and the reconciler decide by these
// rules. If they differed, files would be read in vain, or in the turn of the library.
extension FileRow {
  /// Whether inode and birth time are the same.
  func hasIdentity(of stat: FileStat) -> Bool {
    inode == stat.identity.inode && birthTime == stat.identity.born
  }

  func hasSizeAndTime(of stat: FileStat) -> Bool {
    byteCount == stat.byteCount && modificationTime == stat.modified
  }

  func hasTimes(of stat: FileStat) -> Bool { hasSizeAndTime(of: stat) && changeTime == stat.changed }

  /// Whether the size and times of a file are the same as when it was read.
  func isUnchanged(as stat: FileStat) -> Bool { hasTimes(of: stat) && readTime != .unknown }

  /// Whether a file can't be this row's file. This also holds if the file system's inodes change, because its files
  /// keep birth time, or size and modification time.
  func isAnother(than stat: FileStat) -> Bool {
    if hasIdentity(of: stat) { return false }
    if birthTime != .unknown && stat.identity.born != .unknown { return birthTime != stat.identity.born }
    return !hasSizeAndTime(of: stat)
  }
}
