import Glibc
import Logging
import PhotoCatalog
import PhotoModel
import PhotoWatch
import WatchRecords

// Which folders are the library's, and what is wrong with them.
extension Library {
  /// Brings catalog and photod-watch in line with the configured roots.
  ///
  /// A root that is configured no longer stays with its assets, unavailable: a link to a drive that is not mounted, a
  /// mistyped line or a folder that moved in the configuration must not cost anybody their favorites.
  func adoptRoots() throws {
    let wanted = configuration.roots
    let reconciler = reconciler
    try commit { writer in
      var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
      reconciler.unconfiguredRoots = []
      for (rootID, path) in reconciler.tree.sortedRootPaths where !wanted.contains(path) {
        reconciler.rootIDs = reconciler.rootIDs.filter { $0.value != rootID }
        if let top = reconciler.tree.top(ofRoot: rootID) {
          reconciler.tree.unbind(subtree: top)
          reconciler.unconfiguredRoots.insert(rootID)
          try reconciler.setAvailable(rootID, false, in: &batch)
        } else {
          try reconciler.removeRoot(rootID, in: &batch)
        }
      }
      for path in wanted where !reconciler.tree.rootPaths.values.contains(path) {
        let rootID = try writer.insertRoot(path: path)
        reconciler.tree.addRoot(rootID, path: path)
        reconciler.availability[rootID] = true
      }
      for (rootID, path) in reconciler.tree.sortedRootPaths
      where wanted.contains(path) && !reconciler.rootIDs.values.contains(rootID) {
        reconciler.rootIDs[freeRootNumber()] = rootID
      }
      return ((), batch.record, batch.origin)
    }
    let counts = reconciler.unconfiguredRoots.isEmpty ? [] : try catalog.read { try $0.rootCounts() }
    let empty = Set(counts.filter { $0.assets == 0 }.map(\.rootID))
    for (rootID, path) in reconciler.tree.rootPaths { warnUnconfigured(rootID, path, isEmpty: empty.contains(rootID)) }
    // Nobody looks whether the drive of one that is configured no longer is back.
    for rootID in reconciler.unconfiguredRoots {
      board.warn("offline \(rootID)", nil)
      toldOffline.remove(rootID)
    }
    warnDrives()
    forgetWatchState(ofAllBut: reconciler.rootIDs.keys)
    // Before the roots: what is ignored in a new one is never looked at.
    watcher.setIgnoredPatterns(configuration.ignore)
    watcher.setRoots(watchRoots())
  }

  /// Has a root scanned as if it were new, whatever stands there.
  func watchAnew(_ rootID: Int64) {
    reconciler.rootIDs = reconciler.rootIDs.filter { $0.value != rootID }
    watcher.setRoots(watchRoots())
    reconciler.rootIDs[freeRootNumber()] = rootID
    watcher.setRoots(watchRoots())
    doubtSyncs()
  }

  private func watchRoots() -> [WatchRoot] {
    reconciler.rootIDs.sorted { $0.key < $1.key }.map {
      WatchRoot(number: $0.key, path: reconciler.tree.rootPaths[$0.value]!)
    }
  }

  /// A number that photod-watch was not given for another root lately: it may still speak of that.
  private func freeRootNumber() -> UInt16 {
    repeat { lastRootNumber &+= 1 } while lastRootNumber == 0 || reconciler.rootIDs[lastRootNumber] != nil
    return lastRootNumber
  }

  // MARK: Warnings

  func warnOffline(_ root: UInt16, _ code: Int32) {
    guard let rootID = reconciler.rootIDs[root], let path = reconciler.tree.rootPaths[rootID] else { return }
    let why = Self.offlineReason(code)
    logOffline(rootID, path, why)
    let remedy =
      code == ENOENT || code == ENOTDIR || code == ENODEV
      ? " If it is gone for good, take it out of `roots` in the configuration and have photod read that again (SIGHUP, or `systemctl --user reload photod`); then `photoctl rescan '\(FilePath.text(path))' --confirm` removes its photos from the library."
      : ""
    board.warn(
      "offline \(rootID)",
      reason(
        ofOffline: rootID, path,
        "\(FilePath.text(path)) can't be opened (\(why)). Its photos stay in the library, unavailable; they are available again when it is.\(remedy)"
      ))
  }

  /// Once until it is back: what stands in its place changes meanwhile, as when its drive is mounted again.
  private func logOffline(_ rootID: Int64, _ path: [UInt8], _ why: String) {
    guard toldOffline.insert(rootID).inserted else { return }
    logger.notice("root offline", metadata: ["root": "\(FilePath.text(path))", "why": "\(why)"])
  }

  /// Makes a warning of a root the reason of its state as well, without the path.
  ///
  /// - Returns: the warning.
  private func reason(ofOffline rootID: Int64, _ path: [UInt8], _ warning: String) -> String {
    troubles.setReason("It" + warning.dropFirst(FilePath.text(path).count), ofOffline: rootID)
    return warning
  }

  func warnAvailability(_ rootID: Int64) {
    guard let path = reconciler.tree.rootPaths[rootID] else { return }
    let text = FilePath.text(path)
    if reconciler.replacedRoots.contains(rootID) {
      logOffline(rootID, path, "another folder stands in its place")
      board.warn(
        "offline \(rootID)",
        reason(
          ofOffline: rootID, path,
          "\(text) is another folder than it was, and nothing of the library is in it: its drive is not mounted, or it was made anew. Its photos stay in the library, unavailable; they are available again when they are back. If they are gone for good, say `photoctl rescan '\(text)' --confirm`: it removes them from the library, and takes in what is there."
        ))
    } else if reconciler.foreignRoots.contains(rootID) {
      logOffline(rootID, path, "another file system stands in its place")
      board.warn(
        "offline \(rootID)",
        reason(
          ofOffline: rootID, path,
          "\(text) is on another file system than it was: its drive is not mounted, or another is. Its photos stay in the library, unavailable; they are available again when it is mounted here. If you moved them here, or they are gone for good, say `photoctl rescan '\(text)' --confirm`: it takes in what is there, and removes the others from the library."
        ))
    } else if reconciler.availability[rootID] == true {
      board.warn("offline \(rootID)", nil)
    }
  }

  /// Of folders whose drive is away. Warnings of those that are back, or of roots whose photos are in another now, go.
  func warnDrives() {
    let away = reconciler.tree.away
    for id in away {
      let path = FilePath.text(reconciler.tree.path(of: id))
      board.warn(
        "drive \(id)",
        "\(path) is on another file system than it was: the drive that was mounted there is not, or one is mounted over what was there. Its photos stay in the library, unavailable; they are available again when it is as it was. If they are gone for good, say `photoctl rescan '\(path)' --confirm`."
      )
    }
    for id in warnedFolders.subtracting(away) { board.warn("drive \(id)", nil) }
    warnedFolders = Set(away)
    for rootID in warnedRoots where reconciler.tree.rootPaths[rootID] == nil {
      board.warn("unconfigured \(rootID)", nil)
      warnedRoots.remove(rootID)
    }
  }

  private func warnUnconfigured(_ rootID: Int64, _ path: [UInt8], isEmpty: Bool) {
    warnedRoots.insert(rootID)
    guard reconciler.unconfiguredRoots.contains(rootID) else {
      board.warn("unconfigured \(rootID)", nil)
      return
    }
    let path = FilePath.text(path)
    board.warn(
      "unconfigured \(rootID)",
      isEmpty
        ? "\(path) is configured no longer. It has no photos in the library; `photoctl rescan '\(path)' --confirm` forgets it."
        : "\(path) is configured no longer. Its photos stay in the library, unavailable, until you say `photoctl rescan '\(path)' --confirm`."
    )
  }

  func warnSuspect(_ rootID: Int64) {
    guard let path = reconciler.tree.rootPaths[rootID] else { return }
    let suspect = reconciler.suspects[rootID]
    if let suspect {
      logger.warning(
        "root suspect",
        metadata: ["root": "\(FilePath.text(path))", "missing": "\(suspect.missing)"])
    }
    board.warn(
      "suspect \(rootID)",
      suspect.map {
        "\(counted($0.missing, "photo is", "photos are")) missing from \(FilePath.text(path)) at once; nothing was removed yet. Mount the drive if it is one, or put back what is missing; \(configuration.removalGrace.components.seconds) seconds after it was missed photod scans again by itself and removes what is missing then; `photoctl rescan --confirm` does at once."
      })
  }

  /// A suspicion also ends without a scan, as when its root goes offline or is configured no longer.
  func withdrawSuspicions() {
    for rootID in reconciler.tree.rootPaths.keys where reconciler.suspects[rootID] == nil {
      board.warn("suspect \(rootID)", nil)
    }
  }

  /// Something in a folder, or without a name the folder itself, can't be read.
  func noteUnreadable(_ directory: DirectoryNumber, _ name: [UInt8], _ code: Int32) {
    guard let id = reconciler.tree.directory(number: directory) else { return }
    let path = reconciler.tree.path(of: id)
    unreadable.insert(name.isEmpty ? path : child(name, of: path), errorNumber: code, at: clock.wallTime / 1000)
  }

  /// The path of what has a name in a folder; the folder may be `/`.
  private func child(_ name: [UInt8], of folder: [UInt8]) -> [UInt8] {
    folder.last == UInt8(ascii: "/") ? folder + name : folder + [UInt8(ascii: "/")] + name
  }

  /// A folder is listed: what of it still can't be read is said once more.
  func noteListing(_ directory: DirectoryNumber) {
    guard !unreadable.isEmpty, let id = reconciler.tree.directory(number: directory) else { return }
    unreadable.remove(in: reconciler.tree.path(of: id))
  }

  private static func remedy(_ code: Int32) -> String {
    code == EACCES || code == EPERM
      ? "Mend the permissions, then say `photoctl rescan`."
      : "It is tried again by itself; if it lasts, look at the disk, and at `ulimit -n`."
  }

  /// Tells of files whose content the disk does not give; they are tried again.
  func warnUnread() {
    let troubles = reconciler.unread.values.compactMap(\.trouble)
    let first = troubles.min { $0.path.lexicographicallyPrecedes($1.path) }
    board.warn(
      "unread",
      first.map { trouble in
        troubles.count == 1
          ? "1 file can't be read: \(FilePath.text(trouble.path)): \(trouble.reason). It is tried again by itself; if it lasts, look at the disk."
          : "\(troubles.count) files can't be read, the first is \(FilePath.text(trouble.path)): \(trouble.reason). They are tried again by themselves; if it lasts, look at the disk."
      })
  }

  /// Tells of what can't be read, once no scan is about to say more of it.
  func warnUnreadable() {
    guard unreadable.hasChanged, reconciler.scans.isEmpty else { return }
    for (path, code, count) in unreadable.takeUntold() {
      logger.warning(
        "unreadable", metadata: ["path": "\(FilePath.text(path))", "why": "\(errorText(code))", "count": "\(count)"])
    }
    board.warn(
      "unreadable",
      unreadable.first.map { path, code in
        unreadable.count == 1
          ? "1 folder or file can't be read: \(FilePath.text(path)) (\(errorText(code))). What is in the library of it stays. \(Self.remedy(code))"
          : "\(unreadable.count) folders or files can't be read, the first is \(FilePath.text(path)) (\(errorText(code))). What is in the library of them stays. \(Self.remedy(code))"
      })
  }
}
