import PhotoCatalog
import PhotoModel
import WatchRecords

/// Records which photos lost their places to other files, for some seconds.
///
/// An exchange of two names (renameat2(2), RENAME_EXCHANGE) is reported as two renames. The first looks as if it ended
/// the photo that is in its target. This record keeps that photo until the second rename is reported.
///
/// photod-watch looks at a file after the event, and another file may be in its place by then. So the same record shows
/// later which photos lost their places.
struct Exchanges {
  /// The halves are adjacent in the kernel's queue, but a flood of other events may come between their batches.
  static let lifetime = Duration.seconds(10)

  private var displaced = RecentValues<Place, FileRow>(lifetime: lifetime)
  /// By the asset that lost its place to an unknown file, or got a second name: the asset of that file or name.
  private var newcomers = RecentValues<AssetID, AssetID>(lifetime: lifetime)
  /// If two renames may be an exchange: the photo that lost its place, and the place that it has if they are one. The key is
  /// the place that the file of the first half has in that case.
  private var partners = RecentValues<Place, (photo: FileRow, place: Place)>(lifetime: lifetime)

  /// - Parameter row: the file as it was known before another came to its place.
  mutating func noteDisplaced(_ row: FileRow, from place: Place, uptime: MonotonicTime) {
    displaced.note(row, for: place, uptime: uptime)
  }

  /// Returns the file that an asset had in a place before another file came there.
  func displaced(from place: Place, uptime: MonotonicTime) -> FileRow? { displaced.value(for: place, uptime: uptime) }

  mutating func takeDisplaced(from place: Place, uptime: MonotonicTime) -> FileRow? {
    defer { forgetDisplaced(from: place) }
    return displaced(from: place, uptime: uptime)
  }

  mutating func forgetDisplaced(from place: Place) { displaced.remove(place) }

  mutating func noteNewcomer(_ assetID: AssetID, inPlaceOf other: AssetID, uptime: MonotonicTime) {
    newcomers.note(assetID, for: other, uptime: uptime)
  }

  mutating func notePartner(_ row: FileRow, at place: Place, ofFileAt other: Place, uptime: MonotonicTime) {
    partners.note((row, place), for: other, uptime: uptime)
  }

  /// Follows the file of the first half when it is renamed.
  mutating func movePartner(from source: Place, to target: Place, uptime: MonotonicTime) {
    guard let partner = partners.value(for: source, uptime: uptime) else { return }
    partners.remove(source)
    partners.note(partner, for: target, uptime: uptime)
  }

  /// Returns the photo that is at `place` if the file that was found came there in an exchange.
  mutating func takePartner(at place: Place, ofFileAt found: Place, uptime: MonotonicTime) -> FileRow? {
    guard let partner = partners.value(for: found, uptime: uptime), partner.place == place else { return nil }
    partners.remove(found)
    return partner.photo
  }

  func newcomer(inPlaceOf assetID: AssetID, uptime: MonotonicTime) -> AssetID? {
    newcomers.value(for: assetID, uptime: uptime)
  }
}

/// Values that are valid for some seconds.
///
/// Expired entries are removed when the number of entries has doubled, so that an entry costs a constant time on average.
/// If most of ``limit`` entries are valid, all are removed: so many within the lifetime are a restored folder, and no
/// exchange.
struct RecentValues<Key: Hashable, Value> {
  static var limit: Int { 16_384 }

  let lifetime: Duration
  private var entries: [Key: (value: Value, uptime: MonotonicTime)] = [:]
  /// The next number of entries at which the expired ones are removed.
  private var nextCount = 64

  init(lifetime: Duration) { self.lifetime = lifetime }

  var count: Int { entries.count }

  mutating func note(_ value: Value, for key: Key, uptime: MonotonicTime) {
    if entries.count >= nextCount {
      entries = entries.filter { uptime - $0.value.uptime < lifetime }
      if entries.count > Self.limit / 2 { entries = [:] }
      nextCount = min(max(64, 2 * entries.count), Self.limit)
    }
    entries[key] = (value, uptime)
  }

  func value(for key: Key, uptime: MonotonicTime) -> Value? {
    entries[key].flatMap { uptime - $0.uptime < lifetime ? $0.value : nil }
  }

  mutating func remove(_ key: Key) { entries[key] = nil }
}

extension Reconciler {
  /// Whether a file that is reported to leave its place is there: it came in an exchange, or came back. The inode alone
  /// is no proof, because another file may have it. A photo that was saved before it came has another inode.
  ///
  /// - Parameter countsStandIn: whether that may be the file that stands in for it.
  func isBackThere(_ row: FileRow, countsStandIn: Bool = true, uptime: MonotonicTime) -> Bool {
    guard let there = current(row) else { return false }
    if countsStandIn, let standIn = retries[row.assetID]?.standIn, standIn.inode == there.identity.inode { return true }
    guard there.identity.inode == row.inode else { return false }
    return row.hasSizeAndTime(of: there)
      || remembered.displaced(from: Place(directoryID: row.directoryID, name: row.name), uptime: uptime) != nil
  }

  /// Notes that an unknown file was renamed over a photo. If photod-watch had seen that file there before, the photo has it
  /// already, and the photo's former file is noted.
  func noteReplaced(_ row: FileRow, at place: Place, by stat: FileStat, in batch: Batch) {
    if row.hasIdentity(of: stat), remembered.displaced(from: place, uptime: batch.uptime)?.assetID == row.assetID {
      return
    }
    remembered.noteDisplaced(row, from: place, in: batch)
  }

  /// Whether a photo and the file that was renamed over it have exchanged their names. Then the photo did not leave, and the
  /// second half of the exchange is reported later.
  func isExchanged(_ row: FileRow, with source: FileRow, in batch: Batch) -> Bool {
    let look = files.look(path(of: source))
    if batch.context.event.naming == .firstOfExchange {
      // The photo may have left the place of the other file again. If that file is there, it was renamed back.
      guard case .there(let stat) = look else { return true }
      return source.inode != stat.identity.inode
    }
    guard case .there(let stat) = look, row.inode == stat.identity.inode else { return false }
    // It may have been written since. If it is a new file with the inode of the photo, the photo is deleted, and a copy of
    // it stays a photo of its own. If inodes do not last, equal inodes prove nothing.
    return volumes.hasLastingInodes(tree.volumeID(of: row.directoryID)) || row.hasSizeAndTime(of: stat)
  }

  /// Applies the second half of an exchange. The file that is reported to leave a place was there before the file that
  /// has the place now.
  ///
  /// - Parameters:
  ///   - source: the place.
  ///   - row: the file that is in this place now, in the catalog and on disk.
  ///   - stat: the file that is in `target`; nil if there is none any more.
  /// - Returns: false if this is not the second half of an exchange.
  func endExchange(
    from source: Place, where row: FileRow, to target: Place, _ stat: FileStat?, reading: ContentReading?,
    in batch: inout Batch
  ) throws -> Bool {
    guard let former = remembered.takeDisplaced(from: source, uptime: batch.uptime), stat?.byteCount != 0 else {
      return false
    }
    batch.context.evidence = .event
    if former.assetID == row.assetID {
      // An unknown file came over the photo, and was taken for a file that a program saved. Or the photo was saved, and then
      // renamed before that file came. If the photo has left its new name as well, later records report its place.
      let isPhoto =
        try stat.map { stat in
          try former.hasIdentity(of: stat)
            || (cameLater(row, than: stat, isProvisional: false, in: batch)
              && others(of: stat, than: row, at: target, in: batch).isEmpty && !wasDeleted(stat, at: target, in: batch))
        } ?? !row.hasIdentity(of: former.stat)
      guard isPhoto, let arrived = files.stat(path(of: source)) else { return false }
      var photo = row
      if stat == nil {
        // The catalog has the content of the other file.
        photo = former
        photo.readTime = .unknown
        photo.isInDoubt = true
        try batch.writer.updateStat(photo)
      }
      try move(photo, to: target, stat, reading: reading, in: &batch)
      try fileFound(source, arrived, reading: nil, in: &batch)
      if let newcomer = try batch.writer.file(source.directoryID, source.name) {
        remembered.noteNewcomer(newcomer.assetID, inPlaceOf: row.assetID, in: batch)
      }
      return true
    }
    return try stat.map { try bringBack(former, to: target, $0, reading: reading, in: &batch) } ?? false
  }

  /// Restores a photo that lost its place to another in an exchange, and has that one's former place.
  ///
  /// - Parameter former: the file that it had. If another file is in the place, the photo was written or saved since, which
  ///   made that file.
  /// - Returns: false if that other file is a photo of its own.
  func bringBack(
    _ former: FileRow, to place: Place, _ stat: FileStat, reading: ContentReading?, in batch: inout Batch
  ) throws -> Bool {
    guard try batch.writer.file(place.directoryID, place.name) == nil,
      try others(of: stat, than: former, at: place, in: batch).isEmpty,
      try former.hasIdentity(of: stat) || !wasDeleted(stat, at: place, in: batch),
      let deleted = try batch.writer.tombstones(inode: former.inode).first(where: { $0.assetID == former.assetID })
    else { return false }
    let (content, file) = read(place, stat, assetID: former.assetID, reading: reading, isSampled: true)
    remembered.noteFile(inode: file.inode)
    batch.noteChange()
    listings.forget(place)
    try restore(deleted, content, file, in: &batch)
    // If that other file turns out to be one of its own, a later record reports where the photo's former file is.
    if !former.hasIdentity(of: stat) {
      var displaced = former
      (displaced.directoryID, displaced.name) = (place.directoryID, place.name)
      remembered.noteDisplaced(displaced, from: place, in: batch)
    }
    return true
  }

  /// The asset that replaces a photo whose file has left: the file that has its place since an exchange, or its second
  /// name.
  ///
  /// Some programs save by an exchange and then remove the old file. The kernel must report the removal, because a photo
  /// that only a scan misses may be elsewhere. Others move a file by a second name. A scan proves that too: the second
  /// name is the file itself. If that has left meanwhile, a later record reports where it is.
  func replacement(of row: FileRow, in batch: Batch) throws -> FileRow? {
    let isByScan = batch.context.evidence == .scan
    // The record of the first name was lost before the scan began, however long the scan took.
    let uptime = isByScan ? batch.context.scanStart ?? batch.uptime : batch.uptime
    let newcomer = remembered.newcomer(inPlaceOf: row.assetID, uptime: uptime)
    guard let other = newcomer ?? scans.secondNames[row.assetID], !batch.context.missed.contains(other),
      !scans.contains(where: { $0.missing.contains(other) }), let replacement = try batch.writer.file(ofAsset: other),
      try !batch.writer.hasUserData(other), !batch.isLeaving(replacement)
    else { return nil }
    if isSameFile(row, replacement) { return replacement }
    return newcomer != nil && !isByScan && isStillThere(replacement, device: nil) ? replacement : nil
  }
}
