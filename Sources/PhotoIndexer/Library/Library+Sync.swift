import PhotoModel
import PhotoWatch

// The barrier: what happened in the folders before a call is in the library after it.
extension Library {
  /// Returns once everything that happened in the watched folders before the call is in the library.
  ///
  /// It does not wait for the library's executor, which may be busy with a long batch: the timeout holds then, too.
  ///
  /// - Throws: ``LibraryError/timedOut(_:)``.
  nonisolated package func synchronize(timeout: Duration) async throws -> ChangeToken {
    let (barrier, watcher, clock, statusStore) = (barrier, watcher, clock, statusStore)
    try await barrier.wait {
      try await clock.sleep(for: timeout)
      return Self.timedOut(after: timeout, statusStore.catalogProblem)
    } ask: {
      watcher.sync(number: $0)
    }
    return token
  }

  static func timedOut(after timeout: Duration, _ problem: CatalogProblem?) -> LibraryError {
    let seconds = roundedText(timeout / .seconds(1))
    if let problem {
      return LibraryError.timedOut(
        "The library did not have all changes of its folders within \(seconds) s, because the catalog can't be written: \(problem.text)"
      )
    }
    return LibraryError.timedOut(
      "The library did not have all changes of its folders within \(seconds) s. `photoctl status` shows the progress. A longer timeout waits for it."
    )
  }

  /// Answers the syncs of an input, if the input has only such syncs and everything before it is in the library. It needs
  /// no turn of the library, which a client's change may keep busy.
  ///
  /// Only the thread that takes the inputs of a lane calls it, for each of them in their order.
  ///
  /// - Returns: whether the syncs are answered. If not, the library must take the input, and ``InputProgress/end()`` must
  ///   follow.
  nonisolated func answersAtOnce(_ input: WatchInput, ofLane lane: Int) -> Bool {
    guard case .batch(let records) = input, case let numbers = AskedSyncs.answered(by: records),
      numbers.count == records.count, progress.isComplete, !hasLateReads,
      // A sync of the library itself may decide about files.
      barrier.awaited(among: numbers).count == numbers.count
    else {
      progress.begin()
      return false
    }
    for number in numbers {
      if let next = barrier.answer(number, by: lane) { askSync(next) }
    }
    return true
  }

  /// Whether no file and no root is left for which a sync must wait when all inputs are applied.
  var isSettled: Bool {
    restart.breakdown == nil && reconciler.retries.pendingCount == 0 && reconciler.retries.awaitingRecords.isEmpty
      && !reconciler.roots.contains(where: \.needsScan)
  }

  /// Answers the syncs that the current lane has answered, or lets them wait for files that are not read yet.
  ///
  /// It comes last in a turn: a caller may ask for the status at once, and a root that is watched anew makes the answer too
  /// early.
  func answer(_ numbers: [UInt64], mustWait: Bool) {
    guard !numbers.isEmpty else { return }
    let lane = reconciler.listings.lane
    for number in numbers {
      if number == idle.recordSync?.number {
        idle.recordSync?.lanes.remove(lane)
        if idle.recordSync?.lanes.isEmpty == true { idle.recordSync = nil }
      }
      guard reconciler.syncs.awaited.contains(number) else { continue }
      if mustWait { holdSync(number, by: lane) } else { answerSync(number, by: lane) }
    }
    // A record may decide about the files for which these syncs wait.
    if mustWait { askForRecords() }
    answerHeldSyncs()
  }

  /// Makes photod-watch report everything until now, because a record may decide about some files. If it does not answer,
  /// because it scans or is started again, it is asked once more after a minute.
  func askForRecords() {
    let moment = clock.bootTime
    guard reconciler.retries.mustSync(at: moment), idle.recordSync.map({ $0.end <= moment }) ?? true else { return }
    let number = barrier.makeNumber()
    idle.recordSync = IdleWork.RecordSync(number: number, end: moment + .seconds(60))
    let lanes = watcher.sync(number: number)
    if lanes.isEmpty { idle.recordSync = nil } else { idle.recordSync?.lanes = lanes }
  }

  /// A scan decides about files that a listing missed. photod-watch reports the new number only when that scan has
  /// ended.
  ///
  /// A share that does not answer is left out: its lane answers at once, and its root is offline.
  func answerSync(_ number: UInt64, by lane: Int) {
    scanDoubtfulRoots()
    if let next = barrier.answer(number, by: lane) { askSync(next) }
  }

  nonisolated func askSync(_ number: UInt64) { barrier.note(watcher.sync(number: number), asked: number) }

  /// Notes that photod-watch was ordered to look again.
  func doubtSyncs() { barrier.doubt() }

  /// - Parameter roots: the numbers of the roots that may be scanned; nil for all.
  func scanDoubtfulRoots(among roots: Set<UInt16>? = nil) {
    let doubtful = reconciler.roots.watched.filter { $0.root.needsScan && roots?.contains($0.number) != false }
    guard !doubtful.isEmpty else { return }
    scan(doubtful.map(\.number))
    for (number, _) in doubtful {
      reconciler.roots[number: number]?.needsScan = false
      reconciler.roots[number: number]?.scanWait.end()
    }
    doubtSyncs()
  }

  func scan(_ roots: [UInt16]) { for root in roots { _ = watcher.rescan(root: root, directory: nil) } }
}
