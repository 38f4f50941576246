// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

extension FolderWatch {
  /// - Parameter reason: why the directory is polled if `watch` is negative; nil if it only lacks a watch.
  func setWatch(_ index: NodeIndex, _ watch: Int32, reason: PollingReason? = nil) {
    tree[index].watch = watch
    if watch >= 0 {
      watches.byDescriptor[watch] = index
      polling.directories.remove(index, identity: tree[index].identity)
    } else {
      let reason = reason ?? (events.inotify.isOpen ? .watchLimit : .noInstance)
      polling.directories.insert(index, identity: tree[index].identity, reason: reason)
      if reason == .watchLimit { polling.mustRebalance = true }
    }
  }

  /// Handles an event about the directory at this name: opens it, watches it and has it listed.
  func enter(_ parent: NodeIndex, _ name: [UInt8], moveCookie: UInt32 = 0) {
    if isLeftOut(name, in: parent) { return leaveOut(name, in: parent) }
    keepAlive()
    switch directories.descriptor(of: parent, in: tree, rootPath: rootPath) {
    case .failure(let error):
      _ = relinkUnseen(parent, name, moveCookie: moveCookie, error)
      // It may be the directory that left this name. Only a listing shows that.
      if let child = tree.child(of: parent, named: name) { unsettled.missing[child]?.evidence = .scan }
      listLater(parent)
    case .success(let descriptor):
      switch OpenDirectories.open(descriptor, name) {
      case .success(let opened):
        adopt(
          opened, under: parent, name: name, evidence: .event, recursive: false, moveCookie: moveCookie)
      case .failure(let error):
        if !meansAbsent(error.number) {
          cannotEnter(parent, name, error, moveCookie: moveCookie)
        } else if let moved = directory(movedBy: moveCookie) {
          unsettled.seats[FilePlace(directory: tree.reference(parent), name: name)] = tree.reference(moved)
        }
      }
    }
  }

  /// Takes the directory at `name` in `parent` into the tree and watches it. `descriptor` is open on it, and this
  /// function takes ownership of the descriptor. A known directory is relinked in O(1), whatever it holds. For a new
  /// one, a listing is requested.
  func adopt(
    _ descriptor: Int32, under parent: NodeIndex, name: [UInt8], evidence: Evidence, scanIDs: Set<UInt32> = [],
    recursive: Bool, belated: Bool = false, moveCookie: UInt32 = 0
  ) {
    let look: FileLook
    switch FileLook.of(descriptor) {
    case .success(let seen): look = seen
    case .failure(let error):
      close(descriptor)
      return cannotEnter(
        parent, name, error, evidence: evidence, moveCookie: moveCookie, recursive: recursive,
        belated: belated || !scanIDs.isEmpty)
    }
    var reason = silentFileSystem(descriptor, look)
    var watch: Int32 = -1
    if reason == nil {
      switch tryWatch(descriptor, look.identity, mask: InotifyInstance.contentMask) {
      case .success(let given): watch = given
      case .failure(let error):
        reason = refusal(error, descriptor)
        if reason != nil {
          // A watch that was granted before stays.
          let child = tree.child(of: parent, named: name)
          if let child, tree[child].identity == look.identity { watch = tree[child].watch }
          break
        }
        close(descriptor)
        return cannotEnter(
          parent, name, error, evidence: evidence, moveCookie: moveCookie, recursive: recursive,
          belated: belated || !scanIDs.isEmpty)
      }
    }
    if watch >= 0, let known = watches.byDescriptor[watch] {
      if tree[known].parent < 0 {
        // The top of a root was moved into a root. It is no longer at its own root's path.
        let root = tree[known].root
        guard !tree.isWithin(parent, known) else { return refuseLoop(descriptor, parent, name) }
        loseRoot(root, ENOENT)
        return adopt(
          descriptor, under: parent, name: name, evidence: evidence, scanIDs: scanIDs, recursive: recursive,
          belated: belated, moveCookie: moveCookie)
      }
      return settleKnown(
        known, descriptor, under: parent, name: name, evidence: evidence, scanIDs: scanIDs, recursive: recursive)
    }
    if let known = polling.directories.node(look.identity), tree[known].parent >= 0 {
      let isHere = tree[known].parent == parent && tree.name(known).elementsEqual(name)
      if isHere || look.identity.birthTime != .unknown || tree.isWithin(parent, known) {
        // The inode number may have been reused after a deletion. A listing shows what the directory contains now.
        if watch >= 0 { setWatch(known, watch) }
        if watch >= 0 || !isHere { requestListing(known, evidence: .scan) }
        return settleKnown(
          known, descriptor, under: parent, name: name, evidence: evidence, scanIDs: scanIDs, recursive: recursive)
      }
      // Without a birth time, a new directory may have the inode of a deleted one. photod compares the files in it.
      drop(known, evidence: .scan)
    }
    displaceOccupant(of: parent, name, evidence: evidence)
    unsettled.unentered[parent]?.remove(name)
    let index = tree.insert(under: parent, name: name, identity: look.identity)
    tree[index].lastChange = min(look.stat.modificationTime, .now).seconds
    setWatch(index, watch, reason: reason)
    report(
      .directoryFound(
        number: tree[index].number, parent: tree[parent].number, root: tree.root(index), name: name,
        identity: look.identity))
    requestListing(
      index, evidence: scanIDs.isEmpty && !belated ? .event : evidence,
      scanIDs: scanIDs.union(activeScans(of: index)), recursive: recursive, belated: belated, descriptor: descriptor)
  }

  private func settleKnown(
    _ known: NodeIndex, _ descriptor: Int32, under parent: NodeIndex, name: [UInt8], evidence: Evidence,
    scanIDs: Set<UInt32>, recursive: Bool
  ) {
    let hasName = tree[known].parent == parent && tree.name(known).elementsEqual(name)
    let isHere = hasName && !tree[known].flags.contains(.displaced)
    var scanIDs = scanIDs
    var recursive = recursive
    if !isHere {
      guard !tree.isWithin(parent, known) else { return refuseLoop(descriptor, parent, name) }
      // If its old place still leads to it, it was not moved, but is also mounted here. An event that reports a move has
      // made it missing before.
      if unsettled.missing[known] == nil, !hasName,
        case .success(let same) = OpenDirectories.open(known, in: tree, rootPath: rootPath)
      {
        close(same)
        close(descriptor)
        return cannotEnter(parent, name, SystemError(number: ELOOP))
      }
      // The scans of both roots list it, or it could escape one of them.
      scanIDs.formUnion(activeScans(of: known))
      displaceOccupant(of: parent, name, evidence: evidence)
      // It was reported as unreadable under its old name. A new listing of the old parent corrects that.
      if unsettled.retries[known] != nil || tree[known].flags.contains(.incomplete) { listLater(tree[known].parent) }
      // A directory of the new name could not be entered. A listing of the new parent corrects that report.
      if unsettled.unentered[parent]?.remove(name) != nil { listLater(parent) }
      tree.move(known, under: parent, name: name)
      report(.directoryMoved(number: tree[known].number, parent: tree[parent].number, name: name))
      // Patterns that contain a path may match other names below it now.
      if rules.needsFolder { recursive = true }
    }
    // A running scan may have passed its new place already.
    if !isHere || unsettled.missing[known] != nil {
      scanIDs.formUnion(activeScans(of: known))
      recursive = recursive || !scanIDs.isEmpty
    }
    unsettled.missing[known] = nil
    tree[known].flags.remove(.missing)
    walk.refusals[tree.reference(known)] = nil
    // Something in it could not be read, and no event need report that the permission was granted elsewhere.
    let wasUnreadable = tree[known].flags.contains(.incomplete)
    if recursive || wasUnreadable {
      requestListing(
        known, evidence: .scan, scanIDs: scanIDs, recursive: true, belated: wasUnreadable, descriptor: descriptor)
    } else {
      close(descriptor)
    }
  }

  /// Handles a directory that, by the tree, contains the very directory in which it was found. Either events that
  /// correct the tree are still queued, or it is a bind mount of an ancestor. After five refusals in a row,
  /// photod-watch assumes a bind mount and does not enter it.
  private func refuseLoop(_ descriptor: Int32, _ parent: NodeIndex, _ name: [UInt8]) {
    close(descriptor)
    let reference = tree.reference(parent)
    let count = walk.refusals[reference, default: 0] + 1
    walk.refusals[reference] = count
    if count <= 5 { listLater(parent) } else { cannotEnter(parent, name, SystemError(number: ELOOP)) }
  }

  func displaceOccupant(of parent: NodeIndex, _ name: [UInt8], evidence: Evidence) {
    guard let occupant = tree.child(of: parent, named: name) else { return }
    displace(occupant, evidence: evidence)
  }

  /// Takes a directory out of its place, which another one has now.
  func displace(_ index: NodeIndex, evidence: Evidence) {
    let place = FilePlace(directory: tree.reference(tree[index].parent), name: Array(tree.name(index)))
    unsettled.seats[place] = tree.reference(index)
    tree.displace(index)
    markMissing(index, evidence: evidence)
  }

  // MARK: - Removal

  /// A drive may be unmounted and its mount point removed afterwards. The event of that removal is no evidence that the
  /// photos on the drive were deleted. The kernel reports the unmount first (`Missing.isDead`), but only for a watch. A
  /// subvolume of btrfs looks like a drive.
  func markMissing(_ index: NodeIndex, evidence: Evidence) {
    let parent = tree[index].parent
    let isMountPoint = parent >= 0 && tree[parent].identity.device != tree[index].identity.device
    let evidence = isMountPoint ? .scan : evidence
    tree[index].flags.insert(.missing)
    let now = Moment.now
    if var entry = unsettled.missing[index] {
      if evidence == .event, !entry.isDead { entry.evidence = .event }
      entry.since = now
      // If its parent could not be read, it may be readable now.
      (entry.retryAt, entry.attempts) = (.start, 0)
      unsettled.missing[index] = entry
    } else {
      unsettled.missing[index] = Missing(since: now, retryAt: .start, evidence: evidence, stamp: events.progress.stamp)
    }
  }

  /// Takes a directory out of its place, because the user excludes what has its name. A queued event may report that the
  /// directory has left this name. So it is dropped as gone only if it turns up nowhere else.
  func exclude(_ index: NodeIndex) {
    tree.displace(index)
    markMissing(index, evidence: .event)
    // The exclusion applies to a mount point, too, and no loss of events makes it uncertain.
    guard unsettled.missing[index]?.isDead == false else { return }
    unsettled.missing[index]?.evidence = .event
    unsettled.missing[index]?.isExcluded = true
  }

  /// Drops a directory with everything below it, and reports it as gone.
  func drop(_ index: NodeIndex, evidence: Evidence) {
    let number = tree[index].number
    let parent = tree[index].parent
    // Something at its place could not be read. A listing of the parent corrects that report.
    let wasUnreadable = unsettled.retries[index] != nil || tree[index].flags.contains(.incomplete)
    forget(index)
    if wasUnreadable, parent >= 0 { listLater(parent) }
    report(.directoryGone(number: number, evidence: evidence))
  }

  /// Drops a subtree with its watches, without reporting it.
  func forget(_ index: NodeIndex) {
    let subtree = tree.subtree(index)
    for node in subtree {
      let watch = tree[node].watch
      if watch >= 0 {
        watches.byDescriptor[watch] = nil
        events.inotify.unwatch(watch)
      } else {
        polling.directories.remove(node, identity: tree[node].identity)
      }
      unsettled.missing[node] = nil
      unsettled.retries[node] = nil
      unsettled.unentered[node] = nil
      cancelListing(node)
      walk.refusals[tree.reference(node)] = nil
    }
    tree.remove(subtree)
  }
}
