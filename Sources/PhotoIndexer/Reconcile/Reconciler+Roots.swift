import PhotoCatalog
import PhotoModel

// Changes of a root's state that the catalog and the history record.
extension Reconciler {
  func setOnline(_ rootID: RootID, in batch: inout Batch) throws {
    try changeRoot(rootID, in: &batch) { roots, _ in roots.setOnline(rootID) }
  }

  func setOffline(_ rootID: RootID, _ reason: OfflineReason, in batch: inout Batch) throws {
    try changeRoot(rootID, in: &batch) { $0.setOffline(rootID, reason, at: $1) }
  }

  func setForeign(_ rootID: RootID, _ folder: ForeignFolder, in batch: inout Batch) throws {
    try changeRoot(rootID, in: &batch) { $0.setForeign(rootID, folder, at: $1) }
  }

  func setUnconfigured(_ rootID: RootID, in batch: inout Batch) throws {
    dropNumber(of: rootID, in: &batch)
    try changeRoot(rootID, in: &batch) { $0.setUnconfigured(rootID, at: $1) }
  }

  private func changeRoot(
    _ rootID: RootID, in batch: inout Batch, _ change: (inout Roots, PhotoDate) -> Void
  ) throws {
    let wasAvailable = roots[rootID]?.isAvailable
    change(&roots, batch.date)
    guard let isAvailable = roots[rootID]?.isAvailable, isAvailable != wasAvailable else { return }
    try batch.writer.setRootAvailable(rootID, isAvailable)
  }

  /// Takes the number from a root: photod-watch no longer watches the root, or gets it under another number. Every change
  /// that does so begins here, and `decideWaiting(in:)` follows once all roots are changed.
  func dropNumber(of rootID: RootID, in batch: inout Batch) {
    guard let number = roots[rootID]?.number else { return }
    endUndecided(forgetSession(ofRoot: number), in: &batch)
    roots.setNumber(nil, of: rootID)
  }

  /// Forgets a root whose directories are gone or elsewhere.
  func removeRoot(_ rootID: RootID, in batch: inout Batch) throws {
    dropNumber(of: rootID, in: &batch)
    try batch.writer.deleteRoot(rootID)
    tree.removeRoot(rootID)
    roots[rootID] = nil
  }
}
