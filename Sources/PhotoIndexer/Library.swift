import Logging
import PhotoCatalog
import PhotoModel
import PhotoWatch
import WatchRecords

/// One user's photo library: the only writer of its catalog.
///
/// What photod-watch says becomes, batch by batch, one transaction; after its COMMIT ``feed`` has a new sequence, and who
/// observes a list takes the difference from what it was last sent. It runs on an executor of its own and may block there.
package actor Library {
  package struct Configuration: Sendable {
    /// Absolute, without links; none inside another.
    package var roots: [[UInt8]]
    /// Patterns of what is not wanted in them, as `IgnorePattern` defines them.
    package var ignore: [[UInt8]]
    /// How long a scan that misses most of a root waits for a second one; zero turns the brake off.
    package var removalGrace: Duration
    /// Of photod, for the status.
    package var version: String

    package init(
      roots: [[UInt8]], ignore: [[UInt8]] = [], removalGrace: Duration = .seconds(600), version: String
    ) {
      self.roots = roots
      self.ignore = ignore
      self.removalGrace = removalGrace
      self.version = version
    }
  }

  nonisolated package let catalog: Catalog
  nonisolated package let feed: ChangeFeed
  /// What the newest commits touched; those before this start are in history alone.
  nonisolated package let recentCommits: RecentCommits
  nonisolated package let lists: LiveLists
  nonisolated package let collections: LiveCollections
  nonisolated package let board: StatusBoard
  /// The last of what happened, for whoever looks for a fault.
  nonisolated package let events: EventRing

  private let executor = QueueExecutor(label: "photod.library")
  nonisolated package var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  let watcher: any WatchSource
  let files: any PhotoFiles
  let clock: any LibraryClock
  let logger: Logger
  private let knownInodes: KnownInodes
  private let readAhead: ReadAhead
  var configuration: Configuration
  var reconciler: Reconciler

  let barrier = SyncBarrier()
  let rescans = RescanDesk()
  /// Roots whose scan must end before the library is live.
  var awaitedScans: Set<UInt16> = []
  var watchState = WatchState()
  private var hasBeenLive = false
  var lastRootNumber: UInt16 = 0
  var unreadable = UnreadablePaths()
  /// A transaction failed: nothing is applied until all begins anew from what the catalog holds, at this time (nanoseconds
  /// of the clock that nobody sets).
  var startsOverAt: Int64?
  /// Doubles while it fails again. Nanoseconds.
  var startOverDelay = Library.firstStartOverDelay
  private static let firstStartOverDelay: Int64 = 1_000_000_000
  static let lastStartOverDelay: Int64 = 60_000_000_000
  /// Rises when there is something that time brings; nothing wakes while there is nothing.
  let alarm = ChangeFeed(sequence: 0)
  /// Roots of which a listing missed something while nothing was scanned.
  var doubtfulRoots: Set<UInt16> = []
  /// Syncs up to this number were asked before photod-watch was told to look again at what is in doubt: their answers come
  /// too early.
  var doubtfulThrough: UInt64 = 0
  /// Roots under suspicion in which something has happened since their last scan.
  var activeSuspects: Set<UInt16> = []
  /// There are assets that are not in the index of words, or nobody has looked yet.
  var hasNewWords = true
  /// They could not be written to it.
  var isTextLate = false
  /// Some 20 ms each, in which nothing else is written.
  static let wordBatch = 2_000
  static let wordBatchesPerSecond = 10
  /// Nanoseconds of the clock that nobody sets.
  var lastBatchAt: Int64 = 0
  static let quietTime: Int64 = 1_000_000_000
  private var assetCount: Int
  private var scannedFiles = 0
  private var counters = LibraryStatus.Counters()
  var troubles = RootTroubles()
  /// Roots of which the log says that they are offline.
  var toldOffline: Set<Int64> = []
  /// What there are warnings of: roots that are configured no longer, and folders whose drive is away.
  var warnedRoots: Set<Int64> = []
  var warnedFolders: Set<Int64> = []

  /// - Throws: `PhotoError` when the catalog can't be read.
  package init(
    catalog: Catalog, watcher: any WatchSource, configuration: Configuration, logger: Logger
  ) throws {
    try self.init(
      catalog: catalog, watcher: watcher, files: DiskFiles(), configuration: configuration, logger: logger)
  }

  init(
    catalog: Catalog, watcher: any WatchSource, files: any PhotoFiles, clock: any LibraryClock = SystemClock(),
    configuration: Configuration, logger: Logger
  ) throws {
    self.catalog = catalog
    self.watcher = watcher
    self.files = files
    self.clock = clock
    self.logger = logger
    self.configuration = configuration
    let (sequence, counts) = try catalog.read { (try $0.sequence(), try $0.counts()) }
    troubles = RootTroubles(offlineDates: try catalog.read { try $0.offlineDates() })
    feed = ChangeFeed(sequence: sequence)
    recentCommits = RecentCommits(catalog: catalog)
    lists = LiveLists(catalog: catalog, feed: feed, recent: recentCommits, now: { clock.instant })
    collections = LiveCollections(catalog: catalog, feed: feed, recent: recentCommits)
    events = EventRing(clock: clock)
    assetCount = counts.assets
    board = StatusBoard(
      LibraryStatus(
        state: .opening, library: catalog.uuid, token: catalog.token(sequence).description,
        version: configuration.version, assetCount: counts.assets, failedCount: counts.failed,
        counters: LibraryStatus.Counters()))
    knownInodes = try KnownInodes(catalog: catalog)
    readAhead = ReadAhead(catalog: catalog, files: files, knownInodes: knownInodes)
    reconciler = try Self.makeReconciler(catalog, files, knownInodes, configuration, events)
  }

  func remakeReconciler() throws {
    reconciler = try Self.makeReconciler(catalog, files, knownInodes, configuration, events)
  }

  private static func makeReconciler(
    _ catalog: Catalog, _ files: any PhotoFiles, _ knownInodes: KnownInodes, _ configuration: Configuration,
    _ events: EventRing
  ) throws -> Reconciler {
    try Reconciler(
      catalog: catalog, files: files, knownInodes: knownInodes,
      policy: RemovalPolicy(grace: configuration.removalGrace), events: events)
  }

  // MARK: Running

  /// Takes in what happens until photod-watch is stopped or the task is cancelled.
  package func run() async {
    do { try adoptRoots() } catch { breakDown(error) }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.ingest() }
      group.addTask { await self.maintain() }
      await group.next()
      group.cancelAll()
    }
    stopWaiting()
  }

  /// Ends every wait on the library, so that the calls that wait end.
  nonisolated package func stopWaiting() {
    feed.finish()
    board.feed.finish()
    events.feed.finish()
    barrier.fail(with: ended)
    rescans.failAll(with: ended)
  }

  /// What who waits for the library is told at its end.
  nonisolated package var ended: LibraryError {
    events.isReopened.load(ordering: .acquiring)
      ? LibraryError.unavailable("photod opens its catalog anew. Go on in a moment, with `since` where there is one.")
      : LibraryError.unavailable("photod is stopping. Go on when it runs, with `since` where there is one.")
  }

  /// Replaces the roots and what is ignored in them, for a reload of the configuration.
  package func setRoots(_ roots: [[UInt8]], ignore: [[UInt8]], removalGrace: Duration) {
    configuration.roots = roots
    configuration.ignore = ignore
    configuration.removalGrace = removalGrace
    reconciler.policy = RemovalPolicy(grace: removalGrace)
    do { try adoptRoots() } catch { breakDown(error) }
    updateState()
  }

  /// A turn through the executor that does the work: it returns only if the library is alive.
  package func proveAlive() {}

  private func ingest() async {
    var current: ReadAhead.Input?
    while !Task.isCancelled {
      async let upcoming = nextInput()
      if let current { take(current) }
      current = await upcoming
      if current == nil { return }
    }
  }

  private nonisolated func nextInput() async -> ReadAhead.Input? {
    guard let input = await watcher.nextInput() else { return nil }
    return await read(ahead: input)
  }

  nonisolated func read(ahead input: WatchInput) async -> ReadAhead.Input {
    do {
      return try await readAhead.read(input)
    } catch {
      // Nothing is read ahead then; whoever applies the batch meets the same error and says so.
      return ReadAhead.Input(input: input, contents: [:])
    }
  }

  /// Applies one input: a turn of ``run()``.
  func take(_ input: ReadAhead.Input) {
    defer { events.announce() }
    switch input.input {
    case .started(let session):
      events.append(.watcherStarted(session: session))
      counters.watcherStarts += 1
      logger.debug("photod-watch begins", metadata: ["session": "\(session)"])
      reconciler.beginSession()
      forgetWatchState()
      board.warn("watcher", nil)
      awaitedScans = Set(reconciler.rootIDs.keys)
      updateState()
    case .died(_, let reason):
      events.append(.watcherDied(reason: reason))
      board.warn("watcher", "The watcher died (\(reason)); it is started again and all folders are scanned.")
      awaitedScans = Set(reconciler.rootIDs.keys)
      updateState()
    case .batch(let records):
      guard startsOverAt == nil else { return }
      do {
        try apply(records, contents: input.contents)
      } catch {
        breakDown(error)
      }
    }
  }

  private func apply(_ records: [WatchRecord], contents: [Int: ContentReading]) throws {
    var requests = Set(reconciler.scans.values.map(\.request))
    let batch = try commit { writer in
      let batch = try reconciler.apply(
        records, contents: contents, with: writer, time: clock.wallTime, uptime: clock.bootTime)
      return (batch, batch.record, batch.origin)
    }
    requests.formUnion(reconciler.scans.values.map(\.request))
    requests.formUnion(batch.endedScans.map(\.request))
    rescans.add(batch.record, to: requests)
    note(records)
    if !batch.record.rootAvailability.isEmpty { warnDrives() }
    for change in batch.record.rootAvailability where change.directoryID == nil && change.isAvailable {
      let root = FilePath.text(reconciler.tree.rootPaths[change.rootID] ?? [])
      toldOffline.remove(change.rootID)
      logger.notice("root online", metadata: ["root": "\(root)"])
    }
    for ended in batch.endedScans { scanEnded(ended) }
    doubtfulRoots.formUnion(batch.rootsToScan)
    // Whatever happens in a root that is in doubt may be what was missed.
    for (root, rootID) in reconciler.rootIDs where reconciler.suspects[rootID] != nil && !batch.record.isEmpty {
      activeSuspects.insert(root)
    }
    lastBatchAt = clock.bootTime
    for rootID in batch.rootsToWatchAnew.sorted() where reconciler.rootIDs.values.contains(rootID) {
      if let top = reconciler.tree.top(ofRoot: rootID) { reconciler.tree.unbind(subtree: top) }
      watchAnew(rootID)
    }
    for number in batch.synced { answerSync(number) }
    startOverDelay = Self.firstStartOverDelay
    updateState()
  }

  /// One transaction with its history entry, published once it is committed.
  func commit<Value>(
    durable: Bool = false, _ body: (CatalogWriter) throws -> (Value, CommitRecord, origin: String)
  ) throws -> Value {
    defer { events.announce() }
    let (value, record, origin, sequence, effects, failedCount) = try catalog.write(durable: durable) { writer in
      let (value, record, origin) = try body(writer)
      let sequence = record.isEmpty ? nil : try writer.append(record, origin: origin, date: clock.wallTime / 1000)
      let effects = try recentCommits.wants(record) ? writer.effects(of: record, origin: origin) : nil
      return (value, record, origin, sequence, effects, try writer.failedCount())
    }
    if let sequence {
      recentCommits.append(effects, sequence: sequence)
      events.append(.committed(sequence: sequence, origin: origin, .init(record)))
      feed.publish(sequence)
      if !record.insertedAssets.isEmpty || isTextLate { hasNewWords = true }
      assetCount += record.insertedAssets.count - record.deletedAssets.count
      counters.assetsInserted += record.insertedAssets.count
      counters.assetsUpdated += record.updatedAssets.count
      counters.assetsRemoved += record.deletedAssets.count
      counters.filesRead = files.readCount
      troubles.note(record.rootAvailability, at: clock.wallTime / 1000)
      board.update { status in
        status.token = catalog.token(sequence).description
        status.assetCount = assetCount
        status.failedCount = failedCount
        status.counters = counters
      }
    }
    return value
  }

  // MARK: State

  /// Takes from the records what concerns the state and not the catalog, in their order.
  private func note(_ records: [WatchRecord]) {
    var foldersWent = false
    for record in records {
      switch record {
      case .fileFound: scannedFiles += 1
      case .directoryGone, .directoryMoved: foldersWent = true
      case .overflow:
        logger.notice("event queue overflow")
        counters.overflows += 1
        board.warn("overflow", "Changes came faster than the kernel could queue them; all folders are scanned again.")
        awaitedScans = Set(reconciler.rootIDs.filter { reconciler.availability[$0.value] == true }.keys)
      case .rootOffline(let root, let code):
        awaitedScans.remove(root)
        noteWatchState(record)
        warnOffline(root, code)
      case .scanStarted(let root, _, let reason):
        counters.scans += 1
        if reason != .rescan && reconciler.rootIDs[root] != nil { awaitedScans.insert(root) }
      case .scanEnded(let root, _, _):
        awaitedScans.remove(root)
        if awaitedScans.isEmpty { board.warn("overflow", nil) }
        // What it met that can't be read was said.
        unreadable.removeUnlessThere { reconciler.tree.directory(path: $0) != nil }
      case .polling, .watchBudget: noteWatchState(record)
      case .unreadable(let directory, let name, let code):
        noteUnreadable(directory, name, code)
      case .listingStarted(let directory, _): noteListing(directory)
      case .directoryFound(_, 0, let root, _, _):
        if let rootID = reconciler.rootIDs[root] { warnAvailability(rootID) }
      default: break
      }
    }
    if foldersWent, !unreadable.isEmpty {
      unreadable.removeUnlessThere { reconciler.tree.directory(path: $0) != nil }
    }
    warnUnreadable()
  }

  private func scanEnded(_ ended: EndedScan) {
    noteScanEnd(ended)
    if let rootID = reconciler.rootIDs[ended.root] {
      warnAvailability(rootID)
      warnSuspect(rootID)
    }
    switch ended.verdict {
    case .decided(let removed, let endsSuspicion):
      if endsSuspicion, removed > 0 {
        let root = FilePath.text(reconciler.rootIDs[ended.root].flatMap { reconciler.tree.rootPaths[$0] } ?? [])
        logger.notice("missing photos removed", metadata: ["root": "\(root)", "removed": "\(removed)"])
      }
      rescans.finish(ended.request)
    case .suspect(let missing):
      rescans.fail(
        ended.request,
        with: LibraryError.unavailable(
          "\(counted(missing, "photo is", "photos are")) missing at once; nothing was removed. Mount the drive if it is one; if what is missing is gone for good, say `photoctl rescan --confirm`."
        ))
    case .incomplete:
      rescans.fail(
        ended.request,
        with: LibraryError.unavailable(
          "The folder could not be scanned to its end: it went offline, is of another file system than it was, or changes came too fast. `photoctl status` says which."
        ))
    }
  }

  func updateState() {
    let scanning = !awaitedScans.isEmpty
    if !scanning {
      hasBeenLive = true
      scannedFiles = 0
    }
    let pending = reconciler.unread.values.count { $0.isPending }
    warnUnread()
    withdrawSuspicions()
    let roots = rootStatuses()
    counters.filesRead = files.readCount
    board.update { status in
      status.counters = counters
      status.state = scanning ? (hasBeenLive ? .recovering : .scanning) : .live
      status.progress = scanning ? .init(done: scannedFiles, phase: "scanning") : nil
      status.pendingCount = pending + (scanning ? 1 : 0)
      status.roots = roots
    }
    if isTimeToCome { alarm.publish(alarm.sequence + 1) }
  }

  private func rootStatuses() -> [LibraryStatus.Root] {
    reconciler.rootIDs.sorted { $0.key < $1.key }.map { root, rootID in
      let state: LibraryStatus.Root.State =
        if reconciler.availability[rootID] == false { .offline } else if awaitedScans.contains(root) {
          .scanning
        } else if reconciler.suspects[rootID] != nil { .suspect } else { .online }
      let (since, reason) = statusTrouble(rootID, state)
      return LibraryStatus.Root(
        path: FilePath.text(reconciler.tree.rootPaths[rootID] ?? []), state: state,
        watch: watchState.watch(of: root), polledDirectoryCount: watchState.polledCount(of: root), since: since,
        reason: reason)
    }
  }
}
