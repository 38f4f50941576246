import WatchRecords

// The kernel's events, and the lookups that they cause.
extension SimulatedWatcher {
  func handle(_ event: SimulatedDisk.KernelEvent) {
    eventCount += 1
    stamp = eventCount
    switch event.kind {
    case .overflow:
      send(.overflow)
      hasOverflowed = true
      for (number, entry) in missing where !entry.isDead { missing[number]!.evidence = .scan }
      for id in scans.keys { scans[id]!.isComplete = false }
      for index in syncs.indices where !syncs[index].isSeen { syncs[index].isLost = true }
      return
    case .cookie:
      for index in syncs.indices where syncs[index].number == event.cookie && !syncs[index].isSeen {
        syncs[index].isSeen = true
        syncs[index].stamp = eventCount
        flushLooks()
        pollUnwatched()
      }
      return
    default: break
    }
    guard let number = byWatch[event.watch] else { return }
    if event.name.isEmpty {
      handleOwn(event, number)
    } else if event.isDirectory {
      handleDirectory(event, number)
    } else {
      handleFile(event, number)
    }
  }

  private func handleOwn(_ event: SimulatedDisk.KernelEvent, _ number: DirectoryNumber) {
    let node = nodes[number]!
    if node.parent == 0 {
      if event.kind == .ignored {
        byWatch[event.watch] = nil
        nodes[number]!.watch = nil
      }
      switch event.kind {
      case .ignored, .deleteSelf, .unmount:
        loseRoot(node.root, event.kind == .unmount ? 19 : 2)
        disk.mountsChanged = true
      case .moveSelf: disk.mountsChanged = true
      case .attributes: if node.isIncomplete { doubt(number) }
      default: break
      }
      return
    }
    switch event.kind {
    case .unmount:
      markDead(number, .scan)
      doubt(node.parent)
    case .ignored: markDead(number, .event)
    default: break
    }
  }

  private func markDead(_ number: DirectoryNumber, _ evidence: Evidence) {
    let wasDead = missing[number]?.isDead == true
    markMissing(number, evidence)
    missing[number]!.isDead = true
    if !wasDead { missing[number]!.evidence = evidence }
    if let watch = nodes[number]!.watch {
      byWatch[watch] = nil
      nodes[number]!.watch = nil
    }
  }

  private func handleDirectory(_ event: SimulatedDisk.KernelEvent, _ number: DirectoryNumber) {
    guard !nodes[number]!.ignoresContents, wantsDirectory(event.name, in: number) else { return }
    let child = child(of: number, event.name)
    switch event.kind {
    case .create, .movedTo: enter(number, event.name)
    case .movedFrom:
      // If folders are polled, the new place may be in one of them.
      let isPolling = nodes.values.contains { $0.watch == nil }
      if let child {
        markMissing(child, isPolling ? .scan : .event)
      } else {
        sendUnenteredGone(event.name, from: number)
      }
    case .delete: if let child { markMissing(child, .event) } else { sendUnenteredGone(event.name, from: number) }
    case .attributes:
      if let child {
        if nodes[child]!.isIncomplete { requestListing(child, .scan, isRecursive: true) }
      } else {
        enter(number, event.name)
      }
    default: break
    }
  }

  private func handleFile(_ event: SimulatedDisk.KernelEvent, _ number: DirectoryNumber) {
    if event.name == ".nomedia" {
      if event.kind != .attributes { doubt(number) }
      return
    }
    let isWanted = !nodes[number]!.ignoresContents && wantsFile(event.name, in: number)
    let place = Place(directory: number, name: event.name)
    if event.kind == .movedTo {
      arrive(event, place, isWanted)
    } else if isWanted {
      if event.kind == .movedFrom {
        let isWritten = cancelLooks(place)
        touchHeld(place, fileEvent(event))
        held[event.cookie] = Departure(place: place, since: now, stamp: stamp, isWritten: isWritten)
      } else {
        note(place, onlyCreated: event.kind == .create, event: fileEvent(event))
      }
    }
  }

  func fileEvent(_ event: SimulatedDisk.KernelEvent) -> FileEvent {
    let naming: FileEvent.Naming =
      switch event.kind {
      case .create: .created
      case .movedTo: .renamed
      default: .unknown
      }
    return FileEvent(time: disk.clock.wall, isWritten: event.kind == .closeWrite, naming: naming)
  }

  func note(_ place: Place, onlyCreated: Bool, event: FileEvent) {
    if touchHeld(place, event) { return }
    if !onlyCreated { fresh[place] = nil }
    if let index = looks.firstIndex(where: { $0.place == place }) {
      if !onlyCreated { looks[index].onlyCreated = false }
      looks[index].event.add(event)
    } else {
      looks.append((place, onlyCreated, event, stamp))
    }
  }

  /// Whether the file was written and the write was not reported yet.
  @discardableResult
  func cancelLooks(_ place: Place) -> Bool {
    defer { looks.removeAll { $0.place == place } }
    fresh[place] = nil
    return looks.contains { $0.place == place && $0.event.isWritten }
  }

  func flushLooks() {
    let entries = looks
    looks = []
    for entry in entries {
      stamp = entry.stamp
      sendFileState(entry.place, onlyCreated: entry.onlyCreated, entry.event)
    }
    stamp = eventCount
  }

  /// Success without a value means that something other than a regular file is there.
  func look(_ place: Place) -> Result<(stat: FileStat, links: Int)?, SimulatedError>? {
    switch open(place.directory) {
    case .failure:
      doubt(place.directory)
      return nil
    case .success(let key):
      guard let entry = disk.node(key).entries[place.name] else { return .failure(.absent) }
      guard entry.photo != 0 else { return .success(nil) }
      let file = SimulatedDisk.NodeKey(volume: key.volume, inode: entry.inode)
      return .success((disk.fileStat(file), disk.node(file).linkCount))
    }
  }

  func isWatched(_ place: Place) -> Bool { nodes[place.directory].map { !$0.ignoresContents } ?? false }

  private func sendFileState(_ place: Place, onlyCreated: Bool, _ event: FileEvent) {
    guard isWatched(place), let look = look(place) else { return }
    switch look {
    case .success(let seen?):
      guard wantsFile(place.name, in: place.directory) else { return }
      if onlyCreated, seen.links == 1 {
        fresh[place] = Fresh(
          checkAt: now + Self.restTime, byteCount: seen.stat.byteCount, modificationTime: seen.stat.modificationTime,
          event: event, stamp: stamp)
      } else {
        send(
          .fileFound(
            directory: place.directory, name: SimulatedName.bytes(place.name), stat: seen.stat, event: event))
      }
    case .success(nil), .failure:
      if !onlyCreated { send(.fileGone(directory: place.directory, name: SimulatedName.bytes(place.name))) }
    }
  }

  func checkFresh(_ forced: Int) {
    for (place, entry) in fresh.sorted(by: { ($0.value.stamp, $0.key.name) < ($1.value.stamp, $1.key.name) })
    where entry.checkAt <= now || entry.stamp <= forced {
      fresh[place] = nil
      guard isWatched(place), wantsFile(place.name, in: place.directory),
        case .success(let seen?)? = look(place), seen.stat.byteCount > 0
      else { continue }
      if (seen.stat.byteCount, seen.stat.modificationTime) == (entry.byteCount, entry.modificationTime)
        || entry.stamp <= forced
      {
        send(
          .fileFound(
            directory: place.directory, name: SimulatedName.bytes(place.name), stat: seen.stat, event: entry.event))
      } else {
        fresh[place] = Fresh(
          checkAt: now + Self.restTime, byteCount: seen.stat.byteCount, modificationTime: seen.stat.modificationTime,
          event: entry.event, stamp: entry.stamp)
      }
    }
  }
}
