import PhotoCatalog
import PhotoMetadata
import PhotoModel
import WatchRecords

// What is written of a file: each of these brings the catalog and the record of the commit in line with one fact.
extension Reconciler {
  func insert(_ place: Place, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch) throws {
    let (content, row) = read(place, stat, assetID: 0, reading: reading)
    knownInodes.insert(row.inode)
    batch.noteChange()
    if let former = try tombstone(of: row, in: batch) {
      try restore(former, content, row, in: &batch)
      return
    }
    let id = try batch.writer.insertAsset(content, file: row, addedDate: batch.time / 1000)
    if let fingerprint = row.fingerprint {
      // Where inodes do not last, a new name is as good as a copy.
      let isLasting = hasLastingInodes(tree.row(place.directoryID).volumeID)
      let made = isLasting ? max(row.changeTime, row.birthTime) : batch.time
      recentInsertions.add(id, fingerprint: fingerprint, fileTime: made, time: batch.time)
    }
    batch.record.insert(asset: id)
    note(.inserted(eventPlace(place), assetID: id), as: .inserted)
    touchCollections(ofNew: content, in: place.directoryID, batch: &batch)
    scheduleRetry(id, content, row, in: batch)
  }

  /// A deleted asset's very file (the content alone is not enough) stands where another's was: of names that were
  /// exchanged one is told after the other.
  ///
  /// - Returns: false where it is not so.
  func returns(
    over occupant: FileRow, _ place: Place, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch
  ) throws -> Bool {
    guard tombstones.mayContain(inode: stat.identity.inode) else { return false }
    let (content, row) = read(place, stat, assetID: 0, reading: reading)
    guard let former = try tombstone(ofInode: row, in: batch) else { return false }
    knownInodes.insert(row.inode)
    batch.noteChange()
    try remove(occupant, in: &batch)
    listing?.forget(place)
    try restore(former, content, row, in: &batch)
    return true
  }

  /// A deleted asset is back, with all that it had.
  func restore(
    _ former: Tombstone, _ content: AssetContent, _ file: FileRow, in batch: inout Batch
  ) throws {
    var row = file
    // Until it can be read, its content is what it was.
    if row.readTime == 0 { row.fingerprint = former.fingerprint }
    try batch.writer.restore(former, content: content, file: row)
    var fields: ChangedFields = former.path == path(of: row) ? [] : .path
    if file.readTime == 0 || former.fingerprint == nil || former.fingerprint != row.fingerprint
      || former.byteCount != row.byteCount
    {
      fields.formUnion([.content, .metadata, .keywords])
    } else if former.modificationTime != row.modificationTime {
      fields.insert(.content)
    }
    batch.record.insert(asset: former.assetID, orUpdate: fields)
    note(.inserted(eventPlace(row), assetID: former.assetID), as: .inserted)
    try touchCollections(of: former.assetID, batch: &batch)
    scheduleRetry(former.assetID, content, row, in: batch)
  }

  /// A known file stands in another place now.
  func move(
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
      if (0..<Self.atomicSaveAge).contains(age(of: added * 1000, at: batch.time)) {
        // Saved beside it and renamed over it: the photo that was there has new content.
        listing?.forget(Place(directoryID: source.directoryID, name: source.name))
        try erase(source.assetID, in: &batch)
        note(.removed(eventPlace(source), assetID: source.assetID), as: .same)
        exchanges.noteDisplaced(occupant, from: target, uptime: batch.uptime)
        var row = occupant
        row.inode = source.inode
        row.birthTime = source.birthTime
        if let stat {
          try refresh(occupant, stat, reading: reading, in: &batch)
        } else {
          // Size and time stay those of the old content: by them it is told that the new one differs.
          row.readTime = 0
          try writer.updateStat(row)
          unread[row.assetID] = Retry(isPending: true, at: batch.uptime, delay: 0)
        }
        return
      }
      if try remove(occupant, in: &batch) {
        note(.removed(eventPlace(target), assetID: occupant.assetID), as: .same)
        exchanges.noteDisplaced(occupant, from: target, uptime: batch.uptime)
      }
    }
    try touchCollections(of: source.assetID, batch: &batch)
    try writer.moveFile(source, to: target.directoryID, name: target.name)
    try touchCollections(of: source.assetID, batch: &batch)
    batch.record.update(asset: source.assetID, fieldsOfMove(from: source.directoryID, to: target.directoryID))
    batch.noteChange()
    note(.renamed(from: eventPlace(source), to: eventPlace(target), assetID: source.assetID), as: .renamed)
    var row = source
    row.directoryID = target.directoryID
    row.name = target.name
    listing?.forget(Place(directoryID: source.directoryID, name: source.name))
    listing?.forget(target)
    let isReadAlike = MediaReader.readsAlike(source.name, row.name)
    guard let stat else {
      if !isReadAlike {
        row.readTime = 0
        try writer.updateStat(row)
      }
      if row.readTime == 0 { unread[row.assetID] = Retry(isPending: true, at: batch.uptime, delay: 0) }
      return
    }
    guard stat.byteCount > 0 else { return try awaitContent(of: row, stat, in: batch) }
    if hasIdentity(row, stat) && row.byteCount == stat.byteCount && row.modificationTime == stat.modificationTime
      && row.readTime != 0
    {
      // Renaming changes the change time only. The name may promise something else.
      row.changeTime = stat.changeTime
      try writer.updateStat(row)
      if !isReadAlike { try refresh(row, stat, reading: reading, in: &batch) }
    } else {
      try refresh(row, stat, reading: reading, in: &batch)
    }
  }

  /// What differs by the place alone: one of the two may be in a root, or on a drive, that is unavailable.
  private func fieldsOfMove(from source: Int64, to target: Int64) -> ChangedFields {
    isAvailable(source) == isAvailable(target) ? .path : [.path, .availability]
  }

  func refreshIfChanged(
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
  func refresh(_ old: FileRow, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch) throws {
    let writer = batch.writer
    let place = Place(directoryID: old.directoryID, name: old.name)
    let (content, row) = read(place, stat, assetID: old.assetID, reading: reading)
    if row.readTime == 0 {
      // It is elsewhere or changing just now. What the catalog holds stays until it can be read.
      if let failure = content.failure {
        deferReading(row.assetID, row, failure, in: batch)
      } else {
        unread[row.assetID] = Retry(isPending: true, at: batch.uptime, delay: 0)
      }
      // It is the file that stands there now that is read again.
      var pending = old
      pending.readTime = 0
      // What was read is forgotten; that this very file was there after its birth is not.
      if hasIdentity(old, stat) { pending.changeTime = max(old.readTime, old.changeTime, stat.changeTime) }
      pending.inode = row.inode
      pending.birthTime = row.birthTime
      try writer.updateStat(pending)
      note(.deferred(eventPlace(row), assetID: row.assetID, .raced), as: .deferred)
      return
    }
    knownInodes.insert(row.inode)
    if row.fingerprint != old.fingerprint, try becomesFormer(old.assetID, content, row, in: &batch) { return }
    var fields: ChangedFields = []
    // Where only the inode differs the file system was mounted anew.
    if row.byteCount != old.byteCount || row.modificationTime != old.modificationTime
      || (row.changeTime != old.changeTime && (row.inode != old.inode || row.birthTime != old.birthTime))
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
    scheduleRetry(row.assetID, content, row, in: batch)
    if fields.contains(.content) { try refreshOtherNames(of: row, stat, in: &batch) }
  }

  /// The content of a young asset is known: it may be one that was deleted, or the copy of one that is about to be.
  ///
  /// - Returns: whether it is a deleted one now.
  private func becomesFormer(
    _ assetID: Int64, _ content: AssetContent, _ row: FileRow, in batch: inout Batch
  ) throws -> Bool {
    guard let fingerprint = row.fingerprint, let added = try batch.writer.addedDate(of: assetID) else { return false }
    let assetAge = age(of: added * 1000, at: batch.time)
    guard assetAge < RecentInsertions.lifetime else { return false }
    if assetAge < Self.unsettledAge, let former = try tombstone(of: row, in: batch),
      try !batch.writer.hasUserData(assetID)
    {
      try erase(assetID, in: &batch)
      batch.noteChange()
      try restore(former, content, row, in: &batch)
      return true
    }
    let made = max(row.changeTime, row.birthTime)
    recentInsertions.add(assetID, fingerprint: fingerprint, fileTime: made, time: batch.time)
    return false
  }

  /// A file with several names (hard links) has new content under all of them, and only one of them was told.
  ///
  /// - Complexity: one lookup by inode for each change of content; the others are read as well.
  private func refreshOtherNames(of row: FileRow, _ stat: FileStat, in batch: inout Batch) throws {
    for other in try batch.writer.files(inode: row.inode)
    where other.assetID != row.assetID && hasIdentity(other, stat) && !hasSizeAndTime(other, stat) {
      guard tree.row(other.directoryID).volumeID == tree.row(row.directoryID).volumeID,
        var current = files.stat(path(of: other)), current.identity.inode == other.inode, current.byteCount > 0
      else { continue }
      current.identity = stat.identity
      if !hasSizeAndTime(other, current) { try refresh(other, current, reading: nil, in: &batch) }
    }
  }

  /// An asset leaves the library. What it was is remembered; or it lives on in the copy that was made of it.
  ///
  /// - Returns: whether it is gone.
  @discardableResult
  func remove(_ row: FileRow, in batch: inout Batch) throws -> Bool {
    if let copy = try successor(of: row, in: batch) ?? savedByExchange(row, in: batch) {
      try takeOver(copy, by: row, in: &batch)
      return false
    }
    if try isNobody(row, in: batch) {
      try erase(row.assetID, in: &batch)
      return true
    }
    try touchCollections(of: row.assetID, batch: &batch)
    // It may show only what its name promises, and be back within this batch with what its file says.
    if row.readTime == 0 { batch.record.update(asset: row.assetID, [.content, .metadata, .keywords]) }
    var directory = eventPlace(row.directoryID, []).directory
    if directory.last != UInt8(ascii: "/") { directory.append(UInt8(ascii: "/")) }
    if let keys = try batch.writer.bury(row.assetID, directoryPath: directory, date: batch.time / 1000) {
      tombstones.insert(inode: keys.inode, fingerprint: keys.fingerprint)
    }
    noteRemoval(of: row.assetID, in: &batch)
    return true
  }

  /// A young asset of which nothing was known but its place: a tombstone of it would only stand before that of who it is.
  private func isNobody(_ row: FileRow, in batch: Batch) throws -> Bool {
    guard row.fingerprint == nil, let added = try batch.writer.addedDate(of: row.assetID) else { return false }
    return try age(of: added * 1000, at: batch.time) < Self.unsettledAge && !batch.writer.hasUserData(row.assetID)
  }

  /// An asset that is another from now on: nothing is kept of it.
  private func erase(_ assetID: Int64, in batch: inout Batch) throws {
    try touchCollections(of: assetID, batch: &batch)
    try batch.writer.deleteAsset(assetID)
    noteRemoval(of: assetID, in: &batch)
  }

  private func noteRemoval(of assetID: Int64, in batch: inout Batch) {
    batch.record.delete(asset: assetID)
    batch.noteChange()
    unread[assetID] = nil
    forgetMissing(assetID)
  }

  /// The original of a copy goes: it was a move to another disk, or an exchange with what a program saved; the asset goes on
  /// at its new place.
  private func takeOver(_ copy: FileRow, by row: FileRow, in batch: inout Batch) throws {
    let writer = batch.writer
    guard let content = try writer.content(of: copy.assetID) else { return }
    let retry = unread[copy.assetID]
    try erase(copy.assetID, in: &batch)
    listing?.forget(Place(directoryID: row.directoryID, name: row.name))
    listing?.forget(Place(directoryID: copy.directoryID, name: copy.name))
    forgetMissing(row.assetID)
    try touchCollections(of: row.assetID, batch: &batch)
    var fields = content.changedFields(since: try writer.content(of: row.assetID))
    fields.formUnion(fieldsOfMove(from: row.directoryID, to: copy.directoryID))
    if copy.modificationTime != row.modificationTime { fields.insert(.content) }
    try writer.moveFile(row, to: copy.directoryID, name: copy.name)
    try writer.updateContent(content, file: copy.of(asset: row.assetID))
    try touchCollections(of: row.assetID, batch: &batch)
    unread[row.assetID] = retry
    batch.record.update(asset: row.assetID, fields)
    batch.noteChange()
    note(.renamed(from: eventPlace(row), to: eventPlace(copy), assetID: row.assetID), as: .renamed)
  }

  /// What the file says, and its row. `readTime` is 0 when it could not be read now.
  func read(_ place: Place, _ stat: FileStat, assetID: Int64, reading: ContentReading?) -> (
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
    case .unreadable(let why):
      return (promisedContent(name: place.name, failure: why), FileRow(place, stat, assetID: assetID, readTime: 0))
    case .raced:
      return (promisedContent(name: place.name), FileRow(place, stat, assetID: assetID, readTime: 0))
    }
  }
}
