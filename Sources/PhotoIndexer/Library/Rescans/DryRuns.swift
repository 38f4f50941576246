import Dispatch
import PhotoCatalog
import PhotoModel
import WatchRecords

/// The rescans that change nothing. Each walk is on a queue, one after the other, and the library goes on meanwhile.
struct DryRuns {
  /// By the root that is walked; those of several roots have one of their own. So a root that hangs delays only itself.
  private var queues: [RootID?: DispatchQueue] = [:]

  mutating func queue(for comparison: Comparison) -> DispatchQueue {
    let roots = Set(comparison.directoryIDs.map { comparison.tree.rootID(of: $0) })
    let key = roots.count == 1 ? roots.first : nil
    let queue = queues[key] ?? DispatchQueue(label: "photod.dry-run")
    queues[key] = queue
    return queue
  }

  static func requireAnswer(of root: [UInt8]?, _ files: any PhotoFiles) throws {
    guard let root, !files.answers(root) else { return }
    throw LibraryError.unavailable(
      "\(FilePath.text(root)) is on a share that does not answer, so it can't be compared. Try again when the share answers."
    )
  }

  /// Compares the disk with the catalog as they are when it runs. The folders are those that the library had when it began.
  struct Comparison: Sendable {
    let directoryIDs: [DirectoryID]
    let tree: CatalogTree
    let volumes: Volumes
    let roots: Roots
    let policy: RemovalPolicy
    let rules: NameRules
    let catalog: Catalog
    let files: any PhotoFiles
  }
}

extension DryRuns.Comparison {
  /// A walk over a whole library may take long. The budget is there to be cancelled.
  private static let longest = Duration.seconds(3_600)

  /// A moved file counts as updated. The walk ends when its caller has gone.
  func run(on queue: DispatchQueue) async throws -> RescanCounts {
    let budget = WorkBudget(Self.longest)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async {
          continuation.resume(
            with: Result {
              do {
                return try WorkBudget.$current.withValue(budget) {
                  try budget.check()
                  return try self.counts()
                }
              } catch is WorkBudget.Spent {
                throw CancellationError()
              }
            })
        }
      }
    } onCancel: {
      budget.cancel()
    }
  }

  /// The differences, and the photos that a scan would not remove because too many are missing at once.
  private func counts() throws -> RescanCounts {
    var (result, counts) = try compare()
    for (top, count) in counts where policy.grace > .zero && count.missing > 0 {
      let isSuspect = roots[tree.rootID(of: top)]?.suspect != nil
      if isSuspect || policy.brakes(missing: count.missing, of: count.total) {
        result.heldBack += count.missing
      }
    }
    return result
  }

  /// - Returns: also what the catalog has below each of the directories, and how much of it is missing.
  private func compare() throws -> (result: RescanCounts, counts: [DirectoryID: (missing: Int, total: Int)]) {
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
    var arrivals: [Arrival] = []
    var devices: [UInt64: VolumeID] = [:]
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
            arrivals.append(Arrival(stat: stat))
            return
          }
          let volumeID = tree.row(row.directoryID).volumeID
          devices[stat.identity.device] = volumeID
          if !isFile(row, inItsPlace: stat, on: volumeID) {
            arrivals.append(Arrival(stat: stat, formerFile: row))
          } else if !row.hasSizeAndTime(of: stat) {
            result.updated += 1
          }
        }
      }
      // If the share stopped answering, the rest of it is unknown.
      if isPartial { try DryRuns.requireAnswer(of: root, files) }
    }
    // Files that can't be looked at stay, as in a scan.
    if !unreadable.isEmpty { unseen = unseen.filter { !unreadable.contains($0.value.directoryID) } }
    for row in missingRows(unseen.values + arrivals.compactMap(\.formerFile), arrivals, devices, &result) {
      result.removed += 1
      if let top = tops[row.directoryID] { counts[top]?.missing += 1 }
    }
    return (result, counts)
  }

  // MARK: Files that are not in their places

  /// A file that the catalog does not have in its place.
  private struct Arrival {
    let stat: FileStat
    /// The file that was in this place before.
    var formerFile: FileRow?
  }

  /// Counts the arrivals that are moved files, new content of the photo in their place, or new photos.
  ///
  /// - Parameters:
  ///   - absent: the files that are not in their places.
  ///   - devices: the volumes on which the walk found known files.
  /// - Returns: the files that are nowhere.
  private func missingRows(
    _ absent: [FileRow], _ arrivals: [Arrival], _ devices: [UInt64: VolumeID], _ result: inout RescanCounts
  ) -> [FileRow] {
    var absent = Dictionary(grouping: absent, by: \.inode)
    var present: Set<AssetID> = []
    var others: [Arrival] = []
    for arrival in arrivals {
      let inode = arrival.stat.identity.inode
      if let index = absent[inode]?.lastIndex(where: { isFile($0, elsewhere: arrival.stat, devices) }),
        let row = absent[inode]?.remove(at: index)
      {
        present.insert(row.assetID)
        result.updated += 1
      } else {
        others.append(arrival)
      }
    }
    for arrival in others {
      // A program that saves a photo may put another file in its place. If the photo is elsewhere, the file is a new photo.
      if let row = arrival.formerFile, present.insert(row.assetID).inserted {
        result.updated += 1
      } else {
        result.inserted += 1
      }
    }
    return absent.values.joined().filter { !present.contains($0.assetID) }
  }

  // MARK: The rules for known files

  // The walk gets no birth times, because stat(2) does not return them. If only the change time of a file differs, a scan
  // reads the file, and usually finds no difference: a new link or new permissions look the same. So such a file does not
  // count.

  /// Rule 4 of FileRow+Stat.swift. A file with the row's inode is its file.
  private func isFile(_ row: FileRow, inItsPlace stat: FileStat, on volumeID: VolumeID) -> Bool {
    var stat = stat
    if stat.identity.inode == row.inode { stat.identity.birthTime = FileTime(row.birthTime) }
    return row.isFile(inItsPlace: stat, inodesLast: volumes.hasLastingInodes(volumeID))
  }

  /// Rule 5. No birth time distinguishes the two files.
  private func isFile(_ row: FileRow, elsewhere stat: FileStat, _ devices: [UInt64: VolumeID]) -> Bool {
    let volumeID = tree.row(row.directoryID).volumeID
    return row.hasInodeSizeAndTime(of: stat) && devices[stat.identity.device] ?? volumeID == volumeID
  }
}
