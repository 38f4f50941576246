import PhotoCatalog
import PhotoModel
import WatchRecords

/// When a scan's word that files are missing is not taken at once: an unmounted drive looks just like it.
struct RemovalPolicy: Sendable {
  /// How long a second scan waits; 0 turns the brake off. Nanoseconds.
  var grace: Int64
  /// More than this share of a root's assets, and more than `count` of them, must be missing.
  var share = 0.2
  var count = 100

  init(grace: Duration) {
    let (seconds, attoseconds) = grace.components
    self.grace = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  func brakes(missing: Int, of total: Int) -> Bool {
    grace > 0 && missing > count && Double(missing) > share * Double(total)
  }
}

/// A scan of one root while it is under way.
struct Scan {
  let root: UInt16
  let rootID: Int64
  let request: UInt32
  /// The directory that it is for, where that is not the root.
  let partOf: Int64?
  /// Files of the catalog that it did not find where they were.
  var missing: [Int64: Place] = [:]
  /// Directories of which it knows nothing, nor of what is below them.
  var exempt: Set<Int64> = []
}

/// A root of which a scan missed too much.
struct Suspect: Sendable {
  /// Nanoseconds of the clock that nobody sets.
  let since: Int64
  var missing: Int
}

struct EndedScan {
  enum Verdict {
    /// What it missed is removed.
    case decided(removed: Int)
    /// It missed so much that nothing was removed.
    case suspect(missing: Int)
    /// It did not see everything: nothing was removed.
    case incomplete
  }

  let root: UInt16
  let request: UInt32
  let verdict: Verdict
}

// Scans: what they miss is decided at their end.
extension Reconciler {
  func scanStarted(root: UInt16, request: UInt32, reason: ScanReason) {
    guard let rootID = rootIDs[root] else { return }
    let part = reason == .rescan ? partialRequests[request].flatMap { tree.contains($0) ? $0 : nil } : nil
    scans[root] = Scan(root: root, rootID: rootID, request: request, partOf: part)
  }

  func scanEnded(root: UInt16, request: UInt32, complete: Bool, in batch: inout Batch) throws {
    let scan = scans.removeValue(forKey: root)
    if complete, let scan, let top = tree.top(ofRoot: scan.rootID), tree.number(of: top) != nil {
      endedScans.append(scan)
    } else {
      partialRequests[request] = nil
      confirmedRequests.remove(request)
      batch.endedScans.append(EndedScan(root: root, request: request, verdict: .incomplete))
    }
    // What left one root may turn up in another that is still being scanned.
    guard scans.isEmpty else { return }
    for ended in endedScans {
      let verdict = try decide(ended, in: &batch)
      partialRequests[ended.request] = nil
      confirmedRequests.remove(ended.request)
      batch.endedScans.append(EndedScan(root: ended.root, request: ended.request, verdict: verdict))
    }
    endedScans = []
  }

  private func decide(_ scan: Scan, in batch: inout Batch) throws -> EndedScan.Verdict {
    guard let top = tree.top(ofRoot: scan.rootID) else { return .incomplete }
    batch.evidence = .scan
    let base = scan.partOf.flatMap { tree.contains($0) ? $0 : nil } ?? top
    let directories = tree.unbound(below: base).filter { directory in
      !scan.exempt.contains { tree.contains($0) && tree.isInside(directory, $0) }
    }
    var missingCount = scan.missing.count
    for directory in directories { missingCount += try assetCountWithoutDrives(below: directory, in: batch) }

    let isWhole = scan.partOf == nil
    var isConfirmed = confirmedRequests.contains(scan.request)
    if isWhole {
      if adoptedRoots.remove(scan.rootID) != nil { isConfirmed = true }
      if try isEmptyReplacement(scan, missing: missingCount, in: &batch) { return .incomplete }
      try setAvailable(scan.rootID, true, in: &batch)
    }
    if !isConfirmed {
      let suspect = suspects[scan.rootID]
      let isDoubtful = policy.brakes(missing: missingCount, of: try batch.writer.assetCount(below: base))
      // What is left of a suspicion stays in doubt: the rest may be on its way back as well.
      if policy.grace > 0 && (isDoubtful || (suspect != nil && missingCount > 0)) {
        let isComingBack = suspect.map { missingCount < $0.missing } ?? true
        let since = isComingBack ? batch.uptime : suspect!.since
        if !isWhole || batch.uptime - since < policy.grace {
          suspects[scan.rootID] = Suspect(since: since, missing: missingCount)
          return .suspect(missing: missingCount)
        }
      }
    }
    if isWhole { suspects[scan.rootID] = nil }
    let before = batch.record.deletedAssets.count
    for (assetID, place) in scan.missing.sorted(by: { $0.key < $1.key }) {
      guard let row = try batch.writer.file(place.directoryID, place.name), row.assetID == assetID else { continue }
      let isGone = try remove(row, in: &batch)
      // A few are told one by one.
      if isGone && scan.missing.count <= 20 { events.ring.append(.removed(eventPlace(place), assetID: assetID)) }
    }
    for directory in directories where tree.contains(directory) { try removeTree(directory, in: &batch) }
    return .decided(removed: batch.record.deletedAssets.count - before)
  }

  /// It is there after all, or was removed for another reason.
  func forgetMissing(_ assetID: Int64) {
    for root in scans.keys { scans[root]!.missing[assetID] = nil }
    for index in endedScans.indices { endedScans[index].missing[assetID] = nil }
  }

  func rootOffline(_ root: UInt16, in batch: inout Batch) throws {
    guard let rootID = rootIDs[root] else { return }
    scans[root] = nil
    endedScans.removeAll { $0.root == root }
    // What a scan said of the drive before it went says nothing of it when it is back.
    suspects[rootID] = nil
    if let top = tree.top(ofRoot: rootID) {
      if let listed = listing?.directoryID, tree.isInside(listed, top) { listing = nil }
      tree.unbind(subtree: top)
    }
    try setAvailable(rootID, false, in: &batch)
  }

  func setAvailable(_ rootID: Int64, _ isAvailable: Bool, in batch: inout Batch) throws {
    guard availability[rootID] != isAvailable else { return }
    availability[rootID] = isAvailable
    try batch.writer.setRootAvailable(rootID, isAvailable)
    batch.record.update(.init(rootID: rootID, path: tree.rootPaths[rootID]!, isAvailable: isAvailable))
  }
}
