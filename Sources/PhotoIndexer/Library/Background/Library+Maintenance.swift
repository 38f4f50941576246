import Logging
import PhotoCatalog
import PhotoModel

// Maintenance by time: files that are read again, roots that are in doubt, a catalog that failed.
extension Library {
  func breakDown(_ error: any Error) {
    events.append(.startedOver(error: "\(error)"))
    events.announce()
    restart.begin(because: error, at: clock.bootTime)
    progress.note(isSettled: false)
    idle.wake()
    logger.error("catalog not written", metadata: ["error": "\(error)"])
    reportWarnings()
    rescans.failAll(with: Self.catalogError)
  }

  static let catalogError = LibraryError.unavailable(
    "The catalog can't be written now. `photoctl status` has the reason.")

  /// Whether there is work that no event will request.
  var hasTimedWork: Bool {
    restart.breakdown != nil || !lateSyncs.isEmpty || !reconciler.retries.isEmpty || idle.words.state == .pending
      || reconciler.roots.contains { $0.needsScan || $0.mayBeComplete || $0.suspect != nil }
  }

  /// Does the timed work that is due, once a second while there is any: files that are read again, roots that are
  /// scanned a second time, a catalog that failed.
  func maintain() async {
    while true {
      // The sequence is read before the check, so that work that is added after the check wakes the loop again.
      let sequence = idle.wakeFeed.sequence
      if !hasTimedWork { guard await isWoken(after: sequence, within: nil) else { return } }
      do { try await clock.sleep(for: .seconds(1)) } catch { return }
      doWhatIsDue()
      for _ in 1..<WordIndexing.batchesPerSecond where idle.words.state == .pending {
        await Task.yield()
        indexWords()
      }
    }
  }

  /// Returns when the sequence of `IdleWork.wakeFeed` has risen, or when the time is over.
  ///
  /// - Returns: false when the library ends.
  nonisolated func isWoken(after sequence: Int64, within time: Duration?) async -> Bool {
    let feed = await idle.wakeFeed
    guard let time else { return await feed.next(after: sequence) != nil }
    return await withTaskGroup(of: Bool.self) { group in
      group.addTask { await feed.next(after: sequence) != nil }
      group.addTask {
        do { try await self.clock.sleep(for: time) } catch { return false }
        return true
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
  }

  /// Adds new assets to the index of words once it is quiet. A search finds them before that too, and other work comes
  /// first.
  private func indexWords() {
    guard idle.words.state == .pending, mayDoIdleWork,
      idle.words.wait.isOver(at: clock.bootTime, lastChange: idle.lastChange.time)
    else { return }
    do {
      // One transaction for both, since mostly there is one new photo.
      let hasNewFiles = proofs.hasNewFiles
      let ((hasMore, started), _) = try commit { writer -> ((Bool, ProofWorker.Start?), origin: String) in
        let hasMore = try writer.indexText(limit: WordIndexing.batch)
        return ((hasMore, hasMore || !hasNewFiles ? nil : try Self.startProofs(writer)), origin: "rescan")
      }
      idle.words.state = hasMore ? .pending : .complete
      if let started { note(started) }
    } catch {
      // The disk may be full. The next commit shows that.
      idle.words.state = .failed
      logger.notice("words not indexed", metadata: ["error": "\(error)"])
    }
  }

  func doWhatIsDue() {
    do {
      if let breakdown = restart.breakdown {
        if clock.bootTime >= breakdown.endsAt { try startOver() }
      } else {
        askForRecords()
        try readAgain()
        rescanSuspects()
      }
    } catch {
      breakDown(error)
    }
    answerHeldSyncs()
    indexWords()
  }

  private func startOver() throws {
    try remakeReconciler()
    // The roots get new numbers: records under the old ones mean nothing to the new reconciler.
    watcher.setRoots([])
    try adoptRoots()
    restart.end()
    reconciler.roots.updateAll { $0.isScanAwaited = $0.number != nil }
    // Replies that came while no batch was applied did not count, so each sync is requested again. Syncs that
    // wait for files are among them.
    lateSyncs = LateSyncs()
    for number in barrier.renumber() { askSync(number) }
    updateState()
  }

  private func readAgain() throws {
    let uptime = clock.bootTime
    guard reconciler.retries.hasDue(at: uptime) else { return }
    try commit { writer in
      var batch = Batch(writer: writer, time: clock.wallTime, uptime: uptime)
      try reconciler.readAgainWhatIsDue(in: &batch)
      return ((), batch.origin)
    }
    updateState()
  }

  private func rescanSuspects() {
    let moment = clock.bootTime
    // A root is scanned once it is quiet, because a copy that is under way would only be found half done.
    let quiet = reconciler.roots.watched.filter { number, root in
      root.needsScan
        && reconciler.roots[number: number]?.scanWait.isOver(at: moment, lastChange: root.lastChange) == true
    }.map(\.number)
    // The scan that a root needs also shows whether it is complete.
    reconciler.roots.updateAll { if $0.needsScan || $0.number == nil { $0.mayBeComplete = false } }
    scanDoubtfulRoots(among: Set(quiet))
    // A sync promises nothing about suspect photos. It would wait as long as files change there.
    let suspects = reconciler.roots.watched.filter(\.root.mayBeComplete).map(\.number)
    if !suspects.isEmpty, idle.suspectWait.isOver(at: moment, lastChange: idle.lastChange.time) {
      for number in suspects { reconciler.roots[number: number]?.mayBeComplete = false }
      scan(suspects)
    }
    for (number, root) in reconciler.roots.watched {
      guard let suspect = root.suspect, moment - suspect.since.uptime >= reconciler.policy.grace,
        !root.isScanAwaited, reconciler.scans.underWay[number] == nil
      else { continue }
      _ = watcher.rescan(root: number, directory: nil)
      reconciler.roots[number: number]?.isScanAwaited = true
    }
  }
}
