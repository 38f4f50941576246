import PhotoCatalog
import PhotoModel
import PhotoWatch
import WatchRecords

extension Library {
  /// Begins a rescan of a folder, or of all roots. ``finish(_:)`` does the rest.
  ///
  /// - Parameters:
  ///   - path: an absolute path; nil means every root. If it is a file, its folder is scanned.
  ///   - dryRun: whether differences are only counted.
  ///   - confirm: whether missing files really are gone, however many they are.
  /// - Throws: ``LibraryError/notInLibrary(path:message:)`` for a path outside every root;
  ///   ``LibraryError/unavailable(_:)`` for one that is offline, with since when and why, and while the catalog can't be
  ///   written.
  package func beginRescan(path: [UInt8]?, dryRun: Bool, confirm: Bool) throws -> BegunRescan {
    try requireCatalog()
    if let path, confirm, !dryRun, let rootID = rootID(of: path) { return BegunRescan(try confirmRoot(rootID)) }
    if let path, confirm, !dryRun, let folder = awayFolder(path) { return BegunRescan(try confirmFolder(folder)) }
    let targets = try rescanTargets(path)
    if dryRun {
      for target in targets {
        try DryRuns.requireAnswer(of: reconciler.tree.rootPaths[reconciler.tree.rootID(of: target.directoryID)], files)
      }
      return BegunRescan(.comparison(targets.map(\.directoryID)))
    }
    return BegunRescan(
      .scans(
        targets.map {
          RescanRequests.Folder(
            root: $0.root, directoryID: $0.directoryID, isConfirmed: confirm, wantsProofs: path != nil)
        }))
  }

  /// Waits for the scans of a rescan, which apply the differences, or for the walk that counts them.
  ///
  /// - Throws: the errors of ``beginRescan(path:dryRun:confirm:)``, for a folder that went meanwhile.
  package func finish(_ rescan: BegunRescan) async throws -> RescanCounts {
    switch rescan.work {
    case .none(let result): return result
    case .comparison(let folders):
      let snapshot = DryRuns.Snapshot(
        tree: reconciler.tree, volumes: reconciler.volumes, roots: reconciler.roots, policy: reconciler.policy,
        rules: WatchRules.nameRules(ignoring: configuration.ignore), catalog: catalog, files: files)
      return try await dryRuns.counts(of: folders, in: snapshot)
    case .scans(let folders):
      var total = RescanCounts()
      for folder in folders {
        let result = try await rescans.wait(for: folder) { beginRescans() }
        total.inserted += result.inserted
        total.updated += result.updated
        total.removed += result.removed
      }
      return total
    case .scanAnew(let before): return try await waitForScan(after: before)
    }
  }

  /// Both parts of a rescan.
  package func rescan(path: [UInt8]?, dryRun: Bool, confirm: Bool) async throws -> RescanCounts {
    try await finish(beginRescan(path: path, dryRun: dryRun, confirm: confirm))
  }

  /// Has photod-watch make the rescans that wait.
  func beginRescans() {
    rescans.beginWaiting { folder in
      try requireCatalog()
      // The folder, or one above it, may have gone while others were scanned.
      guard reconciler.tree.contains(folder.directoryID), let number = reconciler.tree.number(of: folder.directoryID)
      else { throw goneMeanwhile(root: folder.root) }
      if folder.wantsProofs { try requestProofs(below: folder.directoryID) }
      let isTop = reconciler.tree.row(folder.directoryID).parentID == nil
      let request = watcher.rescan(root: folder.root, directory: isTop ? nil : number)
      reconciler.requests.add(
        request, partOf: isTop ? nil : folder.directoryID, isConfirmed: folder.isConfirmed)
      return request
    }
  }

  /// Repeats the rescans that had ended but were not decided when photod-watch ended. Their findings are void. No
  /// folder has a number yet, so the whole root is scanned.
  func repeatRescans(_ scans: [CatalogScan]) {
    for scan in scans {
      let (part, isConfirmed) = reconciler.requests.remove(scan.request)
      let request = rescans.restart(scan.request) { watcher.rescan(root: scan.root, directory: nil) }
      guard let request else { continue }
      reconciler.requests.add(request, partOf: part, isConfirmed: isConfirmed)
    }
  }

  /// Until the library has restarted from the catalog, it drops the records of photod-watch. So it would not notice that
  /// a scan ends.
  private func requireCatalog() throws {
    if restart.breakdown != nil { throw Self.catalogError }
  }

  /// The root with this path, if it needs a person's confirmation.
  private func rootID(of path: [UInt8]) -> RootID? {
    reconciler.tree.rootPaths.first { rootID, root in
      root == path && reconciler.roots[rootID].map { $0.isForeign || $0.isUnconfigured } == true
    }?.key
  }

  /// Applies a person's confirmation for a root. A root on another file system is the library's now. A root that is no
  /// longer configured leaves with its assets.
  private func confirmRoot(_ rootID: RootID) throws -> BegunRescan.Work {
    if reconciler.roots[rootID]?.isUnconfigured == true {
      let reconciler = reconciler
      do {
        var result = RescanCounts()
        let (_, record) = try commit { writer in
          var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
          batch.context.evidence = .scan
          if let top = reconciler.tree.top(ofRoot: rootID) {
            try reconciler.removeTree(top, withDrives: true, in: &batch)
          }
          try reconciler.removeRoot(rootID, in: &batch)
          return ((), batch.origin)
        }
        result.removed = record.deletedAssets.count
        updateState()
        return .none(result)
      } catch {
        // The tree in memory is ahead of the catalog now.
        breakDown(error)
        throw error
      }
    }
    reconciler.roots[rootID]?.isAdopted = true
    return try scanAnew(rootID)
  }

  /// The folder with this path, if its drive is away.
  private func awayFolder(_ path: [UInt8]) -> DirectoryID? {
    guard let folder = reconciler.tree.directory(path: path), !reconciler.tree.row(folder).isAvailable else {
      return nil
    }
    return folder
  }

  /// Applies a person's confirmation for a folder whose drive is away. A folder that is there now is the library's. If
  /// there is none, the photos that were there leave the library.
  private func confirmFolder(_ folder: DirectoryID) throws -> BegunRescan.Work {
    guard !files.exists(reconciler.tree.path(of: folder)) else {
      reconciler.roots.adopt(folder: folder)
      return try scanAnew(reconciler.tree.rootID(of: folder))
    }
    let reconciler = reconciler
    do {
      let (_, record) = try commit { writer in
        var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
        batch.context.evidence = .scan
        try reconciler.removeTree(folder, withDrives: true, in: &batch)
        return ((), batch.origin)
      }
      updateState()
      var result = RescanCounts()
      result.removed = record.deletedAssets.count
      return .none(result)
    } catch {
      // The tree in memory is ahead of the catalog now.
      breakDown(error)
      throw error
    }
  }

  private func scanAnew(_ rootID: RootID) throws -> BegunRescan.Work {
    let before = commits.feed.sequence
    do {
      try watchAnew(rootID)
    } catch {
      // The tree in memory is ahead of the catalog now.
      breakDown(error)
      throw error
    }
    return .scanAnew(after: before)
  }

  private func waitForScan(after before: Int64) async throws -> RescanCounts {
    var result = RescanCounts()
    _ = try await synchronize(timeout: .seconds(3600))
    let touched = try catalog.read { try $0.persistentChanges(after: before, limit: 10_000) }
    for change in touched where !change.origin.hasPrefix("client:") {
      result.inserted += change.insertedAssets.count
      result.updated += change.updatedAssets.count
      result.removed += change.deletedAssets.count
    }
    return result
  }
}

/// A rescan whose folders are known. The rest of its work waits for photod-watch, or is done on another queue, so it needs no
/// turn in the library's queue.
package struct BegunRescan: Sendable {
  enum Work: Sendable {
    /// A person's confirmation was applied.
    case none(RescanCounts)
    case comparison([DirectoryID])
    case scans([RescanRequests.Folder])
    /// A root is scanned as a new one. The sequence is that of the last commit before.
    case scanAnew(after: Int64)
  }

  let work: Work

  init(_ work: Work) { self.work = work }
}
