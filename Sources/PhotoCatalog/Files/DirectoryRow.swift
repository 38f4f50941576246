import PhotoModel

/// A root as the catalog knows it.
package struct RootRow: Hashable, Sendable {
  package let id: RootID
  package let path: [UInt8]
  package var isAvailable: Bool
}

/// A directory as the catalog knows it. Its path consists of its parents' names and its own.
package struct DirectoryRow: Hashable, Sendable {
  package let id: DirectoryID
  /// nil for the top of a root.
  package var parentID: DirectoryID?
  /// The root, only for a top.
  package var rootID: RootID?
  /// The bytes from the file system. It is empty for a top.
  package var name: [UInt8]
  /// Whether another directory is in its place. Later records report its new place, or that it is gone.
  package internal(set) var isParked = false
  package var volumeID: VolumeID
  package var inode: UInt64
  package var birthTime: WallTime
  /// False for the top of a file system that was mounted in a folder and is now unmounted.
  package var isAvailable: Bool

  package init(
    id: DirectoryID, parentID: DirectoryID?, rootID: RootID?, name: [UInt8], volumeID: VolumeID, inode: UInt64,
    birthTime: WallTime, isAvailable: Bool = true
  ) {
    self.id = id
    self.parentID = parentID
    self.rootID = rootID
    self.name = name
    self.volumeID = volumeID
    self.inode = inode
    self.birthTime = birthTime
    self.isAvailable = isAvailable
  }

  /// The name in paths. The path of a parked directory belongs to the other directory, so no path of the disk may lead to
  /// it. The catalog has the same rule (`path_name`).
  package var pathName: [UInt8] { isParked ? Array("\u{1}parked-\(id)-".utf8) + name : name }
}
