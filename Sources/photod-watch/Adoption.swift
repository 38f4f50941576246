// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// A directory that is not where it was, until that is certain.
struct Missing {
  var since: Int64
  /// Not looked at before that.
  var retryAt: Int64
  var evidence: Evidence
  var stamp: UInt64
  /// The kernel has removed its watch: it can turn up nowhere.
  var isDead = false
  /// Of the rename that took it away; 0 where none is known.
  var moveCookie: UInt32 = 0
  /// How often its parent could not be read: nobody waits for it any more.
  var attempts = 0
}

extension FolderWatch {
  /// - Parameter reason: of polling it where it has no watch; nil where a watch is all that is wanting.
  func setWatch(_ index: NodeIndex, _ watch: Int32, reason: PollingReason? = nil) {
    tree[index].watch = watch
    if watch >= 0 {
      byWatch[watch] = index
      polled.remove(index, identity: tree[index].identity)
    } else {
      let reason = reason ?? (inotify.isOpen ? .watchLimit : .noInstance)
      polled.insert(index, identity: tree[index].identity, reason: reason)
      if reason == .watchLimit { mustRebalance = true }
    }
  }

  /// An event says that a directory is at this name: look, watch, list.
  func enter(_ parent: NodeIndex, _ name: [UInt8], moveCookie: UInt32 = 0) {
    switch directories.descriptor(of: parent, in: tree, rootPath: rootPath) {
    case .failure(let error):
      if mayPass(error.number) { _ = relinkUnseen(parent, name, moveCookie: moveCookie, error) }
      doubt(parent)
    case .success(let descriptor):
      switch OpenDirectories.open(descriptor, name) {
      case .success(let opened):
        adopt(
          opened, under: parent, name: name, evidence: .event, scan: nil, recursive: false, moveCookie: moveCookie)
      case .failure(let error):
        if !saysAbsent(error.number) { cannotEnter(parent, name, error, moveCookie: moveCookie) }
      }
    }
  }

  /// `descriptor` (taken) is open on what stands at `name` in the directory `parent`. It is watched; a directory that is
  /// known is relinked in O(1), whatever it holds, a new one is to be listed.
  func adopt(
    _ descriptor: Int32, under parent: NodeIndex, name: [UInt8], evidence: Evidence, scan: UInt32?, recursive: Bool,
    belated: Bool = false, moveCookie: UInt32 = 0
  ) {
    let look: FileLook
    switch FileLook.of(descriptor) {
    case .success(let seen): look = seen
    case .failure(let error):
      close(descriptor)
      return cannotEnter(
        parent, name, error, moveCookie: moveCookie, recursive: recursive, belated: belated || scan != nil)
    }
    let silent = silentFileSystem(descriptor, look)
    var watch: Int32 = -1
    if silent == nil {
      switch tryWatch(descriptor, look.identity, mask: InotifyInstance.contentMask) {
      case .success(let given): watch = given
      case .failure(let error):
        close(descriptor)
        return cannotEnter(
          parent, name, error, moveCookie: moveCookie, recursive: recursive, belated: belated || scan != nil)
      }
    }
    if watch >= 0, let known = byWatch[watch] {
      if tree[known].parent < 0 {
        // The top of a root was moved into a root: as a root it is not there any more.
        let root = tree[known].root
        guard !tree.isWithin(parent, known) else { return refuseLoop(descriptor, parent, name, scan) }
        loseRoot(root, ENOENT)
        return adopt(
          descriptor, under: parent, name: name, evidence: evidence, scan: scan, recursive: recursive, belated: belated,
          moveCookie: moveCookie)
      }
      return settleKnown(
        known, descriptor, under: parent, name: name, evidence: evidence, scan: scan, recursive: recursive)
    }
    if let known = polled.node(look.identity), tree[known].parent >= 0 {
      // Its number on disk may be that of one that is gone: what is in it tells.
      let isHere = tree[known].parent == parent && tree.name(known).elementsEqual(name)
      if watch >= 0 { setWatch(known, watch) }
      if watch >= 0 || !isHere { requestListing(known, evidence: .scan) }
      return settleKnown(
        known, descriptor, under: parent, name: name, evidence: evidence, scan: scan, recursive: recursive)
    }
    displaceOccupant(of: parent, name, evidence: evidence)
    unentered[parent]?.remove(name)
    let index = tree.insert(under: parent, name: name, identity: look.identity)
    tree[index].lastChange = UInt32(clamping: min(look.stat.modificationTime, realTime()) / 1_000_000_000)
    setWatch(index, watch, reason: silent)
    say(
      .directoryFound(
        number: tree[index].number, parent: tree[parent].number, root: tree.root(index), name: name,
        identity: look.identity))
    requestListing(
      index, evidence: scan == nil && !belated ? .event : evidence, scan: scan ?? activeScan(of: index),
      recursive: recursive, belated: belated, descriptor: descriptor)
  }

  private func settleKnown(
    _ known: NodeIndex, _ descriptor: Int32, under parent: NodeIndex, name: [UInt8], evidence: Evidence, scan: UInt32?,
    recursive: Bool
  ) {
    let isHere =
      tree[known].parent == parent && !tree[known].flags.contains(.displaced) && tree.name(known).elementsEqual(name)
    var scan = scan
    var recursive = recursive
    if !isHere {
      guard !tree.isWithin(parent, known) else { return refuseLoop(descriptor, parent, name, scan) }
      let scanBefore = activeScan(of: known)
      displaceOccupant(of: parent, name, evidence: evidence)
      // Its old name can't be read no longer.
      if retries[known] != nil || tree[known].flags.contains(.incomplete) { doubt(tree[known].parent) }
      tree.move(known, under: parent, name: name)
      say(.directoryMoved(number: tree[known].number, parent: tree[parent].number, name: name))
      scan = scan ?? scanBefore
      // Patterns about paths may mean other names below it now.
      if rules.needsFolder { recursive = true }
    }
    // A scan may have passed it by.
    if !isHere || missing[known] != nil, let running = scan ?? activeScan(of: known) {
      scan = running
      recursive = true
    }
    missing[known] = nil
    tree[known].flags.remove(.missing)
    walk.refusals[tree.reference(known)] = nil
    if recursive {
      requestListing(known, evidence: .scan, scan: scan, recursive: true, descriptor: descriptor)
    } else {
      close(descriptor)
    }
  }

  /// The tree says that `parent` is below the directory that stands in it. Events that make that right are still to come,
  /// or it is a bind mount of a directory above: that is not entered.
  private func refuseLoop(_ descriptor: Int32, _ parent: NodeIndex, _ name: [UInt8], _ scan: UInt32?) {
    close(descriptor)
    let reference = tree.reference(parent)
    let count = walk.refusals[reference, default: 0] + 1
    walk.refusals[reference] = count
    if count <= 5 { doubt(parent) } else { cannotEnter(parent, name, SystemError(number: ELOOP)) }
  }

  func displaceOccupant(of parent: NodeIndex, _ name: [UInt8], evidence: Evidence) {
    guard let occupant = tree.child(of: parent, named: name) else { return }
    tree.displace(occupant)
    markMissing(occupant, evidence: evidence)
  }

  // MARK: - Going

  func markMissing(_ index: NodeIndex, evidence: Evidence) {
    tree[index].flags.insert(.missing)
    let now = watchshim_now()
    if var entry = missing[index] {
      if evidence == .event { entry.evidence = .event }
      entry.since = now
      missing[index] = entry
    } else {
      missing[index] = Missing(since: now, retryAt: 0, evidence: evidence, stamp: currentStamp)
    }
  }

  /// The directory is gone with all below it.
  func drop(_ index: NodeIndex, evidence: Evidence) {
    let number = tree[index].number
    let parent = tree[index].parent
    // What stands in its place, or stood, could not be read: its parent is asked.
    let wasUnreadable = retries[index] != nil || tree[index].flags.contains(.incomplete)
    forget(index)
    if wasUnreadable, parent >= 0 { doubt(parent) }
    say(.directoryGone(number: number, evidence: evidence))
  }

  /// Drops a subtree with its watches; says nothing.
  func forget(_ index: NodeIndex) {
    let subtree = tree.subtree(index)
    for node in subtree {
      let watch = tree[node].watch
      if watch >= 0 {
        byWatch[watch] = nil
        inotify.unwatch(watch)
      } else {
        polled.remove(node, identity: tree[node].identity)
      }
      missing[node] = nil
      retries[node] = nil
      unentered[node] = nil
      cancelListing(node)
      walk.refusals[tree.reference(node)] = nil
    }
    tree.remove(subtree)
  }
}
