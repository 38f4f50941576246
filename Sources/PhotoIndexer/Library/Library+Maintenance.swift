import Logging
import PhotoCatalog

// What time brings, and what it mends: files that are read again, roots that are in doubt, a catalog that failed.
extension Library {
  func breakDown(_ error: any Error) {
    events.append(.startedOver(error: "\(error)"))
    events.announce()
    breakdown = Breakdown(error: "\(error)", endsAt: clock.bootTime + startOverDelay)
    alarm.publish(alarm.sequence + 1)
    startOverDelay = min(startOverDelay * 2, Self.lastStartOverDelay)
    logger.error("catalog not written", metadata: ["error": "\(error)"])
    reportWarnings()
    rescans.failAll(with: LibraryError.unavailable("The catalog can't be written now. `photoctl status` says why."))
  }

  /// Something is to be done that no event will ask for.
  var isTimeToCome: Bool {
    breakdown != nil || !reconciler.unread.isEmpty || hasNewWords
      || reconciler.roots.contains { $0.needsScan || $0.mayBeComplete || $0.suspect != nil }
      || (proofs.isDue && !proofs.isOnBattery)
  }

  /// Looks once a second while there is something that time brings: files that are read again, roots that are scanned a
  /// second time, a catalog that failed.
  func maintain() async {
    while true {
      // Before the look: what comes up after it rings anew.
      let rung = alarm.sequence
      if !isTimeToCome {
        // Nothing tells when the machine is on mains again.
        let isPatient = proofs.isDue && proofs.isOnBattery
        guard await isWoken(after: rung, within: isPatient ? .seconds(60) : nil) else { return }
      }
      do { try await clock.sleep(for: .seconds(1)) } catch { return }
      doWhatIsDue()
      for _ in 1..<Self.wordBatchesPerSecond where hasNewWords {
        await Task.yield()
        indexWords()
      }
      await makeProofs()
    }
  }

  /// - Returns: false at the end.
  private nonisolated func isWoken(after rung: Int64, within time: Duration?) async -> Bool {
    guard let time else { return await alarm.next(after: rung) != nil }
    return await withTaskGroup(of: Bool.self) { group in
      group.addTask { await self.alarm.next(after: rung) != nil }
      group.addTask {
        do { try await self.clock.sleep(for: time) } catch { return false }
        return true
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
  }

  /// Takes new assets into the index of words once it is quiet: whoever searches finds them before that too, and what
  /// happens meanwhile comes first.
  private func indexWords() {
    guard hasNewWords, isIdle else { return }
    do {
      // One transaction for both, since mostly there is one new photo.
      let hasNewFiles = proofs.hasNewFiles
      let (hasMore, started) = try catalog.write { writer -> (Bool, ProofPass.Start?) in
        let hasMore = try writer.indexText(limit: Self.wordBatch)
        return (hasMore, hasMore || !hasNewFiles ? nil : try Self.startProofs(writer))
      }
      (hasNewWords, isTextLate) = (hasMore, false)
      if let started { note(started) }
    } catch {
      // A disk that is full: the next commit tells, and has the index tried again.
      (hasNewWords, isTextLate) = (false, true)
      logger.notice("words not indexed", metadata: ["error": "\(error)"])
    }
  }

  func doWhatIsDue() {
    do {
      if let breakdown {
        if clock.bootTime >= breakdown.endsAt { try startOver() }
      } else {
        try readAgain()
        rescanSuspects()
      }
    } catch {
      breakDown(error)
    }
    indexWords()
  }

  private func startOver() throws {
    try remakeReconciler()
    // New numbers for the roots: what photod-watch still says under the old ones means nothing to the new reconciler.
    watcher.setRoots([])
    try adoptRoots()
    breakdown = nil
    reconciler.roots.updateAll { $0.isScanAwaited = $0.number != nil }
    // What was said while nothing was applied answered nobody.
    for number in barrier.renumber() { askSync(number) }
    updateState()
  }

  private func readAgain() throws {
    let uptime = clock.bootTime
    guard reconciler.unread.values.contains(where: { $0.at <= uptime }) else { return }
    _ = try commit { writer in
      var batch = Batch(writer: writer, time: clock.wallTime, uptime: uptime)
      try reconciler.readAgainWhatIsDue(in: &batch)
      return ((), batch.record, batch.origin)
    }
    updateState()
  }

  private func rescanSuspects() {
    let moment = clock.bootTime
    // Once it is quiet: a copy that is under way would only be found half done.
    if moment - lastBatchAt >= Self.quietTime {
      // Of what is suspect a sync promises nothing: it would wait as long as something happens there.
      let suspects = reconciler.roots.watched.filter { $0.root.mayBeComplete && !$0.root.needsScan }.map(\.number)
      reconciler.roots.updateAll { $0.mayBeComplete = false }
      scanDoubtfulRoots()
      scan(suspects)
    }
    for (number, root) in reconciler.roots.watched {
      guard let suspect = root.suspect, moment - suspect.since.uptime >= reconciler.policy.grace,
        !root.isScanAwaited, reconciler.scans[number] == nil
      else { continue }
      _ = watcher.rescan(root: number, directory: nil)
      reconciler.roots[number: number]?.isScanAwaited = true
    }
  }
}
