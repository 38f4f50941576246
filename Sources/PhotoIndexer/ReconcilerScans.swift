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
  let rootID: Int64
  let request: UInt32
  let reason: ScanReason
  /// Files of the catalog that it did not find where they were.
  var missing: [Int64: Place] = [:]
}

/// A root of which a scan missed too much.
struct Suspect: Sendable {
  /// Nanoseconds since 1970.
  let since: Int64
  var missing: Int
}

struct EndedScan {
  let root: UInt16
  let request: UInt32
  let complete: Bool
  /// Of it all, so many were missed that nothing was removed.
  let isSuspect: Bool
}

// Scans: what they miss is decided at their end.
extension Reconciler {
  func scanStarted(root: UInt16, request: UInt32, reason: ScanReason) {
    guard let rootID = rootIDs[root] else { return }
    scans[root] = Scan(rootID: rootID, request: request, reason: reason)
  }

  func scanEnded(root: UInt16, request: UInt32, complete: Bool, in batch: inout Batch) throws {
    guard let scan = scans.removeValue(forKey: root) else { return }
    guard complete, let top = tree.top(ofRoot: scan.rootID) else {
      batch.endedScans.append(EndedScan(root: root, request: request, complete: complete, isSuspect: false))
      return
    }
    let directories = tree.unbound(below: top)
    var missingAssets = 0
    for directory in directories {
      for below in tree.subtree(of: directory) { missingAssets += try batch.writer.files(in: below).count }
    }
    missingAssets += scan.missing.count
    let total = try batch.writer.assetCount(below: top)

    if policy.brakes(missing: missingAssets, of: total) && !confirmedRequests.contains(request) {
      let suspect = suspects[scan.rootID]
      if suspect.map({ batch.time - $0.since < policy.grace }) ?? true {
        suspects[scan.rootID] = Suspect(since: suspect?.since ?? batch.time, missing: missingAssets)
        batch.endedScans.append(EndedScan(root: root, request: request, complete: true, isSuspect: true))
        return
      }
    }
    suspects[scan.rootID] = nil
    confirmedRequests.remove(request)
    if missingAssets > 0 || !directories.isEmpty { batch.sawScan = true }
    for (assetID, place) in scan.missing {
      guard try batch.writer.file(place.directoryID, place.name)?.assetID == assetID else { continue }
      try remove(assetID, in: &batch)
    }
    for directory in directories where tree.contains(directory) { try removeTree(directory, in: &batch) }
    batch.endedScans.append(EndedScan(root: root, request: request, complete: true, isSuspect: false))
  }

  /// It is there after all, or was removed for another reason.
  func forgetMissing(_ assetID: Int64) {
    for root in scans.keys { scans[root]!.missing[assetID] = nil }
  }

  func rootOffline(_ root: UInt16, in batch: inout Batch) throws {
    guard let rootID = rootIDs[root] else { return }
    scans[root] = nil
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
    batch.record.rootAvailability.append(
      .init(rootID: rootID, path: tree.rootPaths[rootID]!, isAvailable: isAvailable))
  }
}
