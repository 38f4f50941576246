import Dispatch
import PhotoCatalog
import PhotoModel
import Synchronization
import WatchRecords

/// The rescans that change nothing. Each walk is on a queue, one after the other, and the library goes on meanwhile.
///
/// 1. Callers that ask for the same folders while their walk waits share that walk. A walk that has begun is not shared:
///    it may have passed the files that the caller wants to be compared.
/// 2. A walk that waits is dropped when its last caller goes, and one that has begun is cancelled.
/// 3. A walk compares the disk with the library's folders at the last request of any caller.
final class DryRuns: Sendable {
  private typealias Caller = CheckedContinuation<RescanCounts, any Error>

  private struct Walk {
    let folders: [DirectoryID]
    var callers: [Int: Caller] = [:]
    /// The budget of a walk that has begun.
    var budget: WorkBudget?
  }

  private struct State {
    var lastNumber = 0
    /// By the number of their first callers.
    var walks: [Int: Walk] = [:]
    /// The walks that wait, by their folders.
    var waiting: [[DirectoryID]: Int] = [:]
    /// The newest snapshot that a caller brought. Walks that wait have none of their own, because each would hold a copy of
    /// the folders.
    var newest: Snapshot?
    /// By the root that is walked; the walks of several roots have one of their own. So a root that hangs delays only
    /// itself.
    var queues: [RootID?: DispatchQueue] = [:]
  }

  private let state = Mutex(State())

  /// A walk over a whole library may take long. The budget is there to be cancelled.
  private static let longest = Duration.seconds(3_600)

  /// The number of walks that have not begun.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// The number of callers that wait for a walk.
  var callerCount: Int { state.withLock { $0.walks.values.reduce(0) { $0 + $1.callers.count } } }

  /// Compares folders with the disk. A moved file counts as updated.
  func counts(of folders: [DirectoryID], in snapshot: Snapshot) async throws -> RescanCounts {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { caller in
        add(caller, number, folders, snapshot)
        // The handler of a cancellation before this found no caller.
        if Task.isCancelled { cancel(number) }
      }
    } onCancel: {
      cancel(number)
    }
  }

  private func add(_ caller: Caller, _ number: Int, _ folders: [DirectoryID], _ snapshot: Snapshot) {
    let queue = state.withLock { state -> DispatchQueue? in
      state.newest = snapshot
      if let walk = state.waiting[folders] {
        state.walks[walk]?.callers[number] = caller
        return nil
      }
      state.waiting[folders] = number
      state.walks[number] = Walk(folders: folders, callers: [number: caller])
      let roots = Set(folders.filter(snapshot.tree.contains).map { snapshot.tree.rootID(of: $0) })
      let key = roots.count == 1 ? roots.first : nil
      let queue = state.queues[key] ?? DispatchQueue(label: "photod.dry-run")
      state.queues[key] = queue
      return queue
    }
    queue?.async { self.make(number) }
  }

  private func cancel(_ number: Int) {
    let caller = state.withLock { state -> Caller? in
      guard let key = state.walks.first(where: { $0.value.callers[number] != nil })?.key else { return nil }
      let caller = state.walks[key]!.callers.removeValue(forKey: number)
      guard let walk = state.walks[key], walk.callers.isEmpty else { return caller }
      if let budget = walk.budget {
        budget.cancel()
      } else {
        state.walks[key] = nil
        state.waiting[walk.folders] = nil
        if state.waiting.isEmpty { state.newest = nil }
      }
      return caller
    }
    caller?.resume(throwing: CancellationError())
  }

  /// Makes a walk, on its queue.
  private func make(_ number: Int) {
    let begun = state.withLock { state -> (Comparison, WorkBudget)? in
      guard let walk = state.walks[number], let snapshot = state.newest else { return nil }
      let budget = WorkBudget(Self.longest)
      state.walks[number]?.budget = budget
      state.waiting[walk.folders] = nil
      if state.waiting.isEmpty { state.newest = nil }
      return (Comparison(directoryIDs: walk.folders.filter(snapshot.tree.contains), snapshot: snapshot), budget)
    }
    guard let (comparison, budget) = begun else { return }
    let result = Result<RescanCounts, any Error> {
      do {
        return try WorkBudget.$current.withValue(budget) { try comparison.counts() }
      } catch is WorkBudget.Spent {
        throw CancellationError()
      }
    }
    let callers = state.withLock { $0.walks.removeValue(forKey: number)?.callers ?? [:] }
    for caller in callers.values { caller.resume(with: result) }
  }

  static func requireAnswer(of root: [UInt8]?, _ files: any PhotoFiles) throws {
    guard let root, !files.answers(root) else { return }
    throw LibraryError.unavailable(
      "\(FilePath.text(root)) is on a share that does not answer, so it can't be compared. Try again when the share answers."
    )
  }

  /// The parts of the library that a walk needs.
  struct Snapshot: Sendable {
    let tree: CatalogTree
    let volumes: Volumes
    let roots: Roots
    let policy: RemovalPolicy
    let rules: NameRules
    let catalog: Catalog
    let files: any PhotoFiles
  }

  /// Compares the disk with the catalog as they are when it runs.
  fileprivate struct Comparison {
    let directoryIDs: [DirectoryID]
    let snapshot: Snapshot
  }
}

extension DryRuns.Comparison {
  /// The differences, and the photos that a scan would not remove because too many are missing at once.
  fileprivate func counts() throws -> RescanCounts {
    var (result, counts) = try compare()
    let (tree, roots, policy) = (snapshot.tree, snapshot.roots, snapshot.policy)
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
    let (tree, files) = (snapshot.tree, snapshot.files)
    var unseen: [[UInt8]: FileRow] = [:]
    var tops: [DirectoryID: DirectoryID] = [:]
    var counts: [DirectoryID: (missing: Int, total: Int)] = [:]
    try snapshot.catalog.read { reader in
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
      try DiskCrawl.forEachFinding(below: tree.path(of: top), ofRoot: root, by: snapshot.rules, in: files) { finding in
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
          let volumeID = tree.volumeID(of: row.directoryID)
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
    let missing = missingRows(unseen.values + arrivals.compactMap(\.formerFile), arrivals, devices, &result)
    for row in missing {
      result.removed += 1
      if let top = tops[row.directoryID] { counts[top]?.missing += 1 }
    }
    result.removedExamples = missing.sorted { $0.assetID < $1.assetID }.prefix(RescanCounts.mostExamples)
      .map { tree.path(of: $0.directoryID) + [UInt8(ascii: "/")] + $0.name }
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
    return row.isFile(inItsPlace: stat, inodesLast: snapshot.volumes.hasLastingInodes(volumeID))
  }

  /// Rule 5. No birth time distinguishes the two files.
  private func isFile(_ row: FileRow, elsewhere stat: FileStat, _ devices: [UInt64: VolumeID]) -> Bool {
    let volumeID = snapshot.tree.volumeID(of: row.directoryID)
    return row.hasInodeSizeAndTime(of: stat) && devices[stat.identity.device] ?? volumeID == volumeID
  }
}
