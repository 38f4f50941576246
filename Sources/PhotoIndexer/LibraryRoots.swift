import Logging
import PhotoCatalog
import PhotoModel
import PhotoWatch

// Which folders are the library's, and what is wrong with them.
extension Library {
  /// Brings catalog and photod-watch in line with the configured roots. A root that is configured no longer leaves with
  /// its assets.
  func adoptRoots() throws {
    let wanted = configuration.roots
    let reconciler = reconciler
    _ = try commit { writer in
      var batch = Batch(writer: writer, time: now())
      batch.sawScan = true
      for (rootID, path) in reconciler.tree.rootPaths where !wanted.contains(path) {
        if let top = reconciler.tree.top(ofRoot: rootID) { try reconciler.removeTree(top, in: &batch) }
        try writer.deleteRoot(rootID)
        reconciler.tree.removeRoot(rootID)
        reconciler.availability[rootID] = nil
        reconciler.suspects[rootID] = nil
        reconciler.rootIDs = reconciler.rootIDs.filter { $0.value != rootID }
      }
      for path in wanted where !reconciler.tree.rootPaths.values.contains(path) {
        let rootID = try writer.insertRoot(path: path)
        reconciler.tree.addRoot(rootID, path: path)
        reconciler.availability[rootID] = true
      }
      // A number once given to a root stays its own while photod runs.
      for (rootID, _) in reconciler.tree.rootPaths where !reconciler.rootIDs.values.contains(rootID) {
        nextRootNumber += 1
        reconciler.rootIDs[nextRootNumber] = rootID
      }
      return ((), batch.record, batch.origin)
    }
    watcher.setRoots(
      reconciler.rootIDs.sorted { $0.key < $1.key }.map {
        WatchRoot(number: $0.key, path: reconciler.tree.rootPaths[$0.value]!)
      })
  }

  func warnOffline(_ root: UInt16, _ code: Int32) {
    guard let rootID = reconciler.rootIDs[root], let path = reconciler.tree.rootPaths[rootID] else { return }
    logger.notice("A root is offline", metadata: ["root": "\(FilePath.text(path))", "errno": "\(code)"])
    board.warn(
      "offline \(root)",
      "\(FilePath.text(path)) can't be opened (\(errorText(code))). Its photos stay in the library; they are available again when it is."
    )
  }

  func warnSuspect(_ rootID: Int64) {
    guard let path = reconciler.tree.rootPaths[rootID] else { return }
    let suspect = reconciler.suspects[rootID]
    if let suspect {
      logger.warning(
        "Most of a root is missing",
        metadata: ["root": "\(FilePath.text(path))", "missing": "\(suspect.missing)"])
    }
    board.warn(
      "suspect \(rootID)",
      suspect.map {
        "\($0.missing) photos are missing from \(FilePath.text(path)) at once; nothing was removed. Mount the drive if it is one, or say `photoctl rescan --confirm` if they are gone for good."
      })
  }

  func warnWatchBudget(unwatched: Int, watched: Int, limit: Int) {
    board.warn(
      "watches",
      unwatched == 0
        ? nil
        : "\(unwatched) folders are only looked at every few seconds: all \(limit) inotify watches of this user are taken (\(watched) by photod). Raise the limit: sudo sysctl fs.inotify.max_user_watches=\(max(limit * 2, 524_288))"
    )
    board.update { status in
      for index in status.roots.indices {
        status.roots[index].watch = unwatched == 0 ? .inotify : .mixed
        status.roots[index].polledDirectoryCount = unwatched
      }
    }
  }
}
