import PhotoModel

/// A file as the catalog last saw it.
package struct FileRow: Hashable, Sendable {
  package let assetID: AssetID
  package var directoryID: DirectoryID
  package var name: [UInt8]
  package var byteCount: Int64
  package var modificationTime: WallTime
  package var changeTime: WallTime
  package var inode: UInt64
  /// Unknown if the file system does not record it.
  package var birthTime: WallTime
  /// When its content was read. Unknown if it has not been readable yet.
  package var readTime: WallTime
  /// The digests of its content when it was read. Sample and hash belong to the file with this row's size, times and
  /// inode.
  package var marks: ContentMarks
  /// The version of the reader that read its content; 0 if it was not read, or by a reader without a version.
  package var readerVersion: Int64
  /// Whether a program may have written the file since its content was read, and photod could not read it again yet.
  /// Size and modification time may be the same all the same.
  package var isInDoubt: Bool

  package init(
    assetID: AssetID, directoryID: DirectoryID, name: [UInt8], byteCount: Int64, modificationTime: WallTime,
    changeTime: WallTime, inode: UInt64, birthTime: WallTime, readTime: WallTime, marks: ContentMarks = ContentMarks(),
    readerVersion: Int64 = 0, isInDoubt: Bool = false
  ) {
    self.assetID = assetID
    self.directoryID = directoryID
    self.name = name
    self.byteCount = byteCount
    self.modificationTime = modificationTime
    self.changeTime = changeTime
    self.inode = inode
    self.birthTime = birthTime
    self.readTime = readTime
    self.marks = marks
    self.readerVersion = readerVersion
    self.isInDoubt = isInDoubt
  }

  package func of(asset id: AssetID) -> FileRow {
    FileRow(
      assetID: id, directoryID: directoryID, name: name, byteCount: byteCount, modificationTime: modificationTime,
      changeTime: changeTime, inode: inode, birthTime: birthTime, readTime: readTime, marks: marks,
      readerVersion: readerVersion, isInDoubt: isInDoubt)
  }
}
