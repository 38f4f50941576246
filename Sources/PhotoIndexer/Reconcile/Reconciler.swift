import Glibc
import PhotoCatalog
import PhotoModel
import WatchRecords

/// Compares the records of photod-watch with the catalog and writes the differences. It decides which file is which
/// photo.
///
/// photod-watch reports the files that are there. Only differences from the catalog are written, so that a scan after
/// an overflow, a crash or a restart publishes true differences only. The reconciler belongs to the `Library` actor and
/// is used inside its transactions. If a transaction fails, a new reconciler is made from the catalog and photod-watch
/// starts over.
final class Reconciler {
  let files: any PhotoFiles
  let knownInodes: KnownInodes
  var policy: RemovalPolicy
  var tree: CatalogTree
  /// The catalog's id of the volume with this device number, while it is mounted.
  var volumeIDs: [UInt64: VolumeID] = [:]
  /// The identity of each volume of the catalog, across boots and mounts.
  var volumeIdentities: [VolumeID: String]

  var roots: Roots
  var scans: [UInt16: CatalogScan] = [:]
  /// The lane whose records are applied.
  private(set) var lane = 0
  /// The roots of that lane, or nil for all.
  private(set) var laneRoots: Set<UInt16>?
  /// The listing that is under way in that lane; it may span batches.
  var listing: CatalogListing?
  /// The listings that are under way in other lanes.
  private(set) var otherListings: [Int: CatalogListing] = [:]
  /// Files in the places of other photos. It is decided which photos they are when all scans have ended.
  var held = HeldFiles()
  /// Scans that have ended while another one is under way. A file that one scan misses, the other may find.
  var endedScans: [CatalogScan] = []
  /// Requests for scans of less than a root, with the directory of each.
  var partialRequests: [UInt32: DirectoryID] = [:]
  /// Folders in which another file system is mounted that a person declared to be part of the library.
  var adoptedFolders: Set<DirectoryID> = []
  /// Directories of the catalog that came back to the disk. Files that they lack may still come back too.
  var returned: Set<DirectoryID> = []
  /// Scans that a person requested with the confirmation that missing files are gone.
  var confirmedRequests: Set<UInt32> = []
  /// The files that must be read again, by asset. They could not be read when they were found, or may not be complete
  /// yet.
  var unread: [AssetID: ReadRetry] = [:]
  var events: EventNotes
  /// The keys of the deleted assets, which may come back.
  var tombstones: TombstoneKeys
  /// New files, which may be copies of photos that are about to be removed.
  var recentInsertions: RecentInsertions
  /// Photos that lost their place to another file just now.
  var exchanges = Exchanges()
  var arrivals = RecentArrivals()
  var linkedFiles = LinkedFiles()
  /// The library's age when expired tombstones were removed last.
  private var prunedAt: Duration?

  /// - Parameter former: the roots of the reconciler that this one replaces.
  init(
    catalog: Catalog, files: any PhotoFiles, knownInodes: KnownInodes, policy: RemovalPolicy,
    events: EventRing = EventRing(), former: Roots? = nil
  ) throws {
    self.files = files
    self.knownInodes = knownInodes
    self.events = EventNotes(ring: events)
    self.policy = policy
    tombstones = try TombstoneKeys(catalog: catalog)
    recentInsertions = RecentInsertions(isNew: try catalog.read { try $0.hasNoFiles() })
    let (rows, dates) = try catalog.read { (try $0.roots(), try $0.offlineDates()) }
    roots = Roots(rows, offlineDates: dates, former: former)
    (tree, volumeIdentities) = try catalog.read {
      (CatalogTree(roots: rows, directories: try $0.directories()), try $0.volumes())
    }
  }

  /// Applies one batch, record by record, inside a transaction.
  ///
  /// - Parameter contents: files that were read ahead, by the index of their record.
  func apply(
    _ records: [WatchRecord], contents: [Int: ContentReading], with writer: CatalogWriter,
    time: WallTime = .now, uptime: MonotonicTime = .now
  ) throws -> Batch {
    var batch = Batch(writer: writer, time: time, uptime: uptime)
    for (index, record) in records.enumerated() {
      try apply(record, reading: contents[index], in: &batch)
    }
    try removeDeparted(in: &batch)
    try pruneTombstones(in: batch)
    return batch
  }

  /// Removes expired tombstones once a day, together with other changes, so that photod does not wake for it. An
  /// expired tombstone is not used before it is removed.
  private func pruneTombstones(in batch: Batch) throws {
    guard !tombstones.isEmpty, !batch.record.isEmpty else { return }
    let age = try batch.writer.libraryAge(at: batch.time)
    if let prunedAt, age - prunedAt < Self.pruneInterval { return }
    prunedAt = age
    try batch.writer.pruneTombstones(before: age - Self.tombstoneLifetime)
    if try batch.writer.tombstoneCount() == 0 { tombstones = TombstoneKeys() }
  }

  private static let pruneInterval = Duration.seconds(86_400)

  private func apply(_ record: WatchRecord, reading: ContentReading?, in batch: inout Batch) throws {
    note(record)
    (batch.fileEvent, batch.isRenameEvent, batch.mayHaveMissedEdit) = (.none, false, false)
    batch.renameDeadline = nil
    switch record {
    case .directoryFound(let number, let parent, let root, let name, let identity):
      try directoryFound(number, parent: parent, root: root, name: name, identity: identity, in: &batch)
    case .directoryMoved(let number, let parent, let name):
      try directoryMoved(number, parent: parent, name: name, in: &batch)
    case .directoryGone(let number, let evidence):
      try directoryGone(number, evidence: evidence, in: &batch)
    case .listingStarted(let number, let evidence):
      try listingStarted(number, evidence: evidence, in: &batch)
    case .listingEnded(let number, let complete):
      try listingEnded(number, complete: complete, in: &batch)
    case .fileFound(let directory, let name, let stat, let event):
      guard let directoryID = tree.directory(number: directory) else { return }
      batch.fileEvent = event
      try fileFound(Place(directoryID: directoryID, name: name), stat, reading: reading, in: &batch)
    case .fileGone(let directory, let name):
      guard let directoryID = tree.directory(number: directory) else { return }
      try fileGone(Place(directoryID: directoryID, name: name), in: &batch)
    case .fileMoved(let from, let fromName, let to, let toName, let stat, let event):
      (batch.fileEvent, batch.isRenameEvent) = (event, true)
      batch.renameDeadline = stat?.changed
      let source = tree.directory(number: from).map { Place(directoryID: $0, name: fromName) }
      batch.mayHaveMissedEdit = source.map { mayHaveMissed($0.directoryID) } ?? true
      guard let target = tree.directory(number: to) else {
        // The file was moved outside of the library's directories, for example into the folder in which a drive is not
        // mounted. If two files exchange their names, the first may already be in this place.
        if let source, let row = try batch.writer.file(source.directoryID, source.name),
          !isStillThere(row, device: nil)
        {
          try fileGone(source, in: &batch)
        }
        return
      }
      try fileMoved(
        from: source, to: Place(directoryID: target, name: toName), stat, reading: reading, in: &batch)
    case .scanStarted(let root, let request, let reason):
      scanStarted(root: root, request: request, reason: reason, in: batch)
    case .scanEnded(let root, let request, let complete):
      try removeDeparted(in: &batch)
      try scanEnded(root: root, request: request, complete: complete, in: &batch)
    case .rootOffline(let root, let errorNumber):
      try rootOffline(root, errorNumber, in: &batch)
    case .synced(let number):
      try removeDeparted(in: &batch)
      try readAgain(unread.filter { $0.value.isPending }.keys.sorted(), in: &batch)
      batch.synced.append(number)
    case .unreadable(let directory, let name, EREMOTE):
      try leftOut(directory, name, in: &batch)
    case .unreadable(let directory, let name, _):
      unreadable(directory, name)
    case .ignored(let directory, let name):
      try ignored(directory, name, in: &batch)
    case .overflow: noteOverflow()
    case .polling, .watchBudget, .alive, .checkpoint:
      break
    }
  }

  /// Begins a session with a new photod-watch: the former directory numbers in its roots are void.
  ///
  /// - Parameter numbers: the numbers of its roots, or nil for all.
  /// - Returns: the scans that had ended and were not decided. The caller must end each, because photod-watch has
  ///   already reported its end.
  @discardableResult
  func beginSession(of numbers: Set<UInt16>? = nil) -> [CatalogScan] {
    listing = nil
    guard let numbers, !numbers.isSuperset(of: roots.numbers) else {
      let undecided = endedScans
      tree.unbindAll()
      (scans, endedScans, returned, otherListings) = ([:], [], [], [:])
      held = HeldFiles()
      roots.updateAll { $0.isBlind = false }
      return undecided
    }
    return numbers.sorted().flatMap { forgetSession(ofRoot: $0) }
  }

  /// Forgets everything that photod-watch reported under the number of a root: scans, listings, found files and the
  /// numbers of directories. No later record would end any of it, and all decisions would wait for that.
  ///
  /// - Returns: the root's scans that had ended and were not decided. The caller must end each, as in
  ///   `beginSession(of:)`.
  func forgetSession(ofRoot number: UInt16) -> [CatalogScan] {
    let undecided = endedScans.filter { $0.root == number }
    scans[number] = nil
    endedScans.removeAll { $0.root == number }
    roots[number: number]?.isBlind = false
    if let rootID = roots.id(ofNumber: number), let top = tree.top(ofRoot: rootID) {
      endListings(inside: top)
      tree.unbind(subtree: top)
      forgetHeldFiles(below: top)
      returned.subtract(tree.subtree(of: top))
    }
    return undecided
  }

  /// Selects the lane of the records that follow.
  ///
  /// - Parameter roots: the roots of the lane, or nil for all.
  func turn(to lane: Int, of roots: Set<UInt16>? = nil) {
    laneRoots = roots
    guard lane != self.lane else { return }
    otherListings[self.lane] = listing
    self.lane = lane
    listing = otherListings.removeValue(forKey: lane)
  }

  /// Removes a place from the listings, because something other than a listing changed the file there.
  func forgetListed(_ place: Place) {
    listing?.forget(place)
    for lane in otherListings.keys { otherListings[lane]?.forget(place) }
  }

  /// Ends the listings of a directory and of those below it.
  func endListings(inside id: DirectoryID) {
    func isInside(_ listing: CatalogListing) -> Bool { tree.isInside(listing.directoryID, id) }
    if listing.map(isInside) == true { listing = nil }
    otherListings = otherListings.filter { !isInside($0.value) }
  }
}

/// A place in the tree that holds at most one file.
struct Place: Hashable {
  let directoryID: DirectoryID
  let name: [UInt8]

  func hash(into hasher: inout Hasher) {
    hasher.combine(directoryID)
    hasher.combine(name: name)
  }
}

extension Hasher {
  /// Combines the bytes of a name in one step. An array combines them one by one.
  mutating func combine(name: [UInt8]) { name.withUnsafeBytes { combine(bytes: $0) } }
}

/// One batch while it is applied, and its results.
struct Batch {
  let writer: CatalogWriter
  let time: WallTime
  let uptime: MonotonicTime
  /// The wall clock's time, for people.
  var date: PhotoDate { PhotoDate(time) }
  /// The changes of the transaction so far.
  var record: CommitRecord { writer.record }
  /// Files that were reported gone in this batch. They are removed at its end unless they turn up elsewhere.
  var departing: [Place: FileRow] = [:]
  /// The directories that are being removed now. No asset can go on in them.
  var leavingDirectories: Set<DirectoryID> = []
  /// Sync requests whose answer is complete with this batch.
  var synced: [UInt64] = []
  var endedScans: [EndedScan] = []
  /// Roots that must be watched anew, because photod-watch regards a folder as known that the catalog does not have.
  var rootsToWatchAnew: Set<RootID> = []
  /// The kernel's events that the current record reports.
  var fileEvent = FileEvent.none
  /// Whether the current record reports a rename, which explains another change time.
  var isRenameEvent = false
  /// Whether the current record reports a rename from a folder whose earlier events may have been lost.
  var mayHaveMissedEdit = false
  /// The change time of the file that photod-watch saw at the new name of a rename. The rename was not later, even if
  /// another file came to that name since. It is nil if the record reports no rename, or no file was seen.
  var renameDeadline: WallTime?
  /// The evidence of the current record. A change because of it sets `sawEvent` or `sawScan`.
  var evidence = Evidence.event
  /// When the scan that is being decided began.
  var scanStart: MonotonicTime?
  private var sawEvent = false
  private var sawScan = false

  init(writer: CatalogWriter, time: WallTime, uptime: MonotonicTime) {
    self.writer = writer
    self.time = time
    self.uptime = uptime
  }

  /// Whether the file in a place leaves with this batch, unless it turns up elsewhere.
  func isLeaving(_ row: FileRow) -> Bool {
    leavingDirectories.contains(row.directoryID)
      || departing[Place(directoryID: row.directoryID, name: row.name)] != nil
  }

  /// Notes that the current record has changed the catalog.
  mutating func noteChange() {
    switch evidence {
    case .event: sawEvent = true
    case .scan: sawScan = true
    }
  }

  var origin: String {
    if sawEvent { return "watcher" }
    return sawScan || record.rootAvailability.isEmpty ? "rescan" : "mount"
  }
}

/// The listing of one directory while it is under way.
struct CatalogListing {
  let directoryID: DirectoryID
  let evidence: Evidence
  /// Files of the catalog that the listing has not named yet.
  private(set) var unnamed: [[UInt8]: FileRow]
  /// Names for which `unnamed` is no longer valid: they were named, or another record changed them. For these the
  /// catalog is asked.
  private(set) var told: Set<[UInt8]> = []

  init(directoryID: DirectoryID, evidence: Evidence, unnamed: [[UInt8]: FileRow]) {
    self.directoryID = directoryID
    self.evidence = evidence
    self.unnamed = unnamed
  }

  /// Takes a file that the listing names.
  ///
  /// - Returns: the row that the catalog had when the listing began, or nil; and whether the catalog must be asked
  ///   again.
  mutating func name(_ name: [UInt8]) -> (row: FileRow?, mustAsk: Bool) {
    guard told.insert(name).inserted else { return (nil, true) }
    return (unnamed.removeValue(forKey: name), false)
  }

  /// Removes a place, because something other than this listing changed the file there.
  mutating func forget(_ place: Place) {
    guard place.directoryID == directoryID else { return }
    told.insert(place.name)
    unnamed[place.name] = nil
  }
}

/// The time at which a file is read again, and the reason.
struct ReadRetry {
  /// The file was found but not read yet, so that it counts as pending: a sync reads it. A file that is damaged, or in
  /// which the disk fails, is not pending.
  var isPending: Bool
  var at: MonotonicTime
  /// The last delay.
  var delay: Duration
  /// The failure of the disk, or the lack of memory or descriptors, that kept the file from being read.
  var failure: Failure?
  /// A file that was seen in this place and is not the known file. If the known file turns up nowhere else, this file
  /// is the photo, saved anew.
  var standIn: FileIdentity?

  struct Failure: Sendable {
    let path: [UInt8]
    let reason: String
    let since: WallTime
  }
}
