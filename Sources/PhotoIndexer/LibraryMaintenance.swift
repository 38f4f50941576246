import Logging
import PhotoCatalog

// What time brings, and what it mends: files that are read again, roots that are in doubt, a catalog that failed.
extension Library {
  func breakDown(_ error: any Error) {
    events.append(.startedOver(error: "\(error)"))
    events.announce()
    startsOverAt = clock.bootTime + startOverDelay
    alarm.publish(alarm.sequence + 1)
    startOverDelay = min(startOverDelay * 2, Self.lastStartOverDelay)
    logger.error("catalog not written", metadata: ["error": "\(error)"])
    board.warn(
      "catalog", "The catalog can't be written: \(error). Make room on its disk; photod tries again by itself.")
    rescans.failAll(with: LibraryError.unavailable("The catalog can't be written now. `photoctl status` says why."))
  }

  /// Something is to be done that no event will ask for.
  var isTimeToCome: Bool {
    startsOverAt != nil || !reconciler.unread.isEmpty || !doubtfulRoots.isEmpty || !activeSuspects.isEmpty
      || !reconciler.suspects.isEmpty || hasNewWords
  }

  /// Looks once a second while there is something that time brings: files that are read again, roots that are scanned a
  /// second time, a catalog that failed.
  func maintain() async {
    while true {
      // Before the look: what comes up after it rings anew.
      let rung = alarm.sequence
      if !isTimeToCome, await alarm.next(after: rung) == nil { return }
      do { try await clock.sleep(for: .seconds(1)) } catch { return }
      doWhatIsDue()
      for _ in 1..<Self.wordBatchesPerSecond where hasNewWords {
        await Task.yield()
        indexWords()
      }
    }
  }

  /// Takes new assets into the index of words once it is quiet: whoever searches finds them before that too, and what
  /// happens meanwhile comes first.
  private func indexWords() {
    guard hasNewWords, startsOverAt == nil, awaitedScans.isEmpty, clock.bootTime - lastBatchAt >= Self.quietTime else {
      return
    }
    do {
      hasNewWords = try catalog.indexText(limit: Self.wordBatch)
      isTextLate = false
    } catch {
      // A disk that is full: the next commit tells, and has the index tried again.
      (hasNewWords, isTextLate) = (false, true)
      logger.notice("words not indexed", metadata: ["error": "\(error)"])
    }
  }

  func doWhatIsDue() {
    do {
      if let startsOverAt {
        if clock.bootTime >= startsOverAt { try startOver() }
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
    startsOverAt = nil
    awaitedScans = Set(reconciler.rootIDs.keys)
    board.warn("catalog", nil)
    // What was said while nothing was applied answered nobody.
    for number in barrier.renumber() { watcher.sync(number: number) }
    updateState()
  }

  private func readAgain() throws {
    let uptime = clock.bootTime
    let due = reconciler.unread.filter { $0.value.at <= uptime }.keys.sorted()
    guard !due.isEmpty else { return }
    _ = try commit { writer in
      var batch = Batch(writer: writer, time: clock.wallTime, uptime: uptime)
      try reconciler.readAgain(due, in: &batch)
      return ((), batch.record, batch.origin)
    }
    updateState()
  }

  private func rescanSuspects() {
    let moment = clock.bootTime
    // Once it is quiet: a copy that is under way would only be found half done.
    if moment - lastBatchAt >= Self.quietTime {
      // Of what is suspect a sync promises nothing: it would wait as long as something happens there.
      let suspects = activeSuspects.subtracting(doubtfulRoots)
      activeSuspects = []
      scanDoubtfulRoots()
      scan(suspects)
    }
    for (root, rootID) in reconciler.rootIDs.sorted(by: { $0.key < $1.key }) {
      guard let suspect = reconciler.suspects[rootID], moment - suspect.since >= reconciler.policy.grace,
        reconciler.availability[rootID] == true, !awaitedScans.contains(root), reconciler.scans[root] == nil
      else { continue }
      _ = watcher.rescan(root: root, directory: nil)
      awaitedScans.insert(root)
    }
  }
}
