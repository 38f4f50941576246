import PhotoCatalog
import PhotoModel
import WatchRecords

// Files: which of them are the same photo, and what is read again.
extension Reconciler {
  /// A file may change once more within the grain of its clock, without a trace in its stat.
  static let clockGrain: Int64 = 2_000_000_000
  /// What lies between two ticks of the kernel, by which most file systems date files (CONFIG_HZ is 100 at least).
  static let clockTick: Int64 = 10_000_000

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
    if let row {
      forgetMissing(row.assetID)
      if roots.hasSuspects { noteReturn(of: row) }
    }
    if let row, isContested(row, stat), mustHold(place) {
      held.hold(place, stat, reading)
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
    var reading = reading
    guard stat.byteCount > 0 else {
      // An empty file is no photo yet. One that was is being written anew, or is not: the barrier or some seconds tell.
      if let row {
        try awaitContent(of: row, stat, in: batch)
        note(.deferred(eventPlace(place), assetID: row.assetID, .empty), as: .deferred)
      } else {
        note(.ignored(eventPlace(place), assetID: nil, .empty), as: .same)
      }
      return
    }
    guard let row else {
      let source = try sourceOfMove(stat, to: place, reading: &reading, in: batch)
      if let source, !isSecondName(of: source, in: batch) {
        try moveFound(source, to: place, stat, reading: reading, in: &batch)
      } else {
        try insert(place, stat, reading: reading, in: &batch)
        if let source { try noteSecondName(place, of: source, in: batch) }
      }
      return
    }
    let isLasting = hasLastingInodes(tree.row(place.directoryID).volumeID)
    if hasIdentity(row, stat) {
      try refreshIfChanged(row, stat, reading: reading, in: &batch)
    } else if isUnchanged(row, stat), !mayHideWrite(row), batch.evidence == .scan || !isLasting {
      // A file system whose inodes change when it is mounted, as FAT's. If an event tells another file where inodes last, the
      // file may have been read already while it was taken for the one before it.
      knownInodes.insert(stat.identity.inode)
      try batch.writer.updateStat(
        FileRow(
          place, stat, assetID: row.assetID, readTime: row.readTime, marks: isLasting ? row.marks.voided : row.marks))
    } else if let source = try sourceOfMove(stat, to: place, reading: &reading, in: batch),
      source.assetID != row.assetID, !isSecondName(of: source, in: batch)
    {
      try moveFound(source, to: place, stat, reading: reading, in: &batch)
    } else if !scans.isEmpty && unread[row.assetID]?.standIn == stat.identity {
      note(.deferred(eventPlace(place), assetID: row.assetID, .raced), as: .deferred)
    } else if try !returns(over: row, place, stat, reading: reading, in: &batch) {
      // Another file in its place, as programs save: the photo is the same.
      try refresh(row, stat, reading: reading, in: &batch)
      if batch.evidence == .event { exchanges.noteDisplaced(row, from: place, uptime: batch.uptime) }
    }
  }

  /// A file is empty: it is looked at again before it counts for gone.
  func awaitContent(of row: FileRow, _ stat: FileStat, in batch: Batch) throws {
    if !hasIdentity(row, stat) {
      // Another file is there: it is this one that is looked at then.
      var empty = row
      empty.inode = stat.identity.inode
      empty.birthTime = stat.identity.birthTime
      empty.readTime = 0
      empty.marks = row.marks.voided
      knownInodes.insert(empty.inode)
      try batch.writer.updateStat(empty)
    }
    unread[row.assetID] = Retry(isPending: true, at: batch.uptime + Self.firstRetry, delay: 0)
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
    forgetListed(place)
    if held.remove(place) != nil {
      // Not this photo has left, but another file that was found in its place. The scan tells where the photo is.
      noteMissing(row)
      return
    }
    batch.departing[place] = row
    linkedFiles.noteLeft(row)
  }

  func fileMoved(
    from source: Place?, to target: Place, _ stat: FileStat?, reading: ContentReading?, in batch: inout Batch
  ) throws {
    guard let source, let row = try batch.writer.file(source.directoryID, source.name) else {
      if let source { held.remove(source) }
      guard let stat else { return }
      let occupant = try batch.writer.file(target.directoryID, target.name)
      try fileFound(target, stat, reading: reading, in: &batch)
      if let occupant { exchanges.noteDisplaced(occupant, from: target, uptime: batch.uptime) }
      return
    }
    if held.contains(source), !(stat.map { hasIdentity(row, $0) } ?? false) {
      // The file that was found in this photo's place was renamed. The scan tells where the photo is.
      try fileGone(source, in: &batch)
      if let stat { try fileFound(target, stat, reading: reading, in: &batch) }
      return
    }
    // Of two that exchange their names the second leaves where the first has arrived.
    if let stat, !hasIdentity(row, stat) {
      let isThere = isBackThere(row, uptime: batch.uptime)
      if try isThere || (isAnother(row, stat) && wasDeleted(stat, at: target, in: batch)) {
        if try endExchange(from: source, where: row, to: target, stat, reading: reading, in: &batch) { return }
        try fileFound(target, stat, reading: reading, in: &batch)
        // It has left, and what came back was renamed over it; or the batch goes on with where it is now.
        if !isThere { try fileGone(source, in: &batch) }
        return
      }
    }
    // And if it has left its new name too, what is there now is said later.
    if stat == nil, isStillThere(row, device: nil) {
      // It was in its place before it left, and is back: it has the file that was seen there by right.
      exchanges.forgetDisplaced(from: source)
      return
    }
    var stat = stat
    var standIn: FileIdentity?
    identify: if let seen = stat, !hasIdentity(row, seen) {
      let others = try others(of: seen, than: row, at: target, in: batch)
      if others.isEmpty, isAnother(row, seen), try isNobody(row, in: batch) {
        // The asset is known only by its old name, and another file was renamed from there.
        try erase(row.assetID, in: &batch)
        return try fileFound(target, seen, reading: reading, in: &batch)
      }
      if others.isEmpty {
        // It was saved since, or it has left the name again. Later records tell, or the scan finds it elsewhere.
        if isAnother(row, seen) { (stat, standIn) = (nil, seen.identity) }
      } else if let there = try batch.writer.file(target.directoryID, target.name), hasIdentity(there, seen),
        seen.identity.birthTime != 0 || hasSizeAndTime(there, seen)
      {
        if try isSave(there, seen, in: batch) {
          // A program may have saved it over this photo after the rename, or it is a new photo, and this one has left the
          // name again. Later records tell, and until then this photo has the name.
          batch.departing[target] = nil
          forgetListed(target)
          try endSaved(there, in: &batch)
          note(.removed(eventPlace(there), assetID: there.assetID), as: .same)
          (stat, standIn) = (nil, seen.identity)
          break identify
        }
        if let former = exchanges.displaced(from: target, uptime: batch.uptime), former.assetID == there.assetID,
          !hasIdentity(former, seen)
        {
          // That one got the file only because the file was in its place, and photod-watch looks late. This photo was
          // renamed over it since. So the file came after this photo, and the other one ends with its former file.
          try batch.writer.updateStat(former)
          (stat, standIn) = (nil, seen.identity)
          break identify
        }
        // That one was seen there before its own rename was told: it stays, and this one turns up elsewhere or is gone.
        try fileFound(target, seen, reading: reading, in: &batch)
        return try fileGone(source, in: &batch)
      } else {
        // It has left its new name already, and another photo has that: what is there now is said later. But for an inode
        // that is used again, when the other is gone and that was lost.
        stat = nil
        if seen.identity.birthTime == 0, !others.contains(where: { hasSizeAndTime($0, seen) }) {
          standIn = seen.identity
        }
      }
    }
    batch.evidence = .event
    batch.departing[source] = nil
    held.remove(source)
    held.remove(target)
    forgetMissing(row.assetID)
    try move(row, to: target, stat, reading: stat == nil ? nil : reading, in: &batch)
    if let standIn, try batch.writer.file(target.directoryID, target.name)?.assetID == row.assetID {
      unread[row.assetID] = Retry(
        isPending: true, at: batch.uptime + Self.firstRetry, delay: 0, standIn: standIn)
    }
  }

  /// A photo turns up in another place than it was thought to be in: what is in that is found by itself.
  private func moveFound(
    _ source: FileRow, to place: Place, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch
  ) throws {
    let standIn = unread[source.assetID]?.standIn
    unread[source.assetID]?.standIn = nil
    try move(source, to: place, stat, reading: reading, in: &batch)
    let left = Place(directoryID: source.directoryID, name: source.name)
    if let file = held.remove(left) {
      return try decide(left, row: nil, file.stat, reading: file.reading, in: &batch)
    }
    if let standIn, var there = files.stat(path(of: left)), there.identity.inode == standIn.inode {
      there.identity = standIn
      try fileFound(left, there, reading: nil, in: &batch)
    }
  }

  /// Removes what left in this batch and did not turn up elsewhere.
  func removeDeparted(in batch: inout Batch) throws {
    for (place, row) in batch.departing.sorted(by: { $0.value.assetID < $1.value.assetID }) {
      // It may have moved, and the name may be another's now.
      guard try batch.writer.file(place.directoryID, place.name)?.assetID == row.assetID else { continue }
      // A listing that goes on in the next batch may still name it.
      forgetListed(place)
      if try remove(row, in: &batch) { events.ring.append(.removed(eventPlace(place), assetID: row.assetID)) }
    }
    batch.departing = [:]
  }

  // MARK: Reading again

  static let firstRetry: Int64 = 5_000_000_000
  private static let lastRetry: Int64 = 60_000_000_000
  /// Of what the disk fails in.
  private static let lastDiskRetry: Int64 = 3_600_000_000_000

  /// A file that can't be parsed and is young may still be in the making.
  func scheduleRetry(_ assetID: Int64, _ content: AssetContent, _ row: FileRow, in batch: Batch) {
    if let failure = content.failure, row.readTime != 0 {
      note(.damaged(eventPlace(row), assetID: assetID, failure: failure), as: .damaged)
    }
    if row.readTime == 0, let failure = content.failure {
      deferReading(assetID, row, failure, in: batch)
    } else if row.readTime == 0 {
      unread[assetID] = Retry(isPending: true, at: batch.uptime, delay: 0)
    } else if content.failure != nil && isYoung(row.changeTime, at: batch.time) {
      let delay = min((unread[assetID]?.delay ?? 0) * 2, Self.lastRetry)
      let next = max(delay, Self.firstRetry)
      unread[assetID] = Retry(isPending: false, at: batch.uptime + next, delay: next)
    } else {
      unread[assetID] = nil
    }
  }

  /// The disk failed while the file was read. It is read again in 5 s, and twice as late each time, to an hour. It is not
  /// pending: nobody can wait for a disk. The first scan of the next photod reads it as well, because the catalog says
  /// that it was not read.
  func deferReading(_ assetID: Int64, _ row: FileRow, _ failure: String, in batch: Batch) {
    let uptime = batch.uptime
    let before = unread[assetID].flatMap { $0.trouble == nil ? nil : $0 }
    var retry = before ?? Retry(isPending: false, at: uptime, delay: 0)
    if retry.at <= uptime {
      retry.delay = min(max(retry.delay * 2, Self.firstRetry), Self.lastDiskRetry)
      retry.at = uptime + retry.delay
    }
    retry.trouble = .init(
      path: path(of: row), reason: failure, since: before?.trouble?.since ?? batch.time / 1000)
    unread[assetID] = retry
  }

  /// Not where the clock was set by more than that, either way: such a file would be young for years.
  private func isYoung(_ changeTime: Int64, at time: Int64) -> Bool {
    (-Self.lastRetry..<Self.lastRetry).contains(age(of: changeTime, at: time))
  }

  /// Reads the files whose time has come.
  ///
  /// A read from a failing disk may take seconds, and all else waits for it. So of the files in which the disk failed, the
  /// one that has waited longest is read first, and the others only while none of them fails again. However many such
  /// files there are, a turn costs one failed read.
  func readAgainWhatIsDue(in batch: inout Batch) throws {
    let due = unread.filter { $0.value.at <= batch.uptime }
    try readAgain(due.filter { $0.value.trouble == nil }.keys.sorted(), in: &batch)
    let troubled = due.filter { $0.value.trouble != nil }.sorted { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
    for (assetID, _) in troubled.prefix(Self.diskRetriesPerTurn) {
      try readAgain([assetID], in: &batch)
      if unread[assetID]?.trouble != nil { return }
    }
  }

  private static let diskRetriesPerTurn = 64

  /// Reads these files again.
  func readAgain(_ assetIDs: [Int64], in batch: inout Batch) throws {
    for assetID in assetIDs {
      guard let row = try batch.writer.file(ofAsset: assetID) else {
        unread[assetID] = nil
        continue
      }
      guard roots[tree.rootID(of: row.directoryID)]?.isAvailable == true else {
        // The scan of its drive, when that is back, finds that it was not read.
        unread[assetID] = nil
        continue
      }
      guard let stat = statToRead(of: row) else {
        // What became of it is still to be said, or it can't be reached.
        guard let retry = unread[assetID], retry.at <= batch.uptime else { continue }
        let delay = min(max(retry.delay * 2, Self.firstRetry), Self.lastRetry)
        unread[assetID] = Retry(
          isPending: retry.isPending, at: batch.uptime + delay, delay: delay, standIn: retry.standIn)
        continue
      }
      guard stat.byteCount > 0 else {
        forgetListed(Place(directoryID: row.directoryID, name: row.name))
        if try remove(row, in: &batch) { note(.removed(eventPlace(row), assetID: assetID), as: .same) }
        continue
      }
      batch.evidence = .event
      try refresh(row, stat, reading: nil, in: &batch)
      if let retry = unread[assetID], retry.isPending, retry.trouble == nil {
        unread[assetID]!.at = batch.uptime + Self.clockGrain
      }
    }
  }

  /// Of the file that is known in this place; or of what stands in for it, once no scan may find it elsewhere.
  private func statToRead(of row: FileRow) -> FileStat? {
    guard var stat = current(row) else { return nil }
    if stat.identity.inode == row.inode {
      stat.identity.birthTime = row.birthTime
    } else if let standIn = unread[row.assetID]?.standIn, standIn.inode == stat.identity.inode, scans.isEmpty {
      stat.identity.birthTime = standIn.birthTime
    } else {
      return nil
    }
    return stat
  }

  // MARK: Collections

  func touchCollections(ofNew content: AssetContent, in directoryID: Int64, batch: inout Batch) {
    touch("recents", in: &batch)
    if content.mediaType == .video { touch("videos", in: &batch) }
    if content.mediaSubtypes.contains(.screenshot) { touch("screenshots", in: &batch) }
    if let album = albums[directoryID] { batch.record.update(collection: album) }
  }

  private func touch(_ subtype: String, in batch: inout Batch) {
    if let id = smartAlbums[subtype] { batch.record.update(collection: id) }
  }

  func touchCollections(of assetID: Int64, batch: inout Batch) throws {
    for id in try batch.writer.collections(holding: assetID) { batch.record.update(collection: id) }
  }
}

extension FileRow {
  init(_ place: Place, _ stat: FileStat, assetID: Int64, readTime: Int64, marks: ContentMarks = ContentMarks()) {
    self.init(
      assetID: assetID, directoryID: place.directoryID, name: place.name, byteCount: stat.byteCount,
      modificationTime: stat.modificationTime, changeTime: stat.changeTime, inode: stat.identity.inode,
      birthTime: stat.identity.birthTime, readTime: readTime, marks: marks)
  }

  /// The stat by which the catalog knows the file; it does not know the device.
  var stat: FileStat {
    FileStat(
      identity: FileIdentity(device: 0, inode: inode, birthTime: birthTime), byteCount: byteCount,
      modificationTime: modificationTime, changeTime: changeTime)
  }
}
