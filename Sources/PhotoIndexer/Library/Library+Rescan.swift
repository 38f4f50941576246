import Dispatch
import PhotoCatalog
import PhotoModel
import PhotoWatch
import WatchRecords

extension Library {
  /// Scans a folder, or all roots, and applies the differences.
  ///
  /// - Parameters:
  ///   - path: an absolute path; nil means every root. If it is a file, its folder is scanned.
  ///   - dryRun: whether differences are only counted.
  ///   - confirm: whether missing files really are gone, however many they are.
  /// - Throws: ``LibraryError/notInLibrary(path:message:)`` for a path outside every root;
  ///   ``LibraryError/unavailable(_:)`` for one that is offline, with since when and why, and while the catalog can't be
  ///   written.
  package func rescan(path: [UInt8]?, dryRun: Bool, confirm: Bool) async throws -> RescanCounts {
    try requireCatalog()
    if let path, confirm, !dryRun, let rootID = rootID(of: path) { return try await confirmRoot(rootID) }
    if let path, confirm, !dryRun, let folder = awayFolder(path) { return try await confirmFolder(folder) }
    let targets = try rescanTargets(path)
    if dryRun {
      for target in targets {
        try Self.requireAnswer(of: reconciler.tree.rootPaths[reconciler.tree.rootID(of: target.directoryID)], files)
      }
      return try await dryRunRescan(targets.map(\.directoryID))
    }
    if path != nil { try requestProofs(below: targets.map(\.directoryID)) }
    var total = RescanCounts()
    for target in targets {
      let folder = RescanRequests.Folder(root: target.root, directoryID: target.directoryID, isConfirmed: confirm)
      let result = try await rescans.wait(for: folder) { beginRescans() }
      total.inserted += result.inserted
      total.updated += result.updated
      total.removed += result.removed
    }
    return total
  }

  /// Has photod-watch make the rescans that wait.
  func beginRescans() {
    rescans.beginWaiting { folder in
      try requireCatalog()
      // The folder, or one above it, may have gone while others were scanned.
      guard reconciler.tree.contains(folder.directoryID), let number = reconciler.tree.number(of: folder.directoryID)
      else { throw goneMeanwhile(root: folder.root) }
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

  private static func requireAnswer(of root: [UInt8]?, _ files: any PhotoFiles) throws {
    guard let root, !files.answers(root) else { return }
    throw LibraryError.unavailable(
      "\(FilePath.text(root)) is on a share that does not answer, so it can't be compared. Try again when the share answers."
    )
  }

  /// The root with this path, if it needs a person's confirmation.
  private func rootID(of path: [UInt8]) -> RootID? {
    reconciler.tree.rootPaths.first { rootID, root in
      root == path && reconciler.roots[rootID].map { $0.isForeign || $0.isUnconfigured } == true
    }?.key
  }

  /// Applies a person's confirmation for a root. A root on another file system is the library's now. A root that is no
  /// longer configured leaves with its assets.
  private func confirmRoot(_ rootID: RootID) async throws -> RescanCounts {
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
        return result
      } catch {
        // The tree in memory is ahead of the catalog now.
        breakDown(error)
        throw error
      }
    }
    reconciler.roots[rootID]?.isAdopted = true
    return try await scanAnew(rootID)
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
  private func confirmFolder(_ folder: DirectoryID) async throws -> RescanCounts {
    guard !files.exists(reconciler.tree.path(of: folder)) else {
      reconciler.roots.adopt(folder: folder)
      return try await scanAnew(reconciler.tree.rootID(of: folder))
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
      return result
    } catch {
      // The tree in memory is ahead of the catalog now.
      breakDown(error)
      throw error
    }
  }

  private func scanAnew(_ rootID: RootID) async throws -> RescanCounts {
    var result = RescanCounts()
    let before = live.feed.sequence
    do {
      try watchAnew(rootID)
    } catch {
      // The tree in memory is ahead of the catalog now.
      breakDown(error)
      throw error
    }
    _ = try await synchronize(timeout: .seconds(3600))
    let touched = try catalog.read { try $0.persistentChanges(after: before, limit: 10_000) }
    for change in touched where !change.origin.hasPrefix("client:") {
      result.inserted += change.insertedAssets.count
      result.updated += change.updatedAssets.count
      result.removed += change.deletedAssets.count
    }
    return result
  }

  /// Compares the disk with the catalog and changes nothing. A moved file counts as updated. The walks are on a queue of
  /// their own, one after the other, and the library goes on meanwhile. A walk ends when its caller has gone.
  private func dryRunRescan(_ directoryIDs: [DirectoryID]) async throws -> RescanCounts {
    let tree = reconciler.tree
    let (catalog, files) = (catalog, files)
    let rules = WatchRules.nameRules(ignoring: configuration.ignore)
    let (policy, knownRoots) = (reconciler.policy, reconciler.roots)
    let budget = WorkBudget(Self.dryRunTime)
    let roots = Set(directoryIDs.map { tree.rootID(of: $0) })
    let key = roots.count == 1 ? roots.first : nil
    let queue = dryRunQueues[key] ?? DispatchQueue(label: "photod.dry-run")
    dryRunQueues[key] = queue
    return try await withTaskCancellationHandler {
      try await Self.dryRun(on: queue, with: budget) {
        var (result, counts) = try Self.compare(directoryIDs, tree, catalog, rules, files)
        for (top, count) in counts where policy.grace > .zero && count.missing > 0 {
          let isSuspect = knownRoots[tree.rootID(of: top)]?.suspect != nil
          if isSuspect || policy.brakes(missing: count.missing, of: count.total) {
            result.heldBack += count.missing
          }
        }
        return result
      }
    } onCancel: {
      budget.cancel()
    }
  }

  /// A walk over a whole library may take long. The budget is there to be cancelled.
  private static let dryRunTime = Duration.seconds(3_600)

  private nonisolated static func dryRun(
    on queue: DispatchQueue, with budget: WorkBudget, _ walk: @escaping @Sendable () throws -> RescanCounts
  ) async throws -> RescanCounts {
    try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(
          with: Result {
            do {
              return try WorkBudget.$current.withValue(budget) {
                try budget.check()
                return try walk()
              }
            } catch is WorkBudget.Spent {
              throw CancellationError()
            }
          })
      }
    }
  }

  /// - Returns: also what the catalog has below each of the directories, and how much of it is missing.
  private nonisolated static func compare(
    _ directoryIDs: [DirectoryID], _ tree: CatalogTree, _ catalog: Catalog, _ rules: NameRules,
    _ files: any PhotoFiles
  ) throws -> (result: RescanCounts, counts: [DirectoryID: (missing: Int, total: Int)]) {
    var unseen: [[UInt8]: FileRow] = [:]
    var tops: [DirectoryID: DirectoryID] = [:]
    var counts: [DirectoryID: (missing: Int, total: Int)] = [:]
    try catalog.read { reader in
      for top in directoryIDs {
        // A photo on a drive that is away is not missing.
        for directory in tree.subtree(of: top) where tree.isMounted(directory) {
          tops[directory] = top
          let folder = tree.path(of: directory) + [UInt8(ascii: "/")]
          let rows = try reader.files(in: directory)
          counts[top, default: (0, 0)].total += rows.count
          for row in rows { unseen[folder + row.name] = row }
        }
      }
    }
    var result = RescanCounts()
    var new: [UInt64] = []
    var unreadable: Set<DirectoryID> = []
    var isPartial = false
    for top in directoryIDs {
      let root = tree.rootPaths[tree.rootID(of: top)] ?? []
      try DiskCrawl.forEachFinding(below: tree.path(of: top), ofRoot: root, by: rules, in: files) { finding in
        switch finding {
        case .unreadable(let path):
          isPartial = true
          unseen[path] = nil
          if let directory = tree.directory(path: path) { unreadable.formUnion(tree.subtree(of: directory)) }
        case .file(let path, let stat):
          guard let row = unseen.removeValue(forKey: path) else {
            new.append(stat.identity.inode)
            return
          }
          if row.inode != stat.identity.inode || row.byteCount != stat.byteCount
            || row.modificationTime != stat.modified
          {
            result.updated += 1
          }
        }
      }
      // If the share stopped answering, the rest of it is unknown.
      if isPartial { try requireAnswer(of: root, files) }
    }
    // Files that can't be looked at stay, as in a scan.
    if !unreadable.isEmpty { unseen = unseen.filter { !unreadable.contains($0.value.directoryID) } }
    var missing = Dictionary(grouping: unseen.values, by: \.inode)
    for inode in new {
      if missing[inode]?.popLast() != nil { result.updated += 1 } else { result.inserted += 1 }
    }
    for row in missing.values.joined() {
      result.removed += 1
      if let top = tops[row.directoryID] { counts[top]?.missing += 1 }
    }
    return (result, counts)
  }
}
