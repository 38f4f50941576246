import Glibc
import Logging
import PhotoCatalog
import PhotoModel
import PhotoWatch
import SystemErrors
import WatchRecords

// The folders of the library, and their problems.
extension Library {
  /// Brings catalog and photod-watch in line with the configured roots.
  ///
  /// If a root is not configured any more, it and its assets stay in the catalog, and the assets are unavailable.
  /// Otherwise a link to a drive that is not mounted, or a mistyped line in the configuration, would delete favorites.
  func adoptRoots() throws {
    let reconciler = reconciler
    let wanted = configuration.roots + configuration.innerRoots.filter { isOnShare($0) }
    let (batch, record) = try commit { writer in
      var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
      for (rootID, path) in reconciler.tree.sortedRootPaths where !wanted.contains(path) {
        if reconciler.tree.top(ofRoot: rootID) != nil {
          try reconciler.setUnconfigured(rootID, in: &batch)
        } else {
          try reconciler.removeRoot(rootID, in: &batch)
        }
      }
      for path in wanted where !reconciler.tree.rootPaths.values.contains(path) {
        let rootID = try writer.insertRoot(path: path)
        reconciler.tree.addRoot(rootID, path: path)
        reconciler.roots.add(rootID)
      }
      for (rootID, path) in reconciler.tree.sortedRootPaths where wanted.contains(path) {
        reconciler.roots.setConfigured(rootID)
        if reconciler.roots[rootID]?.number == nil { reconciler.roots.setFirstNumber(of: rootID, at: path) }
      }
      try reconciler.decideWaiting(in: &batch)
      return (batch, batch.origin)
    }
    if reconciler.roots.contains(where: \.isUnconfigured) {
      let counts = try catalog.read { try $0.rootCounts() }
      let empty = Set(counts.filter { $0.assets == 0 }.map(\.rootID))
      reconciler.roots.setEmpty(empty.contains)
    }
    reportWarnings()
    forgetWatchState(ofAllBut: reconciler.roots.numbers)
    // This comes before the roots, so that ignored files in a new root are never read.
    watcher.setIgnoredPatterns(configuration.ignore)
    watcher.setRoots(watchRoots())
    noteDecided(batch.endedScans, in: record)
  }

  /// Gives a root a new number, so that photod-watch scans it as a new root, even if another directory is at its path
  /// now.
  ///
  /// - Throws: if the catalog can't be written. The reconciler is ahead of the catalog then.
  func watchAnew(_ rootID: RootID) throws {
    let reconciler = reconciler
    let (batch, record) = try commit { writer in
      var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
      reconciler.dropNumber(of: rootID, in: &batch)
      try reconciler.decideWaiting(in: &batch)
      return (batch, batch.origin)
    }
    watcher.setRoots(watchRoots())
    reconciler.roots.setNewNumber(of: rootID)
    watcher.setRoots(watchRoots())
    doubtSyncs()
    noteDecided(batch.endedScans, in: record)
  }

  /// Ends the scans of roots that are not watched under their numbers any more.
  private func noteDecided(_ scans: [EndedScan], in record: CommitRecord) {
    rescans.add(record, to: scans.map(\.request))
    for ended in scans { scanEnded(ended) }
    if !isScanAwaited { problems.watching.hasOverflowed = false }
    settleUnreadable()
  }

  /// Scans roots anew that were on a drive of this machine, and are on a share now. Each of them gets a photod-watch of
  /// its own.
  func watchAnew(remoteRoots roots: [UInt16]) throws {
    for root in roots {
      if let rootID = reconciler.roots.id(ofNumber: root) { try watchAnew(rootID) }
    }
  }

  /// Watches the inner roots on a share that photod-watch has left out below a root. Each of them gets a photod-watch
  /// of its own.
  func adoptInnerRoots(onShare name: [UInt8], in directory: DirectoryNumber) throws {
    guard let id = reconciler.tree.directory(number: directory) else { return }
    let share = child(name, of: reconciler.tree.path(of: id))
    let inner = configuration.innerRoots.filter { CatalogTree.contains(share, $0) }
    guard !inner.isEmpty else { return }
    problems.leftOutShares.insert(share)
    let watched = Set(reconciler.roots.numbers.compactMap { rootPath($0) })
    if !watched.isSuperset(of: inner) { try adoptRoots() }
  }

  /// Whether an inner root is on a share now, or was when photod last saw the root.
  private func isOnShare(_ root: [UInt8]) -> Bool {
    if problems.leftOutShares.contains(where: { CatalogTree.contains($0, root) }) { return true }
    return reconciler.tree.rootPaths.contains { rootID, path in
      guard path == root, let top = reconciler.tree.top(ofRoot: rootID) else { return false }
      return reconciler.volumes.isShare(reconciler.tree.volumeID(of: top))
    }
  }

  /// The share that a path is on, if that is left out and no root is on it.
  func leftOutShare(of path: [UInt8]) -> [UInt8]? {
    problems.unreadable.share(of: path) { !hasRoot(onShare: $0) }
  }

  /// Whether a path is one at which a share is left out.
  func isLeftOut(_ path: [UInt8]) -> Bool { problems.unreadable.entry(at: path)?.errorNumber == EREMOTE }

  /// Whether a root is on the share that is mounted at a path. If so, no warning asks for an entry in the
  /// configuration.
  func hasRoot(onShare path: [UInt8]) -> Bool {
    reconciler.roots.numbers.contains { rootPath($0).map { CatalogTree.contains(path, $0) } ?? false }
  }

  private func watchRoots() -> [WatchRoot] {
    reconciler.roots.watched.map { number, root in
      let path = reconciler.tree.rootPaths[root.id]!
      return WatchRoot(number: number, path: path, pollSeconds: configuration.pollSeconds[path] ?? 0)
    }
  }

  // MARK: The log

  /// Logs each root that went offline in a batch, or whose folder was never there. A root that was offline before is
  /// not logged again, even if the reason is another one now.
  func logOfflineRoots(since before: Roots) {
    for root in reconciler.roots.all {
      guard let cause = root.absenceCause, before[root.id]?.absenceCause == nil else { continue }
      let path = FilePath.text(reconciler.tree.rootPaths[root.id] ?? [])
      if case .offline(_, let reason) = root.presence, known(reason, of: root) == .neverThere {
        logger.notice("root missing", metadata: ["root": "\(path)", "why": "\(OfflineReason.neverThere.cause)"])
      } else {
        logger.notice("root offline", metadata: ["root": "\(path)", "why": "\(cause)"])
      }
    }
  }

  func logSuspicion(_ number: UInt16) {
    guard let suspect = reconciler.roots[number: number]?.suspect, let path = rootPath(number) else { return }
    logger.warning(
      "root suspect",
      metadata: [
        "root": "\(FilePath.text(path))", "missing": "\(suspect.missing)",
        "examples": "\(suspect.examples.map { FilePath.text($0) }.joined(separator: ", "))",
      ])
  }

  // MARK: Unreadable paths

  /// Notes that a name in a folder can't be read. An empty name means the folder itself.
  func noteUnreadable(_ directory: DirectoryNumber, _ name: [UInt8], _ code: Int32) {
    guard let id = reconciler.tree.directory(number: directory) else { return }
    let path = reconciler.tree.path(of: id)
    problems.unreadable.insert(name.isEmpty ? path : child(name, of: path), errorNumber: code, at: clock.wallTime)
  }

  /// The path of a name in a folder, which may be `/`.
  private func child(_ name: [UInt8], of folder: [UInt8]) -> [UInt8] {
    folder.last == UInt8(ascii: "/") ? folder + name : folder + [UInt8(ascii: "/")] + name
  }

  /// Forgets the unreadable paths in a folder that is listed. The listing reports those that still can't be read.
  func noteListing(_ directory: DirectoryNumber) {
    guard !problems.unreadable.isEmpty || !problems.leftOutShares.isEmpty,
      let id = reconciler.tree.directory(number: directory)
    else { return }
    let path = reconciler.tree.path(of: id)
    problems.unreadable.remove(in: path)
    // The folder of an outer root is listed only when no share is mounted on it. An inner root may have the same path.
    if reconciler.tree.row(id).parentID != nil { problems.leftOutShares.remove(path) }
  }

  /// Forgets the unreadable paths in folders that moved or went.
  func forgetUnreadable(in leftPaths: LeftPaths) {
    guard !problems.unreadable.isEmpty else { return }
    guard let paths = leftPaths.paths else { return forgetUnreadable() }
    for folder in paths { forgetUnreadable(below: folder) }
  }

  /// Forgets the unreadable paths in folders that the library does not have.
  ///
  /// - Parameter folder: nothing else is looked at; nil means all folders.
  func forgetUnreadable(below folder: [UInt8]? = nil) {
    problems.unreadable.removeUnlessThere(below: folder) { reconciler.tree.directory(path: $0) != nil }
  }

  /// Logs the unreadable paths and updates the status, once no scan is about to report more of them.
  func settleUnreadable() {
    guard problems.unreadable.hasChanged, !reconciler.scans.areUnderWay else { return }
    for (path, code, count) in problems.unreadable.settle() {
      logger.warning(
        "unreadable", metadata: ["path": "\(FilePath.text(path))", "why": "\(errorText(code))", "count": "\(count)"])
    }
  }
}
