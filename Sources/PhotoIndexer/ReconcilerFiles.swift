import PhotoCatalog
import PhotoModel
import WatchRecords

// Files: which of them are the same photo, and what is read again.
extension Reconciler {
  /// An asset younger than this that is renamed over another is how programs save, not a photo of its own.
  static let atomicSaveAge: Int64 = 2_000_000_000
  /// A file may change once more within the grain of its clock, without a trace in its stat.
  static let clockGrain: Int64 = 2_000_000_000

  // MARK: What photod-watch says

  func fileFound(_ place: Place, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch) throws {
    batch.evidence = .event
    var row: FileRow?
    var mustAsk = true
    if listing?.directoryID == place.directoryID {
      batch.evidence = listing!.evidence
      (row, mustAsk) = listing!.name(place.name)
    }
    if mustAsk { row = try batch.writer.file(place.directoryID, place.name) }
    if let departing = batch.departing.removeValue(forKey: place) { row = departing }
    if let row { forgetMissing(row.assetID) }

    guard stat.byteCount > 0 else {
      // An empty file is no photo yet. One that was is being written anew, or is not: the barrier or some seconds tell.
      if let row {
        unread[row.assetID] = Retry(isPending: true, at: batch.time + Self.firstRetry, delay: 0)
        note(.deferred(eventPlace(place), assetID: row.assetID, .empty), as: .deferred)
      } else {
        note(.ignored(eventPlace(place), assetID: nil, .empty), as: .same)
      }
      return
    }
    guard let row else {
      if let source = try sourceOfMove(stat, to: place, in: batch) {
        try move(source, to: place, stat, reading: reading, in: &batch)
      } else {
        try insert(place, stat, reading: reading, in: &batch)
      }
      return
    }
    if hasIdentity(row, stat) {
      try refreshIfChanged(row, stat, reading: reading, in: &batch)
    } else if isUnchanged(row, stat) {
      // A file system whose inodes change when it is mounted, as FAT's.
      knownInodes.insert(stat.identity.inode)
      try batch.writer.updateStat(
        FileRow(place, stat, assetID: row.assetID, readTime: row.readTime, fingerprint: row.fingerprint))
    } else if let source = try sourceOfMove(stat, to: place, in: batch), source.assetID != row.assetID {
      try move(source, to: place, stat, reading: reading, in: &batch)
    } else {
      // Another file in its place, as programs save: the photo is the same.
      try refresh(row, stat, reading: reading, in: &batch)
    }
  }

  func fileGone(_ place: Place, in batch: inout Batch) throws {
    guard let row = try batch.writer.file(place.directoryID, place.name) else { return }
    forgetMissing(row.assetID)
    listing?.forget(place)
    batch.departing[place] = row
  }

  func fileMoved(
    from source: Place?, to target: Place, _ stat: FileStat?, reading: ContentReading?, in batch: inout Batch
  ) throws {
    guard let source, let row = try batch.writer.file(source.directoryID, source.name) else {
      if let stat { try fileFound(target, stat, reading: reading, in: &batch) }
      return
    }
    batch.evidence = .event
    batch.departing[source] = nil
    forgetMissing(row.assetID)
    try move(row, to: target, stat, reading: reading, in: &batch)
  }

  /// Removes what left in this batch and did not turn up elsewhere.
  func removeDeparted(in batch: inout Batch) throws {
    for (place, row) in batch.departing.sorted(by: { $0.value.assetID < $1.value.assetID }) {
      // It may have moved, and the name may be another's now.
      guard try batch.writer.file(place.directoryID, place.name)?.assetID == row.assetID else { continue }
      // A listing that goes on in the next batch may still name it.
      listing?.forget(place)
      try remove(row.assetID, in: &batch)
      events.ring.append(.removed(eventPlace(place), assetID: row.assetID))
    }
    batch.departing = [:]
  }

  // MARK: Identity

  private func hasIdentity(_ row: FileRow, _ stat: FileStat) -> Bool {
    row.inode == stat.identity.inode && row.birthTime == stat.identity.birthTime
  }

  /// By size and times the file is what it was when it was read.
  private func isUnchanged(_ row: FileRow, _ stat: FileStat) -> Bool {
    row.byteCount == stat.byteCount && row.modificationTime == stat.modificationTime
      && row.changeTime == stat.changeTime && row.readTime != 0
  }

  /// The catalog's row of this very file if it was known in another place and has left it.
  ///
  /// Inode and birth time name a file on its volume; where the file system keeps no birth time, size and modification
  /// time must agree as well. A file that still stands in its old place has a second name (a hard link): that is an asset
  /// of its own.
  private func sourceOfMove(_ stat: FileStat, to place: Place, in batch: Batch) throws -> FileRow? {
    guard knownInodes.mayContain(stat.identity.inode) else { return nil }
    let volumeID = tree.row(place.directoryID).volumeID
    for row in try batch.writer.files(inode: stat.identity.inode) {
      guard hasIdentity(row, stat), tree.row(row.directoryID).volumeID == volumeID else { continue }
      if row.directoryID == place.directoryID && row.name == place.name { continue }
      if stat.identity.birthTime == 0
        && (row.byteCount != stat.byteCount || row.modificationTime != stat.modificationTime)
      {
        continue
      }
      if let there = files.stat(path(of: row)), there.identity.inode == row.inode,
        there.identity.device == stat.identity.device
      {
        continue
      }
      return row
    }
    return nil
  }

  func path(of row: FileRow) -> [UInt8] { tree.path(of: row.directoryID) + [UInt8(ascii: "/")] + row.name }

  // MARK: Changing the catalog

  private func insert(_ place: Place, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch) throws {
    let (content, row) = read(place, stat, assetID: 0, reading: reading)
    let id = try batch.writer.insertAsset(content, file: row, addedDate: batch.time / 1000)
    knownInodes.insert(row.inode)
    batch.noteChange()
    batch.record.insert(asset: id)
    note(.inserted(eventPlace(place), assetID: id), as: .inserted)
    touchCollections(ofNew: content, in: place.directoryID, batch: &batch)
    scheduleRetry(id, content, row, time: batch.time)
  }

  /// A known file stands in another place now.
  private func move(
    _ source: FileRow, to target: Place, _ stat: FileStat?, reading: ContentReading?, in batch: inout Batch
  ) throws {
    let writer = batch.writer
    batch.departing[Place(directoryID: source.directoryID, name: source.name)] = nil
    forgetMissing(source.assetID)
    if source.directoryID == target.directoryID && source.name == target.name {
      if let stat { try refreshIfChanged(source, stat, reading: reading, in: &batch) }
      return
    }
    if let occupant = try writer.file(target.directoryID, target.name), occupant.assetID != source.assetID {
      batch.departing[target] = nil
      forgetMissing(occupant.assetID)
      listing?.forget(target)
      let added = try writer.addedDate(of: source.assetID) ?? 0
      if age(of: added * 1000, at: batch.time) < Self.atomicSaveAge {
        // Saved beside it and renamed over it: the photo that was there has new content.
        listing?.forget(Place(directoryID: source.directoryID, name: source.name))
        try remove(source.assetID, in: &batch)
        note(.removed(eventPlace(source), assetID: source.assetID), as: .same)
        var row = occupant
        row.inode = source.inode
        row.birthTime = source.birthTime
        if let stat {
          try refresh(occupant, stat, reading: reading, in: &batch)
        } else {
          // Size and time stay those of the old content: by them it is told that the new one differs.
          row.readTime = 0
          try writer.updateStat(row)
          unread[row.assetID] = Retry(isPending: true, at: batch.time, delay: 0)
        }
        return
      }
      try remove(occupant.assetID, in: &batch)
      note(.removed(eventPlace(target), assetID: occupant.assetID), as: .same)
    }
    try touchCollections(of: source.assetID, batch: &batch)
    try writer.moveFile(source, to: target.directoryID, name: target.name)
    try touchCollections(of: source.assetID, batch: &batch)
    batch.record.update(asset: source.assetID, .path)
    batch.noteChange()
    note(.renamed(from: eventPlace(source), to: eventPlace(target), assetID: source.assetID), as: .renamed)
    var row = source
    row.directoryID = target.directoryID
    row.name = target.name
    listing?.forget(Place(directoryID: source.directoryID, name: source.name))
    listing?.forget(target)
    guard let stat else {
      if row.readTime == 0 { unread[row.assetID] = Retry(isPending: true, at: batch.time, delay: 0) }
      return
    }
    guard stat.byteCount > 0 else {
      unread[row.assetID] = Retry(isPending: true, at: batch.time + Self.firstRetry, delay: 0)
      return
    }
    if hasIdentity(row, stat) && row.byteCount == stat.byteCount && row.modificationTime == stat.modificationTime
      && row.readTime != 0
    {
      // Renaming changes the change time only. The name may promise another type.
      row.changeTime = stat.changeTime
      try writer.updateStat(row)
      if fileExtension(source.name) != fileExtension(row.name) {
        try refresh(row, stat, reading: reading, in: &batch)
      }
    } else {
      try refresh(row, stat, reading: reading, in: &batch)
    }
  }

  private func refreshIfChanged(
    _ row: FileRow, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch
  ) throws {
    let wasYoung = age(of: row.changeTime, at: row.readTime) < Self.clockGrain
    if isUnchanged(row, stat) && !(batch.evidence == .event && wasYoung) {
      unread[row.assetID] = unread[row.assetID].flatMap { $0.isPending ? nil : $0 }
      note(.ignored(eventPlace(row), assetID: row.assetID, .sameStat), as: .same)
      return
    }
    try refresh(row, stat, reading: reading, in: &batch)
  }

  /// Reads a file and writes what differs.
  private func refresh(_ old: FileRow, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch) throws {
    let writer = batch.writer
    let place = Place(directoryID: old.directoryID, name: old.name)
    let (content, row) = read(place, stat, assetID: old.assetID, reading: reading)
    if row.readTime == 0 {
      // It is elsewhere or changing just now. What the catalog holds stays until it can be read.
      unread[row.assetID] = Retry(isPending: true, at: batch.time, delay: 0)
      var pending = old
      pending.readTime = 0
      try writer.updateStat(pending)
      note(.deferred(eventPlace(row), assetID: row.assetID, .raced), as: .deferred)
      return
    }
    knownInodes.insert(row.inode)
    var fields: ChangedFields = []
    if row.byteCount != old.byteCount || row.modificationTime != old.modificationTime || row.inode != old.inode
      || row.birthTime != old.birthTime
    {
      fields.insert(.content)
    }
    fields.formUnion(content.changedFields(since: try writer.content(of: row.assetID)))
    if fields.isEmpty {
      try writer.updateStat(row)
      note(.ignored(eventPlace(row), assetID: row.assetID, .sameContent), as: .same)
    } else {
      try touchCollections(of: row.assetID, batch: &batch)
      try writer.updateContent(content, file: row)
      try touchCollections(of: row.assetID, batch: &batch)
      batch.record.update(asset: row.assetID, fields)
      batch.noteChange()
      note(.updated(eventPlace(row), assetID: row.assetID, fields), as: .updated)
    }
    scheduleRetry(row.assetID, content, row, time: batch.time)
  }

  func remove(_ assetID: Int64, in batch: inout Batch) throws {
    try touchCollections(of: assetID, batch: &batch)
    try batch.writer.deleteAsset(assetID)
    batch.record.delete(asset: assetID)
    batch.noteChange()
    unread[assetID] = nil
    forgetMissing(assetID)
  }

  /// What the file says, and its row. `readTime` is 0 when it could not be read now.
  private func read(_ place: Place, _ stat: FileStat, assetID: Int64, reading: ContentReading?) -> (
    AssetContent, FileRow
  ) {
    var result = reading ?? .raced
    if case .content(_, let read, _, _) = result, read.identity != stat.identity { result = .raced }
    if case .raced = result {
      let directory = tree.path(of: place.directoryID)
      result = files.read(directory + [UInt8(ascii: "/")] + place.name, expecting: stat)
    }
    switch result {
    case .content(let content, let read, let readTime, let fingerprint):
      return (
        content, FileRow(place, read, assetID: assetID, readTime: readTime, fingerprint: fingerprint)
      )
    case .raced:
      return (promisedContent(name: place.name), FileRow(place, stat, assetID: assetID, readTime: 0))
    }
  }

  // MARK: Reading again

  private static let firstRetry: Int64 = 5_000_000_000
  private static let lastRetry: Int64 = 60_000_000_000

  /// A file that can't be parsed and is young may still be in the making.
  private func scheduleRetry(_ assetID: Int64, _ content: AssetContent, _ row: FileRow, time: Int64) {
    if let failure = content.failure, row.readTime != 0 {
      note(.damaged(eventPlace(row), assetID: assetID, failure: failure), as: .damaged)
    }
    if row.readTime == 0 {
      unread[assetID] = Retry(isPending: true, at: time, delay: 0)
    } else if content.failure != nil && age(of: row.changeTime, at: time) < Self.lastRetry {
      let delay = min((unread[assetID]?.delay ?? 0) * 2, Self.lastRetry)
      let next = max(delay, Self.firstRetry)
      unread[assetID] = Retry(isPending: false, at: time + next, delay: next)
    } else {
      unread[assetID] = nil
    }
  }

  /// Reads files again whose time has come.
  func readAgain(_ assetIDs: [Int64], in batch: inout Batch) throws {
    for assetID in assetIDs {
      guard let row = try batch.writer.file(ofAsset: assetID) else {
        unread[assetID] = nil
        continue
      }
      guard let stat = files.stat(path(of: row)), stat.identity.inode == row.inode else {
        // What became of it is still to be said.
        unread[assetID]?.at = batch.time + Self.firstRetry
        continue
      }
      guard stat.byteCount > 0 else {
        listing?.forget(Place(directoryID: row.directoryID, name: row.name))
        try remove(assetID, in: &batch)
        note(.removed(eventPlace(row), assetID: assetID), as: .same)
        continue
      }
      var current = stat
      current.identity = FileIdentity(device: stat.identity.device, inode: row.inode, birthTime: row.birthTime)
      batch.evidence = .event
      try refresh(row, current, reading: nil, in: &batch)
      if unread[assetID]?.isPending == true { unread[assetID]!.at = batch.time + Self.clockGrain }
    }
  }

  // MARK: Collections

  private func touchCollections(ofNew content: AssetContent, in directoryID: Int64, batch: inout Batch) {
    touch("recents", in: &batch)
    if content.mediaType == .video { touch("videos", in: &batch) }
    if content.mediaSubtypes.contains(.screenshot) { touch("screenshots", in: &batch) }
    if let album = albums[directoryID] { batch.record.update(collection: album) }
  }

  private func touch(_ subtype: String, in batch: inout Batch) {
    if let id = smartAlbums[subtype] { batch.record.update(collection: id) }
  }

  private func touchCollections(of assetID: Int64, batch: inout Batch) throws {
    for id in try batch.writer.collections(holding: assetID) { batch.record.update(collection: id) }
  }

  private func fileExtension(_ name: [UInt8]) -> ArraySlice<UInt8> {
    name.lastIndex(of: UInt8(ascii: ".")).map { name[($0 + 1)...] } ?? []
  }
}

extension FileRow {
  init(_ place: Place, _ stat: FileStat, assetID: Int64, readTime: Int64, fingerprint: UInt64? = nil) {
    self.init(
      assetID: assetID, directoryID: place.directoryID, name: place.name, byteCount: stat.byteCount,
      modificationTime: stat.modificationTime, changeTime: stat.changeTime, inode: stat.identity.inode,
      birthTime: stat.identity.birthTime, readTime: readTime, fingerprint: fingerprint)
  }
}
