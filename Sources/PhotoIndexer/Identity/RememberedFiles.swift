import PhotoCatalog
import PhotoModel
import WatchRecords

/// The facts about files that the library keeps in memory beside the catalog, to decide which file is which photo:
///
/// 1. Filters show that the catalog has no file, or no deleted photo, with some inode or content.
/// 2. The files that came, left or were exchanged a moment ago explain the records that follow.
/// 3. The new files of the last hour may be copies of photos that are about to leave.
///
/// All of it is lost if photod restarts, and the catalog alone decides then. It is a class, because a search for the copy
/// of a file looks up the other facts.
final class RememberedFiles {
  let inodes: KnownInodes
  private var tombstones: TombstoneKeys
  /// The library's age when expired tombstones were removed last.
  private var prunedAt: Duration?
  private var insertions: RecentInsertions
  private var arrivals = RecentArrivals()
  private var exchanges = Exchanges()
  private var links = LinkedFiles()

  init(catalog: Catalog, inodes: KnownInodes) throws {
    self.inodes = inodes
    tombstones = try TombstoneKeys(catalog: catalog)
    insertions = RecentInsertions(isNew: try catalog.read { try $0.hasNoFiles() })
  }

  /// The number of candidates for copies that were examined.
  var examinedCount: Int { insertions.examinedCount }
  /// The number of comparisons in memory, of which no other counter knows.
  var comparedCount: Int { insertions.examinedCount + insertions.prunedCount + links.prunedCount }

  // MARK: Changes of the catalog

  /// The catalog has a file with this inode now.
  func noteFile(inode: UInt64) { inodes.insert(inode) }

  /// A new asset has a file that may be a copy.
  ///
  /// - Parameters:
  ///   - fileTime: when the file was made.
  ///   - originals: the photos of which it may be the copy.
  func noteInsertion(
    of assetID: AssetID, fileTime: WallTime, time: WallTime,
    originals: @autoclosure () -> [RecentInsertions.Originals]
  ) {
    insertions.add(assetID, fileTime: fileTime, time: time, originals: originals())
  }

  /// An asset is gone, with or without a tombstone.
  func noteRemoval(of assetID: AssetID, time: WallTime) { insertions.remove(assetID, time: time) }

  func noteTombstone(inode: UInt64?, fingerprint: UInt64?, lastingPath: [UInt8]? = nil) {
    tombstones.insert(inode: inode, fingerprint: fingerprint, lastingPath: lastingPath)
  }

  // MARK: Filters

  func mayHaveFile(inode: UInt64) -> Bool { inodes.mayContain(inode) }

  var hasTombstones: Bool { !tombstones.isEmpty }
  /// Whether some tombstones never expire.
  var hasLastingTombstones: Bool { tombstones.hasLasting }

  func mayHaveTombstone(inode: UInt64) -> Bool { tombstones.mayContain(inode: inode) }

  func mayHaveTombstone(fingerprint: UInt64) -> Bool { tombstones.mayContain(fingerprint: fingerprint) }

  func mayHaveTombstone(lastingPath: [UInt8]) -> Bool { tombstones.mayContain(lastingPath: lastingPath) }

  /// Removes expired tombstones once a day. An expired tombstone is not used before it is removed.
  func pruneTombstones(in batch: Batch) throws {
    let age = try batch.writer.libraryAge(at: batch.time)
    if let prunedAt, age - prunedAt < Self.pruneInterval { return }
    prunedAt = age
    try batch.writer.pruneTombstones(before: age - Reconciler.tombstoneLifetime)
    if try batch.writer.tombstoneCount() == 0 { tombstones = TombstoneKeys() }
  }

  private static let pruneInterval = Duration.seconds(86_400)

  // MARK: Copies

  /// See ``RecentInsertions/hasCandidates(for:time:in:originals:)``.
  func hasCandidates(
    for keys: [RecentInsertions.Keys], in batch: Batch,
    originals: (_ copy: FileRow, _ added: WallTime) -> [RecentInsertions.Originals]
  ) throws -> Bool {
    try insertions.hasCandidates(for: keys, time: batch.time, in: batch.writer, originals: originals)
  }

  /// See ``RecentInsertions/forEach(_:ofOriginalAddedAt:in:uptime:_:)``.
  func forEachCandidate(
    _ key: UInt64, ofOriginalAddedAt date: WallTime, in batch: Batch,
    _ judge: (AssetID) throws -> RecentInsertions.Judgement
  ) rethrows {
    try insertions.forEach(key, ofOriginalAddedAt: date, in: batch.writer, uptime: batch.uptime, judge)
  }

  /// A record shows that the asset has a file in its place.
  func noteThere(_ assetID: AssetID) { insertions.noteThere(assetID) }

  /// Files may be in their places that were not there, because a folder has another place.
  func noteFolderMoved() { insertions.forgetUnfit() }

  // MARK: Files that came

  /// - Parameter former: the asset before it got this file by its content, or nil for a new asset.
  func noteArrival(of row: FileRow, insteadOf former: Tombstone? = nil, in batch: Batch) {
    arrivals.note(row, insteadOf: former, eventTime: batch.context.event.readAt, now: batch.time)
  }

  /// How this file came to its asset, if that was a moment ago.
  func arrival(of row: FileRow) -> RecentArrivals.Arrival? { arrivals.arrival(of: row) }

  /// Notes that the file of a copy became the asset's file.
  func noteArrival(of copy: FileRow, as assetID: AssetID, insteadOf former: Tombstone) {
    arrivals.pass(from: copy, to: assetID, insteadOf: former)
  }

  // MARK: Files that lost their places

  func noteDisplaced(_ row: FileRow, from place: Place, in batch: Batch) {
    exchanges.noteDisplaced(row, from: place, uptime: batch.uptime)
  }

  func displaced(from place: Place, uptime: MonotonicTime) -> FileRow? {
    exchanges.displaced(from: place, uptime: uptime)
  }

  func takeDisplaced(from place: Place, uptime: MonotonicTime) -> FileRow? {
    exchanges.takeDisplaced(from: place, uptime: uptime)
  }

  func forgetDisplaced(from place: Place) { exchanges.forgetDisplaced(from: place) }

  func noteNewcomer(_ assetID: AssetID, inPlaceOf other: AssetID, in batch: Batch) {
    exchanges.noteNewcomer(assetID, inPlaceOf: other, uptime: batch.uptime)
  }

  func notePartner(_ row: FileRow, at place: Place, ofFileAt other: Place, in batch: Batch) {
    exchanges.notePartner(row, at: place, ofFileAt: other, uptime: batch.uptime)
  }

  func movePartner(from source: Place, to target: Place, in batch: Batch) {
    exchanges.movePartner(from: source, to: target, uptime: batch.uptime)
  }

  func takePartner(at place: Place, ofFileAt found: Place, in batch: Batch) -> FileRow? {
    exchanges.takePartner(at: place, ofFileAt: found, uptime: batch.uptime)
  }

  func newcomer(inPlaceOf assetID: AssetID, uptime: MonotonicTime) -> AssetID? {
    exchanges.newcomer(inPlaceOf: assetID, uptime: uptime)
  }

  // MARK: Files with many names

  func noteLeft(_ row: FileRow) { links.noteLeft(row) }

  /// The rows of an inode that are to be looked at now.
  func unseenRows(inode: UInt64, in batch: Batch) throws -> ArraySlice<FileRow> {
    try links.unseenRows(inode: inode, uptime: batch.uptime, in: batch.writer)
  }

  func noteSeen(inode: UInt64, but unseen: ArraySlice<FileRow>) { links.noteSeen(inode: inode, but: unseen) }
}
