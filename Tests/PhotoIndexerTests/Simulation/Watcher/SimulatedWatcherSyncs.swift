import WatchRecords

// The answers to clients that wait until all changes are in the library.
extension SimulatedWatcher {
  func beginSync(_ number: UInt64) {
    syncs.append(Sync(number: number))
    disk.emitCookie(number)
  }

  var forcedStamp: Int { syncs.filter(\.isSeen).map(\.stamp).max() ?? 0 }

  func sendDueSyncs() {
    guard forcedStamp > 0, !hasOverflowed, scans.isEmpty else { return }
    flushLooks()
    let waiting =
      held.values.map(\.stamp) + missing.values.filter { $0.attempts == 0 }.map(\.stamp) + fresh.values.map(\.stamp)
      + requests.values.map(\.stamp)
    let oldest = waiting.min() ?? Int.max
    for sync in syncs where sync.isSeen && sync.stamp < oldest { send(.synced(number: sync.number)) }
    syncs.removeAll { $0.isSeen && $0.stamp < oldest }
  }
}
