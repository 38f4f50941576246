import ExtractRecords
import PhotoCatalog
import PhotoModel
import WatchRecords

// Writes to the catalog: each function here brings the catalog in line with one fact.
extension Reconciler {
  /// Inserts a file as a new asset, or restores the deleted asset that it is.
  func insert(_ place: Place, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch) throws {
    var (content, row) = read(place, stat, assetID: 0, reading: reading, isSampled: batch.context.evidence == .event)
    if batch.context.evidence == .event { try sampleOriginals(of: row, in: batch) }
    try sampleIfDeleted(&row, in: batch)
    if mustHold(place), try tombstone(ofInode: row, in: batch) == nil,
      try !formers(of: row, in: batch).isEmpty || mayHaveLostContent(row, in: batch)
    {
      // Another file that is not listed yet may be a better match for the deleted asset.
      hold(place, stat, reading)
      return
    }
    try insert(content, row, as: try tombstone(of: row, in: batch), in: &batch)
  }

  /// - Parameter former: the deleted asset that the file is, or nil for a new asset.
  func insert(
    _ content: AssetContent, _ row: FileRow, as former: Tombstone?, in batch: inout Batch
  ) throws {
    let place = Place(directoryID: row.directoryID, name: row.name)
    let known = try knownFiles(of: row, in: batch)
    remembered.noteFile(inode: row.inode)
    batch.noteChange()
    if let former {
      try restore(former, content, row, in: &batch)
      noteArrival(of: row, as: former, in: batch)
      return try decideEmptyNames(of: row, in: &batch)
    }
    let id = try batch.writer.insertAsset(content, file: row, addedDate: batch.time)
    if row.marks.fingerprint != nil {
      // If inodes do not last, a file under a new name counts as a copy that was made now.
      let isLasting = volumes.hasLastingInodes(tree.volumeID(of: place.directoryID))
      let made = isLasting ? max(row.changeTime, row.birthTime) : batch.time
      remembered.noteInsertion(
        of: id, fileTime: made, time: batch.time, originals: originals(of: row, addedAt: batch.time))
    }
    remembered.noteArrival(of: row.of(asset: id), in: batch)
    scans.noteSecondName(id, of: known)
    note(.inserted(eventPlace(place), assetID: id), as: .inserted)
    scheduleRetry(id, content, row, in: batch)
    try decideEmptyNames(of: row, in: &batch)
  }

  /// Restores a deleted asset whose very file (the content alone is not enough) is in the place of another photo. That
  /// happens when two names are exchanged, because the two renames are reported one after the other.
  ///
  /// - Returns: false if the file is not that of a deleted asset, or if a program saved it over the photo.
  func returns(
    over occupant: FileRow, _ place: Place, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch
  ) throws -> Bool {
    guard remembered.mayHaveTombstone(inode: stat.identity.inode) else { return false }
    var (content, row) = read(place, stat, assetID: 0, reading: reading, isSampled: batch.context.evidence == .event)
    try sampleIfDeleted(&row, in: batch)
    guard let former = try tombstone(ofInode: row, in: batch) else { return false }
    if isSave(former, over: place, stat, in: batch) {
      try batch.writer.removeTombstone(former.assetID, hasUserData: false)
      return false
    }
    remembered.noteFile(inode: row.inode)
    batch.noteChange()
    try remove(occupant, in: &batch)
    listings.forget(place)
    try restore(former, content, row, in: &batch)
    return true
  }

  /// Restores a deleted asset with everything that it had.
  func restore(
    _ former: Tombstone, _ content: AssetContent, _ file: FileRow, in batch: inout Batch
  ) throws {
    var row = file
    let wasRead = row.readTime != .unknown
    // Until the file can be read, equal size and modification time mean that its content is the same.
    if !wasRead {
      let isSame = former.byteCount == row.byteCount && former.modificationTime == row.modificationTime
      row.marks = isSame ? former.marks : former.marks.voided
      row.isInDoubt = !isSame
    }
    try batch.writer.restore(
      former, content: content, file: row, hasNewBytes: wasRead && hasNewBytes(former, row), path: path(of: row))
    note(.inserted(eventPlace(row), assetID: former.assetID), as: .inserted)
    scheduleRetry(former.assetID, content, row, in: batch)
  }

  /// Moves a known file to another place.
  ///
  /// - Parameter original: the place that clients know, if `source` has another one within this transaction.
  func move(
    _ source: FileRow, knownAs original: FileRow? = nil, to target: Place, _ stat: FileStat?, reading: ContentReading?,
    in batch: inout Batch
  ) throws {
    let writer = batch.writer
    batch.departing[Place(directoryID: source.directoryID, name: source.name)] = nil
    forgetMissing(source.assetID)
    remembered.noteThere(source.assetID)
    if source.directoryID == target.directoryID && source.name == target.name {
      if let stat { try refreshIfChanged(source, stat, reading: reading, in: &batch) }
      return
    }
    if let occupant = try writer.file(target.directoryID, target.name), occupant.assetID != source.assetID {
      batch.departing[target] = nil
      forgetMissing(occupant.assetID)
      listings.forget(target)
      if try isSave(source, stat, in: batch) {
        // A program saved the file beside the photo and renamed it over the photo, which has new content now.
        listings.forget(Place(directoryID: source.directoryID, name: source.name))
        try endSaved(source, in: &batch)
        note(.removed(eventPlace(source), assetID: source.assetID), as: .same)
        if let stat, mayHaveMissed(target.directoryID) {
          // The photo may have left its name before, and a scan finds where it is. Until then the saved file is held.
          return try fileFound(target, stat, reading: reading, in: &batch)
        }
        remembered.noteDisplaced(occupant, from: target, in: batch)
        var row = occupant
        row.inode = source.inode
        row.birthTime = source.birthTime
        row.marks = row.marks.voided
        if let stat {
          try refresh(occupant, stat, reading: reading, in: &batch)
        } else {
          // The row keeps the size and time of the old content, which the new content may have too.
          row.readTime = .unknown
          row.isInDoubt = true
          try writer.updateStat(row)
          retries.addPending(row.assetID, on: volumeID(of: row), at: batch.uptime)
        }
        return
      }
      if try remove(occupant, mayGoOn: !isExchanged(occupant, with: source, in: batch), in: &batch) {
        note(.removed(eventPlace(target), assetID: occupant.assetID), as: .same)
        remembered.noteDisplaced(occupant, from: target, in: batch)
      }
    }
    try writer.moveFile(
      source, to: target.directoryID, name: target.name,
      changesAvailability: changesAvailability(from: source.directoryID, to: target.directoryID, in: batch))
    batch.noteChange()
    note(
      .renamed(from: eventPlace(original ?? source), to: eventPlace(target), assetID: source.assetID), as: .renamed)
    var row = source
    row.directoryID = target.directoryID
    row.name = target.name
    listings.forget(Place(directoryID: source.directoryID, name: source.name))
    listings.forget(target)
    let isReadAlike = MediaFormat.readsAlike(source.name, row.name)
    guard let stat else {
      // The next record reports another rename of the file, and no write.
      if batch.context.event.isWritten { row.isInDoubt = true }
      if !isReadAlike || batch.context.event.isWritten {
        row.readTime = .unknown
        try writer.updateStat(row)
      }
      if row.readTime == .unknown { retries.addPending(row.assetID, on: volumeID(of: row), at: batch.uptime) }
      return
    }
    guard stat.byteCount > 0 else { return try awaitContent(of: row, stat, in: batch) }
    if row.hasIdentity(of: stat) && row.wasRead(as: stat) && !row.isInDoubt && isExplainedByRename(row, stat, in: batch)
    {
      // A rename changes only the change time, so sample and hash stay valid. The new name may stand for another
      // format.
      row.changeTime = stat.changed
      try writer.updateStat(row)
      if !isReadAlike { try refresh(row, stat, reading: reading, in: &batch) }
    } else {
      try refresh(row, stat, reading: reading, in: &batch)
    }
  }

  /// Whether a move may change the availability of a photo. One of the two places is in a root, or on a drive, that is
  /// unavailable, or was so before this commit.
  private func changesAvailability(from source: DirectoryID, to target: DirectoryID, in batch: Batch) -> Bool {
    let rootIDs = [tree.rootID(of: source), tree.rootID(of: target)]
    return isAvailable(source) != isAvailable(target)
      || batch.record.rootAvailability.contains { rootIDs.contains($0.rootID) }
  }

  func refreshIfChanged(
    _ row: FileRow, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch
  ) throws {
    let wasYoung = age(of: row.changeTime, at: row.readTime) < Self.clockGrain
    if needsNoReading(row, stat, in: batch), !(batch.context.evidence == .event && wasYoung) {
      retries.removePending(row.assetID)
      if row.changeTime != stat.changed {
        // Later, the catalog's marks must be those of a file with the present times.
        var same = row
        same.changeTime = stat.changed
        try batch.writer.updateStat(same)
      }
      note(.ignored(eventPlace(row), assetID: row.assetID, .sameStat), as: .same)
      return
    }
    try refresh(row, stat, reading: reading, in: &batch)
  }

  /// Reads a file and writes the differences.
  ///
  /// - Parameter refreshesOtherNames: whether the file's other names (hard links) are refreshed too. They have the same
  ///   new content.
  func refresh(
    _ old: FileRow, _ stat: FileStat, reading: ContentReading?, refreshesOtherNames: Bool = true, in batch: inout Batch
  ) throws {
    let writer = batch.writer
    let place = Place(directoryID: old.directoryID, name: old.name)
    var (content, row) = read(
      place, stat, assetID: old.assetID, reading: reading, isSampled: batch.context.evidence == .event)
    if mayBeEditedQuietly(old, row, in: batch) {
      guard !files.isTurnOver else {
        // The catalog keeps the old stat and sample, so that a later turn finds the same difference.
        let standIn = old.hasIdentity(of: stat) ? retries[old.assetID]?.standIn : stat.identity
        retries.addPending(old.assetID, on: volumeID(of: old), at: batch.uptime, standIn: standIn)
        note(.deferred(eventPlace(row), assetID: old.assetID, .raced), as: .deferred)
        return
      }
      sample(&row)
    }
    remembered.noteFile(inode: row.inode)
    if row.readTime == .unknown {
      // The file could not be read now. The catalog keeps the old content until the file can be read.
      if let failure = content.failure {
        deferReading(row.assetID, row, failure, in: batch)
      } else if retries[row.assetID]?.failure == nil {
        retries.addPending(row.assetID, on: volumeID(of: row), at: batch.uptime)
      }
      // The retry must read the file that is now at this path.
      var pending = old
      pending.readTime = .unknown
      pending.isInDoubt = hasNewBytes(old, row, in: batch)
      // A copy with the content that was read last is still this photo's copy, and a file that was put back may have that
      // content. Another size or time means that the content changed.
      if !old.hasSizeAndTime(of: stat) { pending.marks = old.marks.voided }
      // The reading is void. If this is the same file, the row keeps the fact that it existed after its birth.
      if old.hasIdentity(of: stat) { pending.changeTime = max(old.readTime, old.changeTime, stat.changed) }
      pending.inode = row.inode
      pending.birthTime = row.birthTime
      try writer.updateStat(pending)
      note(.deferred(eventPlace(row), assetID: row.assetID, .raced), as: .deferred)
      return
    }
    let isFirstReading = old.readTime == .unknown && old.marks.fingerprint == nil
    if row.marks != old.marks,
      try becomesFormer(old.assetID, content, row, reason: isFirstReading ? .firstReading : .change, in: &batch)
    {
      return
    }
    let fields = try writer.updateContent(content, file: row, hasNewBytes: hasNewBytes(old, row, in: batch))
    if fields.isEmpty {
      note(.ignored(eventPlace(row), assetID: row.assetID, .sameContent), as: .same)
    } else {
      batch.noteChange()
      note(.updated(eventPlace(row), assetID: row.assetID, fields), as: .updated)
    }
    scheduleRetry(row.assetID, content, row, in: batch)
    if refreshesOtherNames && fields.contains(.content) {
      try refreshOtherNames(of: row, stat, in: &batch)
      try decideEmptyNames(of: row, in: &batch)
    }
  }

  /// Why the content of an asset is compared with deleted photos.
  enum ComparisonReason {
    /// The asset was known only by its place until now. If so, its age does not matter.
    case firstReading
    /// Its file has changed.
    case change
    /// Its hash was made while the library was idle, perhaps long after the file came.
    case lateHash
  }

  /// Checks an asset whose content is now known. It may be a deleted photo that came back, or the copy of a photo that is
  /// about to be deleted.
  ///
  /// - Returns: whether a deleted asset has replaced this one.
  func becomesFormer(
    _ assetID: AssetID, _ content: AssetContent, _ file: FileRow, reason: ComparisonReason, in batch: inout Batch
  ) throws -> Bool {
    var row = file
    guard row.marks.fingerprint != nil, let added = try batch.writer.addedDate(of: assetID) else { return false }
    let assetAge = age(of: added, at: batch.time)
    let isRecent = reason == .firstReading || assetAge < RecentInsertions.lifetime
    guard isRecent || reason == .lateHash else { return false }
    try sampleIfDeleted(&row, inAnyCase: true, in: batch)
    if let former = try tombstone(of: row, in: batch),
      reason == .firstReading || assetAge < Self.unsettledAge
        || (reason == .lateHash && cameBack(former, as: row, addedAt: added)),
      !wasSecondName(former, of: row, addedAt: added), !wasThereBefore(former, assetID, addedAt: added),
      try !batch.writer.hasUserData(assetID)
    {
      try erase(assetID, in: &batch)
      batch.noteChange()
      try restore(former, content, row, in: &batch)
      noteArrival(of: row, as: former, in: batch)
      return true
    }
    guard isRecent else { return false }
    let made = max(row.changeTime, row.birthTime)
    remembered.noteInsertion(
      of: assetID, fileTime: made, time: batch.time, originals: originals(of: row, addedAt: added))
    return false
  }

  /// Whether the whole content proves that a settled asset is a deleted photo. A copy that was there before the photo was
  /// deleted is a photo of its own.
  private func cameBack(_ former: Tombstone, as row: FileRow, addedAt added: WallTime) -> Bool {
    former.deletedDate.map { $0 <= added } ?? true
      && IdentityProof.compare(.init(former), .init(row)) == .equal
  }

  /// Whether an asset is not younger than a deleted one. It was there together with the deleted photo, so it is a photo of
  /// its own, whatever its content. The order of the ids holds even if the clock was set back. One commit adds all its
  /// assets at one time.
  private func wasThereBefore(_ former: Tombstone, _ assetID: AssetID, addedAt added: WallTime) -> Bool {
    former.deletedDate != nil && (assetID < former.assetID || added == former.addedDate)
  }

  /// Whether a deleted asset was another name (a hard link) of this file: both were in the library at the same time.
  private func wasSecondName(_ former: Tombstone, of row: FileRow, addedAt added: WallTime) -> Bool {
    former.inode == row.inode && former.birthTime == row.birthTime
      && former.volumeID == tree.volumeID(of: row.directoryID) && former.deletedDate.map { $0 >= added } ?? false
  }

  /// Refreshes the other names (hard links) of a file. All of them have the new content, but only one was reported.
  ///
  /// - Complexity: one lookup by inode for each change of content; the others are read as well.
  private func refreshOtherNames(of row: FileRow, _ stat: FileStat, in batch: inout Batch) throws {
    for other in try batch.writer.files(inode: row.inode)
    where other.assetID != row.assetID && other.hasIdentity(of: stat) && !other.hasTimes(of: stat) {
      guard tree.volumeID(of: other.directoryID) == tree.volumeID(of: row.directoryID),
        var current = current(other), current.identity.inode == other.inode, current.byteCount > 0
      else { continue }
      current.identity = stat.identity
      if !other.hasTimes(of: current) {
        try refresh(other, current, reading: nil, refreshesOtherNames: false, in: &batch)
      }
    }
  }

  /// Removes a file from the library. If a copy of it or its successor exists, that file becomes the asset's file.
  /// Otherwise the asset gets a tombstone, unless it is provisional.
  ///
  /// - Parameter mayGoOn: whether another file may become the asset's file. Otherwise its own file is elsewhere, because it
  ///   was exchanged.
  /// - Returns: whether the asset is gone.
  @discardableResult
  func remove(_ row: FileRow, mayGoOn: Bool = true, in batch: inout Batch) throws -> Bool {
    if mayGoOn, let copy = try successor(of: row, in: batch) {
      try noteCopy(copy, of: row, in: batch)
      try takeOver(copy, by: row, in: &batch)
      return false
    }
    if mayGoOn, let replacement = try replacement(of: row, in: batch) {
      guard replacement.readTime == .unknown, row.hasIdentity(of: replacement.stat) else {
        try takeOver(replacement, by: row, in: &batch)
        return false
      }
      // The second name is the photo's own file, so the content that the library has is still right.
      try erase(replacement.assetID, in: &batch)
      try move(
        row, to: Place(directoryID: replacement.directoryID, name: replacement.name), replacement.stat, reading: nil,
        in: &batch)
      return false
    }
    // The second half of an exchange brings back even a provisional asset.
    if mayGoOn, try isProvisional(row, in: batch) {
      try erase(row.assetID, in: &batch)
      return true
    }
    var directory = eventPlace(row.directoryID, []).directory
    if directory.last != UInt8(ascii: "/") { directory.append(UInt8(ascii: "/")) }
    if let keys = try batch.writer.removeWithTombstone(row, directoryPath: directory, date: batch.time) {
      remembered.noteTombstone(inode: keys.inode, fingerprint: keys.fingerprint)
    }
    noteRemoval(of: row.assetID, in: &batch)
    return true
  }

  /// Whether an asset is provisional: young, without user data, and known only by its place. A tombstone for it would
  /// hide the tombstone of the photo that it really is.
  func isProvisional(_ row: FileRow, in batch: Batch) throws -> Bool {
    guard row.marks.fingerprint == nil, let added = try batch.writer.addedDate(of: row.assetID) else { return false }
    return try age(of: added, at: batch.time) < Self.unsettledAge && !batch.writer.hasUserData(row.assetID)
  }

  /// Deletes an asset without a tombstone, because it is provisional or proves to be another asset.
  func erase(_ assetID: AssetID, in batch: inout Batch) throws {
    try batch.writer.deleteAsset(assetID)
    noteRemoval(of: assetID, in: &batch)
  }

  func noteRemoval(of assetID: AssetID, in batch: inout Batch) {
    remembered.noteRemoval(of: assetID, time: batch.time)
    batch.noteChange()
    retries.remove(assetID)
    forgetMissing(assetID)
  }

  /// Moves an asset whose file goes to the place of its copy, and erases the asset of the copy. The file was moved to
  /// another disk, or exchanged with a file that a program saved.
  private func takeOver(_ copy: FileRow, by row: FileRow, in batch: inout Batch) throws {
    let writer = batch.writer
    guard let content = try writer.content(of: copy.assetID) else { return }
    let retry = retries[copy.assetID]
    try erase(copy.assetID, in: &batch)
    listings.forget(Place(directoryID: row.directoryID, name: row.name))
    listings.forget(Place(directoryID: copy.directoryID, name: copy.name))
    forgetMissing(row.assetID)
    try writer.moveFile(
      row, toCopy: copy, content, hasNewBytes: hasNewBytes(row, asOf: copy),
      changesAvailability: changesAvailability(from: row.directoryID, to: copy.directoryID, in: batch))
    retries.replace(row.assetID, by: retry)
    remembered.noteThere(row.assetID)
    batch.noteChange()
    note(.renamed(from: eventPlace(row), to: eventPlace(copy), assetID: row.assetID), as: .renamed)
  }

  /// Reads a file and makes its row. `readTime` is 0 if the file could not be read now, or not in this turn.
  func read(
    _ place: Place, _ stat: FileStat, assetID: AssetID, reading: ContentReading?, isSampled: Bool
  ) -> (AssetContent, FileRow) {
    var result = reading ?? .raced
    if case .content(_, let read, _, _) = result, read.identity != stat.identity { result = .raced }
    if case .raced = result, !files.isTurnOver {
      let directory = tree.path(of: place.directoryID)
      result = files.read(directory + [UInt8(ascii: "/")] + place.name, expecting: stat, isSampled: isSampled)
    }
    switch result {
    case .content(let content, let read, let readTime, let marks):
      let row = FileRow(
        place, read, assetID: assetID, readTime: readTime, marks: marks, readerVersion: ReaderVersion.current)
      return (content, row)
    case .unreadable(let why):
      return (
        promisedContent(name: place.name, failure: why), FileRow(place, stat, assetID: assetID, readTime: .unknown)
      )
    case .raced, .late:
      return (promisedContent(name: place.name), FileRow(place, stat, assetID: assetID, readTime: .unknown))
    }
  }
}
