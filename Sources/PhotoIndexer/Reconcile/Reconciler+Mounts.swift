import PhotoCatalog
import PhotoModel
import WatchRecords

// Mounts: a place may hold another drive than before, or the bare folder on which a drive is mounted. Neither removes a
// photo.
extension Reconciler {
  /// Whether a directory of the catalog is on another file system than its parent: a drive is mounted there.
  func isMountTop(_ id: DirectoryID) -> Bool {
    let row = tree.row(id)
    guard let parent = row.parentID else { return false }
    return !volumes.isSameFileSystem(row.volumeID, tree.volumeID(of: parent))
  }

  /// Whether inode and birth time alone prove which directory this is. Without a birth time, a new directory may have the
  /// inode of a deleted one.
  func provesItself(_ identity: FileIdentity, on volumeID: VolumeID) -> Bool {
    volumes.hasLastingInodes(volumeID) && identity.born != .unknown
  }

  /// Whether a directory of the catalog is in another place now. If its identity does not prove that, files that the
  /// catalog has in it must be in the new place. If inodes do not last, the path counts first: the directory must also have
  /// left the old place, and no known directory may have the new one.
  ///
  /// - Parameter occupant: the directory that the catalog has in the new place.
  func hasMoved(
    _ id: DirectoryID, to path: [UInt8], over occupant: DirectoryID?, _ identity: FileIdentity, in batch: Batch
  ) throws -> Bool {
    let volumeID = tree.volumeID(of: id)
    if provesItself(identity, on: volumeID) { return true }
    if !volumes.hasLastingInodes(volumeID) {
      guard occupant == nil, tree.row(id).isParked || !files.exists(tree.path(of: id)) else {
        return false
      }
    }
    return try holdsFiles(of: id, at: path, in: batch)
  }

  /// Whether files that the catalog has in a directory are at another path now.
  func holdsFiles(of id: DirectoryID, at path: [UInt8], in batch: Batch) throws -> Bool {
    let hasInodes = volumes.hasLastingInodes(tree.volumeID(of: id))
    let prefix = tree.path(of: id).count
    var stack = [id]
    while let directory = stack.popLast() {
      let rows = try batch.writer.files(in: directory)
      if !rows.isEmpty {
        return rows.prefix(Self.sampleSize).contains { row in
          guard let stat = files.stat(path + self.path(of: row).dropFirst(prefix)) else { return false }
          return hasInodes ? row.hasInodeSizeAndTime(of: stat) : row.hasSizeAndTime(of: stat)
        }
      }
      stack += tree.children(of: directory)
    }
    return false
  }

  /// The number of files of a folder that are compared.
  private static let sampleSize = 16

  /// Whether the place of a directory of the catalog now holds a directory of another file system.
  func isAnotherDrive(
    _ volumeID: VolumeID, _ identity: FileIdentity, at occupant: DirectoryID, in batch: Batch
  ) throws -> Bool {
    let row = tree.row(occupant)
    if volumes.isSameFileSystem(row.volumeID, volumeID) || roots.adoptedFolders.contains(occupant) { return false }
    if row.inode == identity.inode, row.birthTime == identity.born, volumes.mayBeRenamed(row, to: volumeID) {
      return false
    }
    // The other file system hides the photos of the folder below it. An empty folder, such as a mount point, has no photos
    // that could be hidden.
    return try batch.writer.assetCount(below: occupant) > 0
  }

  /// Marks a folder as unavailable, because its drive is not mounted any more or something is mounted over it. Its
  /// photos stay.
  func takeAway(folder id: DirectoryID, in batch: inout Batch) throws {
    endListings(inside: id)
    for directory in tree.subtree(of: id) { scans.updateAll { $0.missing.remove(directory: directory) } }
    tree.unbind(subtree: id)
    forgetHeldFiles(below: id)
    try setAvailable(folder: id, false, in: &batch)
    exempt(id)
  }

  /// Whether the files of a directory are there, as far as that depends on roots and drives.
  func isAvailable(_ id: DirectoryID) -> Bool { roots[tree.rootID(of: id)]?.isAvailable == true && tree.isMounted(id) }

  func setAvailable(folder id: DirectoryID, _ isAvailable: Bool, in batch: inout Batch) throws {
    guard tree.row(id).isAvailable != isAvailable else { return }
    try batch.writer.setDirectoryAvailable(id, isAvailable)
    tree.setAvailable(id, isAvailable)
  }

  /// Moves the directories of a volume, at and below a directory, to another volume. Either it is the same file system
  /// under another identity, or it is another one. In that case the inodes are forgotten, and only paths, sizes and
  /// times show which files are the same.
  func setVolume(_ volumeID: VolumeID, _ identity: FileIdentity, below id: DirectoryID, in batch: Batch) throws {
    let top = tree.row(id)
    guard top.volumeID != volumeID else { return }
    let isRenamed =
      top.inode == identity.inode && top.birthTime == identity.born && volumes.mayBeRenamed(top, to: volumeID)
    try batch.writer.setVolume(ofDirectoriesBelow: id, from: top.volumeID, to: volumeID)
    if !isRenamed { try batch.writer.forgetInodes(below: id) }
    for directory in tree.subtree(of: id) {
      var row = tree.row(directory)
      if row.volumeID == top.volumeID { row.volumeID = volumeID }
      if !isRenamed { (row.inode, row.birthTime) = (0, .unknown) }
      tree.update(row)
    }
  }

  // MARK: Removing directories around drives

  enum Kept {
    /// The directory is on a drive.
    case whole
    /// A drive was mounted below the directory. The directory stays, because the path of the drive leads through it.
    case itself
  }

  /// The directories that stay if a directory is removed: drives with photos, and the directories that lead to them.
  /// The drives become unavailable.
  func keptDirectories(below id: DirectoryID, in batch: inout Batch) throws -> [DirectoryID: Kept] {
    var kept: [DirectoryID: Kept] = [:]
    for top in try mountTops(below: id, in: batch) {
      try takeAway(folder: top, in: &batch)
      for directory in tree.subtree(of: top) { kept[directory] = .whole }
      var current = top
      while current != id, let parent = tree.row(current).parentID {
        kept[parent] = .itself
        current = parent
      }
    }
    return kept
  }

  /// Whether a directory is removed together with one of these. It is not if a drive was mounted between them.
  func leaves(_ id: DirectoryID, with directories: Set<DirectoryID>) -> Bool {
    for directory in tree.ancestors(of: id) {
      if isMountTop(directory) { return false }
      if directories.contains(directory) { return true }
    }
    return false
  }

  func assetCountWithoutDrives(below id: DirectoryID, in batch: Batch) throws -> Int {
    var count = try batch.writer.assetCount(below: id)
    for top in try mountTops(below: id, in: batch) { count -= try batch.writer.assetCount(below: top) }
    return count
  }

  /// The highest directories, at `id` or below it, on which drives with photos are mounted, or were.
  private func mountTops(below id: DirectoryID, in batch: Batch) throws -> [DirectoryID] {
    var tops: [DirectoryID] = []
    var stack = [id]
    while let directory = stack.popLast() {
      if isMountTop(directory), try batch.writer.assetCount(below: directory) > 0 {
        tops.append(directory)
      } else {
        stack += tree.children(of: directory)
      }
    }
    return tops
  }

  // MARK: Another folder in a root's place

  /// Keeps a file that was found in a folder that took a root's place, until it is decided whether that folder belongs to
  /// the library. Otherwise a file of the folder below a bind mount could become the photo that has its name.
  ///
  /// - Parameter row: the file that is known in this place.
  /// - Returns: false if the file is decided at once.
  func holdInNewTop(
    _ place: Place, row: FileRow?, _ stat: FileStat, reading: ContentReading?, in batch: Batch
  ) throws -> Bool {
    guard roots.hasNewTops else { return false }
    let rootID = tree.rootID(of: place.directoryID)
    guard roots[rootID]?.newTop != nil else { return false }
    let isItself = row.map { isFile($0, inItsPlace: stat) } ?? false
    let volumeID = tree.volumeID(of: place.directoryID)
    if try isItself || row?.byteCount == stat.byteCount || isKnown(stat, on: volumeID, in: batch) {
      roots[rootID]?.newTop?.hasKnownPhotos = true
    }
    guard !isItself, held.hasRoom(for: place) else { return false }
    hold(place, stat, reading)
    return true
  }

  private func isKnown(_ stat: FileStat, on volumeID: VolumeID, in batch: Batch) throws -> Bool {
    guard remembered.mayHaveFile(inode: stat.identity.inode) else { return false }
    return try batch.writer.files(inode: stat.identity.inode).contains {
      isFile($0, elsewhere: stat, on: volumeID)
    }
  }

  /// Decides whether the folder in a root's place belongs to the library, once a scan of the root has ended. The folder
  /// that a bind mount was mounted on has none of the library's photos. In that case the root counts as offline, however
  /// few photos it had, until a person says otherwise.
  func decideNewTops(in batch: inout Batch) throws {
    guard !scans.areUnderWay else { return }
    for scan in scans.ended where scan.partOf == nil {
      guard let new = roots[scan.rootID]?.newTop, let top = tree.top(ofRoot: scan.rootID), tree.number(of: top) != nil
      else { continue }
      roots[scan.rootID]?.newTop = nil
      if try !new.hasKnownPhotos && !requests.isConfirmed(scan.request)
        && assetCountWithoutDrives(below: top, in: batch) > 0
      {
        // The scan is not decided, because the top has no number any more.
        tree.unbind(subtree: top)
        forgetHeldFiles(below: top)
        try setForeign(scan.rootID, .otherFolder, in: &batch)
        continue
      }
      var row = tree.row(top)
      (row.inode, row.birthTime) = (new.identity.inode, new.identity.born)
      try batch.writer.updateIdentity(of: row)
      tree.update(row)
    }
  }
}
