import PhotoCatalog
import PhotoModel
import WatchRecords

// Directories: a rename is one row, whatever is below.
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
    let volumeID = try batch.writer.volume(identity: volumes.identity(device: identity.device, path: path))
    let known = tree.directory(identity: DirectoryTree.Identity(volumeID: volumeID, inode: identity.inode))
      .flatMap { tree.row($0).birthTime == identity.birthTime && tree.number(of: $0) == nil ? $0 : nil }
    let occupant = tree.child(of: parentID, name)

    if let known, tree.row(known).parentID != nil, !tree.isInside(parentID, known) {
      // The directory itself was known: here, or in another place that it has left.
      if known != occupant {
        if let occupant { try park(occupant, in: &batch) }
        try relocate(known, to: parentID, name: name, in: &batch)
      }
      tree.bind(known, to: number)
    } else if let occupant, tree.number(of: occupant) == nil {
      // The same path with another identity: restored, or on a file system whose inodes change. Its files tell.
      var row = tree.row(occupant)
      row.volumeID = volumeID
      row.inode = identity.inode
      row.birthTime = identity.birthTime
      try batch.writer.updateDirectory(row)
      tree.update(row)
      tree.bind(occupant, to: number)
    } else {
      if let occupant { try park(occupant, in: &batch) }
      let (id, album) = try batch.writer.insertDirectory(
        parentID: parentID, rootID: nil, name: name, volumeID: volumeID, inode: identity.inode,
        birthTime: identity.birthTime)
      tree.insert(
        DirectoryRow(
          id: id, parentID: parentID, rootID: nil, name: name, volumeID: volumeID, inode: identity.inode,
          birthTime: identity.birthTime))
      tree.bind(id, to: number)
      albums[id] = album
      batch.record.insert(collection: album)
      noteDirectoryChange(in: &batch)
    }
  }

  private func topFound(
    _ number: DirectoryNumber, root: UInt16, path: [UInt8], identity: FileIdentity, in batch: inout Batch
  ) throws {
    guard let rootID = rootIDs[root] else { return }
    let volumeID = try batch.writer.volume(identity: volumes.identity(device: identity.device, path: path))
    if let id = tree.top(ofRoot: rootID) {
      var row = tree.row(id)
      if row.volumeID != volumeID || row.inode != identity.inode || row.birthTime != identity.birthTime {
        row.volumeID = volumeID
        row.inode = identity.inode
        row.birthTime = identity.birthTime
        try batch.writer.updateDirectory(row)
        tree.update(row)
      }
      tree.bind(id, to: number)
    } else {
      let (id, album) = try batch.writer.insertDirectory(
        parentID: nil, rootID: rootID, name: [], volumeID: volumeID, inode: identity.inode,
        birthTime: identity.birthTime)
      tree.insert(
        DirectoryRow(
          id: id, parentID: nil, rootID: rootID, name: [], volumeID: volumeID, inode: identity.inode,
          birthTime: identity.birthTime))
      tree.bind(id, to: number)
      albums[id] = album
      batch.record.insert(collection: album)
    }
    try setAvailable(rootID, true, in: &batch)
  }

  func directoryMoved(_ number: DirectoryNumber, parent: DirectoryNumber, name: [UInt8], in batch: inout Batch) throws {
    guard let id = tree.directory(number: number), let parentID = tree.directory(number: parent) else { return }
    if let occupant = tree.child(of: parentID, name) {
      if occupant == id { return }
      try park(occupant, in: &batch)
    }
    guard !tree.isInside(parentID, id) else { return }
    batch.sawEvent = true
    try relocate(id, to: parentID, name: name, in: &batch)
  }

  func directoryGone(_ number: DirectoryNumber, evidence: Evidence, in batch: inout Batch) throws {
    guard let id = tree.directory(number: number) else { return }
    let root = tree.rootID(of: id)
    if evidence == .scan, scans.values.contains(where: { $0.rootID == root }) {
      // The scan's end decides, with the brake.
      tree.unbind(subtree: id)
      return
    }
    note(evidence, in: &batch)
    try removeTree(id, in: &batch)
  }

  /// Removes a directory with everything below it.
  func removeTree(_ id: Int64, in batch: inout Batch) throws {
    for directory in tree.subtree(of: id) {
      for row in try batch.writer.files(in: directory) {
        try remove(row.assetID, in: &batch)
      }
      batch.departing = batch.departing.filter { $0.key.directoryID != directory }
      if listing?.directoryID == directory { listing = nil }
      if let album = try batch.writer.deleteDirectory(directory).album { batch.record.delete(collection: album) }
      albums[directory] = nil
      tree.remove(directory)
    }
  }

  /// Takes a directory out of its place, which another has now; later records say where it is, or that it is gone.
  private func park(_ id: Int64, in batch: inout Batch) throws {
    var row = tree.row(id)
    row.name = Array("\u{1}parked-\(id)".utf8)
    try batch.writer.updateDirectory(row)
    tree.update(row)
  }

  /// Gives a known directory another place: one row, and one entry in the history.
  private func relocate(_ id: Int64, to parentID: Int64, name: [UInt8], in batch: inout Batch) throws {
    let from = tree.path(of: id)
    var row = tree.row(id)
    row.parentID = parentID
    row.name = name
    try batch.writer.updateDirectory(row)
    tree.update(row)
    let to = tree.path(of: id)
    noteDirectoryChange(in: &batch)
    if let earlier = batch.record.renamedDirectories.firstIndex(where: { $0.directoryID == id }) {
      let first = batch.record.renamedDirectories.remove(at: earlier).fromPath
      batch.record.renamedDirectories.append(.init(directoryID: id, fromPath: first, toPath: to))
    } else {
      batch.record.renamedDirectories.append(.init(directoryID: id, fromPath: from, toPath: to))
    }
    if let album = try album(of: id, in: batch) { batch.record.update(collection: album) }
  }

  private func noteDirectoryChange(in batch: inout Batch) {
    note(scans.isEmpty ? .event : .scan, in: &batch)
  }

  func album(of directoryID: Int64, in batch: Batch) throws -> Int64? {
    if let album = albums[directoryID] { return album }
    let album = try batch.writer.folderAlbum(of: directoryID)
    albums[directoryID] = album
    return album
  }

  // MARK: Listings

  func listingStarted(_ number: DirectoryNumber, evidence: Evidence, in batch: inout Batch) throws {
    guard let id = tree.directory(number: number) else {
      listing = nil
      return
    }
    var unnamed: [[UInt8]: FileRow] = [:]
    for row in try batch.writer.files(in: id) { unnamed[row.name] = row }
    _ = try album(of: id, in: batch)
    listing = Listing(directoryID: id, evidence: evidence, unnamed: unnamed)
  }

  func listingEnded(_ number: DirectoryNumber, complete: Bool, in batch: inout Batch) throws {
    guard let ended = listing else { return }
    listing = nil
    guard complete, tree.directory(number: number) == ended.directoryID else { return }
    for row in ended.unnamed.values {
      let root = tree.rootID(of: ended.directoryID)
      if ended.evidence == .scan, let scan = scans.first(where: { $0.value.rootID == root })?.key {
        scans[scan]!.missing[row.assetID] = Place(directoryID: row.directoryID, name: row.name)
      } else {
        note(ended.evidence, in: &batch)
        batch.departing[Place(directoryID: row.directoryID, name: row.name)] = row
      }
    }
  }
}
