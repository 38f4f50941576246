// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// A directory that photod ordered to be watched with all below it.
struct Root {
  enum State: Equatable {
    /// Its top is in the tree.
    case online(top: NodeIndex)
    /// It can't be opened: nothing of it is in the tree.
    case offline(errorNumber: Int32)
    /// Not tried yet.
    case new
  }

  /// Absolute; links in it were resolved by photod.
  var path: [UInt8]
  var state = State.new
  var activeScan: UInt32?
  /// Scans that begin when the active one has ended, in order.
  var waitingScans: [ScanOrder] = []

  init(path: [UInt8]) { self.path = path }

  var top: NodeIndex? {
    if case .online(let top) = state { top } else { nil }
  }
}

extension FolderWatch {
  func rootPath(_ number: UInt16) -> [UInt8]? { roots[number]?.path }

  /// Opens, watches and begins to scan a root that is not online; says `rootOffline` where that can't be.
  func openRoot(_ number: UInt16, reason: ScanReason) {
    guard let root = roots[number], root.top == nil else { return }
    guard root.path.first == UInt8(ascii: "/"), !root.path.contains(0) else { return rootStaysOffline(number, EINVAL) }
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
    let silent = silentFileSystem(descriptor, look)
    // It is within another root: photod should not have ordered that, but a rename or a bind mount may bring it about.
    guard polled.node(identity) == nil else { return rootStaysOffline(number, EEXIST) }
    var watch: Int32 = -1
    if silent == nil {
      switch tryWatch(descriptor, identity, mask: InotifyInstance.topMask) {
      case .success(let given):
        guard given < 0 || byWatch[given] == nil else { return rootStaysOffline(number, EEXIST) }
        watch = given
      case .failure(let error): return rootStaysOffline(number, error.number)
      }
    }
    let top = tree.insertTop(root: number, identity: identity)
    setWatch(top, watch, reason: silent)
    roots[number]?.state = .online(top: top)
    say(.directoryFound(number: tree[top].number, parent: 0, root: number, name: root.path, identity: identity))
    startScan(ScanOrder(request: 0, reason: reason, directory: nil), of: number)
  }

  private func rootStaysOffline(_ number: UInt16, _ errorNumber: Int32) {
    guard roots[number]?.state != .offline(errorNumber: errorNumber) else { return }
    roots[number]?.state = .offline(errorNumber: errorNumber)
    say(.rootOffline(root: number, errorNumber: errorNumber))
  }

  /// The root's directory is not there any more: nothing is said of what was below it, its watches are dropped.
  func loseRoot(_ number: UInt16, _ errorNumber: Int32) {
    guard let top = roots[number]?.top else { return }
    forget(top)
    said.forget(number)
    endAllScans(of: number)
    rootStaysOffline(number, errorNumber)
  }

  func removeRoot(_ number: UInt16) {
    if let top = roots[number]?.top { forget(top) }
    said.forget(number)
    endAllScans(of: number)
    roots[number] = nil
  }

  /// Looks whether every root is (still, or again) what its path leads to.
  func checkRoots() {
    for number in roots.keys.sorted() {
      if let top = roots[number]?.top { checkRoot(number, top) }
      openRoot(number, reason: .rootReturned)
    }
  }

  private func checkRoot(_ number: UInt16, _ top: NodeIndex) {
    guard let path = rootPath(number) else { return }
    switch OpenDirectories.openPath(path) {
    case .failure(let error): doubtRoot(number, top, error)
    case .success(let descriptor):
      defer { close(descriptor) }
      switch FileLook.of(descriptor) {
      case .failure(let error): doubtRoot(number, top, error)
      case .success(let look):
        if look.identity != tree[top].identity { loseRoot(number, ESTALE) }
      }
    }
  }

  /// The root can't be opened or looked at. What is wanting here says nothing of the root; what its disk fails in, if it
  /// goes on, does.
  private func doubtRoot(_ number: UInt16, _ top: NodeIndex, _ error: SystemError) {
    let isOurs = error.number == EMFILE || error.number == ENFILE || error.number == ENOMEM
    guard mayPass(error.number), isOurs || (retries[top]?.attempts ?? 0) < Retry.trustedAttempts else {
      return loseRoot(number, error.number)
    }
    tryAgain(top, after: error)
  }

  var nextCheck: Int64 {
    if mustCheck { return 0 }
    let isAtRest =
      polled.count == 0 && said.isEmpty && inotify.isOpen && cookies != nil && mounts.descriptor >= 0
      && roots.values.allSatisfy { $0.top != nil }
    return lastCheck + (isAtRest ? Self.restInterval : Self.checkInterval)
  }

  func check(_ now: Int64) {
    lastCheck = now
    mustCheck = false
    currentStamp = eventCount
    if mounts.hasChanged { fileSystems.forget() }
    checkRoots()
    checkMountPoints()
    openInotify()
    if share.readLimit() || (polled.watchlessCount > 0 && (hasRoomForWatch || wantsExchange)) { mustRebalance = true }
    wantsExchange = false
    if polled.count > 0 { polls.beginTick(now, polled, tree) }
    sayPolling(now)
  }
}
