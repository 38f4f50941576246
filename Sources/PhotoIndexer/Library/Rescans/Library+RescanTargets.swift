import PhotoCatalog
import PhotoModel

// The folders that a rescan looks at, and the reasons why some can't be looked at.
extension Library {
  /// - Parameter path: nil means every root that is online. An offline root is not scanned, and callers do not wait for
  ///   it.
  /// - Throws: ``LibraryError/notInLibrary(path:message:)``; ``LibraryError/unavailable(_:)`` for a path that is
  ///   offline, or was not scanned yet.
  func rescanTargets(_ path: [UInt8]?) throws -> [(root: UInt16, directoryID: DirectoryID)] {
    let tree = reconciler.tree
    guard let path else {
      return reconciler.roots.watched.filter(\.root.isAvailable).compactMap { number, root in
        tree.top(ofRoot: root.id).map { (number, $0) }
      }
    }
    guard let rootID = rootID(containing: path) else {
      throw LibraryError.notInLibrary(
        path: FilePath.text(path),
        message: "\(FilePath.text(path)) is in none of the library's folders. `photoctl status` lists them.")
    }
    // This comes before the look at the path, which finds nothing in an offline root.
    if let error = offlineError(rootID) ?? offlineError(folderOf: path) { throw error }
    guard try files.exists(path) || isKnown(path) else {
      throw LibraryError.notInLibrary(
        path: FilePath.text(path), message: "There is no \(FilePath.text(path)), on disk or in the library.")
    }
    guard let directory = tree.folders(on: path, ofRoot: rootID).last(where: { tree.number(of: $0) != nil }) else {
      throw notScanned(path)
    }
    return reconciler.roots[rootID]?.number.map { [($0, directory)] } ?? []
  }

  private func notScanned(_ path: [UInt8]) -> LibraryError {
    LibraryError.unavailable(
      "\(FilePath.text(path)) has not been scanned yet. `photoctl status --wait` waits for the scan.")
  }

  /// The error for a folder that went while others were scanned.
  func goneMeanwhile(root: UInt16) -> LibraryError {
    guard let rootID = reconciler.roots.id(ofNumber: root) else {
      return LibraryError.unavailable(
        "A folder is no longer in the configuration. `photoctl status` lists the folders.")
    }
    return offlineError(rootID) ?? notScanned(reconciler.tree.rootPaths[rootID] ?? [])
  }

  private func offlineError(_ rootID: RootID) -> LibraryError? {
    let path = FilePath.text(reconciler.tree.rootPaths[rootID] ?? [])
    guard let root = reconciler.roots[rootID] else { return nil }
    switch root.presence {
    case .online, .suspect: return nil
    case nil:
      return LibraryError.unavailable(
        "\(path) is no longer in the configuration, so it is not compared with the library. Its photos stay in the library until you run `photoctl rescan \(ShellWord.inQuotes(path)) --confirm`."
      )
    case .offline(_, let reason) where known(reason, of: root) == .neverThere:
      return LibraryError.unavailable(OfflineReason.neverThere.text(of: path, at: path))
    case .offline(let since, let reason): return offlineError(path, since, reason.text(of: "It", at: path))
    case .foreign(let since, let folder): return offlineError(path, since, folder.text(of: "It", at: path))
    }
  }

  private func offlineError(_ path: String, _ since: PhotoDate?, _ reason: String) -> LibraryError {
    let date = since.map { " since \($0.localTimeToMinute)" } ?? ""
    return LibraryError.unavailable(
      "\(path) is offline\(date), so it can't be compared. None of its photos is removed. Mount its drive, or put the folder back. photod then scans it by itself. \(reason)"
    )
  }

  /// The error for a path in a folder whose drive is away.
  private func offlineError(folderOf path: [UInt8]) -> LibraryError? {
    let tree = reconciler.tree
    guard
      let folder = tree.away.map({ tree.path(of: $0) }).first(where: {
        path.starts(with: $0) && (path.count == $0.count || path[$0.count] == UInt8(ascii: "/"))
      })
    else { return nil }
    let text = FilePath.text(folder)
    return LibraryError.unavailable(
      "\(text) is offline: its drive is not mounted, or another drive is. None of its photos is removed. Mount its drive. photod then scans it by itself. If it is gone for good, run `photoctl rescan \(ShellWord.inQuotes(text)) --confirm`."
    )
  }

  /// Whether the catalog has a folder, or a file, of this path.
  private func isKnown(_ path: [UInt8]) throws -> Bool {
    if reconciler.tree.directory(path: path) != nil { return true }
    return try catalog.read { try $0.file(path: path) } != nil
  }

  /// The root that a path belongs to. If one root lies in a hidden folder of another, that is the inner one; a configured
  /// root comes before one that is configured no longer.
  func rootID(containing path: [UInt8]) -> RootID? {
    let containing = reconciler.tree.rootPaths.filter { _, root in
      path.starts(with: root)
        && (path.count == root.count || root.last == UInt8(ascii: "/") || path[root.count] == UInt8(ascii: "/"))
    }
    let configured = containing.filter { reconciler.roots[$0.key]?.isUnconfigured != true }
    return (configured.isEmpty ? containing : configured).max { $0.value.count < $1.value.count }?.key
  }
}
