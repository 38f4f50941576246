import Dispatch
import ExtractRecords
import Glibc
import Logging
import PhotoCatalog
import PhotoExtract
import PhotoModel
import PhotoWatch
import WatchRecords

/// One user's photo library: the only writer of its catalog.
///
/// Each batch of records from photod-watch becomes one transaction. After its COMMIT it is published to ``commits``, which
/// updates the lists of all observers. The library runs on an executor of its own and may block there.
package actor Library {
  package struct Configuration: Sendable {
    /// Absolute paths without links. None is inside another.
    package var roots: [[UInt8]]
    /// Roots that are inside of another. They are used while a share is mounted there, because the outer root leaves it
    /// out.
    package var innerRoots: [[UInt8]]
    /// The roots that the watcher has already. The others get their numbers from the library.
    package var watchedRoots: [WatchRoot]
    /// Patterns of the files and folders to ignore in the roots, as `IgnorePattern` defines them.
    package var ignore: [[UInt8]]
    /// How long a scan that misses most of a root waits for a second one; zero turns the brake off.
    package var removalGrace: Duration
    /// The seconds of ``WatchRoot/pollSeconds`` for the roots that have an interval of their own.
    package var pollSeconds: [[UInt8]: UInt32]
    /// The version of photod, for the status.
    package var version: String

    package init(
      roots: [[UInt8]], innerRoots: [[UInt8]] = [], watchedRoots: [WatchRoot] = [], ignore: [[UInt8]] = [],
      removalGrace: Duration = .seconds(600), pollSeconds: [[UInt8]: UInt32] = [:], version: String
    ) {
      self.roots = roots
      self.innerRoots = innerRoots
      self.watchedRoots = watchedRoots
      self.ignore = ignore
      self.removalGrace = removalGrace
      self.pollSeconds = pollSeconds
      self.version = version
    }
  }

  nonisolated package let catalog: Catalog
  /// The observers of the catalog. Each commit is published there.
  nonisolated package let commits: any CommitPublisher
  nonisolated package let statusStore: StatusStore
  /// The last events of the library, for people who look for a fault.
  nonisolated package let events: EventRing

  private let executor = ThreadExecutor(name: "photod-library")
  nonisolated package var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  let watcher: any WatchSource
  let files: any PhotoFiles
  /// The reader of the files. nil if tests read them in another way.
  let extractor: Extractor?
  /// The same for the reconciler, whose work in one transaction is a turn.
  private let turnFiles: TurnFiles
  let clock: any LibraryClock
  let logger: Logger
  nonisolated private let readers: LaneReaders
  var configuration: Configuration
  var reconciler: Reconciler

  let barrier = SyncBarrier()
  nonisolated let progress = InputProgress()
  var lateSyncs = LateSyncs()
  let rescans = RescanRequests()
  let dryRuns = DryRuns()
  /// The problems of watching, for the status. It begins anew with each start.
  var problems = WatchProblems()
  var restart = CatalogRestart()
  var idle = IdleWork()
  /// The samples and hashes that are made when the library is idle.
  var proofs: ProofWorker
  /// The changes of clients that can be undone.
  var undoLog = UndoLog()
  var counts: LibraryCounts

  /// - Throws: `PhotoError` when the catalog can't be read.
  package init(
    catalog: Catalog, commits: any CommitPublisher, watcher: any WatchSource, extractor: Extractor,
    configuration: Configuration, logger: Logger
  ) throws {
    try self.init(
      catalog: catalog, commits: commits, watcher: watcher,
      files: RoutedFiles(extractor: extractor) { watcher.access(to: $0) }, extractor: extractor,
      configuration: configuration, logger: logger)
  }

  init(
    catalog: Catalog, commits: any CommitPublisher, watcher: any WatchSource, files: any PhotoFiles,
    extractor: Extractor? = nil, clock: any LibraryClock = SystemClock(), power: PowerSupply = PowerSupply(),
    configuration: Configuration,
    logger: Logger
  ) throws {
    self.catalog = catalog
    self.commits = commits
    self.watcher = watcher
    self.files = files
    self.extractor = extractor
    turnFiles = TurnFiles(files) { SystemClock().bootTime }
    self.clock = clock
    proofs = ProofWorker(power: power)
    self.logger = logger
    self.configuration = configuration
    let unreadCount = try catalog.write { try $0.forgetFailures(ofReadersBefore: ReaderVersion.current) }
    if unreadCount > 0 {
      logger.notice("files are read again by a newer reader", metadata: ["count": "\(unreadCount)"])
    }
    let (assetCount, failedCount) = try catalog.read { try $0.counts() }
    counts = LibraryCounts(assets: assetCount)
    events = EventRing(clock: clock)
    statusStore = StatusStore(
      LibraryStatus(
        state: .opening, library: catalog.uuid, token: catalog.token(commits.feed.sequence).description,
        version: configuration.version, assetCount: assetCount, failedCount: failedCount,
        counters: LibraryStatus.Counters()))
    let knownInodes = try KnownInodes(catalog: catalog)
    readers = LaneReaders(catalog: catalog, files: files, knownInodes: knownInodes)
    reconciler = try Reconciler(
      catalog: catalog, files: turnFiles, knownInodes: knownInodes,
      policy: RemovalPolicy(grace: configuration.removalGrace), events: events)
    reconciler.roots.takeOver(configuration.watchedRoots)
  }

  /// The token of the newest published commit.
  nonisolated var token: ChangeToken { catalog.token(commits.feed.sequence) }

  func remakeReconciler() throws { reconciler = try reconciler.remade(from: catalog) }

  // MARK: Running

  /// Applies the inputs until photod-watch is stopped or the task is cancelled.
  package func run() async {
    do { try adoptRoots() } catch { breakDown(error) }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.ingest() }
      group.addTask { await self.maintain() }
      group.addTask { await self.prove() }
      if let lateReads = files.lateReads { group.addTask { await self.take(lateReads) } }
      await group.next()
      group.cancelAll()
    }
    stopWaiting()
  }

  /// Ends every wait on the library, so that pending calls return.
  nonisolated package func stopWaiting() {
    files.lateReads?.ended.finish()
    commits.feed.finish()
    statusStore.feed.finish()
    events.feed.finish()
    barrier.fail(with: ended)
    rescans.failAll(with: ended)
  }

  /// The error that pending callers receive when the library stops.
  nonisolated package var ended: LibraryError {
    events.isReopened.load(ordering: .acquiring)
      ? LibraryError.unavailable(
        "photod opens its catalog again. Repeat the call in a moment, with `since` if it has that option.")
      : LibraryError.unavailable(
        "photod is stopping. Repeat the call when photod runs, with `since` if it has that option.")
  }

  /// Replaces the roots and their ignore patterns after the configuration was reloaded.
  package func setRoots(
    _ roots: [[UInt8]], innerRoots: [[UInt8]] = [], ignore: [[UInt8]], removalGrace: Duration,
    pollSeconds: [[UInt8]: UInt32] = [:]
  ) {
    configuration.pollSeconds = pollSeconds
    configuration.roots = roots
    configuration.innerRoots = innerRoots
    configuration.ignore = ignore
    configuration.removalGrace = removalGrace
    reconciler.policy = RemovalPolicy(grace: removalGrace)
    do { try adoptRoots() } catch { breakDown(error) }
    updateState()
  }

  /// Calls back from a turn of the queue that does the library's work: only if it is alive.
  nonisolated package func whenAlive(_ proven: @escaping @Sendable () -> Void) { executor.run(proven) }

  private func ingest() async {
    await withTaskGroup(of: Void.self) { group in
      for await lane in watcher.lanes { group.addTask(executorPreference: executor) { await self.ingest(lane) } }
    }
  }

  /// Takes the inputs of a lane in their order. The next one is read ahead while one is applied. A sync that has nothing
  /// to wait for is answered by the thread that reads ahead.
  private func ingest(_ lane: WatchLane) async {
    let readAhead = readers.reader(ofLane: lane.number)
    let inputs = Handover<ReadAhead.Input>()
    await withTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: readAhead.executor) {
        await readAhead.run(lane, into: inputs) {
          self.answersAtOnce($0, ofLane: lane.number)
        } asking: {
          await self.places(of: $0)
        }
      }
      while !Task.isCancelled, let input = await inputs.take() {
        take(input, from: lane)
        progress.end()
      }
      group.cancelAll()
    }
  }

  nonisolated func read(ahead input: WatchInput) async -> ReadAhead.Input {
    await readers.first.read(input) { await self.places(of: $0) }
  }

  /// The places of directories and of all above them, after the batches that were applied.
  private func places(of numbers: [DirectoryNumber]) -> [DirectoryPlace] {
    numbers.flatMap { reconciler.tree.places(above: $0) }
  }

  /// Applies one input: a turn of ``run()``.
  ///
  /// - Parameter lane: the lane of the input, or nil for the only one.
  func take(_ input: ReadAhead.Input, from lane: WatchLane? = nil) {
    defer { events.announce() }
    let laneRoots = lane?.roots()
    reconciler.listings.turn(to: lane?.number ?? 0, of: laneRoots)
    let roots = laneRoots ?? Set(reconciler.roots.numbers)
    switch input.input {
    case .started(let session):
      events.append(.watcherStarted(session: session))
      counts.noteWatcherStart()
      logger.debug("photod-watch begins", metadata: ["session": "\(session)"])
      let undecided = reconciler.beginSession(of: roots)
      forgetWatchState(of: roots)
      problems.watching.deaths[reconciler.listings.lane] = nil
      for number in roots { reconciler.roots[number: number]?.isScanAwaited = true }
      repeatRescans(undecided)
      updateState()
    case .died(_, let reason):
      events.append(.watcherDied(reason: reason))
      problems.watching.deaths[reconciler.listings.lane] = (
        reason, reconciler.listings.lane == 0 ? [] : rootPaths(of: roots)
      )
      for number in roots { reconciler.roots[number: number]?.isScanAwaited = true }
      updateState()
    case .batch(let records):
      guard restart.breakdown == nil else { return }
      do {
        try apply(records, contents: input.contents, of: roots)
      } catch {
        breakDown(error)
      }
    }
  }

  /// The path of a root by its number.
  func rootPath(_ number: UInt16) -> [UInt8]? {
    reconciler.roots.id(ofNumber: number).flatMap { reconciler.tree.rootPaths[$0] }
  }

  private func rootPaths(of roots: Set<UInt16>) -> [[UInt8]] {
    roots.sorted().compactMap { rootPath($0) }
  }

  private func apply(
    _ records: [WatchRecord], contents: [Int: ContentReading], of roots: Set<UInt16>
  ) throws {
    let before = reconciler.roots
    reconciler.syncs = AskedSyncs(
      last: barrier.lastNumber, awaited: barrier.awaited(among: AskedSyncs.answered(by: records)))
    var requests = Set(reconciler.scans.underWay.values.map(\.request))
    let (batch, record) = try commit { writer in
      let batch = try reconciler.apply(
        records, contents: contents, with: writer, time: clock.wallTime, uptime: clock.bootTime)
      return (batch, batch.origin)
    }
    requests.formUnion(reconciler.scans.underWay.values.map(\.request))
    requests.formUnion(batch.endedScans.map(\.request))
    rescans.add(record, to: requests)
    let notes = batch.notes
    take(notes, of: roots)
    for change in record.rootAvailability where change.directoryID == nil && change.isAvailable {
      let root = FilePath.text(reconciler.tree.rootPaths[change.rootID] ?? [])
      logger.notice("root online", metadata: ["root": "\(root)"])
    }
    logOfflineRoots(since: before)
    // A caller that waited for a scan may ask for the status at once.
    if !batch.endedScans.isEmpty { updateState() }
    for ended in batch.endedScans { scanEnded(ended) }
    // Any change may be the return of photos that a scan missed.
    if !record.isEmpty, reconciler.roots.hasSuspects {
      reconciler.roots.updateAll { if $0.suspect != nil { $0.mayBeComplete = true } }
    }
    noteChanges(notes)
    for rootID in batch.rootsToWatchAnew.sorted() where reconciler.roots[rootID]?.number != nil {
      try watchAnew(rootID)
    }
    try watchAnew(remoteRoots: notes.remoteRoots)
    for (directory, name) in notes.leftOut { try adoptInnerRoots(onShare: name, in: directory) }
    // A batch without differences writes nothing, so it does not prove that the catalog can be written.
    if !record.isEmpty || (!batch.endedScans.isEmpty && !isScanAwaited) {
      restart.noteWrite()
    }
    updateState()
    answer(batch.synced, mustWait: batch.pendingFiles != .complete || hasLateReads)
  }

  /// Runs one transaction with its history entry, and publishes it once it is committed.
  ///
  /// - Returns: the value of `body`, and the changes of the transaction.
  @discardableResult
  func commit<Value>(
    durable: Bool = false, _ body: (CatalogWriter) throws -> (Value, origin: String)
  ) throws -> (Value, record: CommitRecord) {
    defer { events.announce() }
    turnFiles.begin()
    let date = clock.wallTime
    let (value, record, origin, sequence, effects, failedCount, mayNeedProofs) = try catalog.write(
      durable: durable, date: date
    ) { writer in
      let (value, origin) = try body(writer)
      try writer.compareContents()
      let record = writer.record
      let sequence = record.isEmpty ? nil : try writer.append(origin: origin, date: date)
      let effects = try commits.wants(record) ? writer.effects(origin: origin) : nil
      return (value, record, origin, sequence, effects, try writer.failedCount(), writer.mayNeedProofs)
    }
    if let sequence {
      // A client's change opens no file.
      if !origin.hasPrefix("client:") { problems.forbiddenFilesMayDiffer = true }
      events.append(.committed(sequence: sequence, origin: origin, .init(record)))
      let token = catalog.token(sequence)
      let change =
        effects == nil ? nil : PersistentChange(record, token: token, date: date, origin: origin)
      commits.publish(effects, change, sequence: sequence)
      if !record.insertedAssets.isEmpty || idle.words.state == .failed { idle.words.state = .pending }
      counts.note(record, filesRead: files.readCount)
      statusStore.update { status in
        status.token = token.description
        status.assetCount = counts.assets
        status.failedCount = failedCount
        status.counters = counts.sinceStart
      }
    }
    // `updateState()` notes later that nothing is left.
    if !isSettled { progress.note(isSettled: false) }
    // Another change time or inode makes a hash void, although the history has no entry for it.
    if sequence != nil || mayNeedProofs {
      proofs.begin()
      idle.wake()
    }
    return (value, record)
  }

  // MARK: State

  /// Notes in which roots the records report something. The work that waits for quiet waits for these roots.
  private func noteChanges(_ notes: BatchNotes) {
    guard notes.hasChanges || !notes.changed.isEmpty else { return }
    idle.lastChange.time = clock.bootTime
    let tree = reconciler.tree
    for rootID in Set(notes.changed.compactMap { tree.directory(number: $0).map(tree.rootID) }) {
      reconciler.roots[rootID]?.lastChange = clock.bootTime
    }
  }

  /// Updates the state that is not in the catalog.
  private func take(_ notes: BatchNotes, of roots: Set<UInt16>) {
    for report in notes.reports { take(report, of: roots) }
    if notes.foundCount > 0 { counts.noteScannedFiles(notes.foundCount) }
    forgetUnreadable(in: notes.leftPaths)
    settleUnreadable()
  }

  private func take(_ report: WatchReport, of roots: Set<UInt16>) {
    switch report {
    case .overflow:
      logger.notice("event queue overflow")
      counts.noteOverflow()
      problems.watching.hasOverflowed = true
      for (number, root) in reconciler.roots.watched where roots.contains(number) && root.isAvailable {
        reconciler.roots[number: number]?.isScanAwaited = true
      }
    case .offline(let root):
      reconciler.roots[number: root]?.isScanAwaited = false
      problems.watching.forget(root)
    case .scanStarted(let root, let reason):
      counts.noteScan()
      if reason != .rescan { reconciler.roots[number: root]?.isScanAwaited = true }
    case .scanEnded(let root):
      reconciler.roots[number: root]?.isScanAwaited = false
      if !isScanAwaited { problems.watching.hasOverflowed = false }
      // The scan has reported everything in it that can't be read.
      forgetUnreadable()
    case .polling(let root, let reason, let count, let total):
      noteWatchState { $0.note(polled: count, because: reason, of: total, in: root) }
    case .budget(let budget): noteWatchState { $0.note(budget) }
    case .unreadable(let directory, let name, let errorNumber): noteUnreadable(directory, name, errorNumber)
    case .listing(let directory): noteListing(directory)
    }
  }

  func scanEnded(_ ended: EndedScan) {
    defer { beginRescans() }
    noteScanEnd(ended)
    logSuspicion(ended.root)
    switch ended.verdict {
    case .decided(let removed, let endsSuspicion):
      if endsSuspicion {
        let root = FilePath.text(rootPath(ended.root) ?? [])
        if removed > 0 {
          logger.notice("missing photos removed", metadata: ["root": "\(root)", "removed": "\(removed)"])
        } else {
          logger.notice("missing photos back", metadata: ["root": "\(root)"])
        }
      }
      rescans.finish(ended.request)
    case .suspect(let missing):
      rescans.fail(
        ended.request,
        with: LibraryError.unavailable(
          "\(counted(missing, "photo is", "photos are")) missing at once, so nothing was removed. If their drive is not mounted, mount it. If the photos are gone for good, run `photoctl rescan --confirm`."
        ))
    case .incomplete:
      rescans.fail(
        ended.request,
        with: LibraryError.unavailable(
          "The scan of the folder could not end: the folder went offline, is on another file system than before, or changed too fast. `photoctl status` has the reason."
        ))
    }
  }
}
