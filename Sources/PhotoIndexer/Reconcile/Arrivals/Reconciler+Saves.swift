import PhotoCatalog
import PhotoModel
import WatchRecords

// How programs change a photo: in place, or by a new file that they rename over it.
extension Reconciler {
  /// A file that is renamed over a photo so soon after its birth was saved by a program, and the photo has new content.
  /// An older file is a photo of its own.
  static let atomicSaveAge = Duration.seconds(2)

  /// Whether a file that is renamed over another was saved by a program.
  ///
  /// The file's birth is compared with the rename. When photod handles either makes no difference: a transaction may hold
  /// the queue for seconds. A file with user data is a photo of its own.
  /// But if it was taken for a deleted photo because of its content, the user data is that photo's.
  ///
  /// - Parameter stat: the stat of the file after the rename, or nil if it has left that name since.
  func isSave(_ source: FileRow, _ stat: FileStat?, in batch: Batch) throws -> Bool {
    let arrival = remembered.arrival(of: source)
    guard let born = try birth(of: source, arrival, in: batch) else { return false }
    // The file system dates by the last tick of its clock, which is two seconds on FAT. Events are dated exactly.
    let tick = source.birthTime != .unknown ? Self.clockTick : Self.clockGrain
    // The change time is the rename's, or that of something later. On FAT a rename changes no time of the file. The event
    // was read soon after the rename. A time before the birth means that the clock was set back since.
    var times = batch.context.event.readAt == .unknown ? [] : [batch.context.event.readAt]
    if volumes.hasLastingInodes(tree.volumeID(of: source.directoryID)) {
      times += [stat?.changed, batch.context.rename?.deadline].compactMap { $0 }
    }
    let renamed = times.filter { age(of: born, at: $0) >= -tick }.min() ?? times.min() ?? batch.time
    guard (-tick..<Self.atomicSaveAge).contains(age(of: born, at: renamed)) else { return false }
    if arrival?.former != nil { return true }
    // A photo that was saved itself a moment ago has a new file, and is older than that.
    if arrival == nil {
      guard let added = try batch.writer.addedDate(of: source.assetID),
        age(of: born, at: added) >= -Self.clockTick
      else { return false }
    }
    return try !batch.writer.hasUserData(source.assetID)
  }

  /// Whether a program saved a file over another photo, although the library took it for a photo that was deleted. That
  /// happens if the file was found beside the photo, and the record of its rename was lost.
  ///
  /// - Parameters:
  ///   - former: the asset that the file was.
  ///   - place: that of the other photo.
  func isSave(_ former: Tombstone, over place: Place, _ stat: FileStat, in batch: Batch) -> Bool {
    let born = stat.identity.born
    return batch.context.evidence == .scan && !former.hasUserData && former.path != path(of: place)
      && born != .unknown && volumes.hasLastingInodes(tree.volumeID(of: place.directoryID))
      && age(of: born, at: former.addedDate) >= -Self.clockTick
      && (-Self.clockTick..<Self.atomicSaveAge).contains(age(of: born, at: stat.changed))
  }

  /// The birth of a file. Without a birth time it is the time of the event that reported the file. If photod was
  /// started since, it is the time of the last write, if the asset was added right after that.
  private func birth(of file: FileRow, _ arrival: RecentArrivals.Arrival?, in batch: Batch) throws -> WallTime? {
    if file.birthTime != .unknown { return file.birthTime }
    if let arrival { return arrival.time }
    guard let added = try batch.writer.addedDate(of: file.assetID),
      (.zero..<Self.atomicSaveAge).contains(age(of: file.modificationTime, at: added))
    else { return nil }
    return file.modificationTime
  }

  /// A file was taken for a deleted asset. If another file was that asset's, the content is the reason.
  func noteArrival(of row: FileRow, as former: Tombstone, in batch: Batch) {
    if isFile(of: former, row) { return }
    remembered.noteArrival(of: row.of(asset: former.assetID), insteadOf: former, in: batch)
  }

  /// Whether a file is a deleted asset's very file, and not a copy of it.
  private func isFile(of former: Tombstone, _ row: FileRow) -> Bool {
    former.inode == row.inode && former.birthTime == row.birthTime
      && former.volumeID == tree.volumeID(of: row.directoryID)
      && (row.birthTime != .unknown || former.modificationTime == row.modificationTime)
  }

  /// The file of a copy becomes the asset's file, as if a program had moved it. But another program may be saving the copy.
  /// Programs that move a file do not copy it on its own file system. If they copy it to another one, they keep its
  /// modification time.
  func noteCopy(_ copy: FileRow, of row: FileRow, in batch: Batch) throws {
    let volumeID = tree.volumeID(of: row.directoryID)
    let isOnOneVolume = volumeID == tree.volumeID(of: copy.directoryID)
    let keepsTime = (-Self.clockGrain...Self.clockGrain).contains(
      age(of: copy.modificationTime, at: row.modificationTime))
    guard isOnOneVolume ? volumes.hasLastingInodes(volumeID) : !keepsTime,
      let added = try batch.writer.addedDate(of: row.assetID)
    else { return }
    let date = batch.time
    remembered.noteArrival(
      of: copy, as: row.assetID,
      insteadOf: Tombstone(
        assetID: row.assetID, deletedDate: date, deletedAge: try batch.writer.libraryAge(at: date), path: path(of: row),
        volumeID: volumeID, inode: row.inode, birthTime: row.birthTime, byteCount: row.byteCount,
        modificationTime: row.modificationTime, marks: row.marks,
        contentVersion: try batch.writer.versionForTombstone(of: row), seenTime: max(row.readTime, row.changeTime),
        addedDate: added, creationDate: try batch.writer.creationDate(of: row.assetID)))
  }

  /// Ends the asset of a file that a program saves. The file is the new content of another photo.
  ///
  /// If the file was taken for a deleted photo, that photo is deleted again. It gets its old tombstone, with its present
  /// user data.
  func endSaved(_ source: FileRow, in batch: inout Batch) throws {
    guard let former = remembered.arrival(of: source)?.former else { return try erase(source.assetID, in: &batch) }
    try batch.writer.remove(source, leaving: former, path: path(of: source), date: batch.time)
    remembered.noteTombstone(
      inode: former.volumeID == nil ? nil : former.inode, fingerprint: former.marks.fingerprint,
      lastingPath: former.deletedDate == nil ? former.path : nil)
    noteRemoval(of: source.assetID, in: &batch)
  }

  /// Whether a file may have other bytes than when it was read last. If so, its asset gets a revision that it never
  /// had.
  ///
  /// Another size or modification time counts as other bytes. If both are the same, a program may have set the time
  /// back:
  /// 1. Equal hashes of the whole content prove that nothing changed, whatever was reported.
  /// 2. Another file in the same place has other bytes, unless its sample shows that it is a copy (see
  /// ``IdentityProof``).
  /// 3. A file whose marks differ has other bytes.
  /// 4. A file that a program had open for writing has other bytes, unless its times show that it was read since. That
  /// also holds if photod could not read it then.
  /// 5. Otherwise the change time shows an edit, but also a new permission or name.
  ///
  /// - Parameter row: the file now. If it could not be read, the result says what the catalog must keep in mind until
  ///   it can.
  func hasNewBytes(_ old: FileRow, _ row: FileRow, in batch: Batch) -> Bool {
    if row.byteCount != old.byteCount || row.modificationTime != old.modificationTime { return true }
    if old.marks.hash != nil && old.marks.hash == row.marks.hash { return false }
    let inodesLast = volumes.hasLastingInodes(tree.volumeID(of: row.directoryID))
    // If only the inode differs, the file system was mounted anew.
    if row.inode != old.inode || row.birthTime != old.birthTime,
      inodesLast ? row.changeTime != old.changeTime : !isMountedAnew(old, row.stat, in: batch)
    {
      return !old.marks.provesContent(of: row.marks)
    }
    let wasRead = old.readTime != .unknown
    // The first fingerprint alone changes the revision (see `CatalogWriter.updateContent`).
    if !wasRead && old.marks.fingerprint == nil && row.marks.fingerprint != nil { return false }
    if old.isInDoubt || !old.marks.mayEqual(row.marks) { return true }
    // Where the change time proves nothing, each reported write may be later than the reading.
    let wasReadSince = inodesLast && wasRead && row.changeTime == old.changeTime && old.changeTime <= old.readTime
    return batch.context.event.isWritten && !wasReadSince
  }

  /// Whether the file of a deleted asset that is back may have other bytes than before.
  ///
  /// Equal hashes prove that it has not. With equal size and modification time, equal samples prove it too. The asset's
  /// own file may have no sample. Then its marks must not differ, as after a move within the library.
  func hasNewBytes(_ former: Tombstone, _ row: FileRow) -> Bool {
    guard former.byteCount == row.byteCount, former.marks.mayEqual(row.marks) else { return true }
    if former.marks.hash != nil && row.marks.hash != nil { return false }
    guard former.modificationTime == row.modificationTime else { return true }
    return !former.marks.provesContent(of: row.marks) && !isFile(of: former, row)
  }

  /// Whether the file that an asset takes over may have other bytes than the asset's own file. A copy has the same, and
  /// a second name of the file too. A file that a program saved has not. If the own file may have been written since it
  /// was read, it may have had other bytes in between, whatever the copy has.
  func hasNewBytes(_ row: FileRow, asOf copy: FileRow) -> Bool {
    guard !row.isInDoubt, copy.byteCount == row.byteCount, copy.modificationTime == row.modificationTime,
      row.marks.mayEqual(copy.marks)
    else { return true }
    return !row.marks.provesContent(of: copy.marks) && !row.hasIdentity(of: copy.stat)
  }

  /// Whether a file in its row's place need not be read, because nothing shows that it was written since it was read.
  /// Where the change time proves nothing (rule 3 of `FileRow+Stat.swift`), the event of a write shows that.
  func needsNoReading(_ row: FileRow, _ stat: FileStat, in batch: Batch) -> Bool {
    let inodesLast = volumes.hasLastingInodes(tree.volumeID(of: row.directoryID))
    return row.isUnchanged(as: stat, inodesLast: inodesLast) && !row.isInDoubt && !mayHideWrite(row)
      && (inodesLast || !batch.context.event.isWritten)
  }

  /// Whether a file has another inode than its row only because its file system was mounted anew, and gives out new
  /// inodes then. An event may also report that another file was renamed over the photo. So after an event, only an equal
  /// birth time shows that it is the same file.
  func isMountedAnew(_ row: FileRow, _ stat: FileStat, in batch: Batch) -> Bool {
    row.mayBeMountedAnew(as: stat)
      && (batch.context.evidence == .scan || (row.birthTime != .unknown && row.birthTime == stat.identity.born))
  }

  /// Whether a file may have been written since it was read without a trace in its stat.
  ///
  /// FAT dates files by a clock of two seconds. A file that was read within them is read once more. After that read, a
  /// write has a later date.
  func mayHideWrite(_ row: FileRow) -> Bool {
    guard row.readTime != .unknown, !volumes.hasLastingInodes(tree.volumeID(of: row.directoryID)) else { return false }
    return (-Self.clockGrain..<Self.clockGrain).contains(age(of: row.changeTime, at: row.readTime))
  }

  /// Whether a file that has moved need not be read, because the rename alone gave it another change time.
  ///
  /// A file that moved while no watcher saw it may have been edited as well. So may a file of a folder whose events may
  /// have been lost.
  func isExplainedByRename(_ row: FileRow, _ stat: FileStat, in batch: Batch) -> Bool {
    let inodesLast = volumes.hasLastingInodes(tree.volumeID(of: row.directoryID))
    if row.changeTime == stat.changed, inodesLast || !batch.context.event.isWritten { return true }
    // The clock was set back since the file was read. The times do not show whether a later write is covered.
    if age(of: stat.changed, at: row.readTime) >= Self.clockGrain { return false }
    return batch.context.rename?.mayHaveMissedEdit == false && !batch.context.event.isWritten
  }
}
