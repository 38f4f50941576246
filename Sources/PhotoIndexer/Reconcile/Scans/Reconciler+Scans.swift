import PhotoCatalog
import PhotoModel
import WatchRecords

/// The rule for when the files that a scan misses are not removed at once. An unmounted drive looks just like deleted
/// files.
struct RemovalPolicy: Sendable {
  /// How long a second scan waits. If it is zero, the brake is off.
  var grace: Duration
  /// The brake acts if more than this share of the assets, and more than `count` of them, are missing.
  var share = 0.2
  var count = 100

  func brakes(missing: Int, of total: Int) -> Bool {
    grace > .zero && missing > count && Double(missing) > share * Double(total)
  }
}

/// A scan of one root while it is under way.
struct CatalogScan {
  let root: UInt16
  let rootID: RootID
  let request: UInt32
  let start: MonotonicTime
  /// The directory that the scan is for, or nil for the whole root.
  let partOf: DirectoryID?
  /// Whether the scan begins after events may have been lost. Otherwise it only proves that all is well.
  let findsWhatWasLost: Bool
  /// Directories that it has listed.
  var listed: Set<DirectoryID> = []
  /// Files of the catalog that it did not find where they were.
  var missing = MissingFiles()
  /// Directories that the scan had not found when it ended, each with everything below it. A directory that leaves
  /// later, while the scan waits for others, is not judged by this scan.
  var missingDirectories: Set<DirectoryID> = []
  /// Directories of which the scan knows nothing, neither of them nor of their content.
  var exempt: Set<DirectoryID> = []
  /// Directories whose names a person excludes. They leave when the scan is decided, unless it has found them under other
  /// names.
  var excluded: Set<DirectoryID> = []
  /// The same for files.
  var excludedPlaces: Set<Place> = []

  /// Whether it is to decide about a file or directory.
  var hasFindings: Bool { !missing.isEmpty || !excluded.isEmpty || !excludedPlaces.isEmpty }
}

/// The photos that a scan missed in a root, if they are too many to be removed at once.
struct Suspect: Sendable {
  /// The time by both clocks.
  struct Moment: Sendable {
    let uptime: MonotonicTime
    let date: PhotoDate
  }

  var since: Moment
  var missing: Int
  /// The missed files. A file that only a later scan misses was missed once.
  var files: Set<AssetID> = []
  /// The missed directories, with everything below them.
  var directories: Set<DirectoryID> = []
  /// The paths of some of the missed photos, at most ``mostExamples``.
  var examples: [[UInt8]] = []

  static let mostExamples = 3
}

/// The files and directories that a scan did not find.
private struct Missed {
  var files: [(assetID: AssetID, place: Place)]
  /// The directories, each with the number of assets in it and below.
  var directories: [(id: DirectoryID, assetCount: Int)]

  var count: Int { files.count + directories.reduce(0) { $0 + $1.assetCount } }

  func suspect(since: Suspect.Moment, examples: [[UInt8]]) -> Suspect {
    Suspect(
      since: since, missing: count, files: Set(files.map(\.assetID)), directories: Set(directories.map(\.id)),
      examples: examples)
  }
}

struct EndedScan {
  enum Verdict {
    /// The photos that the scan missed are removed.
    ///
    /// - endsSuspicion: whether an earlier scan had missed them too, and nothing was removed then.
    case decided(removed: Int, endsSuspicion: Bool)
    /// The scan missed so much that nothing was removed.
    case suspect(missing: Int)
    /// The scan did not see everything, so nothing was removed.
    case incomplete
  }

  let root: UInt16
  let request: UInt32
  let verdict: Verdict
}

// Scans: the photos that a scan misses are decided at its end.
extension Reconciler {
  func scanStarted(root: UInt16, request: UInt32, reason: ScanReason, in batch: Batch) {
    guard let rootID = roots.id(ofNumber: root) else { return }
    let part = reason == .rescan ? requests.part(of: request) : nil
    let mayHaveLostFiles = roots[rootID]?.isBlind == true
    if part == nil { roots[rootID]?.isBlind = false }
    scans.begin(
      CatalogScan(
        root: root, rootID: rootID, request: request, start: batch.uptime, partOf: part,
        findsWhatWasLost: mayHaveLostFiles || reason != .rescan))
  }

  func scanEnded(root: UInt16, request: UInt32, complete: Bool, in batch: inout Batch) throws {
    let scan = scans.end(root)
    if complete, var scan, let top = tree.top(ofRoot: scan.rootID), tree.number(of: top) != nil {
      let base = scan.partOf ?? top
      if tree.isInside(base, top) { scan.missingDirectories = Set(tree.unbound(below: base)) }
      scans.wait(scan)
    } else {
      requests.remove(request)
      batch.endedScans.append(EndedScan(root: root, request: request, verdict: .incomplete))
      if let scan, scan.partOf == nil { endConfirmation(of: scan.rootID) }
      if let scan, scan.hasFindings { requireScan(of: scan.rootID) }
      keepHeldFiles(of: root)
    }
    try decideWaiting(in: &batch)
  }

  /// Makes the decisions that waited for scans, listings or lost events, if none of those is left.
  func decideWaiting(in batch: inout Batch) throws {
    try decideNewTops(in: &batch)
    try decideHeldFiles(in: &batch)
    try decideEndedScans(in: &batch)
  }

  /// Decides the ended scans once no scan is under way. A file that left one root may turn up in another that is still
  /// being scanned.
  ///
  /// If several scans of one root have waited, the last scan of the whole root decides for those before it. It missed
  /// everything that they missed. If each decided, each could remove as much as the brake allows to one scan. A
  /// confirmed scan decides for itself, because the confirmation does not apply to the files that a later scan missed.
  private func decideEndedScans(in batch: inout Batch) throws {
    guard !scans.areUnderWay else { return }
    try removeExcluded(in: &batch)
    var superseded: [CatalogScan] = []
    // One decision may change what the next scan may judge.
    while let ended = scans.takeNext() {
      if isSuperseded(ended) {
        superseded.append(ended)
        continue
      }
      let verdict = try decide(ended, in: &batch)
      for scan in superseded where scan.rootID == ended.rootID { end(scan, verdict, in: &batch) }
      superseded.removeAll { $0.rootID == ended.rootID }
      end(ended, verdict, in: &batch)
    }
    endUndecided(superseded, in: &batch)
    scans.forgetSecondNames()
  }

  /// Whether a later scan, which waits as well, decides for an ended scan.
  private func isSuperseded(_ ended: CatalogScan) -> Bool {
    !requests.isConfirmed(ended.request) && scans.isFollowed(ended)
  }

  private func end(_ scan: CatalogScan, _ verdict: EndedScan.Verdict, in batch: inout Batch) {
    requests.remove(scan.request)
    batch.endedScans.append(EndedScan(root: scan.root, request: scan.request, verdict: verdict))
  }

  private func decide(_ scan: CatalogScan, in batch: inout Batch) throws -> EndedScan.Verdict {
    // The root may have gone, or been taken from the configuration, since the scan saw it.
    guard let top = tree.top(ofRoot: scan.rootID), tree.number(of: top) != nil,
      roots.id(ofNumber: scan.root) == scan.rootID
    else { return .incomplete }
    batch.context.evidence = .scan
    batch.context.scanStart = scan.start
    defer { batch.context.scanStart = nil }
    let base = scan.partOf ?? top
    var missed = try missed(by: scan, below: base, in: batch)
    batch.context.missed = Set(missed.files.map(\.assetID))
    defer { batch.context.missed = [] }
    try moveToSecondNames(&missed, in: &batch)
    var isConfirmed = requests.isConfirmed(scan.request)
    if scan.partOf == nil {
      if roots[scan.rootID]?.isAdopted == true { isConfirmed = true }
      endConfirmation(of: scan.rootID)
      try setOnline(scan.rootID, in: &batch)
    }
    if !isConfirmed, try isBraked(missed, of: base, scan, in: batch) {
      return .suspect(missing: missed.count)
    }
    let endsSuspicion = scan.partOf == nil && roots.endSuspicion(of: scan.rootID)
    let before = batch.record.deletedAssets.count
    for (assetID, place) in missed.files {
      guard let row = try batch.writer.file(place.directoryID, place.name), row.assetID == assetID else { continue }
      let isGone = try remove(row, in: &batch)
      // A few removals are recorded one by one.
      if isGone && missed.files.count <= 20 { events.ring.append(.removed(eventPlace(place), assetID: assetID)) }
    }
    for (directory, _) in missed.directories where tree.contains(directory) { try removeTree(directory, in: &batch) }
    return .decided(
      removed: max(0, batch.record.deletedAssets.count - before), endsSuspicion: endsSuspicion)
  }

  /// Moves the missed photos that the scan has found by other names. At that time they were in their known places, or the
  /// library could not look there. They are not missed any more, so the brake does not count them.
  private func moveToSecondNames(_ missed: inout Missed, in batch: inout Batch) throws {
    let directories = Set(missed.directories.map(\.id))
    func isMissed(_ row: FileRow) -> Bool {
      batch.context.missed.contains(row.assetID) || leaves(row.directoryID, with: directories)
    }
    var moved: Set<AssetID> = []
    for assetID in scans.secondNames.keys.sorted() {
      guard let row = try batch.writer.file(ofAsset: assetID), isMissed(row),
        let replacement = try replacement(of: row, in: batch), !isMissed(replacement)
      else { continue }
      try remove(row, in: &batch)
      moved.insert(assetID)
    }
    if moved.isEmpty { return }
    missed.files.removeAll { moved.contains($0.assetID) }
    missed.directories = try missed.directories.map { ($0.id, try assetCountWithoutDrives(below: $0.id, in: batch)) }
  }

  /// The photos that a scan has missed in the directory that it was for.
  ///
  /// A scan of one folder may list others: photod-watch polls them meanwhile, or has restarted and lists the whole
  /// root. That scan does not judge the files that the others lack, because a person's confirmation may apply to its
  /// folder only. A scan of the root decides about them.
  private func missed(by scan: CatalogScan, below base: DirectoryID, in batch: Batch) throws -> Missed {
    var files: [(AssetID, Place)] = []
    for (assetID, place) in scan.missing.sorted where tree.contains(place.directoryID) {
      if tree.isInside(place.directoryID, base) {
        files.append((assetID, place))
      } else {
        requireScan(of: tree.rootID(of: place.directoryID))
      }
    }
    let unbound = tree.contains(base) ? tree.unbound(below: base) : []
    let directories = unbound.filter { directory in
      let path = tree.ancestors(of: directory)
      return path.contains(where: scan.missingDirectories.contains) && !path.contains(where: scan.exempt.contains)
    }
    return Missed(
      files: files, directories: try directories.map { ($0, try assetCountWithoutDrives(below: $0, in: batch)) })
  }

  /// Whether the missed photos stay for now. None is removed before a second scan of the whole root, after the removal
  /// grace, misses the same photos.
  ///
  /// - Parameter base: the directory that was scanned.
  private func isBraked(_ missed: Missed, of base: DirectoryID, _ scan: CatalogScan, in batch: Batch) throws -> Bool {
    let suspect = roots[scan.rootID]?.suspect
    let now = Suspect.Moment(uptime: batch.uptime, date: batch.date)
    let total = try batch.writer.assetCount(below: base)
    let isDoubtful = policy.brakes(missing: missed.count, of: total)
    // The rest of a suspicion stays in doubt, because it may be on its way back as well.
    guard policy.grace > .zero, isDoubtful || (suspect != nil && missed.count > 0) else { return false }
    let isWhole = scan.partOf == nil
    guard let suspect else {
      roots.setSuspect(scan.rootID, missed.suspect(since: now, examples: try examples(of: missed, in: batch)))
      return true
    }
    // A scan of a part says nothing about the rest of the root. The next scan also misses what this one misses for the
    // first time.
    guard isWhole else { return true }
    let isComingBack = missed.count < suspect.missing
    // Photos that the earlier scan did not miss were missed once. A few are removed with the rest, and many begin a
    // suspicion of their own.
    let isMore = policy.brakes(missing: newlyMissed(missed, since: suspect), of: total)
    let since = isComingBack || isMore ? now : suspect.since
    guard batch.uptime - since.uptime < policy.grace else { return false }
    roots.setSuspect(scan.rootID, missed.suspect(since: since, examples: try examples(of: missed, in: batch)))
    return true
  }

  /// The paths of some of the missed photos. They are of different folders, if several folders are missed.
  private func examples(of missed: Missed, in batch: Batch) throws -> [[UInt8]] {
    let most = Suspect.mostExamples
    var folders: [[[UInt8]]] = []
    for (directory, assetCount) in missed.directories.sorted(by: { $0.id < $1.id }) where assetCount > 0 {
      if folders.count == most { break }
      folders.append(try firstFiles(below: directory, in: batch))
    }
    folders.append(missed.files.prefix(most).map { path(of: $0.place) })
    let paths = (0..<most).flatMap { index in folders.compactMap { $0.count > index ? $0[index] : nil } }
    return paths.prefix(most).sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// The paths of the first files of the highest directory, at `id` or below it, that has some and is on the same drive.
  private func firstFiles(below id: DirectoryID, in batch: Batch) throws -> [[UInt8]] {
    var level = [id]
    while !level.isEmpty {
      level.removeAll(where: isMountTop)
      for directory in level {
        let rows = try batch.writer.files(in: directory, limit: Suspect.mostExamples)
        if !rows.isEmpty { return rows.map { path(of: Place(directoryID: directory, name: $0.name)) } }
      }
      level = level.flatMap(tree.children)
    }
    return []
  }

  private func newlyMissed(_ missed: Missed, since suspect: Suspect) -> Int {
    func wasMissed(_ directory: DirectoryID) -> Bool { leaves(directory, with: suspect.directories) }
    let files = missed.files.count { !suspect.files.contains($0.assetID) && !wasMissed($0.place.directoryID) }
    return missed.directories.reduce(files) { $0 + (wasMissed($1.id) ? 0 : $1.assetCount) }
  }

  /// Notes that a file of the catalog is not in its place, and that no event reported where it is. A scan of its root
  /// decides: it is under way, or has ended and waits for the others, or is made.
  func noteMissing(_ row: FileRow) {
    let rootID = tree.rootID(of: row.directoryID)
    let place = Place(directoryID: row.directoryID, name: row.name)
    if !scans.noteMissing(row.assetID, at: place, in: rootID) { requireScan(of: rootID) }
  }

  /// Forgets that a file is missing: it is there after all, or was removed for another reason.
  func forgetMissing(_ assetID: AssetID) { scans.updateAll { $0.missing.remove(assetID) } }

  /// Notes that a photo that an earlier scan missed is in its place again. Only a scan of the whole root shows how many
  /// are back. If none is under way, one must be made.
  ///
  /// - Complexity: O(depth of its folder).
  func noteReturn(of row: FileRow) {
    let rootID = tree.rootID(of: row.directoryID)
    guard let suspect = roots[rootID]?.suspect,
      suspect.files.contains(row.assetID) || leaves(row.directoryID, with: suspect.directories),
      !scans.underWay.values.contains(where: { $0.rootID == rootID && $0.partOf == nil })
    else { return }
    roots[rootID]?.mayBeComplete = true
  }

  func rootOffline(_ root: UInt16, _ errorNumber: Int32, in batch: inout Batch) throws {
    guard let rootID = roots.id(ofNumber: root) else { return }
    endUndecided(forgetSession(ofRoot: root), in: &batch)
    endConfirmation(of: rootID)
    try setOffline(rootID, .cannotBeOpened(errorNumber), in: &batch)
    try decideWaiting(in: &batch)
  }

  /// Forgets that a person confirmed the folder in a root's place, or in that of a folder of the root. The confirmation is
  /// for the folder that was there at that time. A later scan may find an empty mount point.
  private func endConfirmation(of rootID: RootID) {
    roots[rootID]?.isAdopted = false
    roots.endAdoptions { !tree.contains($0) || tree.rootID(of: $0) == rootID }
  }

  /// Ends scans whose findings are void, so that their callers get a result.
  func endUndecided(_ scans: [CatalogScan], in batch: inout Batch) {
    for scan in scans { end(scan, .incomplete, in: &batch) }
  }
}
