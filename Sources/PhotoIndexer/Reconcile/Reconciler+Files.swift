import PhotoCatalog
import PhotoModel
import WatchRecords

// Files: which photo each file is, and which files are read again.
extension Reconciler {
  /// Within the precision of its clock, a file may change once more without a trace in its stat.
  static let clockGrain = Duration.seconds(2)
  /// The time between two ticks of the kernel, which is the precision of file times on most file systems (CONFIG_HZ is
  /// 100 at least).
  static let clockTick = Duration.milliseconds(10)

  // MARK: The records of photod-watch

  func fileFound(_ place: Place, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch) throws {
    batch.context.evidence = .event
    var row: FileRow?
    var mustLookUp = true
    if let current = listings.current?.directoryID, current == place.directoryID {
      batch.context.evidence = listings.current!.evidence
      (row, mustLookUp) = listings.name(place)
    }
    if mustLookUp { row = try batch.writer.file(place.directoryID, place.name) }
    if !batch.departing.isEmpty, let departing = batch.departing.removeValue(forKey: place) { row = departing }
    if let row {
      forgetMissing(row.assetID)
      forgetExcluded(place)
      remembered.noteThere(row.assetID)
      if roots.hasSuspects { noteReturn(of: row) }
    }
    if try holdInNewTop(place, row: row, stat, reading: reading, in: batch) {
      if let row { note(.deferred(eventPlace(place), assetID: row.assetID, .raced), as: .deferred) }
      return
    }
    if let row, !isFile(row, inItsPlace: stat), mustHold(place) {
      hold(place, stat, reading)
      note(.deferred(eventPlace(place), assetID: row.assetID, .raced), as: .deferred)
      return
    }
    held.remove(place)
    try decide(place, row: row, stat, reading: reading, in: &batch)
  }

  /// Decides which photo a file is, and writes what differs.
  ///
  /// - Parameter row: the file that is known in this place.
  func decide(
    _ place: Place, row: FileRow?, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch
  ) throws {
    guard stat.byteCount > 0 else {
      // An empty file is no photo yet. If a photo is empty, it may be in the middle of a rewrite. The sync of a caller
      // decides, or that of the library after some seconds.
      if let row {
        try awaitContent(of: row, stat, in: batch)
        note(.deferred(eventPlace(place), assetID: row.assetID, .empty), as: .deferred)
      } else {
        noteEmpty(place, stat)
        note(.ignored(eventPlace(place), assetID: nil, .empty), as: .same)
      }
      return
    }
    guard let row else {
      let source = try sourceOfMove(stat, to: place, reading: reading, in: batch)
      if let source, isSecondName(of: source, in: batch) {
        try insertSecondName(place, stat, of: source, in: &batch)
      } else if let source {
        try moveFound(source, to: place, stat, reading: reading, in: &batch)
      } else {
        try insert(place, stat, reading: reading, in: &batch)
      }
      return
    }
    let isLasting = volumes.hasLastingInodes(tree.volumeID(of: place.directoryID))
    if row.hasIdentity(of: stat) {
      if row.readTime == .unknown, batch.context.evidence == .scan, row.birthTime != .unknown,
        let source = try sourceOfMove(stat, to: place, reading: reading, in: batch)
      {
        // photod ended before it got the record of the first name. If the scan misses the first name, this one
        // becomes the photo's name.
        try noteSecondName(place, of: source, in: batch)
      }
      try refreshIfChanged(row, stat, reading: reading, in: &batch)
    } else if row.isUnchanged(as: stat, inodesLast: isLasting), !mayHideWrite(row),
      batch.context.evidence == .scan || !isLasting
    {
      // Inodes of some file systems, such as FAT, change at a mount. If inodes last and an event reports another file,
      // that file may have been read already in place of the one before it.
      guard needsNoReading(row, stat, in: batch), isLasting || isMountedAnew(row, stat, in: batch) else {
        return try refresh(row, stat, reading: reading, in: &batch)
      }
      remembered.noteFile(inode: stat.identity.inode)
      let same = FileRow(
        place, stat, assetID: row.assetID, readTime: row.readTime, marks: isLasting ? row.marks.voided : row.marks,
        readerVersion: row.readerVersion)
      try batch.writer.updateStat(same)
    } else if let source = try sourceOfMove(stat, to: place, reading: reading, in: batch),
      source.assetID != row.assetID, !isSecondName(of: source, in: batch)
    {
      try moveFound(source, to: place, stat, reading: reading, in: &batch)
    } else if let retry = retries[row.assetID], retry.standIn == stat.identity,
      retry.awaitedSync != nil || isSearched(place.directoryID)
    {
      note(.deferred(eventPlace(place), assetID: row.assetID, .raced), as: .deferred)
    } else if try !returns(over: row, place, stat, reading: reading, in: &batch) {
      // Another file is in its place, as after a save: the photo is the same.
      try refresh(row, stat, reading: reading, in: &batch)
      if batch.context.evidence == .event { remembered.noteDisplaced(row, from: place, in: batch) }
    }
  }

  /// Schedules another look at an empty file before it counts as gone.
  func awaitContent(of row: FileRow, _ stat: FileStat, in batch: Batch) throws {
    var empty = row
    // The next content may have the size and the time of the last one.
    empty.isInDoubt = true
    if !row.hasIdentity(of: stat) {
      // Another file is there now. The retry must look at this one.
      empty.inode = stat.identity.inode
      empty.birthTime = stat.identity.born
      empty.readTime = .unknown
      empty.marks = row.marks.voided
      remembered.noteFile(inode: empty.inode)
    }
    if empty != row { try batch.writer.updateStat(empty) }
    retries.addPending(row.assetID, on: volumeID(of: row), at: batch.uptime + ReadRetries.firstDelay, awaitedSync: 0)
  }

  func fileGone(_ place: Place, in batch: inout Batch) throws {
    guard let row = try batch.writer.file(place.directoryID, place.name) else {
      held.remove(place)
      if let child = tree.child(of: place.directoryID, place.name), tree.number(of: child) == nil {
        unseenDirectoryLeft(child)
      }
      return
    }
    forgetMissing(row.assetID)
    listings.forget(place)
    if held.remove(place) != nil {
      // The photo has not left, but another file that was found in its place. The scan finds where the photo is.
      noteMissing(row)
      return
    }
    batch.departing[place] = row
    remembered.noteLeft(row)
  }

  /// A file was moved outside of the library's directories, for example into the folder in which a drive is not mounted. If
  /// two files exchange their names, the first may already be in this place.
  func fileLeft(_ source: Place?, in batch: inout Batch) throws {
    guard let source, let row = try batch.writer.file(source.directoryID, source.name),
      !isStillThere(row, device: nil)
    else { return }
    try removeReplaced(row, at: source, in: &batch)
  }

  /// Removes a photo that has left its place. If another file stood in for it there, that file is another photo.
  private func removeReplaced(_ row: FileRow, at place: Place, in batch: inout Batch) throws {
    let standIn = retries.takeStandIn(of: row.assetID)
    try fileGone(place, in: &batch)
    guard let standIn else { return }
    if batch.departing.removeValue(forKey: place) != nil, try remove(row, in: &batch) {
      events.ring.append(.removed(eventPlace(place), assetID: row.assetID))
    }
    try decideStandIn(standIn, at: place, in: &batch)
  }

  /// Applies a rename that the kernel reported with both names. The file keeps its asset, which `move` gives the new
  /// place, unless the stat shows that another file has the new name.
  ///
  /// - Parameters:
  ///   - source: nil if the file comes from a directory that the library does not have.
  ///   - stat: the file that has the new name now; nil if there is none any more.
  func fileMoved(
    from source: Place?, to target: Place, _ stat: FileStat?, reading: ContentReading?, in batch: inout Batch
  ) throws {
    if let source { remembered.movePartner(from: source, to: target, in: batch) }
    guard let source, let row = try batch.writer.file(source.directoryID, source.name) else {
      if let source { held.remove(source) }
      guard let stat else { return }
      let occupant = try batch.writer.file(target.directoryID, target.name)
      try fileFound(target, stat, reading: reading, in: &batch)
      if let occupant { noteReplaced(occupant, at: target, by: stat, in: batch) }
      return
    }
    if held.contains(source), !(stat.map { row.hasIdentity(of: $0) } ?? false) {
      // The file that was found in this photo's place was renamed. The scan finds where the photo is.
      try fileGone(source, in: &batch)
      if let stat { try fileFound(target, stat, reading: reading, in: &batch) }
      return
    }
    // photod-watch looked at the file because of an event that may have been a write, and the file had left by then.
    if batch.departing[source] != nil { batch.context.event.isWritten = true }
    let displaced = remembered.displaced(from: source, uptime: batch.uptime)
    if let displaced, displaced.assetID == row.assetID, row.hasIdentity(of: displaced.stat),
      mayHaveMissed(source.directoryID), !(stat.map { row.hasIdentity(of: $0) } ?? false)
    {
      // Another file was renamed over this photo, and events were lost. So the file that leaves the place now is not the
      // photo. The scan finds where the photo is.
      noteMissing(row)
      if let stat { try fileFound(target, stat, reading: reading, in: &batch) }
      return
    }
    let isSecondHalf = batch.context.event.naming == .secondOfExchange
    let isExchanged =
      switch batch.context.event.naming {
      case .firstOfExchange: false
      case .secondOfExchange: true
      case .unknown, .created, .renamed: displaced.map { $0.assetID != row.assetID } ?? false
      }
    if batch.context.event.naming == .firstOfExchange, let stat, retries[row.assetID]?.standIn != nil,
      let other = try others(of: stat, than: row, at: target, in: batch).first,
      Place(directoryID: other.directoryID, name: other.name) != target, try !isSave(other, stat, in: batch)
    {
      // The other photo was renamed over this one before, and now it is exchanged with the file that stands in for this
      // one. If the other photo is known at the target already, it did not come from here.
      try fileFound(target, stat, reading: reading, in: &batch)
      return try removeReplaced(row, at: source, in: &batch)
    }
    // If two files exchange their names, the second leaves the place where the first has arrived. The target may have
    // another name (hard link) of the first since. Then only the events show the exchange. If no photo was at the source
    // before, the file was renamed back instead, and the source is its second name.
    if let stat, (isSecondHalf && displaced != nil) || !row.hasIdentity(of: stat) {
      // A file that stands in for this photo counts as the photo only in an exchange, whose second half reports the other.
      let isThere = isBackThere(row, countsStandIn: isExchanged, uptime: batch.uptime)
      if try isThere || (row.isAnother(than: stat) && wasDeleted(stat, at: target, in: batch)) {
        if try endExchange(from: source, where: row, to: target, stat, reading: reading, in: &batch) {
          // If the photo that had arrived is still known there, it has left the place again, or was overwritten.
          if !isThere, try batch.writer.file(source.directoryID, source.name)?.assetID == row.assetID {
            try fileGone(source, in: &batch)
          }
          return
        }
        try fileFound(target, stat, reading: reading, in: &batch)
        // Either the photo has left and the file that came back was renamed over it, or the rest of the batch reports
        // where the photo is.
        if !isThere { try fileGone(source, in: &batch) }
        return
      }
    }
    // If the file has left its new name too, a later record reports the file that is there now.
    if stat == nil, isBackThere(row, countsStandIn: isExchanged, uptime: batch.uptime) {
      if try endExchange(from: source, where: row, to: target, nil, reading: nil, in: &batch) { return }
      // The photo was in its place before it left, and is back. The file that was seen there is rightly its own.
      remembered.forgetDisplaced(from: source)
      return
    }
    var stat = stat
    var standIn: FileIdentity?
    identify: if let seen = stat, !row.hasIdentity(of: seen) {
      let others = try others(of: seen, than: row, at: target, in: batch)
      if others.isEmpty, row.isAnother(than: seen) {
        if mayHaveMissed(source.directoryID) || batch.departing[source] != nil,
          try batch.writer.file(target.directoryID, target.name) != nil
        {
          // This photo was reported gone before the rename, or events were lost. So another file may have come to the
          // old name, and nothing proves that this photo was renamed over the other one. This photo turns up elsewhere,
          // or is removed.
          return try fileFound(target, seen, reading: reading, in: &batch)
        }
        let isProvisional = try self.isProvisional(row, in: batch)
        if cameLater(row, than: seen, isProvisional: isProvisional, in: batch) {
          // The known file came to the old name after the other one was renamed. A later record reports where it is.
          if isProvisional { try erase(row.assetID, in: &batch) }
          return try fileFound(target, seen, reading: reading, in: &batch)
        }
      }
      if others.isEmpty {
        // The photo was saved since, or it has left the name again. Later records decide, or the scan finds it
        // elsewhere.
        if row.isAnother(than: seen) {
          if let there = try batch.writer.file(target.directoryID, target.name), there.assetID != row.assetID,
            try isSave(row, nil, in: batch)
          {
            // Whichever of the two files was saved over the other photo, that photo has the file that is there now.
            batch.departing[source] = nil
            listings.forget(source)
            held.remove(source)
            try endSaved(row, in: &batch)
            note(.removed(eventPlace(source), assetID: row.assetID), as: .same)
            return try fileFound(target, seen, reading: reading, in: &batch)
          }
          (stat, standIn) = (nil, seen.identity)
        }
      } else if let there = try batch.writer.file(target.directoryID, target.name),
        others.contains(where: { $0.assetID == there.assetID })
      {
        if try isSave(there, seen, in: batch) {
          // A program may have saved the file over this photo after the rename. Or the file is a new photo, and this
          // one has left the name again. Later records decide, and until then this photo has the name.
          batch.departing[target] = nil
          listings.forget(target)
          try endSaved(there, in: &batch)
          note(.removed(eventPlace(there), assetID: there.assetID), as: .same)
          (stat, standIn) = (nil, seen.identity)
          break identify
        }
        if let former = remembered.displaced(from: target, uptime: batch.uptime), former.assetID == there.assetID,
          !former.hasIdentity(of: seen)
        {
          // The other photo got the file only because the file was in its place, and photod-watch looks late. This
          // photo was renamed over it since. So the file came after this photo, and the other photo ends with its
          // former file.
          try batch.writer.updateStat(former)
          (stat, standIn) = (nil, seen.identity)
          break identify
        }
        // The other photo was seen there before its own rename was reported. It stays, and this one turns up elsewhere
        // or is gone.
        try fileFound(target, seen, reading: reading, in: &batch)
        return try fileGone(source, in: &batch)
      } else {
        // The file has left its new name already, and another photo has that name. A later record reports the file that
        // is there now.
        stat = nil
      }
    }
    batch.context.evidence = .event
    batch.departing[source] = nil
    held.remove(source)
    held.remove(target)
    forgetMissing(row.assetID)
    let left = retries.takeStandIn(of: row.assetID)
    try move(row, to: target, stat, reading: stat == nil ? nil : reading, in: &batch)
    if let left, left != standIn { try decideStandIn(left, at: source, in: &batch) }
    if let standIn, let there = try batch.writer.file(target.directoryID, target.name) {
      // It is this photo, or the one over which this file was saved.
      retries.addPending(
        there.assetID, on: volumeID(of: there), at: batch.uptime, standIn: standIn, awaitedSync: syncs.last)
      if isSecondHalf, let displaced, displaced.assetID != row.assetID {
        // If this photo turns up at the source, or where a rename from the source leads, it was not renamed back.
        remembered.notePartner(displaced, at: target, ofFileAt: source, in: batch)
      }
    }
  }

  /// Moves a photo that turns up in another place than the catalog has. The file in its former place is decided by
  /// itself.
  private func moveFound(
    _ source: FileRow, to place: Place, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch
  ) throws {
    let standIn = retries.takeStandIn(of: source.assetID)
    // The record is about a rename from another place, so it says nothing about writes in this one.
    batch.context.rename?.mayHaveMissedEdit = true
    try move(source, to: place, stat, reading: reading, in: &batch)
    let left = Place(directoryID: source.directoryID, name: source.name)
    if let file = held.remove(left) {
      return try decide(left, row: nil, file.stat, reading: file.reading, in: &batch)
    }
    // If the photo is where an exchange brought it, the file in its former place is the other photo.
    let partner = remembered.takePartner(at: left, ofFileAt: place, in: batch)
    if let standIn { try decideStandIn(standIn, at: left, of: partner, in: &batch) }
  }

  /// Decides the file that stood in for a photo that has turned up elsewhere (see ``ReadRetry/standIn``).
  ///
  /// - Parameter partner: the photo that this file is if it is no other known one.
  func decideStandIn(
    _ standIn: FileIdentity, at place: Place, of partner: FileRow? = nil, in batch: inout Batch
  ) throws {
    switch files.look(path(of: place)) {
    case .there(var there) where there.identity.inode == standIn.inode:
      there.identity = standIn
      if let partner, there.byteCount > 0,
        try bringBack(partner, to: place, there, reading: nil, in: &batch)
      {
        return
      }
      try fileFound(place, there, reading: nil, in: &batch)
    case .there, .absent: return
    case .unknown: requireScan(for: place.directoryID)
    }
  }

  /// Removes the files that left in this batch and did not turn up elsewhere.
  func removeDeparted(in batch: inout Batch) throws {
    for (place, row) in batch.departing.sorted(by: { $0.value.assetID < $1.value.assetID }) {
      // The photo may have moved, and another photo may have the name now.
      guard try batch.writer.file(place.directoryID, place.name)?.assetID == row.assetID else { continue }
      // A listing that goes on in the next batch may still name it.
      listings.forget(place)
      if try remove(row, in: &batch) { events.ring.append(.removed(eventPlace(place), assetID: row.assetID)) }
    }
    batch.departing = [:]
  }

  // MARK: Reading again

  /// Schedules the next reading of a file that was not read. It also does so for a young file that can't be parsed,
  /// because that may still be in the making.
  func scheduleRetry(_ assetID: AssetID, _ content: AssetContent, _ row: FileRow, in batch: Batch) {
    if let failure = content.failure, row.readTime != .unknown {
      note(.damaged(eventPlace(row), assetID: assetID, failure: failure), as: .damaged)
    }
    if row.readTime == .unknown, let failure = content.failure {
      deferReading(assetID, row, failure, in: batch)
    } else if row.readTime == .unknown {
      retries.addPending(assetID, on: volumeID(of: row), at: batch.uptime)
    } else if content.failure != nil && isYoung(row.changeTime, at: batch.time) {
      retries.addIncomplete(assetID, on: volumeID(of: row), since: batch.uptime)
    } else {
      retries.remove(assetID)
    }
  }

  /// Schedules the next reading after the disk failed. The first scan of the next photod reads the file as well, because
  /// the catalog records that it was not read.
  func deferReading(_ assetID: AssetID, _ row: FileRow, _ failure: String, in batch: Batch) {
    retries.addFailing(
      assetID, on: volumeID(of: row), path: path(of: row), reason: failure, since: batch.uptime, date: batch.time)
  }

  /// Whether a file is young. If the clock was set by more than the longest delay in either direction, it is not: such a file
  /// would be young for years.
  private func isYoung(_ changeTime: WallTime, at time: WallTime) -> Bool {
    (-ReadRetries.longestDelay..<ReadRetries.longestDelay).contains(age(of: changeTime, at: time))
  }

  /// Reads the files whose retry is due.
  ///
  /// A read from a failing disk may take seconds, and all other work waits for it. So of the files in which the disk
  /// failed, the one that has waited longest is read first. The others are read only while none of them fails again.
  /// However many such files there are, a turn costs one failed read.
  func readAgainWhatIsDue(in batch: inout Batch) throws {
    try readAgainReadable(in: &batch)
    var taken: [AssetID] = []
    defer { retries.giveBack(taken) }
    while taken.count < Self.diskRetriesPerTurn, let assetID = retries.takeFailing(at: batch.uptime) {
      taken.append(assetID)
      try readAgain([assetID], in: &batch)
      if retries[assetID]?.failure != nil { return }
    }
  }

  /// Reads the files whose retry is due and in which the disk has not failed, as many as one turn may. Files of shares
  /// come last, because each look at one may take the time of the whole turn. Volumes without room for a further file are
  /// passed over.
  ///
  /// - Parameter volumes: the volumes whose files are read; nil for all.
  func readAgainReadable(on volumes: Set<VolumeID>? = nil, in batch: inout Batch) throws {
    var taken: Set<AssetID> = []
    defer { retries.giveBack(taken.sorted()) }
    let readable = retries.readableVolumes(at: batch.uptime).filter { volumes?.contains($0) ?? true }
    for volumeID in readable.sorted(by: isReadBefore) {
      while let assetID = retries.takeReadable(on: volumeID) {
        // The reading of another file may have made it due again.
        guard taken.insert(assetID).inserted else { continue }
        if try readAgain([assetID], in: &batch) != .incomplete { continue }
        if files.isTurnOver { return }
        break
      }
    }
  }

  /// The volume that a file of the catalog is on.
  func volumeID(of row: FileRow) -> VolumeID { tree.volumeID(of: row.directoryID) }

  /// The order in which the files of two volumes are read again.
  private func isReadBefore(_ one: VolumeID, _ other: VolumeID) -> Bool {
    let (first, second) = (volumes.isShare(one), volumes.isShare(other))
    return first == second ? one < other : second
  }

  /// The files that a sync must read, in the order of ``readAgainReadable(on:in:)``.
  func pendingInOrder() -> [AssetID] {
    let pending = retries.pending.compactMap { id in retries[id].map { (id: id, volumeID: $0.volumeID) } }
    return pending.sorted {
      $0.volumeID == $1.volumeID ? $0.id < $1.id : isReadBefore($0.volumeID, $1.volumeID)
    }.map(\.id)
  }

  /// Whether the reading of a file can begin in the background.
  ///
  /// - Parameter stat: the stat of the file. Without it, the result is true for each file of a drive.
  private func hasRoom(for path: [UInt8], _ stat: FileStat? = nil) -> Bool {
    guard let lateReads = files.lateReads, let fileSystem = files.fileSystem(of: path, stat) else { return true }
    return lateReads.hasRoom(on: fileSystem)
  }

  private static let diskRetriesPerTurn = 64

  /// How far the reading of files has come that were asked for again.
  enum ReadingAgain {
    /// Each file was read, or its reading has begun now, or a later record decides about it.
    case complete
    /// The reading of some files had begun before, and may end without a result, because they have changed since. Or a
    /// record may decide about some files that stand in for others.
    case begunBefore
    /// This turn has no time, or no room, for some files.
    case incomplete
  }

  /// Notes that the current lane has answered a sync, so that all records until its request were applied. That says
  /// nothing about the roots of other lanes. A sync for which no caller waits decides only about files whose time has
  /// come: an empty file may be in the middle of a rewrite.
  ///
  /// - Returns: the files that wait for no record any more.
  func endWaitingForRecords(after number: UInt64, in batch: Batch) throws -> [AssetID] {
    var decided: [AssetID] = []
    for assetID in retries.awaitingRecords {
      guard let retry = retries[assetID], let awaited = retry.awaitedSync, number > awaited,
        syncs.awaited.contains(number) || retry.at <= batch.uptime
      else { continue }
      let row = try batch.writer.file(ofAsset: assetID)
      let root = row.flatMap { roots[tree.rootID(of: $0.directoryID)]?.number }
      if let root, let lane = listings.laneRoots, !lane.contains(root) { continue }
      retries.endWaiting(of: assetID)
      decided.append(assetID)
    }
    return decided.sorted()
  }

  /// Reads these files again, as many as one turn may. The others stay due. Once a volume has no room for a further file,
  /// none of its files is looked at, or looked up in the catalog.
  ///
  /// - Parameter haveResults: whether their reading in the background has ended, so that they need no room.
  @discardableResult
  func readAgain(
    _ assetIDs: [AssetID], haveResults: Bool = false, in batch: inout Batch
  ) throws -> ReadingAgain {
    var (result, full) = (ReadingAgain.complete, Set<VolumeID>())
    for assetID in assetIDs {
      guard !files.isTurnOver else { return .incomplete }
      if !full.isEmpty, let volumeID = retries[assetID]?.volumeID, full.contains(volumeID) { continue }
      guard let row = try batch.writer.file(ofAsset: assetID) else {
        retries.remove(assetID)
        continue
      }
      guard roots[tree.rootID(of: row.directoryID)]?.isAvailable == true else {
        // The scan of its drive, when that is back, finds that it was not read.
        retries.remove(assetID)
        continue
      }
      if let retry = retries[assetID], retry.awaitedSync != nil {
        if retry.standIn != nil, result == .complete { result = .begunBefore }
        continue
      }
      let (path, volumeID) = (self.path(of: row), self.volumeID(of: row))
      if !haveResults, full.contains(volumeID) || !hasRoom(for: path) {
        full.insert(volumeID)
        result = .incomplete
        continue
      }
      guard let stat = statToRead(of: row) else {
        // A later record will report what became of the file, or it can't be reached.
        retries.putOff(assetID, since: batch.uptime)
        continue
      }
      guard stat.byteCount > 0 else {
        listings.forget(Place(directoryID: row.directoryID, name: row.name))
        if try remove(row, in: &batch) { note(.removed(eventPlace(row), assetID: assetID), as: .same) }
        continue
      }
      switch files.lateReads?.progress(of: LateReads.Key(stat, name: row.name)) {
      case .underWay:
        // The library gets a result when the file has been read.
        retries.putOffPending(assetID, until: batch.uptime + Self.clockGrain)
        if result == .complete { result = .begunBefore }
        continue
      case .notBegun where !haveResults && !hasRoom(for: path, stat):
        full.insert(volumeID)
        result = .incomplete
        continue
      case .notBegun, .ended, nil: break
      }
      batch.context.evidence = .event
      try refresh(row, stat, reading: nil, in: &batch)
      retries.putOffPending(assetID, until: batch.uptime + Self.clockGrain)
    }
    return result
  }

  /// The stat of the file that is known in this place, or of the file that stands in for it if no scan may find the
  /// known one elsewhere.
  private func statToRead(of row: FileRow) -> FileStat? {
    guard var stat = current(row) else { return nil }
    // The file that stands in may have the inode of the known one, which was removed.
    if let standIn = retries[row.assetID]?.standIn, standIn.inode == stat.identity.inode {
      guard !isSearched(row.directoryID) else { return nil }
      stat.identity.birthTime = standIn.birthTime
    } else if stat.identity.inode == row.inode {
      stat.identity.birthTime = FileTime(row.birthTime)
    } else {
      return nil
    }
    return stat
  }
}

extension FileRow {
  init(
    _ place: Place, _ stat: FileStat, assetID: AssetID, readTime: WallTime, marks: ContentMarks = ContentMarks(),
    readerVersion: Int64 = 0
  ) {
    self.init(
      assetID: assetID, directoryID: place.directoryID, name: place.name, byteCount: stat.byteCount,
      modificationTime: stat.modified, changeTime: stat.changed, inode: stat.identity.inode,
      birthTime: stat.identity.born, readTime: readTime, marks: marks, readerVersion: readerVersion)
  }

  /// The stat by which the catalog knows the file; it does not know the device.
  var stat: FileStat {
    FileStat(
      identity: FileIdentity(device: 0, inode: inode, birthTime: FileTime(birthTime)), byteCount: byteCount,
      modificationTime: FileTime(modificationTime), changeTime: FileTime(changeTime))
  }
}
