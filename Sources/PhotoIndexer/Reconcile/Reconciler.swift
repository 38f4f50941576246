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
  var policy: RemovalPolicy
  var tree: CatalogTree
  var volumes: Volumes
  var roots: Roots
  var scans = Scans()
  var requests = ScanRequests()
  var listings = Listings()
  /// Files in the places of other photos. It is decided which photos they are when all scans of their volumes have ended.
  var held = HeldFiles()
  var retries = ReadRetries()
  var emptyFiles = EmptyFiles()
  /// The syncs that were asked for when a batch is applied.
  var syncs = AskedSyncs()
  let remembered: RememberedFiles
  var events: EventNotes

  /// - Parameter former: the roots of the reconciler that this one replaces.
  init(
    catalog: Catalog, files: any PhotoFiles, knownInodes: KnownInodes, policy: RemovalPolicy,
    events: EventRing = EventRing(), former: Roots? = nil
  ) throws {
    self.files = files
    self.events = EventNotes(ring: events)
    self.policy = policy
    remembered = try RememberedFiles(catalog: catalog, inodes: knownInodes)
    let (rows, dates) = try catalog.read { (try $0.roots(), try $0.offlineDates()) }
    roots = Roots(rows, offlineDates: dates, former: former)
    (tree, volumes) = try catalog.read {
      (CatalogTree(roots: rows, directories: try $0.directories()), Volumes(identities: try $0.volumes()))
    }
  }

  /// Makes a reconciler that begins anew from the catalog, because this one may be ahead of it.
  func remade(from catalog: Catalog) throws -> Reconciler {
    try Reconciler(
      catalog: catalog, files: files, knownInodes: remembered.inodes, policy: policy, events: events.ring, former: roots
    )
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
    // They are removed together with other changes, so that photod does not wake for it.
    if remembered.hasTombstones, !batch.record.isEmpty { try remembered.pruneTombstones(in: batch) }
    return batch
  }

  /// Each event is noted before the record is applied, while the files that it reports still have their former places.
  private func apply(_ record: WatchRecord, reading: ContentReading?, in batch: inout Batch) throws {
    batch.context = RecordContext(after: batch.context)
    switch record {
    case .directoryFound(let number, let parent, let root, let name, let identity):
      noteFound(number, parent, name, in: &batch)
      try directoryFound(number, parent: parent, root: root, name: name, identity: identity, in: &batch)
    case .directoryMoved(let number, let parent, let name):
      noteMoved(number, parent, name, in: &batch)
      try directoryMoved(number, parent: parent, name: name, in: &batch)
    case .directoryGone(let number, let evidence):
      noteGone(number, evidence, in: &batch)
      try directoryGone(number, evidence: evidence, in: &batch)
    case .listingStarted(let number, let evidence):
      noteListingStarted(number, in: &batch)
      try listingStarted(number, evidence: evidence, in: &batch)
    case .listingEnded(let number, let complete):
      noteListing(number)
      try listingEnded(number, complete: complete, in: &batch)
    case .fileFound(let directory, let name, let stat, let event):
      noteFound(directory, name, stat, in: &batch)
      guard let directoryID = tree.directory(number: directory) else { return }
      batch.context.event = event
      try fileFound(Place(directoryID: directoryID, name: name), stat, reading: reading, in: &batch)
    case .fileGone(let directory, let name):
      noteGone(directory, name, in: &batch)
      guard let directoryID = tree.directory(number: directory) else { return }
      try fileGone(Place(directoryID: directoryID, name: name), in: &batch)
    case .fileMoved(let from, let fromName, let to, let toName, let stat, let event):
      noteMoved(from, fromName, to: to, toName, in: &batch)
      let source = tree.directory(number: from).map { Place(directoryID: $0, name: fromName) }
      batch.context.event = event
      batch.context.rename = RecordContext.Rename(
        mayHaveMissedEdit: source.map { mayHaveMissed($0.directoryID) } ?? true, deadline: stat?.changed)
      guard let target = tree.directory(number: to) else { return try fileLeft(source, in: &batch) }
      try fileMoved(
        from: source, to: Place(directoryID: target, name: toName), stat, reading: reading, in: &batch)
    case .scanStarted(let root, let request, let reason):
      noteScanStarted(root, reason, in: &batch)
      scanStarted(root: root, request: request, reason: reason, in: batch)
    case .scanEnded(let root, let request, let complete):
      batch.notes.reports.append(.scanEnded(root: root))
      try removeDeparted(in: &batch)
      try scanEnded(root: root, request: request, complete: complete, in: &batch)
    case .rootOffline(let root, let errorNumber):
      noteOffline(root, errorNumber, in: &batch)
      try rootOffline(root, errorNumber, in: &batch)
    case .synced(let number):
      try removeDeparted(in: &batch)
      let decided = try endWaitingForRecords(after: number, in: batch)
      if syncs.awaited.contains(number) {
        batch.pendingFiles = try readAgain(pendingInOrder(), in: &batch)
      } else {
        try readAgain(decided, in: &batch)
      }
      batch.synced.append(number)
    case .unreadable(let directory, let name, let errorNumber):
      noteUnreadable(directory, name, errorNumber, in: &batch)
      if errorNumber == EREMOTE { try leftOut(directory, name, in: &batch) } else { unreadable(directory, name) }
    case .ignored(let directory, let name):
      try ignored(directory, name, in: &batch)
    case .overflow:
      noteOverflow(in: &batch)
      noteOverflow()
    case .polling(let root, let reason, let count, let total):
      notePolling(root, reason, count, of: total, in: &batch)
    case .watchBudget(let budget):
      batch.notes.reports.append(.budget(budget))
    case .alive, .checkpoint:
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
    guard let numbers, !numbers.isSuperset(of: roots.numbers) else {
      tree.unbindAll()
      listings.forgetAll()
      held = HeldFiles()
      roots.updateAll { $0.isBlind = false }
      return scans.forgetAll()
    }
    _ = listings.end()
    return numbers.sorted().flatMap { forgetSession(ofRoot: $0) }
  }

  /// Forgets everything that photod-watch reported under the number of a root: scans, listings, found files and the
  /// numbers of directories. No later record would end any of it, and all decisions would wait for that.
  ///
  /// - Returns: the root's scans that had ended and were not decided. The caller must end each, as in
  ///   `beginSession(of:)`.
  func forgetSession(ofRoot number: UInt16) -> [CatalogScan] {
    let undecided = scans.forget(number)
    roots[number: number]?.isBlind = false
    if let rootID = roots.id(ofNumber: number), let top = tree.top(ofRoot: rootID) {
      endListings(inside: top)
      tree.unbind(subtree: top)
      forgetHeldFiles(below: top)
      listings.forget(tree.subtree(of: top))
    }
    return undecided
  }

  /// Ends the listings of a directory and of those below it.
  func endListings(inside id: DirectoryID) { listings.end { tree.isInside($0, id) } }
}

/// The syncs that photod-watch was asked for.
struct AskedSyncs {
  /// The greatest number so far.
  var last: UInt64 = 0
  /// The numbers for which callers wait. The library asks for others itself, and some callers have given up.
  var awaited: Set<UInt64> = []

  /// The numbers of the syncs that records answer.
  static func answered(by records: [WatchRecord]) -> [UInt64] {
    records.compactMap { if case .synced(let number) = $0 { number } else { nil } }
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
  /// The directories that are being removed now. No file in them can become the file of an asset that leaves.
  var leavingDirectories: Set<DirectoryID> = []
  /// The facts in the records that are not in the catalog, such as events and limits.
  var notes = BatchNotes()
  /// Sync requests that photod-watch has answered.
  var synced: [UInt64] = []
  /// The state of the pending files after they were asked for again because of these syncs.
  var pendingFiles = Reconciler.ReadingAgain.complete
  var endedScans: [EndedScan] = []
  /// Roots that must be watched anew, because photod-watch regards a folder as known that the catalog does not have.
  var rootsToWatchAnew: Set<RootID> = []
  /// The facts about the current record. A change because of it sets `sawEvent` or `sawScan`.
  var context = RecordContext()
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
    switch context.evidence {
    case .event: sawEvent = true
    case .scan: sawScan = true
    }
  }

  var origin: String {
    if sawEvent { return "watcher" }
    return sawScan || record.rootAvailability.isEmpty ? "rescan" : "mount"
  }
}
