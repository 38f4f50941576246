import PhotoModel

// The barrier: what happened in the folders before a call is in the library after it.
extension Library {
  /// Returns once everything that happened in the watched folders before the call is in the library.
  ///
  /// - Throws: ``LibraryError/timedOut(_:)``.
  package func synchronize(timeout: Duration) async throws -> ChangeToken {
    let (barrier, watcher, clock) = (barrier, watcher, clock)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await barrier.wait { watcher.sync(number: $0) } }
      group.addTask {
        try await clock.sleep(for: timeout)
        throw LibraryError.timedOut(
          "The library did not catch up with its folders within \(timeout). `photoctl status` shows what it is doing; a longer timeout waits for it."
        )
      }
      defer { group.cancelAll() }
      try await group.next()
    }
    return catalog.token(feed.sequence)
  }

  /// What a listing missed is decided by a scan; photod-watch says the new number only when that has ended.
  func answerSync(_ number: UInt64) {
    scanDoubtfulRoots()
    guard number <= doubtfulThrough, let next = barrier.renumber(number) else {
      barrier.answer(number)
      return
    }
    watcher.sync(number: next)
  }

  /// photod-watch was told to look again.
  func doubtSyncs() { doubtfulThrough = barrier.lastNumber }

  func scanDoubtfulRoots() {
    guard !doubtfulRoots.isEmpty else { return }
    scan(doubtfulRoots)
    doubtfulRoots = []
    doubtSyncs()
  }

  func scan(_ roots: Set<UInt16>) {
    for root in roots.sorted() where reconciler.rootIDs[root] != nil {
      _ = watcher.rescan(root: root, directory: nil)
    }
  }
}
