import Glibc
import PhotoModel

// The status follows from the state of the library.
extension Library {
  func updateState() {
    let scanning = isScanAwaited
    if !scanning { counts.noteLive() }
    let pending = reconciler.retries.pendingCount
    countForbiddenFiles()
    reportWarnings()
    let roots = rootStatuses()
    counts.note(filesRead: files.readCount)
    let counts = counts
    let readers = extractor.map {
      LibraryStatus.Readers(running: $0.processCount, restarts: $0.restartCount, blamedFiles: $0.blamedCount)
    }
    statusStore.update { status in
      status.counters = counts.sinceStart
      status.state = scanning ? (counts.hasBeenLive ? .recovering : .scanning) : .live
      status.progress = scanning ? .init(done: counts.scannedFiles, phase: "scanning") : nil
      status.pendingCount = pending + (scanning ? 1 : 0)
      status.readers = readers
      status.roots = roots
    }
    if hasTimedWork { idle.wake() }
    // It comes last: a caller that waited for a sync may ask for the status at once.
    progress.note(isSettled: isSettled)
  }

  /// The library is not live before this is over.
  var isScanAwaited: Bool { reconciler.roots.contains(where: \.isScanAwaited) }

  private func rootStatuses() -> [LibraryStatus.Root] {
    reconciler.roots.watched.map { number, root in
      let path = FilePath.text(reconciler.tree.rootPaths[root.id] ?? [])
      let (state, since, reason) = status(of: root, path)
      return LibraryStatus.Root(
        path: path, state: state, watch: problems.watching.watch(of: number),
        polledDirectoryCount: problems.watching.polledCount(of: number), since: since, reason: reason)
    }
  }

  private func status(
    of root: Root, _ path: String
  ) -> (state: LibraryStatus.Root.State, since: PhotoDate?, reason: String?) {
    switch root.state {
    case .settled(.offline(let since, let reason)), .scanning(.offline(let since, let reason)):
      switch known(reason, of: root) {
      case .neverThere: (.missing, nil, OfflineReason.neverThere.text(of: "It", at: path))
      case let reason: (.offline, since, reason.text(of: "It", at: path))
      }
    case .settled(.foreign(let since, let folder)), .scanning(.foreign(let since, let folder)):
      (.offline, since, folder.text(of: "It", at: path))
    case .unconfigured(let since, _): (.offline, since, nil)
    case .scanning(.online), .scanning(.suspect): (.scanning, nil, nil)
    case .settled(.online): (.online, nil, nil)
    case .settled(.suspect(let suspect)):
      (
        .suspect, suspect.since.date,
        Suspect.text(of: "It", at: path, missing: suspect.missing, suspect.examples, until: end(of: suspect))
      )
    }
  }

  /// The reason why a root is offline. A root whose folder was never there has another one than a drive that is away.
  func known(_ reason: OfflineReason, of root: Root) -> OfflineReason {
    let isMissing = reason == .cannotBeOpened(ENOENT) || reason == .cannotBeOpened(ENOTDIR)
    return isMissing && reconciler.tree.top(ofRoot: root.id) == nil ? .neverThere : reason
  }

  /// When the removal grace ends.
  func end(of suspect: Suspect) -> PhotoDate {
    PhotoDate(microseconds: suspect.since.date.microseconds + reconciler.policy.grace.wholeMicroseconds)
  }

  // MARK: Warnings

  func reportWarnings() { statusStore.report(warnings, by: .library) }

  /// The problems in the state of the library. The most urgent comes first.
  private var warnings: [Warning] {
    var found: [Warning] = []
    if let breakdown = restart.breakdown {
      found.append(.catalogNotWritten(path: catalog.files.catalog, breakdown.problem))
    }
    found += problems.watching.deaths.sorted { $0.key < $1.key }.map {
      .watcherDied(reason: $0.value.reason, roots: $0.value.roots)
    }
    if problems.watching.hasOverflowed { found.append(.queueOverflowed) }
    found += reconciler.roots.all.compactMap { warning(of: $0) }
    found += reconciler.tree.away.map { reconciler.tree.path(of: $0) }.filter {
      !isLeftOut($0) && !hasRoot(onShare: $0)
    }.map { .driveAway($0) }
    return found + readingWarnings + watchWarnings
  }

  private func warning(of root: Root) -> Warning? {
    guard let path = reconciler.tree.rootPaths[root.id] else { return nil }
    if case .unconfigured(_, let isEmpty) = root.state { return .rootUnconfigured(path, isEmpty: isEmpty) }
    switch root.presence {
    case .online, .offline(_, .notLookedAt), nil: return nil
    case .offline(_, let reason): return .rootOffline(path, known(reason, of: root))
    case .foreign(_, let folder): return .rootForeign(path, folder)
    case .suspect(let suspect):
      return .rootSuspect(
        path, missing: suspect.missing, examples: suspect.examples, end: end(of: suspect))
    }
  }

  /// During a scan, which makes many commits, the files are not counted anew. If the catalog can't be read, another
  /// warning says so.
  private func countForbiddenFiles() {
    guard problems.forbiddenFilesMayDiffer, !isScanAwaited else { return }
    guard statusStore.status.failedCount > 0 else {
      problems.forbiddenFiles = nil
      problems.forbiddenFilesMayDiffer = false
      return
    }
    do {
      problems.forbiddenFiles = try catalog.read { try $0.assets(failed: ForbiddenFile.failures.sorted()) }
      problems.forbiddenFilesMayDiffer = false
    } catch {
      logger.debug("unreadable files not counted", metadata: ["error": "\(error)"])
    }
  }

  /// Folders and files that can't be read, and shares that are left out.
  private var readingWarnings: [Warning] {
    var found: [Warning] = []
    if let first = reconciler.retries.firstFailure {
      found.append(
        .failingFiles(first: first.path, reason: first.reason, count: reconciler.retries.failureCount))
    }
    let forbidden = problems.forbiddenFiles
    let first = problems.unreadable.settledFirst.map { ($0.path, $0.errorNumber) }
    if let (path, errorNumber) = first ?? forbidden.map({ ($0.first, EACCES) }) {
      let count = problems.unreadable.settledCount + (forbidden?.count ?? 0)
      found.append(.unreadable(first: path, errorNumber: errorNumber, count: count))
    }
    let shares = problems.unreadable.settledShares.filter { !hasRoot(onShare: $0) }
    if let first = shares.first { found.append(.sharesLeftOut(first: first, count: shares.count)) }
    return found
  }

  private var watchWarnings: [Warning] {
    var found: [Warning] = []
    let (unwatched, uninstanced) = (problems.watching.count(.watchLimit), problems.watching.count(.noInstance))
    if unwatched > 0 { found.append(.watchesExhausted(folderCount: unwatched, problems.watching.budget)) }
    if uninstanced > 0 {
      found.append(
        .noInotifyInstance(folderCount: uninstanced, errorNumber: problems.watching.budget?.instanceError ?? 0))
    }
    let refused = problems.watching.count(.refused)
    if refused > 0 { found.append(.watchesRefused(folderCount: refused)) }
    let silent = problems.watching.fileSystems
    if !silent.isEmpty {
      found.append(
        .silentFileSystems(folderCount: silent.reduce(0) { $0 + $1.count }, types: silent.map(\.name)))
    }
    return found
  }
}
