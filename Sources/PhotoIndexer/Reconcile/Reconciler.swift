import Glibc
import PhotoCatalog
import PhotoModel
import WatchRecords

/// Compares what photod-watch says with the catalog, and writes the difference: identity is decided here.
///
/// photod-watch says what is there; only what differs from the catalog is written, so that a scan after an overflow, a
/// crash or a restart publishes true differences only. It belongs to the `Library` actor and is used inside its
/// transactions; when one fails, a new reconciler is made from the catalog and photod-watch starts over.
final class Reconciler {
  let files: any PhotoFiles
  let knownInodes: KnownInodes
  var policy: RemovalPolicy
  var tree: DirectoryTree
  /// The catalog's id of the volume with this device number, while it is mounted.
  var volumeIDs: [UInt64: Int64] = [:]
  /// What each volume of the catalog is known by.
  var volumeIdentities: [Int64: String]

  var roots: Roots
  var scans: [UInt16: Scan] = [:]
  /// The lane whose records are applied.
  private(set) var lane = 0
  /// The roots of that lane; nil: all.
  private(set) var laneRoots: Set<UInt16>?
  /// The listing that is under way in that lane; it may span batches.
  var listing: Listing?
  /// The listings that are under way in other lanes.
  private(set) var otherListings: [Int: Listing] = [:]
  /// Files in the places of others, whose photos are decided when all scans have ended.
  var held = HeldFiles()
  /// Scans that have ended while another is under way: what one misses, the other may find.
  var endedScans: [Scan] = []
  /// Requests for less than a root, with the directory that they are for.
  var partialRequests: [UInt32: Int64] = [:]
  /// Folders in which another file system is mounted, which a person said belongs to the library.
  var adoptedFolders: Set<Int64> = []
  /// Directories that were in the catalog and not on disk before: what they lack is coming back, or is not.
  var returned: Set<Int64> = []
  /// Scans that a person asked for with the word that what is missing is gone.
  var confirmedRequests: Set<UInt32> = []
  /// Files that could not be read when they were found: they moved meanwhile, or were still being written.
  var unread: [Int64: Retry] = [:]
  /// The folder album of each directory that was asked for.
  var albums: [Int64: Int64] = [:]
  /// The smart albums by subtype.
  let smartAlbums: [String: Int64]
  var events: EventNotes
  /// What was deleted, and may come back.
  var tombstones: TombstoneKeys
  /// What is new, and may be a copy of what is about to go.
  var recentInsertions: RecentInsertions
  /// Who lost its place to another just now.
  var exchanges = Exchanges()
  var arrivals = RecentArrivals()
  var linkedFiles = LinkedFiles()
  /// The library's age when expired tombstones were removed last (microseconds).
  private var prunedAt: Int64?

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
    (tree, smartAlbums, volumeIdentities) = try catalog.read {
      (DirectoryTree(roots: rows, directories: try $0.directories()), try $0.smartAlbums(), try $0.volumes())
    }
  }

  /// Applies one batch, record by record, inside a transaction.
  ///
  /// - Parameter contents: files that were read ahead, by the index of their record.
  func apply(
    _ records: [WatchRecord], contents: [Int: ContentReading], with writer: CatalogWriter,
    time: Int64 = SystemClock().wallTime, uptime: Int64 = SystemClock().bootTime
  ) throws -> Batch {
    var batch = Batch(writer: writer, time: time, uptime: uptime)
    for (index, record) in records.enumerated() {
      try apply(record, reading: contents[index], in: &batch)
    }
    try removeDeparted(in: &batch)
    try pruneTombstones(in: batch)
    return batch
  }

  /// Once a day, and with whatever is written then: nothing wakes for it. What has expired is not used before it goes.
  private func pruneTombstones(in batch: Batch) throws {
    guard !tombstones.isEmpty, !batch.record.isEmpty else { return }
    let age = try batch.writer.libraryAge(at: batch.time / 1000)
    if let prunedAt, age - prunedAt < Self.pruneInterval { return }
    prunedAt = age
    try batch.writer.pruneTombstones(before: age - Self.tombstoneLifetime)
    if try batch.writer.tombstoneCount() == 0 { tombstones = TombstoneKeys() }
  }

  /// Microseconds.
  private static let pruneInterval: Int64 = 86_400_000_000

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
      batch.renameDeadline = stat?.changeTime
      let source = tree.directory(number: from).map { Place(directoryID: $0, name: fromName) }
      batch.mayHaveMissedEdit = source.map { mayHaveMissed($0.directoryID) } ?? true
      guard let target = tree.directory(number: to) else {
        // It went to where nothing is the library's, as the folder that a drive is not mounted in.
        // Of two that exchange their names the first may stand there already.
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
      scanStarted(root: root, request: request, reason: reason)
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
    case .polling, .watchBudget, .alive:
      break
    }
  }

  /// A fresh photod-watch: no number of a directory in its roots means anything any more.
  ///
  /// - Parameter numbers: of its roots; nil: all.
  /// - Returns: the scans that had ended and were not decided. Each needs an end, because photod-watch has said its own.
  @discardableResult
  func beginSession(of numbers: Set<UInt16>? = nil) -> [Scan] {
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

  /// Forgets everything that photod-watch said under the number of a root: scans, listings, found files and the numbers of
  /// directories. No later record ends any of it, and all decisions would wait for that.
  ///
  /// - Returns: the root's scans that had ended and were not decided. Each needs an end, as in `beginSession(of:)`.
  func forgetSession(ofRoot number: UInt16) -> [Scan] {
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

  /// Turns to the records of a lane.
  ///
  /// - Parameter roots: those of the lane; nil: all.
  func turn(to lane: Int, of roots: Set<UInt16>? = nil) {
    laneRoots = roots
    guard lane != self.lane else { return }
    otherListings[self.lane] = listing
    self.lane = lane
    listing = otherListings.removeValue(forKey: lane)
  }

  /// Something else than a listing changes what is in a place.
  func forgetListed(_ place: Place) {
    listing?.forget(place)
    for lane in otherListings.keys { otherListings[lane]?.forget(place) }
  }

  /// What is at and below a directory is not listed any more.
  func endListings(inside id: Int64) {
    func isInside(_ listing: Listing) -> Bool { tree.isInside(listing.directoryID, id) }
    if listing.map(isInside) == true { listing = nil }
    otherListings = otherListings.filter { !isInside($0.value) }
  }
}

/// A place in the tree that holds at most one file.
struct Place: Hashable {
  let directoryID: Int64
  let name: [UInt8]
}

/// One batch while it is applied, and what came of it.
struct Batch {
  let writer: CatalogWriter
  /// Nanoseconds since 1970.
  let time: Int64
  /// Nanoseconds of a clock that nobody sets.
  let uptime: Int64
  /// The wall clock's time, for people.
  var date: PhotoDate { PhotoDate(microseconds: time / 1000) }
  var record = CommitRecord()
  /// Files that were said to be gone in this batch: they are removed at its end unless they turn up elsewhere.
  var departing: [Place: FileRow] = [:]
  /// The directories that are being removed just now: nothing lives on in them.
  var leavingDirectories: Set<Int64> = []
  /// Sync requests whose answer is complete with this batch.
  var synced: [UInt64] = []
  var endedScans: [EndedScan] = []
  /// Roots of which photod-watch takes something for known that is not.
  var rootsToWatchAnew: Set<Int64> = []
  /// What the record that is being applied says of the kernel's events.
  var fileEvent = FileEvent.none
  /// The record tells a rename, which explains another change time.
  var isRenameEvent = false
  /// The record tells a rename from a folder whose earlier events may have been lost.
  var mayHaveMissedEdit = false
  /// The change time of the file that photod-watch saw at the new name of a rename. The rename was not later, even if another
  /// file came to that name since. nil: the record tells no rename, or no file was seen.
  var renameDeadline: Int64?
  /// By what the record that is being applied is known; what it changes is `sawEvent` or `sawScan`.
  var evidence = Evidence.event
  private var sawEvent = false
  private var sawScan = false

  init(writer: CatalogWriter, time: Int64, uptime: Int64) {
    self.writer = writer
    self.time = time
    self.uptime = uptime
  }

  /// Whether what stands in a place leaves with this batch, unless it turns up elsewhere.
  func isLeaving(_ row: FileRow) -> Bool {
    leavingDirectories.contains(row.directoryID)
      || departing[Place(directoryID: row.directoryID, name: row.name)] != nil
  }

  /// Something is written because of the record that is being applied.
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
struct Listing {
  let directoryID: Int64
  let evidence: Evidence
  /// Files of the catalog that were not named yet.
  private(set) var unnamed: [[UInt8]: FileRow]
  /// Names of which `unnamed` knows nothing any more: they were named, or something happened to them. The catalog knows.
  private(set) var told: Set<[UInt8]> = []

  init(directoryID: Int64, evidence: Evidence, unnamed: [[UInt8]: FileRow]) {
    self.directoryID = directoryID
    self.evidence = evidence
    self.unnamed = unnamed
  }

  /// The listing names a file.
  ///
  /// - Returns: what the catalog had of it when the listing began, or nil; and whether it has to be asked again.
  mutating func name(_ name: [UInt8]) -> (row: FileRow?, mustAsk: Bool) {
    guard told.insert(name).inserted else { return (nil, true) }
    return (unnamed.removeValue(forKey: name), false)
  }

  /// Something else than this listing changes what is in a place.
  mutating func forget(_ place: Place) {
    guard place.directoryID == directoryID else { return }
    told.insert(place.name)
    unnamed[place.name] = nil
  }
}

/// When a file is read again.
struct Retry {
  /// The file was found but not read yet, so that it counts as pending: a sync reads it. A file that is damaged, or in
  /// which the disk fails, is not pending.
  var isPending: Bool
  /// Nanoseconds of the clock that nobody sets.
  var at: Int64
  /// Nanoseconds.
  var delay: Int64
  /// The disk, or a lack of memory or descriptors, kept it from being read.
  var trouble: Trouble?
  /// What was seen in its place, and is not the file that is known. If that turns up nowhere else it is the photo, saved.
  var standIn: FileIdentity?

  struct Trouble: Sendable {
    let path: [UInt8]
    let reason: String
    /// Microseconds since 1970.
    let since: Int64
  }
}
