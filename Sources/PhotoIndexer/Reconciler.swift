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

  /// The catalog's id of photod-watch's roots.
  var rootIDs: [UInt16: Int64] = [:]
  var scans: [UInt16: Scan] = [:]
  /// The listing that is under way; it may span batches.
  var listing: Listing?
  /// Scans that have ended while another is under way: what one misses, the other may find.
  var endedScans: [Scan] = []
  /// Requests for less than a root, with the directory that they are for.
  var partialRequests: [UInt32: Int64] = [:]
  /// Roots in whose place another file system is mounted, or none where there was one.
  var foreignRoots: Set<Int64> = []
  /// Those of them that are on the same file system, in another folder, in which nothing of the library is.
  var replacedRoots: Set<Int64> = []
  /// Foreign roots that a person has said are the library's now.
  var adoptedRoots: Set<Int64> = []
  /// The same of folders in which another file system was mounted.
  var adoptedFolders: Set<Int64> = []
  /// The tops of roots in whose place another folder of the same file system stands, as they were; the scan tells whether
  /// that is the library's.
  var replacedTops: [Int64: DirectoryRow] = [:]
  /// Roots that are configured no longer; their assets stay, unavailable, until a person says otherwise.
  var unconfiguredRoots: Set<Int64> = []
  /// Directories that were in the catalog and not on disk before: what they lack is coming back, or is not.
  var returned: Set<Int64> = []
  /// Directories out of their place for the moment, with the path that they had.
  var parkedPaths: [Int64: [UInt8]] = [:]
  /// Roots of which too much was missing, since when (nanoseconds), and how many assets.
  var suspects: [Int64: Suspect] = [:]
  /// Scans that a person asked for with the word that what is missing is gone.
  var confirmedRequests: Set<UInt32> = []
  /// What the catalog says of each root.
  var availability: [Int64: Bool]
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
  /// When expired tombstones were removed last (nanoseconds since 1970).
  private var prunedAt: Int64?

  init(
    catalog: Catalog, files: any PhotoFiles, knownInodes: KnownInodes, policy: RemovalPolicy,
    events: EventRing = EventRing()
  ) throws {
    self.files = files
    self.knownInodes = knownInodes
    self.events = EventNotes(ring: events)
    self.policy = policy
    tombstones = try TombstoneKeys(catalog: catalog)
    recentInsertions = RecentInsertions(isNew: try catalog.read { try $0.hasNoFiles() })
    let roots = try catalog.read { try $0.roots() }
    availability = Dictionary(uniqueKeysWithValues: roots.map { ($0.id, $0.isAvailable) })
    (tree, smartAlbums, volumeIdentities) = try catalog.read {
      (DirectoryTree(roots: roots, directories: try $0.directories()), try $0.smartAlbums(), try $0.volumes())
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
    if let prunedAt, (0..<Self.pruneInterval).contains(age(of: prunedAt, at: batch.time)) { return }
    prunedAt = batch.time
    try batch.writer.pruneTombstones(before: (batch.time - Self.tombstoneLifetime) / 1000)
    if try batch.writer.tombstoneCount() == 0 { tombstones = TombstoneKeys() }
  }

  private static let pruneInterval: Int64 = 86_400_000_000_000

  private func apply(_ record: WatchRecord, reading: ContentReading?, in batch: inout Batch) throws {
    note(record)
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
    case .fileFound(let directory, let name, let stat):
      guard let directoryID = tree.directory(number: directory) else { return }
      try fileFound(Place(directoryID: directoryID, name: name), stat, reading: reading, in: &batch)
    case .fileGone(let directory, let name):
      guard let directoryID = tree.directory(number: directory) else { return }
      try fileGone(Place(directoryID: directoryID, name: name), in: &batch)
    case .fileMoved(let from, let fromName, let to, let toName, let stat):
      let source = tree.directory(number: from).map { Place(directoryID: $0, name: fromName) }
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
    case .rootOffline(let root, _):
      try rootOffline(root, in: &batch)
    case .synced(let number):
      try removeDeparted(in: &batch)
      try readAgain(unread.filter { $0.value.isPending }.keys.sorted(), in: &batch)
      batch.synced.append(number)
    case .unreadable(let directory, let name, _):
      unreadable(directory, name)
    case .ignored(let directory, let name):
      try ignored(directory, name, in: &batch)
    case .overflow, .polling, .watchBudget, .alive:
      break
    }
  }

  /// A fresh photod-watch: no number means anything any more.
  func beginSession() {
    tree.unbindAll()
    scans = [:]
    endedScans = []
    listing = nil
    returned = []
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
  var record = CommitRecord()
  /// Files that were said to be gone in this batch: they are removed at its end unless they turn up elsewhere.
  var departing: [Place: FileRow] = [:]
  /// The directories that are being removed just now: nothing lives on in them.
  var leavingDirectories: Set<Int64> = []
  /// Sync requests whose answer is complete with this batch.
  var synced: [UInt64] = []
  var endedScans: [EndedScan] = []
  /// Roots of which something is gone by the word of a listing alone: a scan must tell.
  var rootsToScan: Set<UInt16> = []
  /// Roots of which photod-watch takes something for known that is not.
  var rootsToWatchAnew: Set<Int64> = []
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
  /// It was found but not read; unlike a file that was read and is damaged, it counts as pending.
  var isPending: Bool
  /// Nanoseconds of the clock that nobody sets.
  var at: Int64
  /// Nanoseconds.
  var delay: Int64
  /// The disk keeps it from being read.
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
