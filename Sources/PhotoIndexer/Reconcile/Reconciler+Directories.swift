import PhotoCatalog
import PhotoModel
import WatchRecords

// Directories: a rename changes one row, however much is below the directory.
extension Reconciler {
  func directoryFound(
    _ number: DirectoryNumber, parent: DirectoryNumber, root: UInt16, name: [UInt8], identity: FileIdentity,
    in batch: inout Batch
  ) throws {
    if parent == 0 {
      try topFound(number, root: root, path: name, identity: identity, in: &batch)
      return
    }
    guard let parentID = tree.directory(number: parent) else { return }
    let path = tree.path(of: parentID) + [UInt8(ascii: "/")] + name
    let volumeID = try volumes.id(
      device: identity.device, path: path, parent: tree.volumeID(of: parentID), files: files, in: batch.writer)
    batch.context.evidence = scans.areUnderWay ? .scan : .event
    let occupant = tree.child(of: parentID, name)
    // A person's confirmation is for the directory that is found now.
    defer { if let occupant { roots.endAdoption(of: occupant) } }
    var known = known(volumeID, identity, outside: parentID)
    if let other = known, other != occupant, try !hasMoved(other, to: path, over: occupant, identity, in: batch) {
      known = nil
    }

    if let known {
      // The directory itself is known: here, or in another place that it has left.
      if known != occupant {
        if let occupant { try park(occupant, in: &batch) }
        try relocate(known, to: parentID, name: name, in: &batch)
      }
      tree.bind(known, to: number)
      listings.noteReturn(of: known)
      try setAvailable(folder: known, true, in: &batch)
    } else if let occupant, try isAnotherDrive(volumeID, identity, at: occupant, in: batch) {
      // A drive was mounted here and is not now, or a drive covers the folder that was here. The known folder stays
      // until a person says otherwise.
      try takeAway(folder: occupant, in: &batch)
    } else if let occupant, tree.number(of: occupant) == nil {
      // The same path has another identity: it was restored, or the file system's inodes change. Its files decide which
      // photos they are.
      try setVolume(volumeID, identity, below: occupant, in: batch)
      try setAvailable(folder: occupant, true, in: &batch)
      var row = tree.row(occupant)
      row.volumeID = volumeID
      row.inode = identity.inode
      row.birthTime = identity.born
      try batch.writer.updateIdentity(of: row)
      tree.update(row)
      tree.bind(occupant, to: number)
      listings.noteReturn(of: occupant)
    } else {
      if let occupant { try park(occupant, in: &batch) }
      let id = try batch.writer.insertDirectory(
        parentID: parentID, rootID: nil, name: name, volumeID: volumeID, inode: identity.inode,
        birthTime: identity.born
      )
      tree.insert(
        DirectoryRow(
          id: id, parentID: parentID, rootID: nil, name: name, volumeID: volumeID, inode: identity.inode,
          birthTime: identity.born))
      tree.bind(id, to: number)
      batch.noteChange()
    }
  }

  /// The directory with this identity, if it may be in this place: it has no number of its own, and does not contain
  /// the place.
  private func known(_ volumeID: VolumeID, _ identity: FileIdentity, outside parentID: DirectoryID?) -> DirectoryID? {
    guard let id = tree.directory(identity: CatalogTree.Identity(volumeID: volumeID, inode: identity.inode)),
      tree.row(id).birthTime == identity.born, tree.number(of: id) == nil
    else { return nil }
    if let parentID, tree.isInside(parentID, id) { return nil }
    // The top of a root is in no other directory, unless the root is no longer configured.
    if let root = tree.row(id).rootID, roots[root]?.isUnconfigured != true { return nil }
    return id
  }

  private func topFound(
    _ number: DirectoryNumber, root: UInt16, path: [UInt8], identity: FileIdentity, in batch: inout Batch
  ) throws {
    guard let rootID = roots.id(ofNumber: root) else { return }
    let isAdopted = roots[rootID]?.isAdopted == true
    batch.context.evidence = .scan
    volumes.forgetMounts()
    let volumeID = try volumes.id(device: identity.device, path: path, files: files, in: batch.writer)
    if let id = tree.top(ofRoot: rootID) {
      var row = tree.row(id)
      let isSame = row.inode == identity.inode && row.birthTime == identity.born
      if row.volumeID != volumeID, !isAdopted, !(isSame && volumes.mayBeRenamed(row, to: volumeID)),
        try batch.writer.assetCount(below: id) > 0
      {
        // This is the mount point without its drive, or with another drive. If the catalog has no photo in it, none is
        // at risk, and the file system that is mounted there now becomes part of the library.
        endUndecided(forgetSession(ofRoot: root), in: &batch)
        try setForeign(rootID, .otherFileSystem, in: &batch)
        return
      }
      // The scan decides whether this is the library's folder, or the mount point of a bind mount. Until then the
      // catalog keeps the identity of the former folder, so that photod is in the same doubt after a restart.
      let isReplaced = try row.volumeID == volumeID && !isSame && !isAdopted && batch.writer.assetCount(below: id) > 0
      roots[rootID]?.newTop = isReplaced ? NewTop(identity: identity) : nil
      if isReplaced {
        tree.bind(id, to: number)
        return
      }
      try setVolume(volumeID, identity, below: id, in: batch)
      row = tree.row(id)
      if row.inode != identity.inode || row.birthTime != identity.born {
        row.volumeID = volumeID
        row.inode = identity.inode
        row.birthTime = identity.born
        try batch.writer.updateIdentity(of: row)
        tree.update(row)
      }
      tree.bind(id, to: number)
    } else if let id = try formerFolder(path, volumeID, identity, in: batch) {
      try relocate(id, toTopOf: rootID, in: &batch)
      try setAvailable(folder: id, true, in: &batch)
      tree.bind(id, to: number)
    } else {
      let id = try batch.writer.insertDirectory(
        parentID: nil, rootID: rootID, name: [], volumeID: volumeID, inode: identity.inode,
        birthTime: identity.born
      )
      tree.insert(
        DirectoryRow(
          id: id, parentID: nil, rootID: rootID, name: [], volumeID: volumeID, inode: identity.inode,
          birthTime: identity.born))
      tree.bind(id, to: number)
    }
    try setOnline(rootID, in: &batch)
  }

  /// The folder of another root that is now a root itself. Either that other root is no longer configured, or it leaves
  /// out the share that the new root is on.
  private func formerFolder(
    _ path: [UInt8], _ volumeID: VolumeID, _ identity: FileIdentity, in batch: Batch
  ) throws -> DirectoryID? {
    if let id = known(volumeID, identity, outside: nil), roots[tree.rootID(of: id)]?.isUnconfigured == true,
      try provesItself(identity, on: volumeID) || tree.path(of: id) == path || holdsFiles(of: id, at: path, in: batch)
    {
      return id
    }
    guard let id = tree.directory(path: path), tree.row(id).parentID != nil, !tree.row(id).isAvailable,
      tree.number(of: id) == nil, volumes.isSameFileSystem(tree.volumeID(of: id), volumeID)
    else { return nil }
    return id
  }

  func directoryMoved(_ number: DirectoryNumber, parent: DirectoryNumber, name: [UInt8], in batch: inout Batch) throws {
    guard let id = tree.directory(number: number) else {
      // It comes from outside of the library's directories. photod-watch regards it as known, and will not report its
      // content.
      if let parentID = tree.directory(number: parent) { batch.rootsToWatchAnew.insert(tree.rootID(of: parentID)) }
      return
    }
    guard let parentID = tree.directory(number: parent) else {
      // It was moved outside of the library's directories, for example into the folder in which a drive is not mounted.
      return try directoryGone(number, evidence: .event, in: &batch)
    }
    if let occupant = tree.child(of: parentID, name) {
      if occupant == id { return }
      try park(occupant, in: &batch)
    }
    guard !tree.isInside(parentID, id) else { return }
    batch.context.evidence = .event
    try relocate(id, to: parentID, name: name, in: &batch)
  }

  func directoryGone(_ number: DirectoryNumber, evidence: Evidence, in batch: inout Batch) throws {
    guard let id = tree.directory(number: number) else { return }
    if isMountTop(id) {
      // The drive was unmounted, and its mount point may be gone with it. The files on the drive are not gone.
      try takeAway(folder: id, in: &batch)
      return
    }
    if evidence == .scan {
      // The end of the scan decides, with the brake. Even if the folder could not be read before it left, its photos
      // are not kept for that reason.
      scans.updateUnderWay { $0.exempt.remove(id) }
      requireScan(for: id)
      tree.unbind(subtree: id)
      // The files that were found in it are gone, or they are in another place and are found there.
      forgetHeldFiles(below: id)
      return
    }
    batch.context.evidence = evidence
    try removeTree(id, in: &batch)
  }

  /// Removes a directory with everything below it, except for the drives that were mounted in it.
  ///
  /// - Parameter withDrives: whether those drives are removed as well.
  func removeTree(_ id: DirectoryID, withDrives: Bool = false, in batch: inout Batch) throws {
    let (place, before) = (eventPlace(id, []), batch.record.deletedAssets.count)
    defer {
      events.ring.append(.folderRemoved(place, assetCount: max(0, batch.record.deletedAssets.count - before)))
    }
    let kept = withDrives ? [:] : try keptDirectories(below: id, in: &batch)
    let leaving = tree.subtree(of: id).filter { kept[$0] != .whole }
    batch.leavingDirectories = Set(leaving)
    defer { batch.leavingDirectories = [] }
    for directory in leaving {
      for row in try batch.writer.files(in: directory) {
        batch.departing[Place(directoryID: directory, name: row.name)] = nil
        try remove(row, in: &batch)
      }
      held.remove(directory: directory)
      endListings(inside: directory)
      if kept[directory] == .itself {
        tree.unbind(directory)
        continue
      }
      try batch.writer.deleteDirectory(directory)
      tree.remove(directory)
      batch.noteChange()
    }
  }

  /// Takes a directory out of its place, which another directory has now. Later records report its new place, or that
  /// it is gone.
  private func park(_ id: DirectoryID, in batch: inout Batch) throws {
    var row = tree.row(id)
    try batch.writer.parkDirectory(&row)
    tree.update(row)
    if tree.number(of: id) == nil { unseenDirectoryLeft(id) }
  }

  /// The path that a file had until its folder, or one above it, lost its place to another folder.
  ///
  /// - Returns: nil if all folders are in their places.
  /// - Complexity: O(depth).
  func formerPath(of row: FileRow) -> [UInt8]? {
    var (id, names, isParked) = (row.directoryID, [row.name], false)
    while let parent = tree.row(id).parentID {
      isParked = isParked || tree.row(id).isParked
      names.append(tree.row(id).name)
      id = parent
    }
    guard isParked else { return nil }
    return names.reversed().reduce(tree.path(of: id)) { path, name in
      path.last == UInt8(ascii: "/") ? path + name : path + [UInt8(ascii: "/")] + name
    }
  }

  /// Moves a known directory: one row, and one entry in the history.
  private func relocate(_ id: DirectoryID, to parentID: DirectoryID, name: [UInt8], in batch: inout Batch) throws {
    var row = tree.row(id)
    let leftRoot = row.rootID
    row.parentID = parentID
    row.rootID = nil
    row.name = name
    try relocate(row, in: &batch)
    if let leftRoot { try removeRoot(leftRoot, in: &batch) }
  }

  private func relocate(_ id: DirectoryID, toTopOf rootID: RootID, in batch: inout Batch) throws {
    var row = tree.row(id)
    let leftRoot = row.rootID
    row.parentID = nil
    row.rootID = rootID
    row.name = []
    try relocate(row, in: &batch)
    if let leftRoot { try removeRoot(leftRoot, in: &batch) }
  }

  private func relocate(_ place: DirectoryRow, in batch: inout Batch) throws {
    var row = place
    let formerRoot = tree.rootID(of: row.id)
    let renamed = try batch.writer.moveDirectory(&row)
    tree.update(row)
    remembered.noteFolderMoved()
    // Files that were missing in it are no longer in the former root, and no scan looks for them in this root.
    let root = tree.rootID(of: row.id)
    if root != formerRoot, roots[formerRoot]?.suspect != nil { requireScan(for: row.id) }
    batch.noteChange()
    if let renamed { events.ring.append(.folderRenamed(from: renamed.fromPath, to: renamed.toPath)) }
  }

  // MARK: Listings

  func listingStarted(_ number: DirectoryNumber, evidence: Evidence, in batch: inout Batch) throws {
    guard let id = tree.directory(number: number) else {
      _ = listings.end()
      return
    }
    listings.begin(id, evidence: evidence, rows: try batch.writer.files(in: id))
  }

  func listingEnded(_ number: DirectoryNumber, complete: Bool, in batch: inout Batch) throws {
    guard let ended = listings.end() else { return }
    guard complete, tree.directory(number: number) == ended.directoryID else {
      exempt(ended.directoryID)
      return try decideHeldFiles(afterListing: ended.directoryID, in: &batch)
    }
    let root = tree.rootID(of: ended.directoryID)
    held.remove(directory: ended.directoryID) { !ended.hasHandled($0) }
    let scan = scans.number(of: root)
    if let scan { scans.update(scan) { $0.listed.insert(ended.directoryID) } }
    let evidence = listings.evidenceOfMissing(in: ended)
    if evidence == .scan && !ended.unnamed.isEmpty { requireScan(of: root) }
    for row in ended.unnamed.values {
      let place = Place(directoryID: row.directoryID, name: row.name)
      switch evidence {
      case .scan:
        if let scan { scans.update(scan) { $0.missing.insert(row.assetID, at: place) } }
      case .event:
        batch.departing[place] = row
        remembered.noteLeft(row)
      }
    }
    try decideHeldFiles(afterListing: ended.directoryID, in: &batch)
  }

  /// A listing during a scan changes nothing, because the scan goes on. So a scan does not look at all held files after
  /// each of its listings.
  private func decideHeldFiles(afterListing id: DirectoryID, in batch: inout Batch) throws {
    if !held.isEmpty, !(tree.contains(id) && isSearched(id)) { try decideHeldFiles(in: &batch) }
  }

  /// Requests a scan that decides about a directory, unless one is under way. A scan of another folder does not.
  func requireScan(for id: DirectoryID) {
    let rootID = tree.rootID(of: id)
    let isScanned = scans.underWay.values.contains { scan in
      scan.rootID == rootID && scan.partOf.map { tree.isInside(id, $0) } ?? true
    }
    if !isScanned, roots[rootID]?.number != nil { roots[rootID]?.needsScan = true }
  }

  /// Requests a scan of a root unless one is under way. A file that only a listing misses is decided by a scan. If that is
  /// the scan of another folder, its end requests the scan of the root.
  func requireScan(of rootID: RootID) {
    // After a loss of events, photod-watch scans by itself.
    guard scans.number(of: rootID) == nil, roots[rootID]?.isBlind != true else { return }
    if roots[rootID]?.number != nil { roots[rootID]?.needsScan = true }
  }

  /// A directory without a number from photod-watch is not in its place any more. It may be one that could not be
  /// entered, so that its photos stayed. No record will report its new place, so a scan decides what happens to its
  /// photos.
  func unseenDirectoryLeft(_ id: DirectoryID) {
    scans.updateUnderWay { $0.exempt.remove(id) }
    requireScan(for: id)
  }

  /// A directory could not be read, so a scan knows nothing of the files below it.
  func unreadable(_ directory: DirectoryNumber, _ name: [UInt8]) {
    guard let id = tree.directory(number: directory) else { return }
    if name.isEmpty { exempt(id) } else if let child = tree.child(of: id, name) { exempt(child) }
  }

  /// A share is mounted here, and its outer root leaves it out. The photos that are known on the share, or below its
  /// mount point, stay.
  func leftOut(_ directory: DirectoryNumber, _ name: [UInt8], in batch: inout Batch) throws {
    guard let id = tree.directory(number: directory), let child = tree.child(of: id, name) else { return }
    try takeAway(folder: child, in: &batch)
  }

  /// Keeps the photos that scans do not find at and below this directory.
  func exempt(_ id: DirectoryID) { scans.updateAll { $0.exempt.insert(id) } }
}
