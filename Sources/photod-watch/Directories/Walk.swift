// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// A request to list a directory. A directory has at most one.
struct ListingRequest {
  enum State {
    /// The directory is in `Walk.ready`.
    case ready
    /// Its path leads elsewhere, or something in it could not be verified. It is tried when the queue is empty, but not
    /// before `retryAt`.
    case unverified(attempts: Int, retryAt: Moment)
  }

  var state: State
  var evidence: Evidence
  /// The scans that cannot end before this listing. They are several if the directory was moved from one root to another.
  var scanIDs: Set<UInt32>
  /// Known directories below are listed, too.
  var isRecursive: Bool
  /// Repeats a listing that a scan could not finish. New subfolders count as found by that scan.
  var isBelated = false
  var stamp: UInt64
  /// How often it was postponed because a queued rename was not handled yet.
  var postponements = 0

  var isUnverified: Bool { if case .unverified = state { true } else { false } }
}

/// The directories to list. The last ones found come first. Subfolders of one directory are in the order of their names.
struct Walk {
  /// The most descriptors that `ready` keeps open. The other directories are opened again.
  private static let maximumOpen = 64

  private(set) var requests: [NodeIndex: ListingRequest] = [:]
  /// The directories whose requests are unverified. A scan of a wide folder has many requests, and most are ready.
  private(set) var unverified: Set<NodeIndex> = []
  private var ready: [(node: NodeReference, descriptor: Int32)] = []
  private var openCount = 0
  /// Directories in which one of their own ancestors was found, with the number of refusals in a row.
  var refusals: [NodeReference: Int] = [:]

  var isIdle: Bool { ready.isEmpty }
  var readyCount: Int { ready.count }

  subscript(index: NodeIndex) -> ListingRequest? {
    get { requests[index] }
    set {
      requests[index] = newValue
      if newValue?.isUnverified == true { unverified.insert(index) } else { unverified.remove(index) }
    }
  }

  /// Takes ownership of the descriptor (-1 for none).
  mutating func push(_ node: NodeReference, descriptor: Int32) {
    var descriptor = descriptor
    if descriptor >= 0 {
      if openCount < Self.maximumOpen {
        openCount += 1
      } else {
        close(descriptor)
        descriptor = -1
      }
    }
    ready.append((node, descriptor))
  }

  /// The directory that ``pop()`` returns.
  var next: NodeReference? { ready.last?.node }

  /// Makes the directories after this number of them be listed in the order in which they were pushed.
  mutating func reverse(after count: Int) { ready[Swift.min(count, ready.count)...].reverse() }

  /// Closes all descriptors.
  mutating func closeAll() {
    guard openCount > 0 else { return }
    for position in ready.indices where ready[position].descriptor >= 0 {
      close(ready[position].descriptor)
      ready[position].descriptor = -1
    }
    openCount = 0
  }

  /// The caller takes ownership of the descriptor.
  mutating func pop() -> (node: NodeReference, descriptor: Int32)? {
    guard let last = ready.popLast() else { return nil }
    if last.descriptor >= 0 { openCount -= 1 }
    return last
  }
}

extension FolderWatch {
  /// Requests a listing. Takes ownership of `descriptor`, which is open on the directory. A request that exists already
  /// takes over what this one adds. If the existing one waits for photod and this one does not, it waits no longer.
  func requestListing(
    _ index: NodeIndex, evidence: Evidence, scanIDs: Set<UInt32> = [], recursive: Bool = false, belated: Bool = false,
    descriptor: Int32 = -1
  ) {
    let reference = tree.reference(index)
    guard var request = walk[index] else {
      walk[index] = ListingRequest(
        state: .ready, evidence: evidence, scanIDs: scanIDs, isRecursive: recursive, isBelated: belated,
        stamp: events.progress.stamp)
      for id in scanIDs { scans.running[id]?.remaining += 1 }
      walk.push(reference, descriptor: descriptor)
      return
    }
    let wasPaced = isPaced(request)
    for id in scanIDs.subtracting(request.scanIDs) {
      request.scanIDs.insert(id)
      scans.running[id]?.remaining += 1
    }
    if evidence == .scan { request.evidence = .scan }
    request.isRecursive = request.isRecursive || recursive
    request.isBelated = request.isBelated || belated
    request.stamp = min(request.stamp, events.progress.stamp)
    if case .unverified = request.state, descriptor >= 0 {
      request.state = .ready
      walk.push(reference, descriptor: descriptor)
    } else if case .ready = request.state, wasPaced, !isPaced(request) {
      // Its place in the order is behind others that wait. When that place is reached, there is no request any more.
      walk.push(reference, descriptor: descriptor)
    } else if descriptor >= 0 {
      close(descriptor)
    }
    walk[index] = request
  }

  /// Records that something about the directory could not be verified. It is listed when the queue is empty. A request
  /// that exists already serves for this, too, and syncs wait for it.
  func listLater(_ index: NodeIndex) {
    if let request = walk[index] {
      walk[index]?.stamp = min(request.stamp, events.progress.stamp)
      return
    }
    walk[index] = ListingRequest(
      state: .unverified(attempts: 0, retryAt: .start), evidence: tree[index].watch < 0 ? .scan : .event,
      scanIDs: [], isRecursive: false, stamp: events.progress.stamp)
  }

  func cancelListing(_ index: NodeIndex) {
    guard let request = walk[index] else { return }
    walk[index] = nil
    for id in request.scanIDs { scans.running[id]?.remaining -= 1 }
  }

  /// Lists directories for one slice of time.
  func listSome() {
    guard canList else { return }
    let end = Moment.now + Self.slice
    repeat {
      guard canList, let (node, descriptor) = walk.pop() else { break }
      listOne(node, descriptor)
      keepAlive()
    } while Moment.now < end && events.backlog.isEmpty
  }

  private func listOne(_ node: NodeReference, _ held: Int32) {
    var descriptor = held
    guard tree.isAlive(node), var request = walk[node.index] else {
      if held >= 0 { close(held) }
      return
    }
    if descriptor < 0 {
      switch OpenDirectories.open(node.index, in: tree, rootPath: rootPath) {
      case .success(let opened): descriptor = opened
      case .failure(let error): return listLater(node.index, error)
      }
    }
    events.progress.stamp = request.stamp
    beginRetry(node.index, &request)
    if !request.scanIDs.isEmpty { watchAtLast(node.index, descriptor) }
    guard let listing = readListing(node.index, descriptor, request) else {
      // A rename is queued. It is reported first, so that a rename is never taken for a removal.
      close(descriptor)
      request.postponements += 1
      request.state = .unverified(attempts: 0, retryAt: Moment.now + .milliseconds(1))
      walk[node.index] = request
      return
    }
    if tree[node.index].flags.contains(.unreachable), listing.failure == nil {
      // Earlier scans could not see below, and events there could not be followed. So this listing does it for them.
      tree[node.index].flags.remove(.unreachable)
      (request.evidence, request.isRecursive, request.isBelated) = (.scan, true, true)
    }
    // The request is removed first, so that doubts which arise meanwhile make a new one. The scan's count is lowered
    // last, because subdirectories raise it.
    walk[node.index] = nil
    apply(listing, to: node.index, descriptor, request)
    endRetry(node.index)
    close(descriptor)
    let isRequested = request.scanIDs.contains { scans.running[$0]?.reason == .rescan }
    for id in request.scanIDs { scans.running[id]?.remaining -= 1 }
    if isRequested, let checkpoint = scans.pace.reported(files: listing.files.count) {
      report(.checkpoint(number: checkpoint))
    }
    events.progress.stamp = events.progress.eventCount
  }

  /// The directory could not be opened where it should be.
  private func listLater(_ index: NodeIndex, _ error: SystemError) {
    guard var request = walk[index] else { return }
    if error.number == ESTALE || meansAbsent(error.number) {
      request.state = .unverified(attempts: 0, retryAt: .start)
      walk[index] = request
      return
    }
    giveUp(index, request, error)
  }

  /// Reports a directory as unreadable. Its known contents are kept.
  private func giveUp(_ index: NodeIndex, _ request: ListingRequest, _ error: SystemError) {
    tree[index].flags.formUnion([.incomplete, .unreachable])
    polling.directories.forgetListing(index)
    events.progress.stamp = request.stamp
    unsettled.retries[index]?.isUnderWay = true
    let unreadable = error.number == EACCES ? flagRefusing(index) : index
    if unreadable == nil || mayPass(error.number) {
      retryLater(index, recursive: request.isRecursive, belated: request.isBelated || !request.scanIDs.isEmpty)
    }
    endRetry(index)
    events.progress.stamp = events.progress.eventCount
    if let unreadable, tree[unreadable].parent >= 0 {
      let name = Array(tree.name(unreadable))
      report(.unreadable(directory: tree[tree[unreadable].parent].number, name: name, errorNumber: error.number))
    } else if let unreadable {
      report(.unreadable(directory: tree[unreadable].number, name: [], errorNumber: error.number))
    }
    cancelListing(index)
  }

  /// Flags the topmost directory that refuses access on the path to a directory. IN_ATTRIB reports its new permissions,
  /// and then everything below it is listed.
  /// - Returns: nil if no event reports the end of the refusal: either it has ended already, or the root's path refuses
  ///   access, perhaps above the root. In that case, a check takes the root offline.
  private func flagRefusing(_ index: NodeIndex) -> NodeIndex? {
    var topmost = index
    while tree[topmost].parent >= 0, refusesAccess(tree[topmost].parent) { topmost = tree[topmost].parent }
    if tree[topmost].parent < 0, failure(ofRoot: tree[topmost].root, topmost) != nil {
      schedule.checks.mustRun = true
      return nil
    }
    guard refusesAccess(topmost) else { return nil }
    tree[topmost].flags.formUnion([.incomplete, .unreachable])
    polling.directories.forgetListing(topmost)
    return topmost
  }

  /// Whether an event will report the end of a refusal at this name. If a directory above it refuses access, that one is
  /// flagged.
  func awaitsPermission(_ parent: NodeIndex, _ name: [UInt8]) -> Bool {
    if let child = tree.child(of: parent, named: name) { return flagRefusing(child) != nil }
    if refusesAccess(parent) { return flagRefusing(parent) != nil }
    guard case .success(let descriptor) = directories.descriptor(of: parent, in: tree, rootPath: rootPath),
      case .success(let opened) = OpenDirectories.open(descriptor, name)
    else { return true }
    close(opened)
    return false
  }

  /// Whether the directory cannot be opened, or names in it cannot be looked at, for lack of a permission.
  private func refusesAccess(_ index: NodeIndex) -> Bool {
    switch OpenDirectories.open(index, in: tree, rootPath: rootPath) {
    case .failure(let error): return error.number == EACCES
    case .success(let descriptor):
      defer { close(descriptor) }
      return OpenDirectories.refusal(descriptor)?.number == EACCES
    }
  }

  /// Tries again to list the directories that could not be verified. It is called when the queue is empty, or has not been for too long.
  /// If a directory stays unreachable, its nearest ancestor that can be opened is listed. That listing shows whether
  /// another directory is at its place, or none.
  func retryDoubtful(_ now: Moment) {
    for index in walk.unverified {
      guard var request = walk[index], case .unverified(let attempts, let retryAt) = request.state, retryAt <= now
      else {
        continue
      }
      // Below a missing directory there is no path to try. But the missing one waits for scans, so a scan's request
      // must be tried all the same.
      if request.scanIDs.isEmpty, hasMissing(at: index) { continue }
      keepAlive()
      switch OpenDirectories.open(index, in: tree, rootPath: rootPath) {
      case .success(let descriptor):
        request.state = .ready
        walk[index] = request
        walk.push(tree.reference(index), descriptor: descriptor)
      case .failure(let error):
        guard error.number == ESTALE || meansAbsent(error.number) else {
          giveUp(index, request, error)
          continue
        }
        guard tree[index].parent >= 0 else {
          schedule.checks.mustRun = true
          request.state = .unverified(attempts: attempts + 1, retryAt: now + .milliseconds(50))
          walk[index] = request
          continue
        }
        request.state = .unverified(
          attempts: attempts + 1, retryAt: now + .milliseconds(20 * Int64(min(attempts + 1, 50))))
        walk[index] = request
        if attempts >= 2, !hasMissing(at: index) { relistAncestor(of: index, request.stamp) }
        if attempts >= 20 { giveUp(index, request, error) }
      }
    }
  }

  /// Whether the directory or one above it is missing. If so, its removal or its return decides.
  func hasMissing(at index: NodeIndex) -> Bool {
    var index = index
    while index >= 0 {
      if tree[index].flags.contains(.missing) { return true }
      index = tree[index].parent
    }
    return false
  }

  /// Lists the nearest ancestor that can be opened. The child on the way down is another directory than the tree says.
  /// It is marked as missing, because it may have the same name and inode number, so that the listing alone would not
  /// show it.
  private func relistAncestor(of index: NodeIndex, _ stamp: UInt64) {
    var (child, ancestor) = (index, tree[index].parent)
    while ancestor >= 0 {
      if case .success(let descriptor) = OpenDirectories.open(ancestor, in: tree, rootPath: rootPath) {
        events.progress.stamp = stamp
        markMissing(child, evidence: .scan)
        requestListing(ancestor, evidence: tree[ancestor].watch < 0 ? .scan : .event, descriptor: descriptor)
        events.progress.stamp = events.progress.eventCount
        return
      }
      (child, ancestor) = (ancestor, tree[ancestor].parent)
    }
    schedule.checks.mustRun = true
  }
}
