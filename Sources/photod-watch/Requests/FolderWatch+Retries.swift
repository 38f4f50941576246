// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

extension FolderWatch {
  /// Has the directory listed again later, if the error may pass.
  func tryAgain(_ index: NodeIndex, after error: SystemError, recursive: Bool = false, belated: Bool = false) {
    if mayPass(error.number) { retryLater(index, recursive: recursive, belated: belated) }
  }

  /// Has the directory listed again later.
  func retryLater(_ index: NodeIndex, recursive: Bool, belated: Bool) {
    let now = Moment.now
    var retry =
      unsettled.retries[index]
      ?? ListingRetry(
        retryAt: now + ListingRetry.firstWait, isRecursive: false, isBelated: false, stamp: events.progress.stamp)
    if retry.isUnderWay {
      retry.isUnderWay = false
      retry.attempts += 1
      retry.retryAt = now + min(ListingRetry.firstWait.doubled(retry.attempts), ListingRetry.longestWait)
    }
    retry.isRecursive = retry.isRecursive || recursive
    retry.isBelated = retry.isBelated || belated
    unsettled.retries[index] = retry
    if tree[index].parent < 0, retry.attempts >= ListingRetry.trustedAttempts { schedule.checks.mustRun = true }
  }

  /// Begins the attempt. The request gets the options of the retry.
  func beginRetry(_ index: NodeIndex, _ request: inout ListingRequest) {
    guard var retry = unsettled.retries[index] else { return }
    request.isRecursive = request.isRecursive || retry.isRecursive
    request.isBelated = request.isBelated || retry.isBelated
    if retry.isBelated { request.evidence = .scan }
    retry.isUnderWay = true
    unsettled.retries[index] = retry
  }

  /// Ends the attempt. The retry is over unless something failed again meanwhile.
  func endRetry(_ index: NodeIndex) {
    if unsettled.retries[index]?.isUnderWay == true { unsettled.retries[index] = nil }
  }

  /// Requests the listings that are due.
  func retryUnreadable(_ now: Moment) {
    guard !unsettled.retries.isEmpty else { return }
    for (index, retry) in unsettled.retries where retry.retryAt <= now && walk[index] == nil && !hasMissing(at: index) {
      keepAlive()
      events.progress.stamp = retry.stamp
      requestListing(index, evidence: retry.isBelated || tree[index].watch < 0 ? .scan : .event)
    }
    events.progress.stamp = events.progress.eventCount
  }

  /// The time at which the next retry is due.
  var nextRetry: Moment {
    var next = Moment.never
    for (index, retry) in unsettled.retries where walk[index] == nil && !hasMissing(at: index) {
      next = min(next, retry.retryAt)
    }
    return next
  }

  /// Whether a missing directory may be inside one that can't be read at the moment.
  var mayHideDirectories: Bool {
    unsettled.retries.contains { $0.value.attempts < ListingRetry.trustedAttempts && !hasMissing(at: $0.key) }
  }

  /// The missing directory that a rename took away. In an exchange, the tree has the first directory at the name that the
  /// second one leaves. The second one was displaced there.
  func directory(movedBy moveCookie: UInt32) -> NodeIndex? {
    guard moveCookie != 0 else { return nil }
    let moved = unsettled.missing.lazy.filter { $0.value.moveCookie == moveCookie && !$0.value.isDead }.map(\.key)
    return moved.first { tree[$0].flags.contains(.displaced) } ?? moved.first
  }

  /// Relinks a directory that was renamed to this name but can't be opened or looked at there. The cookie of the rename
  /// identifies it, and it is looked at later.
  /// - Returns: false if the event is no such rename.
  func relinkUnseen(_ parent: NodeIndex, _ name: [UInt8], moveCookie: UInt32, _ error: SystemError) -> Bool {
    guard error.number != ESTALE, !meansAbsent(error.number), let known = directory(movedBy: moveCookie),
      !tree.isWithin(parent, known)
    else { return false }
    let scan = activeScan(of: known) ?? activeScan(of: parent)
    displaceOccupant(of: parent, name, evidence: .event)
    // It was reported as unreadable under its old name. A new listing of the old parent corrects that.
    if unsettled.retries[known] != nil || tree[known].flags.contains(.incomplete) { listLater(tree[known].parent) }
    tree.move(known, under: parent, name: name)
    report(.directoryMoved(number: tree[known].number, parent: tree[parent].number, name: name))
    unsettled.missing[known] = nil
    tree[known].flags.remove(.missing)
    tree[known].flags.insert(.incomplete)
    polling.directories.forgetListing(known)
    walk.refusals[tree.reference(known)] = nil
    report(.unreadable(directory: tree[parent].number, name: name, errorNumber: error.number))
    tryAgain(known, after: error, recursive: scan != nil || rules.needsFolder, belated: scan != nil)
    return true
  }
}
