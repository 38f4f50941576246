// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// A directory to list again, because it or something in it could not be read for a reason that may pass.
struct ListingRetry {
  /// The first wait. Each later wait is twice as long, up to `longestWait`.
  static let firstWait = Interval.milliseconds(20)
  static let longestWait = Interval.seconds(60)
  /// The number of attempts that a sync waits for; they take 0.3 s.
  static let awaitedAttempts = 4
  /// A missing directory may be inside one that can't be read. It counts as gone only after this number of attempts,
  /// which take 5 s. A root that can't be read goes offline after the same number.
  static let trustedAttempts = 8

  var attempts = 0
  var retryAt: Moment
  /// Known directories below are listed, too.
  var isRecursive: Bool
  /// A scan could not finish this listing. Names that the listing lacks count as missed by the scan.
  var isBelated: Bool
  /// The stamp of the work in which the directory first failed (see `EventProgress`). The retry counts as a part of it.
  var stamp: UInt64
  /// The directory is being listed. If that fails again, the next wait begins.
  var isUnderWay = false
}

/// Whether the same call may succeed a little later by itself: after a disk error, a lack of memory or descriptors, or
/// a network failure. A denied access is not retried. IN_ATTRIB reports new permissions.
func mayPass(_ errorNumber: Int32) -> Bool {
  switch errorNumber {
  case EIO, ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR, EBUSY, ENOBUFS, EREMOTEIO, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH,
    ENETDOWN, ENETUNREACH, ENOTCONN, ECONNREFUSED, ECONNABORTED, ECONNRESET:
    true
  default: false
  }
}

extension FolderWatch {
  /// Has the directory listed again later, if the error may pass.
  func tryAgain(_ index: NodeIndex, after error: SystemError, recursive: Bool = false, belated: Bool = false) {
    guard mayPass(error.number) else { return }
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

  /// Relinks a directory that was renamed to this name but can't be opened or looked at there. The cookie of the rename
  /// identifies it, and it is looked at later.
  /// - Returns: false if the event is no such rename.
  func relinkUnseen(_ parent: NodeIndex, _ name: [UInt8], moveCookie: UInt32, _ error: SystemError) -> Bool {
    guard moveCookie != 0, !meansAbsent(error.number),
      let known = unsettled.missing.first(where: { $0.value.moveCookie == moveCookie })?.key,
      unsettled.missing[known]?.isDead == false, !tree.isWithin(parent, known)
    else { return false }
    let scan = activeScan(of: known) ?? activeScan(of: parent)
    displaceOccupant(of: parent, name, evidence: .event)
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
