import PhotoCatalog
import PhotoModel
import WatchRecords

// Which files are the same photo, when their place alone doesn't say it.
extension Reconciler {
  /// How long what is deleted can come back.
  static let tombstoneLifetime: Int64 = 30 * 86_400_000_000_000
  /// An asset younger than this, to which nobody gave anything, is nobody yet: when its content is known it may turn out to
  /// be one that was deleted.
  static let unsettledAge: Int64 = 600_000_000_000

  func hasIdentity(_ row: FileRow, _ stat: FileStat) -> Bool {
    row.inode == stat.identity.inode && row.birthTime == stat.identity.birthTime
  }

  /// It can't be this row's file, also not on a file system whose inodes change: their files keep birth time, or size and
  /// modification time.
  func isAnother(_ row: FileRow, _ stat: FileStat) -> Bool {
    if hasIdentity(row, stat) { return false }
    if row.birthTime != 0 && stat.identity.birthTime != 0 { return row.birthTime != stat.identity.birthTime }
    return !hasSizeAndTime(row, stat)
  }

  /// By size and times the file is what it was when it was read.
  func isUnchanged(_ row: FileRow, _ stat: FileStat) -> Bool {
    hasTimes(row, stat) && row.readTime != 0
  }

  func hasTimes(_ row: FileRow, _ stat: FileStat) -> Bool {
    hasSizeAndTime(row, stat) && row.changeTime == stat.changeTime
  }

  func hasSizeAndTime(_ row: FileRow, _ stat: FileStat) -> Bool {
    row.byteCount == stat.byteCount && row.modificationTime == stat.modificationTime
  }

  // MARK: Moves that nobody told

  /// The catalog's row of this very file if it was known in another place and has left it.
  ///
  /// Inode and birth time name a file on its volume; where they do not last, or there is no birth time, size and
  /// modification time must agree as well, and for a file so young that its birth time may be that of another which had
  /// its inode a moment ago, unless that was seen after its birth. A file that still stands in its old place has a second
  /// name (a hard link): that is an asset of its own.
  ///
  /// - Parameter reading: of the file; where inodes do not last it is read to compare its content.
  func sourceOfMove(
    _ stat: FileStat, to place: Place, reading: inout ContentReading?, in batch: Batch
  ) throws -> FileRow? {
    guard knownInodes.mayContain(stat.identity.inode) else { return nil }
    let volumeID = tree.row(place.directoryID).volumeID
    let isInDoubt =
      stat.identity.birthTime == 0 || !hasLastingInodes(volumeID)
      || age(of: stat.identity.birthTime, at: batch.time) < Self.clockGrain
    for row in try batch.writer.files(inode: stat.identity.inode) {
      guard hasIdentity(row, stat), tree.row(row.directoryID).volumeID == volumeID else { continue }
      if row.directoryID == place.directoryID && row.name == place.name { continue }
      if isInDoubt, !hasSizeAndTime(row, stat), !outlivedItsBirth(row.birthTime, max(row.readTime, row.changeTime)) {
        continue
      }
      if isStillThere(row, device: stat.identity.device) { continue }
      if !hasLastingInodes(volumeID) {
        // After a mount it may have another inode, and this file that which it had.
        if files.stat(path(of: row)).map({ hasSizeAndTime(row, $0) }) ?? false { continue }
        if !hasContent(of: row, place, stat, reading: &reading) { continue }
      }
      return row
    }
    return nil
  }

  private func hasContent(
    of row: FileRow, _ place: Place, _ stat: FileStat, reading: inout ContentReading?
  ) -> Bool {
    guard let fingerprint = row.fingerprint else { return true }
    let content = reading ?? files.read(path(of: place), expecting: stat)
    reading = content
    guard case .content(_, _, _, let found) = content else { return false }
    return found == fingerprint
  }

  /// The other assets whose file, by its inode, is what was seen at a place.
  func others(of stat: FileStat, than row: FileRow, at place: Place, in batch: Batch) throws -> [FileRow] {
    guard knownInodes.mayContain(stat.identity.inode) else { return [] }
    let volumeID = tree.row(place.directoryID).volumeID
    let isInDoubt = !hasLastingInodes(volumeID)
    return try batch.writer.files(inode: stat.identity.inode).filter {
      $0.assetID != row.assetID && hasIdentity($0, stat) && tree.row($0.directoryID).volumeID == volumeID
        && (!isInDoubt || hasSizeAndTime($0, stat))
    }
  }

  /// Whether the disk has this file where the catalog has it.
  func isStillThere(_ row: FileRow, device: UInt64?) -> Bool {
    guard let there = files.stat(path(of: row)) else { return false }
    return there.identity.inode == row.inode && (device == nil || there.identity.device == device)
  }

  func path(of row: FileRow) -> [UInt8] { path(of: Place(directoryID: row.directoryID, name: row.name)) }

  func path(of place: Place) -> [UInt8] { tree.path(of: place.directoryID) + [UInt8(ascii: "/")] + place.name }

  // MARK: What was deleted and comes back

  /// The deleted asset that this new file is: the same inode with the same birth time; else the same content, best in its
  /// old place or under its old name; else, for what was typed before the catalog was lost, the same path.
  ///
  /// - Parameter row: the file; where it could not be read its content is not compared.
  func tombstone(of row: FileRow, in batch: Batch) throws -> Tombstone? {
    guard !tombstones.isEmpty else { return nil }
    let writer = batch.writer
    if let same = try tombstone(ofInode: row, in: batch) { return same }
    if let fingerprint = row.fingerprint, tombstones.mayContain(fingerprint: fingerprint) {
      let path = path(of: row)
      let found = try writer.tombstones(fingerprint: fingerprint, byteCount: row.byteCount)
        .filter { isLive($0, at: batch.time) }
      func rank(_ tombstone: Tombstone) -> (Int, Int64, Int64) {
        let likeness = tombstone.path == path ? 2 : hasName(tombstone, row.name) ? 1 : 0
        return (likeness, tombstone.deletedDate ?? 0, tombstone.assetID)
      }
      if let best = found.max(by: { rank($0) < rank($1) }) { return best }
    }
    if tombstones.hasLasting {
      let path = path(of: row)
      if tombstones.mayContain(lastingPath: path) { return try writer.lastingTombstones(path: path).last }
    }
    return nil
  }

  /// The deleted asset whose file had this inode and is this one.
  func tombstone(ofInode row: FileRow, in batch: Batch) throws -> Tombstone? {
    guard tombstones.mayContain(inode: row.inode) else { return nil }
    let volumeID = tree.row(row.directoryID).volumeID
    return try batch.writer.tombstones(inode: row.inode).first {
      $0.volumeID == volumeID && isLive($0, at: batch.time) && isSameFile($0, row, on: volumeID)
    }
  }

  /// Whether a file that was seen at a place is a deleted asset's. What is at the place of one that was renamed there is
  /// else what was saved over it, or another's.
  func wasDeleted(_ stat: FileStat, at place: Place, in batch: Batch) throws -> Bool {
    guard tombstones.mayContain(inode: stat.identity.inode) else { return false }
    let volumeID = tree.row(place.directoryID).volumeID
    return try batch.writer.tombstones(inode: stat.identity.inode).contains {
      $0.volumeID == volumeID && $0.birthTime == stat.identity.birthTime && isLive($0, at: batch.time)
        && ($0.birthTime != 0 || ($0.byteCount == stat.byteCount && $0.modificationTime == stat.modificationTime))
    }
  }

  private func isLive(_ tombstone: Tombstone, at time: Int64) -> Bool {
    tombstone.deletedDate.map { age(of: $0 * 1000, at: time) < Self.tombstoneLifetime } ?? true
  }

  private func hasName(_ tombstone: Tombstone, _ name: [UInt8]) -> Bool {
    tombstone.path.count > name.count && tombstone.path.suffix(name.count) == name[...]
      && tombstone.path[tombstone.path.count - name.count - 1] == UInt8(ascii: "/")
  }

  /// The inode was the deleted file's. It may be another's now.
  private func isSameFile(_ tombstone: Tombstone, _ row: FileRow, on volumeID: Int64) -> Bool {
    guard tombstone.birthTime == row.birthTime else { return false }
    if let known = tombstone.fingerprint, let fingerprint = row.fingerprint, known == fingerprint { return true }
    if row.birthTime == 0 || !hasLastingInodes(volumeID) {
      return tombstone.fingerprint == nil && tombstone.byteCount == row.byteCount
        && tombstone.modificationTime == row.modificationTime
    }
    // One that was gone as soon as it was made may have left inode and birth time to the next.
    return outlivedItsBirth(row.birthTime, tombstone.seenTime)
      || tombstone.deletedDate.map { age(of: row.birthTime, at: $0 * 1000) >= Self.clockGrain } ?? true
  }

  /// Whether a file was there when the clock by which its file system dates files had ticked since its birth: then no other
  /// has its inode and its birth time too.
  ///
  /// - Parameter seenTime: when it was there, nanoseconds since 1970; 0: not known.
  private func outlivedItsBirth(_ birthTime: Int64, _ seenTime: Int64) -> Bool {
    guard birthTime != 0, seenTime != 0 else { return false }
    // Whole seconds are of a clock that has no more, or two of them a tick.
    let tick = birthTime % 1_000_000_000 == 0 ? Self.clockGrain : 2 * Self.clockTick
    return age(of: birthTime, at: seenTime) >= tick
  }

  // MARK: Moves to another disk

  /// The copy of this file that was made before it goes: inserted within the last hour, of the same content, and nobody
  /// has given anything to it. The copy of the same name is best, then one of the same modification time, which `mv` keeps,
  /// then the first.
  func successor(of row: FileRow, in batch: Batch) throws -> FileRow? {
    guard let fingerprint = row.fingerprint else { return nil }
    let candidates = try recentInsertions.assets(fingerprint: fingerprint, time: batch.time, in: batch.writer)
    guard !candidates.isEmpty, let added = try batch.writer.addedDate(of: row.assetID) else { return nil }
    var best: (likeness: Int, row: FileRow)?
    for id in candidates where id > row.assetID {
      guard let copy = try batch.writer.file(ofAsset: id), copy.fingerprint == fingerprint,
        copy.byteCount == row.byteCount,
        // Two that were there from the beginning are two, though one was saved or renamed since. The kernel dates files by
        // its last tick; a rename changes the change time of one that is old.
        let copied = try batch.writer.addedDate(of: id), copied > added,
        isRenamedAway(row, as: copy)
          || age(of: copy.birthTime == 0 ? copy.changeTime : copy.birthTime, at: added * 1000) < Self.clockTick,
        !batch.isLeaving(copy), try !batch.writer.hasUserData(id), isStillThere(copy, device: nil)
      else { continue }
      let likeness = (copy.name == row.name ? 2 : 0) + (copy.modificationTime == row.modificationTime ? 1 : 0)
      if best.map({ likeness > $0.likeness }) ?? true { best = (likeness, copy) }
    }
    return best?.row
  }

  /// A file that is gone and one that has come since on the same file system may be one that was renamed while nobody
  /// looked, where no inode says so.
  private func isRenamedAway(_ row: FileRow, as copy: FileRow) -> Bool {
    let volumeID = tree.row(copy.directoryID).volumeID
    return tree.row(row.directoryID).volumeID == volumeID && copy.modificationTime == row.modificationTime
      && !hasLastingInodes(volumeID)
  }
}
