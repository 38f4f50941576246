// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

extension FolderWatch {
  /// The roots with an interval of their own.
  private var pollIntervals: [UInt16: Interval] { roots.mapValues(\.pollInterval).filter { $0.value > .none } }

  func rootPath(_ number: UInt16) -> [UInt8]? { roots[number]?.path }

  /// Opens and watches a root that is not online, and begins to scan it. Reports `rootOffline` if that is impossible.
  func openRoot(_ number: UInt16, reason: ScanReason) {
    guard let root = roots[number], root.top == nil else { return }
    guard root.path.first == UInt8(ascii: "/"), !root.path.contains(0) else { return rootStaysOffline(number, EINVAL) }
    if mounts.refusesShares {
      // EREMOTE would make photod give the root to another process, and the mount table may say that it is on a drive.
      guard let isOnShare = mounts.points.isOnShare(root.path) else {
        return rootStaysOffline(number, mounts.points.errorNumber)
      }
      if isOnShare { return rootStaysOffline(number, EREMOTE) }
    }
    let descriptor: Int32
    switch OpenDirectories.openPath(root.path) {
    case .failure(let error): return rootStaysOffline(number, error.number)
    case .success(let opened): descriptor = opened
    }
    defer { close(descriptor) }
    let look: FileLook
    switch FileLook.of(descriptor) {
    case .failure(let error): return rootStaysOffline(number, error.number)
    case .success(let seen): look = seen
    }
    let identity = look.identity
    var reasonToPoll = silentFileSystem(descriptor, look)
    // It lies within another root. photod does not order that, but a rename or a bind mount may cause it.
    guard polling.directories.node(identity) == nil else { return rootStaysOffline(number, EEXIST) }
    var watch: Int32 = -1
    if reasonToPoll == nil {
      switch tryWatch(descriptor, identity, mask: InotifyInstance.topMask) {
      case .success(let given):
        guard given < 0 || watches.byDescriptor[given] == nil else { return rootStaysOffline(number, EEXIST) }
        watch = given
      case .failure(let error):
        reasonToPoll = refusal(error, descriptor)
        if reasonToPoll == nil { return rootStaysOffline(number, error.number) }
      }
    }
    let top = tree.insertTop(root: number, identity: identity)
    setWatch(top, watch, reason: reasonToPoll)
    roots[number]?.state = .online(top: top)
    report(.directoryFound(number: tree[top].number, parent: 0, root: number, name: root.path, identity: identity))
    startScan(ScanOrder(request: 0, reason: reason, directory: nil), of: number)
  }

  private func rootStaysOffline(_ number: UInt16, _ errorNumber: Int32) {
    guard roots[number]?.state != .offline(errorNumber: errorNumber) else { return }
    roots[number]?.state = .offline(errorNumber: errorNumber)
    report(.rootOffline(root: number, errorNumber: errorNumber))
  }

  /// Takes a root offline whose directory is no longer at its path, and drops its watches. It
  /// reports deletions below it only if the kernel had reported them before.
  func loseRoot(_ number: UInt16, _ errorNumber: Int32) {
    guard let top = roots[number]?.top else { return }
    reportDeletions(in: number)
    forget(top)
    polling.reported.forget(number)
    endAllScans(of: number)
    rootStaysOffline(number, errorNumber)
  }

  /// Reports the deletions in a root that the kernel had reported. They could not be verified before the root went, and
  /// can't be verified any more.
  private func reportDeletions(in number: UInt16) {
    func isHere(_ node: NodeReference) -> Bool { tree.isAlive(node) && tree.root(node.index) == number }
    for place in files.held.takeDepartures(where: { isHere($0.directory) })
      + files.pending.takeDeleted(where: { isHere($0.directory) })
    where isWatched(place) {
      report(.fileGone(directory: place.directory.number, name: place.name))
    }
    for (index, entry) in unsettled.missing.sorted(by: { $0.value.stamp < $1.value.stamp })
    where unsettled.missing[index] != nil && entry.isDeleted && tree.root(index) == number {
      drop(index, evidence: .event)
    }
  }

  func removeRoot(_ number: UInt16) {
    guard let root = roots[number] else { return }
    if let top = root.top { forget(top) }
    polling.reported.forget(number)
    endAllScans(of: number)
    roots[number] = nil
    report(.rootOffline(root: number, errorNumber: 0))
  }

  /// Checks whether every root's path leads to its directory, still or again.
  func checkRoots(_ now: Moment) {
    for number in roots.keys.sorted() {
      if mounts.refusesShares, mounts.points.hasChanged, let path = rootPath(number),
        mounts.points.isOnShare(path) == true
      {
        // A share was mounted over it.
        loseRoot(number, EREMOTE)
      } else if let top = roots[number]?.top, let error = failure(ofRoot: number, top) {
        // The events that preceded the root's end are queued by now.
        let isDrained = handleEvents()
        events.progress.stamp = events.progress.eventCount
        if !isDrained, now - events.progress.quietAt < Self.longestWaitForQuiet {
          schedule.checks.mustRun = true
        } else if roots[number]?.top == top {
          if error.number == ESTALE { loseRoot(number, ESTALE) } else { doubtRoot(number, top, error) }
        }
      }
      openRoot(number, reason: .rootReturned)
    }
  }

  /// - Returns: nil if the root's path leads to its directory; ESTALE if it leads to another.
  func failure(ofRoot number: UInt16, _ top: NodeIndex) -> SystemError? {
    guard let path = rootPath(number) else { return nil }
    switch OpenDirectories.openPath(path) {
    case .failure(let error): return error
    case .success(let descriptor):
      defer { close(descriptor) }
      switch FileLook.of(descriptor) {
      case .failure(let error): return error
      case .success(let look): return look.identity == tree[top].identity ? nil : SystemError(number: ESTALE)
      }
    }
  }

  /// The root can't be opened or looked at. A shortage of descriptors or memory on this machine says nothing about the
  /// root. An error of its disk does, if it lasts.
  private func doubtRoot(_ number: UInt16, _ top: NodeIndex, _ error: SystemError) {
    let isOurs = error.number == EMFILE || error.number == ENFILE || error.number == ENOMEM
    guard mayPass(error.number), isOurs || (unsettled.retries[top]?.attempts ?? 0) < ListingRetry.trustedAttempts else {
      return loseRoot(number, error.number)
    }
    tryAgain(top, after: error)
  }

  var nextCheck: Moment {
    if schedule.checks.mustRun { return .start }
    let isAtRest =
      polling.directories.count == 0 && polling.reported.isEmpty && events.inotify.isOpen && syncing.cookies != nil
      && !mounts.points.isOutdated
      && roots.values.allSatisfy { $0.top != nil }
    return schedule.checks.last + (isAtRest ? Self.restInterval : Self.checkInterval)
  }

  func check(_ now: Moment) {
    schedule.checks.last = now
    schedule.checks.mustRun = false
    events.progress.stamp = events.progress.eventCount
    if mounts.points.isOutdated {
      mounts.points.readIfOutdated()
      leaveOutShares()
    }
    if mounts.points.hasChanged { mounts.fileSystems.forget() }
    // A share that is mounted over a root is not seen before the mount table was read.
    if !mounts.refusesShares || !mounts.points.isOutdated {
      checkRoots(now)
      checkMountPoints()
    }
    openInotify()
    if watches.share.readLimit()
      || (polling.directories.watchlessCount > 0 && (hasRoomForWatch || polling.wantsExchange))
    {
      polling.mustRebalance = true
    }
    polling.wantsExchange = false
    if polling.directories.count > 0 { polling.rounds.beginTick(now, polling.directories, tree, pollIntervals) }
    reportPolling(now)
  }
}
