// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// A directory that is to be listed again, because it, or something in it, could not be read for a reason that passes.
struct Retry {
  /// The first wait; each that follows is twice as long, to `longestWait`.
  static let firstWait: Int64 = 20_000_000
  static let longestWait: Int64 = 60_000_000_000
  /// A sync waits for so many attempts: 0.3 s.
  static let awaitedAttempts = 4
  /// A directory that is nowhere may be in what can't be read: so many attempts are awaited before it is gone; 5 s. After
  /// as many a root that can't be read is offline.
  static let trustedAttempts = 8

  var attempts = 0
  var retryAt: Int64
  /// Known directories below are listed too.
  var isRecursive: Bool
  /// A scan missed it: what it lacks is missing by scan.
  var isBelated: Bool
  var stamp: UInt64
  /// It is being listed; what fails meanwhile makes it wait anew.
  var isUnderWay = false
}

/// Whether the same call may well succeed a little later, with nobody doing anything: a disk's hiccup, a lack of memory or
/// of descriptors, a network. What is forbidden is not tried again; IN_ATTRIB says when that has changed.
func mayPass(_ errorNumber: Int32) -> Bool {
  switch errorNumber {
  case EIO, ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR, EBUSY, ENOBUFS, EREMOTEIO, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH,
    ENETDOWN, ENETUNREACH, ENOTCONN, ECONNREFUSED, ECONNABORTED, ECONNRESET:
    true
  default: false
  }
}

extension FolderWatch {
  /// Has the directory listed again later, where the error may pass.
  func tryAgain(_ index: NodeIndex, after error: SystemError, recursive: Bool = false, belated: Bool = false) {
    guard mayPass(error.number) else { return }
    let now = watchshim_now()
    var retry =
      retries[index]
      ?? Retry(
        retryAt: now + Retry.firstWait, isRecursive: false, isBelated: false, stamp: currentStamp)
    if retry.isUnderWay {
      retry.isUnderWay = false
      retry.attempts += 1
      retry.retryAt = now + min(Retry.firstWait << Int64(min(retry.attempts, 20)), Retry.longestWait)
    }
    retry.isRecursive = retry.isRecursive || recursive
    retry.isBelated = retry.isBelated || belated
    retries[index] = retry
    if tree[index].parent < 0, retry.attempts >= Retry.trustedAttempts { mustCheck = true }
  }

  /// It is tried just now; the request takes over what the retry was to do.
  func beginRetry(_ index: NodeIndex, _ request: inout ListingRequest) {
    guard var retry = retries[index] else { return }
    request.isRecursive = request.isRecursive || retry.isRecursive
    request.isBelated = request.isBelated || retry.isBelated
    if retry.isBelated { request.evidence = .scan }
    retry.isUnderWay = true
    retries[index] = retry
  }

  /// It was listed: unless something failed again meanwhile, that was it.
  func endRetry(_ index: NodeIndex) {
    if retries[index]?.isUnderWay == true { retries[index] = nil }
  }

  /// Lists again what is due.
  func retryUnreadable(_ now: Int64) {
    guard !retries.isEmpty else { return }
    for (index, retry) in retries where retry.retryAt <= now && walk[index] == nil && !hasMissing(at: index) {
      breathe()
      currentStamp = retry.stamp
      requestListing(index, evidence: retry.isBelated || tree[index].watch < 0 ? .scan : .event)
    }
    currentStamp = eventCount
  }

  /// When the next is due.
  var nextRetry: Int64 {
    var next = Int64.max
    for (index, retry) in retries where walk[index] == nil && !hasMissing(at: index) { next = min(next, retry.retryAt) }
    return next
  }

  /// What is nowhere may be in something that can't be read at the moment.
  var mayHideDirectories: Bool {
    retries.contains { $0.value.attempts < Retry.trustedAttempts && !hasMissing(at: $0.key) }
  }

  /// A directory that was renamed to this name can't be opened or looked at there. The kernel has said that it is it: it
  /// is taken at its word, and the directory is looked at later.
  /// - returns: false where the event is no such rename.
  func relinkUnseen(_ parent: NodeIndex, _ name: [UInt8], moveCookie: UInt32, _ error: SystemError) -> Bool {
    guard moveCookie != 0, !saysAbsent(error.number),
      let known = missing.first(where: { $0.value.moveCookie == moveCookie })?.key,
      missing[known]?.isDead == false, !tree.isWithin(parent, known)
    else { return false }
    let scan = activeScan(of: known) ?? activeScan(of: parent)
    displaceOccupant(of: parent, name, evidence: .event)
    tree.move(known, under: parent, name: name)
    say(.directoryMoved(number: tree[known].number, parent: tree[parent].number, name: name))
    missing[known] = nil
    tree[known].flags.remove(.missing)
    tree[known].flags.insert(.incomplete)
    polled.forgetListing(known)
    walk.refusals[tree.reference(known)] = nil
    say(.unreadable(directory: tree[parent].number, name: name, errorNumber: error.number))
    tryAgain(known, after: error, recursive: scan != nil || rules.needsFolder, belated: scan != nil)
    return true
  }
}
