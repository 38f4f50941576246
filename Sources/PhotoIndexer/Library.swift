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
    /// How long a scan that misses most of a root waits for a second one; zero turns the brake off.
    package var removalGrace: Duration
    /// Of photod, for the status.
    package var version: String

    package init(roots: [[UInt8]], removalGrace: Duration = .seconds(600), version: String) {
      self.roots = roots
      self.removalGrace = removalGrace
      self.version = version
    }
  }

  nonisolated package let catalog: Catalog
  nonisolated package let feed: ChangeFeed
  nonisolated package let lists: LiveLists
  nonisolated package let board: StatusBoard

  private let executor = QueueExecutor(label: "photod.library")
  nonisolated package var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  let watcher: any WatchSource
  let files: any PhotoFiles
  let logger: Logger
  private let readAhead: ReadAhead
  var configuration: Configuration
  var reconciler: Reconciler

  private let barrier = SyncBarrier()
  /// By the number that photod-watch gave the request.
  var rescans: [UInt32: RescanProgress] = [:]
  /// Scans that must end before the library is live.
  private var awaitedScans: Set<UInt16> = []
  private var hasBeenLive = false
  var nextRootNumber: UInt16 = 0
  /// A transaction failed: nothing is applied until a new session has begun from what the catalog holds.
  private var isBroken = false
  private var assetCount: Int
  private var scannedFiles = 0

  /// - Throws: `PhotoError` when the catalog can't be read.
  package init(
    catalog: Catalog, watcher: any WatchSource, configuration: Configuration, logger: Logger
  ) throws {
    try self.init(
      catalog: catalog, watcher: watcher, files: DiskFiles(), configuration: configuration, logger: logger)
  }

  init(
    catalog: Catalog, watcher: any WatchSource, files: any PhotoFiles, configuration: Configuration, logger: Logger
  ) throws {
    self.catalog = catalog
    self.watcher = watcher
    self.files = files
    self.logger = logger
    self.configuration = configuration
    let (sequence, counts) = try catalog.read { (try $0.sequence(), try $0.counts()) }
    feed = ChangeFeed(sequence: sequence)
    lists = LiveLists(catalog: catalog, feed: feed)
    assetCount = counts.assets
    board = StatusBoard(
      LibraryStatus(
        state: .opening, library: catalog.uuid, token: catalog.token(sequence).description,
        version: configuration.version, assetCount: counts.assets, failedCount: counts.failed))
    readAhead = ReadAhead(catalog: catalog, files: files)
    reconciler = try Self.makeReconciler(catalog, files, configuration)
  }

  private static func makeReconciler(_ catalog: Catalog, _ files: any PhotoFiles, _ configuration: Configuration)
    throws -> Reconciler
  {
    try Reconciler(catalog: catalog, files: files, policy: RemovalPolicy(grace: configuration.removalGrace))
  }

  // MARK: Running

  /// Takes in what happens until photod-watch is stopped or the task is cancelled.
  package func run() async throws {
    try adoptRoots()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.ingest() }
      group.addTask { await self.maintain() }
      await group.next()
      group.cancelAll()
    }
    feed.finish()
    barrier.fail(with: Self.stopping)
    for number in rescans.keys { finishRescan(number, throwing: Self.stopping) }
  }

  static let stopping = LibraryError.unavailable("photod is stopping. Try again when it runs.")

  /// Replaces the roots, for a reload of the configuration.
  package func setRoots(_ roots: [[UInt8]], removalGrace: Duration) throws {
    configuration.roots = roots
    configuration.removalGrace = removalGrace
    reconciler.policy = RemovalPolicy(grace: removalGrace)
    try adoptRoots()
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
    do {
      return try await readAhead.read(input)
    } catch {
      // Nothing is read ahead then; whoever applies the batch meets the same error and says so.
      return ReadAhead.Input(input: input, contents: [:])
    }
  }

  private func take(_ input: ReadAhead.Input) {
    switch input.input {
    case .started(let session):
      logger.info("photod-watch started", metadata: ["session": "\(session)"])
      reconciler.beginSession()
      isBroken = false
      board.warn("watcher", nil)
      awaitedScans = Set(reconciler.rootIDs.keys)
      updateState()
    case .died(_, let reason):
      logger.error("photod-watch died and is started again", metadata: ["reason": "\(reason)"])
      board.warn("watcher", "The watcher died (\(reason)); it is started again and all folders are scanned.")
      awaitedScans = Set(reconciler.rootIDs.keys)
      updateState()
    case .batch(let records):
      guard !isBroken else { return }
      do {
        try apply(records, contents: input.contents)
      } catch {
        breakDown(error)
      }
    }
  }

  private func apply(_ records: [WatchRecord], contents: [Int: ContentReading]) throws {
    note(records)
    let batch = try commit { writer in
      let batch = try reconciler.apply(records, contents: contents, with: writer)
      return (batch, batch.record, batch.origin)
    }
    for rescan in rescans.keys { rescans[rescan]!.add(batch.record) }
    for ended in batch.endedScans { scanEnded(ended) }
    for number in batch.synced { barrier.answer(number) }
    updateState()
  }

  /// One transaction with its history entry, published once it is committed.
  func commit<Value>(
    durable: Bool = false, _ body: (CatalogWriter) throws -> (Value, CommitRecord, origin: String)
  ) throws -> Value {
    let (value, record, sequence) = try catalog.write(durable: durable) { writer in
      let (value, record, origin) = try body(writer)
      let sequence = record.isEmpty ? nil : try writer.append(record, origin: origin, date: now() / 1000)
      return (value, record, sequence)
    }
    if let sequence {
      assetCount += record.insertedAssets.count - record.deletedAssets.count
      let failed = try catalog.read { try $0.failedCount() }
      board.update { status in
        status.token = catalog.token(sequence).description
        status.assetCount = assetCount
        status.failedCount = failed
      }
      feed.publish(sequence)
    }
    return value
  }

  // MARK: State

  /// Takes from the records what concerns the state and not the catalog.
  private func note(_ records: [WatchRecord]) {
    for record in records {
      switch record {
      case .fileFound: scannedFiles += 1
      case .overflow:
        logger.notice("The kernel's event queue overflowed; all folders are scanned")
        board.warn("overflow", "Changes came faster than the kernel could queue them; all folders are scanned again.")
        awaitedScans = Set(reconciler.rootIDs.keys)
      case .rootOffline(let root, let code):
        awaitedScans.remove(root)
        warnOffline(root, code)
      case .scanStarted(let root, _, let reason):
        if reason != .rescan { awaitedScans.insert(root) }
        board.warn("offline \(root)", nil)
      case .watchBudget(let unwatched, let watched, let limit):
        warnWatchBudget(unwatched: Int(unwatched), watched: Int(watched), limit: Int(limit))
      case .unreadable(_, let name, let code):
        logger.warning(
          "A folder can't be read", metadata: ["name": "\(FilePath.nameText(name))", "errno": "\(code)"])
      default: break
      }
    }
  }

  private func scanEnded(_ ended: EndedScan) {
    awaitedScans.remove(ended.root)
    if let rootID = reconciler.rootIDs[ended.root] { warnSuspect(rootID) }
    if awaitedScans.isEmpty { board.warn("overflow", nil) }
    finishRescan(ended.request, throwing: nil)
  }

  private func updateState() {
    let scanning = !awaitedScans.isEmpty
    if !scanning {
      hasBeenLive = true
      scannedFiles = 0
    }
    let pending = reconciler.unread.values.count { $0.isPending }
    let roots = rootStatuses()
    board.update { status in
      status.state = scanning ? (hasBeenLive ? .recovering : .scanning) : .live
      status.progress = scanning ? .init(done: scannedFiles, phase: "scanning") : nil
      status.pendingCount = pending + (scanning ? 1 : 0)
      status.roots = roots
    }
  }

  private func rootStatuses() -> [LibraryStatus.Root] {
    reconciler.rootIDs.sorted { $0.key < $1.key }.map { root, rootID in
      let state: LibraryStatus.Root.State =
        if reconciler.availability[rootID] == false { .offline } else if awaitedScans.contains(root) {
          .scanning
        } else if reconciler.suspects[rootID] != nil { .suspect } else { .online }
      return LibraryStatus.Root(path: FilePath.text(reconciler.tree.rootPaths[rootID] ?? []), state: state)
    }
  }

  private func breakDown(_ error: any Error) {
    isBroken = true
    logger.error("A batch could not be written", metadata: ["error": "\(error)"])
    board.warn(
      "catalog", "The catalog can't be written: \(error). Make room on its disk; photod tries again by itself.")
  }

  /// What time brings: files that are read again, roots that are scanned a second time, a catalog that failed.
  private func maintain() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: .seconds(1)) } catch { return }
      do {
        if isBroken {
          try startOver()
        } else {
          try readAgain()
          rescanSuspects()
        }
      } catch {
        breakDown(error)
      }
    }
  }

  private func startOver() throws {
    reconciler = try Self.makeReconciler(catalog, files, configuration)
    // New numbers for the roots: what photod-watch still says under the old ones means nothing to the new reconciler.
    watcher.setRoots([])
    try adoptRoots()
    awaitedScans = Set(reconciler.rootIDs.keys)
    isBroken = false
    board.warn("catalog", nil)
    updateState()
  }

  private func readAgain() throws {
    let time = now()
    let due = reconciler.unread.filter { $0.value.at <= time }.map(\.key)
    guard !due.isEmpty else { return }
    _ = try commit { writer in
      var batch = Batch(writer: writer, time: time)
      try reconciler.readAgain(due, in: &batch)
      return ((), batch.record, batch.origin)
    }
    updateState()
  }

  private func rescanSuspects() {
    let time = now()
    for (root, rootID) in reconciler.rootIDs {
      guard let suspect = reconciler.suspects[rootID], time - suspect.since >= reconciler.policy.grace,
        !awaitedScans.contains(root), reconciler.scans[root] == nil
      else { continue }
      _ = watcher.rescan(root: root, directory: nil)
      awaitedScans.insert(root)
    }
  }

  // MARK: The sync barrier

  /// Returns once everything that happened in the watched folders before the call is in the library.
  ///
  /// - Throws: ``LibraryError/timedOut(_:)``.
  package func synchronize(timeout: Duration) async throws -> ChangeToken {
    let (barrier, watcher) = (barrier, watcher)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await barrier.wait { watcher.sync(number: $0) } }
      group.addTask {
        try await Task.sleep(for: timeout)
        throw LibraryError.timedOut(
          "The library did not catch up with its folders within \(timeout). `photoctl status` shows what it is doing; a longer timeout waits for it."
        )
      }
      defer { group.cancelAll() }
      try await group.next()
    }
    return catalog.token(feed.sequence)
  }
}
