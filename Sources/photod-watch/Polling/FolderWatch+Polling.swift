// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

// Polls directories that have no watch.
extension FolderWatch {
  /// Polls for one slice of time. Requested listings come first.
  func pollSome() {
    guard walk.isIdle, events.backlog.isEmpty else { return }
    if scans.running.isEmpty, let number = polling.rounds.beginPass(polling.directories, tree) {
      polling.passStamp = events.progress.eventCount
      for position in syncing.requests.indices where syncing.requests[position].pass == number {
        syncing.requests[position].stamp = polling.passStamp
      }
    }
    guard polling.rounds.hasWork else { return }
    let end = Moment.now + Self.slice
    if polling.rounds.isPassing { passSome(until: end) }
    for number in polling.rounds.rounds.indices where polling.rounds.rounds[number].hasWork && Moment.now < end {
      let (began, processor) = (Moment.now, Interval.ofProcessor)
      var count = 0
      while let node = polling.rounds.rounds[number].next() {
        events.progress.stamp = events.progress.eventCount
        poll(node, deeply: polling.rounds.rounds[number].isDeep)
        count += 1
        if Moment.now >= end || !walk.isIdle || (count % 64 == 0 && hasEvents()) { break }
      }
      polling.rounds.rounds[number].timeLeft -= Moment.now - began
      polling.rounds.rounds[number].processorLeft -= Interval.ofProcessor - processor
    }
    events.progress.stamp = events.progress.eventCount
  }

  private func passSome(until end: Moment) {
    while walk.isIdle, let node = polling.rounds.nextInPass() {
      events.progress.stamp = polling.passStamp
      lookForSync(node)
      if Moment.now >= end || hasEvents() { break }
    }
    events.progress.stamp = events.progress.eventCount
  }

  private func hasEvents() -> Bool {
    _ = events.inotify.read(into: &events.backlog)
    return !events.backlog.isEmpty
  }

  /// Looks at a directory for a sync. If the directory or one above it is missing, its contents can't be found yet. It
  /// is listed later, so that the sync waits until it turns up.
  private func lookForSync(_ node: NodeReference) {
    guard tree.isAlive(node) else { return }
    if walk[node.index] != nil || hasMissing(at: node.index) {
      listLater(node.index)
    } else {
      poll(node, deeply: true)
    }
  }

  private func poll(_ node: NodeReference, deeply: Bool) {
    guard tree.isAlive(node), walk[node.index] == nil, let entry = polling.directories[node.index] else { return }
    keepAlive()
    if deeply || (entry.isYoung && FileTime.now - entry.listedAt > PolledDirectories.clockGrain) {
      look(node, entry)
    } else {
      glance(node.index, entry)
    }
  }

  private func glance(_ index: NodeIndex, _ entry: PolledDirectories.Entry) {
    switch OpenDirectories.glance(index, in: tree, rootPath: rootPath) {
    case .failure(let error): notePollFailure(index, error)
    case .success(let look):
      guard PolledDirectories.Times(look) != entry.times else { return }
      notePolledChange(index)
      requestListing(index, evidence: .scan)
    }
  }

  private func look(_ node: NodeReference, _ entry: PolledDirectories.Entry) {
    switch OpenDirectories.open(node.index, in: tree, rootPath: rootPath) {
    case .failure(let error): notePollFailure(node.index, error)
    case .success(let descriptor):
      let request = ListingRequest(
        state: .ready, evidence: .scan, scanIDs: [], isRecursive: false, stamp: events.progress.stamp)
      guard let listing = readListing(node.index, descriptor, request) else {
        close(descriptor)
        return listLater(node.index)
      }
      if listing.digest != entry.digest {
        if entry.digest != nil { notePolledChange(node.index) }
        lseek(descriptor, 0, SEEK_SET)
        return requestListing(node.index, evidence: .scan, descriptor: descriptor)
      }
      polling.directories.noteRest(node.index, listing)
      enterAtLast(listing, node.index, descriptor)
      close(descriptor)
      // A file edited again within a grain of the clock has the same times. A client that read it in between must read
      // it again.
      guard entry.isYoung else { return }
      for file in listing.files
      where max(file.stat.changeTime, file.stat.modificationTime) > entry.listedAt - PolledDirectories.clockGrain {
        report(.fileFound(directory: node.number, name: file.name, stat: file.stat))
      }
    }
  }

  /// Enters the directories that could not be entered before.
  private func enterAtLast(_ listing: Listing, _ index: NodeIndex, _ descriptor: Int32) {
    for directory in listing.directories where tree.child(of: index, named: directory.name) == nil {
      guard case .success(let opened) = OpenDirectories.open(descriptor, directory.name) else { continue }
      adopt(opened, under: index, name: directory.name, evidence: .scan, recursive: false)
    }
  }

  private func notePolledChange(_ index: NodeIndex) {
    tree[index].lastChange = FileTime.now.seconds
    polling.rounds.noteChange(tree.reference(index))
    if polling.directories[index]?.reason == .watchLimit { polling.wantsExchange = true }
  }

  /// A scan, or the listing after the loss of a watch, may find a change before polling does. Polling would then find
  /// none, and the directory would not get a watch.
  ///
  /// - Parameter time: the modification time of the directory.
  func noteListedChange(_ index: NodeIndex, at time: FileTime) {
    guard time.seconds > tree[index].lastChange else { return }
    let changed = min(time, .now).seconds
    guard changed > tree[index].lastChange else { return }
    tree[index].lastChange = changed
    if polling.directories[index]?.reason == .watchLimit { polling.wantsExchange = true }
  }

  /// Handles a directory that is elsewhere or can't be opened. An error that was reported is not reported at every
  /// look.
  private func notePollFailure(_ index: NodeIndex, _ error: SystemError) {
    if error.number == ESTALE || meansAbsent(error.number) {
      if !hasMissing(at: index) { listLater(index) }
    } else if !tree[index].flags.contains(.incomplete) {
      listLater(index)
    }
  }
}
