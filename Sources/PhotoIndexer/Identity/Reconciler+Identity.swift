import PhotoCatalog
import PhotoModel
import WatchRecords

// Identity: the files that are the same photo although their place alone does not show it.
extension Reconciler {
  /// How long a deleted photo can come back, by the library's age.
  static let tombstoneLifetime = Duration.seconds(30 * 86_400)
  /// An asset younger than this without user data is provisional. When its content has been read, it may prove to be a
  /// deleted photo that came back.
  static let unsettledAge = Duration.seconds(600)

  /// Whether a known file came to its name after another file, which is in a new place now, was renamed from there.
  ///
  /// photod-watch looks at a name later than it reads the event. A program that saves several photos through one name may
  /// have put the next file there by then. The rename changed the other file before the known file was born. If the clock
  /// was set back since, the birth is later than the event and proves nothing. On file systems without birth times, and on
  /// FAT, where a rename changes no time, the last changes of both count. They suffice only for a provisional asset.
  func cameLater(_ row: FileRow, than stat: FileStat, isProvisional: Bool, in batch: Batch) -> Bool {
    guard row.birthTime != .unknown, volumes.hasLastingInodes(tree.volumeID(of: row.directoryID)) else {
      return isProvisional && stat.changed <= row.changeTime
    }
    return stat.changed <= row.birthTime && age(of: row.birthTime, at: batch.context.event.readAt) >= -Self.clockTick
  }

  // MARK: Moves without a rename event

  /// Rule 5 of `FileRow+Stat.swift`: whether a file that was seen on a volume is the file of a row that has another
  /// place.
  func isFile(_ row: FileRow, elsewhere stat: FileStat, on volumeID: VolumeID) -> Bool {
    tree.contains(row.directoryID) && tree.volumeID(of: row.directoryID) == volumeID
      && row.isFile(elsewhere: stat, inodesLast: volumes.hasLastingInodes(volumeID))
  }

  /// Rule 4 of `FileRow+Stat.swift`.
  func isFile(_ row: FileRow, inItsPlace stat: FileStat) -> Bool {
    row.isFile(inItsPlace: stat, inodesLast: volumes.hasLastingInodes(tree.volumeID(of: row.directoryID)))
  }

  /// The catalog's row of this very file, if the file was known in another place and has left it.
  ///
  /// No event reports the move, so more is required than that it is the known file (`isFile(_:elsewhere:on:)`). The
  /// birth time of a very young file may be that of another file that had its inode a moment ago. So size and
  /// modification time must agree, unless the known file was seen after its birth. A file that is still in its old
  /// place has a second name (a hard link), which is an asset of its own.
  ///
  /// - Parameter reading: the content of the file. If inodes do not last, the file is read to compare its content.
  func sourceOfMove(
    _ stat: FileStat, to place: Place, reading: ContentReading?, in batch: Batch
  ) throws -> FileRow? {
    guard remembered.mayHaveFile(inode: stat.identity.inode) else { return nil }
    let volumeID = tree.volumeID(of: place.directoryID)
    let isYoung = age(of: stat.identity.born, at: batch.time) < Self.clockGrain
    let inode = stat.identity.inode
    let rows = try remembered.unseenRows(inode: inode, in: batch)
    for (index, row) in zip(rows.indices, rows) {
      guard isFile(row, elsewhere: stat, on: volumeID) else { continue }
      if row.directoryID == place.directoryID && row.name == place.name { continue }
      if isYoung, !row.hasSizeAndTime(of: stat), !outlivedItsBirth(row.birthTime, max(row.readTime, row.changeTime)) {
        continue
      }
      if isStillThere(row, device: stat.identity.device) || wasListed(row, in: batch) { continue }
      if !volumes.hasLastingInodes(volumeID) {
        // After a mount the known file may have another inode, and this file may have its former one.
        if current(row).map({ row.hasSizeAndTime(of: $0) }) ?? false { continue }
        if !hasContent(of: row, place, stat, reading: reading) { continue }
      }
      // The row may have been looked up before this record, and the file may have moved since.
      guard try batch.writer.file(row.directoryID, row.name)?.assetID == row.assetID else { continue }
      remembered.noteSeen(inode: inode, but: rows[(index + 1)...])
      return row
    }
    remembered.noteSeen(inode: inode, but: [])
    return nil
  }

  /// Whether the scan that reports the current record has found a known file in its place, whose folder has left its path
  /// since. The file is not there any more, but in the folder, and the records of the folder follow.
  private func wasListed(_ row: FileRow, in batch: Batch) -> Bool {
    let place = Place(directoryID: row.directoryID, name: row.name)
    guard batch.context.evidence == .scan, !held.contains(place), !files.exists(tree.path(of: row.directoryID)) else {
      return false
    }
    if let current = listings.current, current.directoryID == row.directoryID { return current.hasHandled(row.name) }
    let rootID = tree.rootID(of: row.directoryID)
    return scans.underWay.values.contains {
      $0.rootID == rootID && $0.listed.contains(row.directoryID) && !$0.missing.contains(row.assetID)
    }
  }

  private func hasContent(
    of row: FileRow, _ place: Place, _ stat: FileStat, reading: ContentReading?
  ) -> Bool {
    guard row.marks.fingerprint != nil else { return true }
    var (found, expected) = (ContentMarks(), stat)
    if case .content(_, let read, _, let marks) = reading { (found, expected) = (marks, read) }
    if found.sample == nil,
      let made = files.marks(path(of: place), expecting: expected, isWhole: false, while: { true })
    {
      (found.sample, found.hash) = (made.sample, made.hash)
    }
    return row.marks.provesContent(of: found)
  }

  /// The other assets whose file is the one that was seen at a place.
  func others(of stat: FileStat, than row: FileRow, at place: Place, in batch: Batch) throws -> [FileRow] {
    guard remembered.mayHaveFile(inode: stat.identity.inode) else { return [] }
    let volumeID = tree.volumeID(of: place.directoryID)
    return try batch.writer.files(inode: stat.identity.inode).filter {
      $0.assetID != row.assetID && isFile($0, elsewhere: stat, on: volumeID)
    }
  }

  /// Whether the disk has this file where the catalog has it.
  func isStillThere(_ row: FileRow, device: UInt64?) -> Bool {
    let there: FileStat
    switch files.look(path(of: row)) {
    case .there(let stat): there = stat
    case .absent: return false
    case .unknown: return true
    }
    return there.identity.inode == row.inode && (device == nil || there.identity.device == device)
  }

  /// The stat of a file of the catalog in its place. If its share does not answer, that is the one that is known.
  func current(_ row: FileRow) -> FileStat? {
    switch files.look(path(of: row)) {
    case .there(let stat): stat
    case .absent: nil
    case .unknown:
      row.stat
    }
  }

  func path(of row: FileRow) -> [UInt8] { path(of: Place(directoryID: row.directoryID, name: row.name)) }

  func path(of place: Place) -> [UInt8] { tree.path(of: place.directoryID) + [UInt8(ascii: "/")] + place.name }

  // MARK: Deleted photos that come back

  /// The deleted asset that this new file is: the same inode with the same birth time, else the best of ``formers(of:in:)``.
  ///
  /// - Parameter row: the file. If it could not be read, its content is not compared.
  func tombstone(of row: FileRow, in batch: Batch) throws -> Tombstone? {
    guard remembered.hasTombstones else { return nil }
    if let same = try tombstone(ofInode: row, in: batch) { return same }
    let path = path(of: row)
    // At the end of a scan it is known whether the asset's own file is elsewhere. Here it is not, so that a file with
    // another content is a new photo.
    return try formers(of: row, in: batch)
      .filter { try !$0.isContradicted(by: row) && !isAwaited($0, insteadOf: path, in: batch) }
      .max { FormerMatch($0, row, at: path) < FormerMatch($1, row, at: path) }
  }

  /// The deleted assets that a new file may be by its content (see ``IdentityProof``). If there are none, it may be the
  /// asset with the same path whose user data is from before the catalog was lost. Its content may then be another one.
  func formers(of row: FileRow, in batch: Batch) throws -> [Tombstone] {
    guard remembered.hasTombstones else { return [] }
    if let fingerprint = row.marks.fingerprint, remembered.mayHaveTombstone(fingerprint: fingerprint) {
      let path = path(of: row)
      let ofPlace = try batch.writer.tombstones(like: row, inPlace: path)
      let inPlace = try ofPlace.found.filter { try isLive($0, in: batch) }
      // No deleted asset is nearer to the file than one with its content in its place.
      let same = inPlace.filter { IdentityProof.compare(.init($0), .init(row)) == .equal }
      if !same.isEmpty { return same }
      let others = try batch.writer.tombstones(like: row)
      let elsewhere = try others.found.filter {
        try $0.path != path && isLive($0, in: batch) && !wasThere(row, beforeDeletionOf: $0, in: batch)
      }
      let found = IdentityProof.proven(
        among: inPlace + elsewhere, areAll: ofPlace.isWhole && others.isWhole, as: .init(row)
      ) { .init($0) }
      let kept = try withoutCopies(found, of: row, in: batch)
      if !kept.isEmpty { return kept }
    }
    guard remembered.hasLastingTombstones else { return [] }
    let path = path(of: row)
    guard remembered.mayHaveTombstone(lastingPath: path) else { return [] }
    return try batch.writer.lastingTombstones(path: path).suffix(1)
  }

  /// Whether a scan found a file that was there together with a photo that was deleted before the catalog was lost. The
  /// lost catalog probably knew it as a photo of its own. A file that comes in by an event was elsewhere before.
  private func wasThere(_ row: FileRow, beforeDeletionOf former: Tombstone, in batch: Batch) -> Bool {
    guard let deletedDate = former.deletedDate, former.isFromLostCatalog, batch.context.evidence == .scan,
      volumes.hasLastingInodes(tree.volumeID(of: row.directoryID))
    else { return false }
    return max(row.changeTime, row.birthTime) < deletedDate
  }

  /// Whether a file may have the content of an asset whose user data is from before the catalog was lost. While the file has
  /// no hash, that may be unproven.
  func mayHaveLostContent(_ row: FileRow, in batch: Batch) throws -> Bool {
    guard remembered.hasLastingTombstones, let fingerprint = row.marks.fingerprint,
      remembered.mayHaveTombstone(fingerprint: fingerprint)
    else { return false }
    return try batch.writer.hasTombstone(fingerprint: fingerprint, byteCount: row.byteCount)
  }

  /// Removes the deleted assets that a file with their content is not, because it is a copy of a photo that is present.
  ///
  /// A move to another disk is a copy and then a removal. If the copy became a deleted photo, the photo that is moved would
  /// end with its user data. A file in the place of a deleted photo is that photo. Any other file may be a copy of a
  /// photo on another disk with the same content. If there is one, the file is the deleted photo only if the deleted
  /// one has user data, and is not farther from the file (see ``PlaceLikeness``). The present photo must have been
  /// there before the other was deleted: of equal photos that are put back together, the first is no reason against the
  /// second.
  private func withoutCopies(_ formers: [Tombstone], of row: FileRow, in batch: Batch) throws -> [Tombstone] {
    let path = path(of: row)
    guard formers.contains(where: { $0.deletedDate != nil && $0.path != path }) else { return formers }
    let volumeID = tree.volumeID(of: row.directoryID)
    let originals = try batch.writer.files(like: row).filter {
      tree.contains($0.directoryID) && tree.volumeID(of: $0.directoryID) != volumeID
        && IdentityProof.compare(.init($0), .init(row)) != .unproven
    }.map {
      (born: $0.birthTime == .unknown ? $0.changeTime : $0.birthTime, likeness: PlaceLikeness(self.path(of: $0), path))
    }
    return formers.filter { former in
      guard let deletedDate = former.deletedDate, former.path != path else { return true }
      let likeness = PlaceLikeness(former.path, path)
      return !originals.contains {
        $0.born < deletedDate && (!former.hasUserData || likeness < $0.likeness)
      }
    }
  }

  /// The deleted asset whose file had this inode and is this one.
  func tombstone(ofInode row: FileRow, in batch: Batch) throws -> Tombstone? {
    guard remembered.mayHaveTombstone(inode: row.inode) else { return nil }
    let volumeID = tree.volumeID(of: row.directoryID)
    return try batch.writer.tombstones(inode: row.inode).first {
      try $0.volumeID == volumeID && isLive($0, in: batch) && isSameFile($0, row, on: volumeID)
    }
  }

  /// Whether a file that was seen at a place is a deleted asset's. If it is not, the file at the new name of a rename
  /// was saved over the renamed one, or is another photo's.
  func wasDeleted(_ stat: FileStat, at place: Place, in batch: Batch) throws -> Bool {
    guard remembered.mayHaveTombstone(inode: stat.identity.inode) else { return false }
    let volumeID = tree.volumeID(of: place.directoryID)
    return try batch.writer.tombstones(inode: stat.identity.inode).contains {
      try $0.volumeID == volumeID && $0.isFile(elsewhere: stat, inodesLast: volumes.hasLastingInodes(volumeID))
        && isLive($0, in: batch)
    }
  }

  private func isLive(_ tombstone: Tombstone, in batch: Batch) throws -> Bool {
    if tombstone.deletedDate == nil { return true }
    return try batch.writer.libraryAge(at: batch.time) - tombstone.deletedAge < Self.tombstoneLifetime
  }

  // MARK: Samples that are needed at once

  /// A file that a scan found has no sample. It gets one if a tombstone may be its own.
  ///
  /// - Parameter inAnyCase: whether the sample is made even if this turn has no time left. Otherwise the file counts as
  ///   not read yet.
  func sampleIfDeleted(_ row: inout FileRow, inAnyCase: Bool = false, in batch: Batch) throws {
    guard row.marks.sample == nil, row.readTime != .unknown, let fingerprint = row.marks.fingerprint,
      remembered.mayHaveTombstone(fingerprint: fingerprint),
      try batch.writer.hasTombstone(fingerprint: fingerprint, byteCount: row.byteCount)
    else { return }
    guard inAnyCase || !files.isTurnOver else {
      // Without a sample, the file can't be recognised. A later turn reads it as if for the first time.
      row.readTime = .unknown
      row.marks = ContentMarks()
      return
    }
    sample(&row)
  }

  /// `mv` across disks copies a file and then removes it. While the original is still there, it gets the sample that
  /// identifies its copy afterwards.
  func sampleOriginals(of copy: FileRow, in batch: Batch) throws {
    guard copy.marks.sample != nil else { return }
    for var original in try batch.writer.unsampledOriginals(of: copy) {
      sample(&original)
      if original.marks.sample != nil { try batch.writer.keepMarks(of: original) }
    }
  }

  /// Whether a program may have edited a file while photod was down, and set its time back: a scan finds that only the
  /// change time differs. The metadata may be the same, and only a sample shows the difference. A sample also shows
  /// that another file in the place of the photo is a copy of it.
  ///
  /// New permissions look the same. So only files whose old content was sampled are sampled again. A file that could
  /// not be read at once may have been read in the background for the scan, without a sample.
  func mayBeEditedQuietly(_ old: FileRow, _ row: FileRow, in batch: Batch) -> Bool {
    let isSuspect =
      switch batch.context.evidence {
      case .scan:
        old.readTime != .unknown && (row.changeTime != old.changeTime || old.hasOtherBirth(than: row.stat))
      case .event: old.readTime == .unknown
      }
    return isSuspect && old.marks.sample != nil && row.marks.sample == nil
      && old.marks.fingerprint == row.marks.fingerprint
      && row.byteCount == old.byteCount && row.modificationTime == old.modificationTime
  }

  func sample(_ row: inout FileRow) {
    guard let made = files.marks(path(of: row), expecting: row.stat, isWhole: false, while: { true }) else { return }
    row.marks.sample = made.sample
    row.marks.hash = row.marks.hash ?? made.hash
  }

  /// Whether a file is the deleted one that had its inode. The inode may belong to another file now.
  private func isSameFile(_ tombstone: Tombstone, _ row: FileRow, on volumeID: VolumeID) -> Bool {
    guard tombstone.birthTime == row.birthTime else { return false }
    if tombstone.marks.provesContent(of: row.marks) { return true }
    if row.birthTime == .unknown || !volumes.hasLastingInodes(volumeID) {
      // Without birth times, inode, size and modification time name a file that was moved away and back.
      return (volumes.hasLastingInodes(volumeID) || tombstone.marks.fingerprint == nil)
        && tombstone.marks.mayEqual(row.marks)
        && tombstone.byteCount == row.byteCount && tombstone.modificationTime == row.modificationTime
    }
    // A file that was gone as soon as it was made may have left its inode and birth time to the next one.
    return outlivedItsBirth(row.birthTime, tombstone.seenTime)
      || tombstone.deletedDate.map { age(of: row.birthTime, at: $0) >= Self.clockGrain } ?? true
  }

  /// Whether a file existed when the clock by which its file system dates files had ticked since its birth. If so, no
  /// other file has both its inode and its birth time.
  ///
  /// - Parameter seenTime: when the file existed, if that is known.
  private func outlivedItsBirth(_ birthTime: WallTime, _ seenTime: WallTime) -> Bool {
    guard birthTime != .unknown, seenTime != .unknown else { return false }
    return age(of: birthTime, at: seenTime) >= max(tick(of: birthTime), Self.clockTick * 2)
  }

  // MARK: Moves to another disk

  /// The copy of this file that was made before it goes. It was inserted within the last hour, its content proves it
  /// (see ``IdentityProof``), and it has no user data. If there are several, the best is:
  /// 1. the copy that has kept name and modification time, as `mv` makes it
  /// 2. a copy of the same name
  /// 3. the file itself under another name, if its inode does not show that
  /// 4. the first copy
  func successor(of row: FileRow, in batch: Batch) throws -> FileRow? {
    guard row.marks.fingerprint != nil else { return nil }
    if let restored = try restored(row, in: batch) { return restored }
    let keys = copyKeys(of: row)
    guard try remembered.hasCandidates(for: keys, in: batch, originals: originals),
      let added = try batch.writer.addedDate(of: row.assetID)
    else { return nil }
    let original = IdentityProof.Description(row)
    let written = lastWritten(row, in: batch)
    var (equal, alike, undecidedCount) = (nil as FileRow?, [FileRow](), 0)
    var judged: Set<AssetID> = []
    func examine(_ key: UInt64) throws {
      try remembered.forEachCandidate(key, ofOriginalAddedAt: added, in: batch) { id in
        guard var copy = try copy(id, of: row, in: batch) else { return .unfit }
        // Two files that were there from the beginning are two photos, even if one was saved or renamed since. The
        // kernel dates files by its last tick, and a rename changes the change time of an old file. A photo that got its
        // content after the other one came may itself be the copy.
        guard judged.insert(id).inserted, id > row.assetID, let copied = try batch.writer.addedDate(of: id),
          copied > added, copied >= written,
          isRenamedAway(row, as: copy)
            || age(of: made(copy), at: added) < tick(of: made(copy))
        else { return .passedOver }
        if row.marks.sample != nil, IdentityProof.compare(original, .init(copy)) == .undecided { sample(&copy) }
        switch IdentityProof.compare(original, .init(copy)) {
        case .equal:
          equal = copy
          return .last
        case .alike: alike.append(copy)
        case .undecided: undecidedCount += 1
        case .unproven: break
        }
        return alike.count + undecidedCount > 1 ? .last : .passedOver
      }
    }
    for key in keys.map(\.ofAlike) where equal == nil { try examine(key) }
    if alike.count != 1 {
      for key in keys.compactMap(\.ofNamed) + keys.compactMap(\.ofHashed) where equal == nil { try examine(key) }
    }
    return equal ?? (alike.count == 1 && undecidedCount == 0 ? alike[0] : nil)
  }

  /// The file that has this file's content and path, in a folder that was put in the place of this file's folder, as from a
  /// backup.
  ///
  /// Two files cannot have had one path at one time. So no date is needed to show that one of them came later.
  private func restored(_ row: FileRow, in batch: Batch) throws -> FileRow? {
    guard let path = formerPath(of: row), let slash = path.lastIndex(of: UInt8(ascii: "/")),
      let folder = tree.directory(path: Array(path[..<slash])),
      let file = try batch.writer.file(folder, row.name), file.assetID > row.assetID,
      var copy = try copy(file.assetID, of: row, in: batch)
    else { return nil }
    let original = IdentityProof.Description(row)
    if row.marks.sample != nil, IdentityProof.compare(original, .init(copy)) == .undecided { sample(&copy) }
    let verdict = IdentityProof.compare(original, .init(copy))
    return verdict == .equal || verdict == .alike ? copy : nil
  }

  /// The keys by which the copies of a file are found, the best first. If its inode does not last, a copy may be the file
  /// itself, which was renamed while no watcher saw it.
  private func copyKeys(of row: FileRow) -> [RecentInsertions.Keys] {
    let volumeID = tree.volumeID(of: row.directoryID)
    let keys = RecentInsertions.Keys(row)
    return volumes.hasLastingInodes(volumeID) ? [keys] : [RecentInsertions.Keys(row, renamedOn: volumeID), keys]
  }

  /// The photos of which a new file may be the copy. A copy is made after its original has come. A photo that was renamed
  /// has times that do not show when.
  func originals(of copy: FileRow, addedAt added: WallTime) -> [RecentInsertions.Originals] {
    let volumeID = tree.volumeID(of: copy.directoryID)
    let made = made(copy)
    let copied = RecentInsertions.Originals(
      keys: .init(copy), made: min(added, made), end: min(added, made + tick(of: made)))
    guard !volumes.hasLastingInodes(volumeID) else { return [copied] }
    return [RecentInsertions.Originals(keys: .init(copy, renamedOn: volumeID), made: added, end: added), copied]
  }

  /// When a file was there with other content, or was not there yet. An asset may get its file and its content long after
  /// it came, for example if a program saves another file in its place. It is unknown if the clock of a server was ahead
  /// when the file was read, or if the clock was set back since.
  private func lastWritten(_ row: FileRow, in batch: Batch) -> WallTime {
    let written = row.birthTime == .unknown ? row.modificationTime : row.birthTime
    return written <= min(row.readTime, batch.time) ? written : .unknown
  }

  /// When a copy was made, as far as its file shows.
  private func made(_ copy: FileRow) -> WallTime { copy.birthTime == .unknown ? copy.changeTime : copy.birthTime }

  /// By how much the clock that gave a file this time may be late. Whole seconds come from a clock that ticks every second,
  /// or every two seconds.
  private func tick(of time: WallTime) -> Duration { time.isWholeSecond ? Self.clockGrain : Self.clockTick }

  /// A recent insertion, or nil if its file can't become the asset's file within this batch.
  private func copy(_ id: AssetID, of row: FileRow, in batch: Batch) throws -> FileRow? {
    guard id != row.assetID, let copy = try batch.writer.file(ofAsset: id), !batch.isLeaving(copy),
      try !batch.writer.hasUserData(id), isStillThere(copy, device: nil)
    else { return nil }
    return copy
  }

  /// Whether a file that is gone and one that has come since on the same file system may be one file. It may have been
  /// renamed while no watcher saw it, if inodes do not last.
  private func isRenamedAway(_ row: FileRow, as copy: FileRow) -> Bool {
    let volumeID = tree.volumeID(of: copy.directoryID)
    return tree.volumeID(of: row.directoryID) == volumeID && copy.modificationTime == row.modificationTime
      && !volumes.hasLastingInodes(volumeID)
  }
}
