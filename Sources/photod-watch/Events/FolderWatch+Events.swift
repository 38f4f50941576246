// SPDX-License-Identifier: GPL-2.0-or-later

import CInotifyTools
import Glibc
import WatchRecords

extension FolderWatch {
  /// Handles one event. Events come in the kernel's order.
  func handle(_ event: WatchEvent) {
    events.progress.eventCount += 1
    events.progress.stamp = events.progress.eventCount
    if event.has(IN_Q_OVERFLOW) {
      noteOverflow()
    } else if event.watch == syncing.cookies?.watch {
      noteCookie(event)
    } else if let index = watches.byDescriptor[event.watch] {
      tree[index].lastChange = events.progress.clock
      if event.name.isEmpty { handleOwn(event, of: index) } else { handleContent(event, in: index) }
    } else if let node = watches.retired[event.watch] {
      handleRetired(event, of: node)
    }
  }

  /// An event about a name in a watched directory.
  func handleContent(_ event: WatchEvent, in index: NodeIndex) {
    if event.has(IN_ISDIR) { handleDirectory(event, in: index) } else { handleFile(event, in: index) }
  }

  private func noteOverflow() {
    report(.overflow)
    events.progress.hasOverflowed = true
    // The event of a directory's new name may be lost, so only the scan shows that it is gone.
    for (index, entry) in unsettled.missing where !entry.isDead && !entry.isDeleted && !entry.isExcluded {
      unsettled.missing[index]?.evidence = .scan
    }
    // The kernel may have dropped IN_IGNORED of these watches. The scans list their directories anyway.
    watches.retired = [:]
    for id in scans.running.keys { scans.running[id]?.complete = false }
    for position in syncing.requests.indices where !syncing.requests[position].isCookieSeen {
      syncing.requests[position].isCookieLost = true
    }
  }

  /// An event about the watched directory itself.
  private func handleOwn(_ event: WatchEvent, of index: NodeIndex) {
    if tree[index].parent < 0 {
      if event.has(IN_IGNORED) {
        watches.byDescriptor[event.watch] = nil
        tree[index].watch = -1
      }
      if event.has(IN_IGNORED | IN_DELETE_SELF | IN_UNMOUNT) {
        loseRoot(tree[index].root, event.has(IN_UNMOUNT) ? ENODEV : ENOENT)
        // Look at once for the directory that is at its path now, and again every two seconds.
        schedule.checks.mustRun = true
      } else if event.has(IN_MOVE_SELF) {
        schedule.checks.mustRun = true
      } else if event.has(IN_ATTRIB) {
        noteAttributes(ofTop: index)
      }
      return
    }
    if event.has(IN_UNMOUNT) {
      markDead(index, evidence: .scan)
      listLater(tree[index].parent)
    } else if event.has(IN_IGNORED) {
      markDead(index, evidence: .event)
    } else if event.has(IN_ATTRIB), tree[tree[index].parent].watch < 0 {
      // Its parent is polled, so no event about its name reports this, too.
      noteAttributes(of: index, in: tree[index].parent)
    }
  }

  /// The kernel removed the watch: the directory was deleted or unmounted, and can't turn up elsewhere.
  private func markDead(_ index: NodeIndex, evidence: Evidence) {
    let wasDead = unsettled.missing[index]?.isDead == true
    markMissing(index, evidence: evidence)
    unsettled.missing[index]?.isDead = true
    if !wasDead { unsettled.missing[index]?.evidence = evidence }
    let watch = tree[index].watch
    if watch >= 0 {
      watches.byDescriptor[watch] = nil
      tree[index].watch = -1
    }
  }

  private func handleDirectory(_ event: WatchEvent, in index: NodeIndex) {
    guard !tree[index].flags.contains(.contentsIgnored), wantsDirectory(event.name, in: index) else { return }
    let child = tree.child(of: index, named: event.name)
    if event.has(IN_CREATE | IN_MOVED_TO) {
      enter(index, event.name, moveCookie: event.has(IN_MOVED_TO) ? event.moveCookie : 0)
    } else if event.has(IN_MOVED_FROM | IN_DELETE) {
      let wasRenamed = event.has(IN_MOVED_FROM)
      if wasRenamed { noteDeparture(from: event.name, in: index, event.moveCookie) }
      guard let child else {
        // The directory could not be entered. A listing corrects that report, too.
        if unsettled.unentered[index]?.contains(event.name) == true { listLater(index) }
        return
      }
      markMissing(child, evidence: wasRenamed && mayMissArrivals ? .scan : .event)
      unsettled.missing[child]?.moveCookie = wasRenamed ? event.moveCookie : 0
      let isScanned = unsettled.missing[child]?.evidence == .scan
      unsettled.missing[child]?.isDeleted = !wasRenamed && !isScanned
    } else if event.has(IN_ATTRIB) {
      if let child { noteAttributes(of: child, in: index) } else { enter(index, event.name) }
    }
  }

  /// Whether an event of a directory's new name may be missing: it is in a polled directory, which has no events, or the
  /// kernel dropped the event. Then only a scan can tell that the directory is gone.
  private var mayMissArrivals: Bool {
    polling.directories.count > 0 || events.progress.hasOverflowed
      || scans.running.values.contains { $0.reason == .overflow }
  }

  /// The directory that leaves may be a missing one that the tree has elsewhere.
  private func noteDeparture(from name: [UInt8], in parent: NodeIndex, _ moveCookie: UInt32) {
    let place = FilePlace(directory: tree.reference(parent), name: name)
    guard let moved = unsettled.seats.removeValue(forKey: place), tree.isAlive(moved) else { return }
    unsettled.missing[moved.index]?.moveCookie = moveCookie
  }

  /// A permission may have been granted or withdrawn. Most of these events only report new times, as after a copy.
  private func noteAttributes(of child: NodeIndex, in parent: NodeIndex) {
    if tree[child].flags.contains(.incomplete) {
      // Earlier scans could not see below, so this listing does it for them.
      return requestListing(child, evidence: .scan, recursive: true, belated: true)
    }
    switch directories.descriptor(of: parent, in: tree, rootPath: rootPath) {
    case .failure: listLater(parent)
    case .success(let descriptor): reportIfUnreadable(child, descriptor)
    }
  }

  /// The same for the top of a root. If it can no longer be opened, a check takes the root offline. If it can be opened,
  /// its listing reports a withdrawn permission.
  private func noteAttributes(ofTop index: NodeIndex) {
    switch OpenDirectories.open(index, in: tree, rootPath: rootPath) {
    case .failure: schedule.checks.mustRun = true
    case .success(let descriptor):
      defer { close(descriptor) }
      if tree[index].flags.contains(.incomplete) || OpenDirectories.refusal(descriptor) != nil {
        requestListing(index, evidence: .scan, recursive: true, belated: true)
      }
    }
  }

  private func handleFile(_ event: WatchEvent, in index: NodeIndex) {
    if NameRules.isMarker(event.name) {
      // CACHEDIR.TAG counts only if its contents can be read.
      if !event.has(IN_ATTRIB) || event.name == NameRules.cacheTag { listLater(index) }
      return
    }
    let isWanted = !tree[index].flags.contains(.contentsIgnored) && wantsFile(event.name, in: index)
    if event.has(IN_MOVED_TO) {
      arrive(event, in: index, isWanted: isWanted)
    } else if isWanted {
      let place = FilePlace(directory: tree.reference(index), name: event.name)
      if event.has(IN_MOVED_FROM) {
        depart(event, from: place)
      } else {
        note(place, onlyCreated: event.has(IN_CREATE), isDeleted: event.has(IN_DELETE), event: event.ofFile)
      }
    }
  }
}
