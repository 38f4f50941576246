import PhotoCatalog
import PhotoModel
import PhotoWatch
import WatchRecords

/// What a rescan found that was not known.
package struct RescanResult: Sendable, Equatable {
  package var inserted = 0
  package var updated = 0
  package var removed = 0

  package init() {}
}

/// A rescan that somebody waits for.
struct RescanProgress {
  var result = RescanResult()
  let continuation: CheckedContinuation<RescanResult, any Error>

  mutating func add(_ record: CommitRecord) {
    result.inserted += record.insertedAssets.count
    result.updated += record.updatedAssets.count
    result.removed += record.deletedAssets.count
  }
}

extension Library {
  /// Looks at a folder, or at all, and takes in what differs.
  ///
  /// - Parameters:
  ///   - path: absolute; nil means every root. Of a file, its folder is scanned.
  ///   - dryRun: only counts.
  ///   - confirm: what is missing really is gone, however much it is.
  /// - Throws: ``LibraryError/notInLibrary(path:message:)`` for a path outside every root.
  package func rescan(path: [UInt8]?, dryRun: Bool, confirm: Bool) async throws -> RescanResult {
    let targets = try rescanTargets(path)
    if dryRun { return try dryRunRescan(targets.map(\.directoryID)) }
    var total = RescanResult()
    for target in targets {
      guard let number = reconciler.tree.number(of: target.directoryID) else { continue }
      let isTop = reconciler.tree.row(target.directoryID).parentID == nil
      let result = try await withCheckedThrowingContinuation { continuation in
        let request = watcher.rescan(root: target.root, directory: isTop ? nil : number)
        if confirm { reconciler.confirmedRequests.insert(request) }
        rescans[request] = RescanProgress(continuation: continuation)
      }
      total.inserted += result.inserted
      total.updated += result.updated
      total.removed += result.removed
    }
    return total
  }

  func finishRescan(_ request: UInt32, throwing error: LibraryError?) {
    guard let rescan = rescans.removeValue(forKey: request) else { return }
    if let error {
      rescan.continuation.resume(throwing: error)
    } else {
      rescan.continuation.resume(returning: rescan.result)
    }
  }

  private func rescanTargets(_ path: [UInt8]?) throws -> [(root: UInt16, directoryID: Int64)] {
    let tree = reconciler.tree
    guard let path else {
      return reconciler.rootIDs.compactMap { root, rootID in tree.top(ofRoot: rootID).map { (root, $0) } }
        .sorted { $0.root < $1.root }
    }
    guard rootID(containing: path) != nil else {
      throw LibraryError.notInLibrary(
        path: FilePath.text(path),
        message: "\(FilePath.text(path)) is in none of the library's folders. `photoctl status` lists them.")
    }
    var folder = path
    while true {
      if let directory = tree.directory(path: folder), tree.number(of: directory) != nil {
        let rootID = tree.rootID(of: directory)
        return reconciler.rootIDs.filter { $0.value == rootID }.map { ($0.key, directory) }
      }
      guard let slash = folder.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return [] }
      folder.removeSubrange(slash...)
    }
  }

  func rootID(containing path: [UInt8]) -> Int64? {
    reconciler.tree.rootPaths.first { _, root in
      path.starts(with: root)
        && (path.count == root.count || root.last == UInt8(ascii: "/") || path[root.count] == UInt8(ascii: "/"))
    }?.key
  }

  /// Compares the disk with the catalog and changes nothing. A moved file counts as updated.
  private func dryRunRescan(_ directoryIDs: [Int64]) throws -> RescanResult {
    let tree = reconciler.tree
    let rows = try catalog.write { writer in
      var rows: [[UInt8]: FileRow] = [:]
      for top in directoryIDs {
        for directory in tree.subtree(of: top) {
          for row in try writer.files(in: directory) { rows[reconciler.path(of: row)] = row }
        }
      }
      return rows
    }
    var result = RescanResult()
    var unseen = rows
    var new: [UInt64] = []
    for top in directoryIDs {
      DiskCrawl.forEachFile(below: tree.path(of: top)) { path, stat in
        guard let row = unseen.removeValue(forKey: path) else {
          new.append(stat.identity.inode)
          return
        }
        if row.inode != stat.identity.inode || row.byteCount != stat.byteCount
          || row.modificationTime != stat.modificationTime
        {
          result.updated += 1
        }
      }
    }
    var missing = Dictionary(unseen.values.map { ($0.inode, 1) }, uniquingKeysWith: +)
    for inode in new {
      if let count = missing[inode], count > 0 {
        missing[inode] = count - 1
        result.updated += 1
      } else {
        result.inserted += 1
      }
    }
    result.removed = missing.values.reduce(0, +)
    return result
  }
}
