import PhotoModel
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

struct SimulatedState {
  var isWorking: Bool
  var isQuiet: Bool
  var hasSuspects: Bool
  /// Whether there are files that can't be reached. Each of them is tried once a minute.
  var hasUnread: Bool
  var rootVolumes: [String: String]
  var availableRoots: Set<String>
}

extension Library {
  /// Lets the brake hold from four missing photos on.
  private func lowerRemovalLimits() { reconciler.policy.count = RemovalOracle.count }

  /// All photos that a scan missed and that stay for the time being.
  func suspectedAssets() -> Set<AssetID> {
    var found: Set<AssetID> = []
    for suspect in reconciler.roots.all.compactMap(\.suspect) {
      found.formUnion(suspect.files)
      found.formUnion(assets(below: suspect.directories))
    }
    return found
  }

  /// The photos that leave when the scans under way are decided, because a person excludes them.
  func excludedAssets() -> Set<AssetID> {
    (Array(reconciler.scans.underWay.values) + reconciler.scans.ended).reduce(into: []) {
      $0.formUnion(assets(below: $1.excluded))
      for place in $1.excludedPlaces {
        do {
          if let row = try catalog.read({ try $0.file(place.directoryID, place.name) }) { $0.insert(row.assetID) }
        } catch { continue }
      }
    }
  }

  private func assets(below directories: Set<DirectoryID>) -> Set<AssetID> {
    var found: Set<AssetID> = []
    for directory in directories where reconciler.tree.contains(directory) {
      for inner in reconciler.tree.subtree(of: directory) {
        do { found.formUnion(try catalog.read { try $0.files(in: inner).map(\.assetID) }) } catch { continue }
      }
    }
    return found
  }

  func simulateTake(_ input: ReadAhead.Input) {
    lowerRemovalLimits()
    take(input)
  }

  func simulateDue() {
    lowerRemovalLimits()
    doWhatIsDue()
    makeProofsNow()
  }

  /// Makes the samples and hashes that are wanted, if the library is idle.
  func makeProofsNow() {
    for _ in 0..<100 where proofs.isDue { keep(ProofWorker.make(nextProofs(), files) { true }) }
  }

  /// - Returns: whether the root is accepted on its current drive.
  func simulateRescan(_ path: [UInt8], confirm: Bool) async throws -> Bool {
    guard let rootID = reconciler.tree.rootPaths.first(where: { $0.value == path })?.key else { return false }
    if confirm && reconciler.roots[rootID]?.isUnconfigured == true {
      // The root is not configured, so the call does not wait for a scan.
      _ = try await rescan(path: path, dryRun: false, confirm: true)
      return false
    }
    if confirm && reconciler.roots[rootID]?.isForeign == true {
      reconciler.roots[rootID]?.isAdopted = true
      try watchAnew(rootID)
      return true
    }
    guard let root = reconciler.roots[rootID]?.number else { return false }
    let request = watcher.rescan(root: root, directory: nil)
    if confirm { reconciler.requests.add(request, partOf: nil, isConfirmed: true) }
    return false
  }

  func simulatedState() throws -> SimulatedState {
    let volumes = try catalog.read { reader in
      var volumes: [VolumeID: String] = [:]
      let select = try RawStatement(reader.database, "SELECT id, identity FROM volume")
      try select.forEachRow { volumes[select.volumeID(0)] = select.text(1) }
      return volumes
    }
    var rootVolumes: [String: String] = [:]
    for (rootID, path) in reconciler.tree.rootPaths {
      guard let top = reconciler.tree.top(ofRoot: rootID) else { continue }
      rootVolumes[String(decoding: path, as: UTF8.self)] = volumes[reconciler.tree.row(top).volumeID]
    }
    return SimulatedState(
      isWorking: restart.breakdown == nil,
      isQuiet: restart.breakdown == nil
        && !reconciler.roots.contains { $0.needsScan || $0.mayBeComplete || $0.suspect != nil }
        && !reconciler.scans.areUnderWay && reconciler.retries.all.values.allSatisfy { $0.delay >= .seconds(60) },
      hasSuspects: reconciler.roots.hasSuspects, hasUnread: !reconciler.retries.isEmpty,
      rootVolumes: rootVolumes,
      availableRoots: Set(
        reconciler.tree.rootPaths.filter { reconciler.roots[$0.key]?.isAvailable == true }.map {
          String(decoding: $0.value, as: UTF8.self)
        }))
  }
}
