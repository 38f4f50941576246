// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

extension FolderWatch {
  /// Decides everything that had to wait for an empty queue.
  func settle(drained: Bool, now: Moment) {
    let forcedStamp = forcedStamp()
    // An endless flood of events must not block everything that waits, with or without a sync.
    let patience = forcedStamp > 0 ? Self.longestWaitForQuiet / 10 : Self.longestWaitForQuiet
    guard drained || now - events.progress.quietAt >= patience else { return }
    expireMoves(now, forcedStamp: forcedStamp)
    checkUnreported(now, forcedStamp: forcedStamp)
    settleMissing(now, forcedStamp: forcedStamp)
    retryDoubtful(now)
    retryUnreadable(now)
    if events.progress.hasOverflowed {
      rewriteLostCookies()
      scanAfterOverflow()
    }
    endScans()
    if checksInvariants { checkInvariants() }
    answerDueSyncs()
  }

  /// When the next decision is due.
  func nextSettling() -> Moment {
    let forcedStamp = forcedStamp()
    var next = Moment.never
    for departure in files.held.departures.values {
      next = min(next, departure.since + (departure.stamp <= forcedStamp ? Self.forcedGrace : Self.moveGrace))
    }
    if let check = files.unreported.nextCheck { next = min(next, check) }
    let (isHidden, retry) = (mayHideDirectories, nextRetry)
    let isListing = hasListingScan
    for (index, entry) in unsettled.missing where !hasMissingAbove(index) {
      if entry.evidence == .scan, isListing, !entry.isDead { continue }
      let due = max(entry.retryAt, entry.since + grace(of: entry, at: index, forcedStamp))
      next = min(next, isHidden && !entry.isDead ? max(due, retry) : due)
    }
    for index in walk.unverified {
      guard let request = walk[index], case .unverified(_, let retryAt) = request.state else { continue }
      if !request.scanIDs.isEmpty || !hasMissing(at: index) { next = min(next, retryAt) }
    }
    return min(next, retry)
  }

  private func checkInvariants() {
    tree.checkInvariants()
    events.backlog.checkInvariants()
    for (watch, index) in watches.byDescriptor {
      precondition(tree[index].watch == watch, "a watch of another directory")
    }
    for index in unsettled.missing.keys {
      precondition(tree[index].flags.contains([.alive, .missing]), "missing, but not marked")
    }
    for index in unsettled.retries.keys { precondition(tree[index].flags.contains(.alive), "a retry of nothing") }
    for index in walk.requests.keys { precondition(tree[index].flags.contains(.alive), "a listing of nothing") }
    for (index, request) in walk.requests {
      precondition(
        request.isUnverified == walk.unverified.contains(index), "an unverified listing that is not in the set")
    }
    for index in walk.unverified { precondition(walk[index] != nil, "an unverified listing of nothing") }
    for scan in scans.running { precondition(scan.value.remaining >= 0, "a scan that ended twice") }
  }

  private func grace(of entry: Missing, at index: NodeIndex, _ forcedStamp: UInt64) -> Interval {
    if entry.isDead { return .none }
    if entry.stamp <= forcedStamp { return Self.forcedGrace }
    if entry.evidence == .scan, let scan = activeScan(of: index), scans.running[scan]?.remaining == 0 {
      return Self.forcedGrace
    }
    return Self.goneGrace
  }

  /// Whether a scan still waits for listings. Its next listing, or an order of photod to go on, ends the sleep.
  private var hasListingScan: Bool { scans.running.values.contains { $0.remaining > 0 } }

  private func settleMissing(_ now: Moment, forcedStamp: UInt64) {
    // A file's rename out of a missing directory is reported before the directory is dropped.
    if unsettled.missing.isEmpty { unsettled.seats = [:] }
    guard !unsettled.missing.isEmpty, files.held.isEmpty else { return }
    // A missing directory may be inside one that can't be read at the moment.
    let isHidden = mayHideDirectories
    // A directory that a scan misses in one root may turn up in another. After an overflow, the scans begin later in this
    // turn.
    let isScanning = events.progress.hasOverflowed || polling.rounds.isPassing || hasListingScan
    for (index, entry) in unsettled.missing.sorted(by: { $0.value.stamp < $1.value.stamp }) {
      guard unsettled.missing[index] != nil else { continue }
      guard entry.retryAt <= now, now - entry.since >= grace(of: entry, at: index, forcedStamp) else { continue }
      if entry.evidence == .scan, isScanning, !entry.isDead { continue }
      if isHidden, !entry.isDead { continue }
      guard !hasMissingAbove(index) else { continue }
      events.progress.stamp = entry.stamp
      decide(index, entry, now)
    }
    events.progress.stamp = events.progress.eventCount
  }

  /// The topmost missing directory is decided first. The ones below are gone, or stay, with it.
  private func hasMissingAbove(_ index: NodeIndex) -> Bool {
    let parent = tree[index].parent
    return parent >= 0 && hasMissing(at: parent)
  }

  private func decide(_ index: NodeIndex, _ entry: Missing, _ now: Moment) {
    if entry.isDead || tree[index].flags.contains(.displaced) { return drop(index, evidence: entry.evidence) }
    let parent = tree[index].parent
    if isLeftOut(tree.name(index), in: parent) { return leaveOut(Array(tree.name(index)), in: parent) }
    keepAlive()
    switch directories.descriptor(of: parent, in: tree, rootPath: rootPath) {
    case .failure(let error):
      let isRefused = error.number != ESTALE && !meansAbsent(error.number)
      // The kernel has reported that it left, and nothing has come to its name since.
      if isRefused, entry.evidence == .event, tree[parent].watch >= 0 { return drop(index, evidence: .event) }
      listLater(parent)
      let attempts = entry.attempts
      unsettled.missing[index]?.retryAt =
        now + min(Interval.milliseconds(50).doubled(attempts), ListingRetry.longestWait)
      if isRefused { unsettled.missing[index]?.attempts = attempts + 1 }
    case .success(let descriptor):
      let name = Array(tree.name(index))
      switch OpenDirectories.open(descriptor, name) {
      case .failure(let error) where meansAbsent(error.number): drop(index, evidence: entry.evidence)
      case .failure(let error):
        unsettled.missing[index] = nil
        tree[index].flags.remove(.missing)
        cannotEnter(parent, name, error, evidence: entry.evidence)
      case .success(let opened):
        // It is back, or another directory is at its place. Watching it shows which. A scan may have passed it by.
        unsettled.missing[index] = nil
        tree[index].flags.remove(.missing)
        let scanIDs = activeScans(of: index)
        adopt(
          opened, under: parent, name: name, evidence: entry.evidence, scanIDs: scanIDs, recursive: !scanIDs.isEmpty)
      }
    }
  }
}
