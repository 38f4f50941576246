import WatchRecords

// The two halves of a rename.
extension SimulatedWatcher {
  @discardableResult
  func touchHeld(_ place: Place, _ event: FileEvent) -> Bool {
    // If there are several departures from one place, the last one counts.
    guard let cookie = held.filter({ $0.value.place == place }).max(by: { $0.value.stamp < $1.value.stamp })?.key else {
      return false
    }
    if held[cookie]!.touched?.add(event) == nil { held[cookie]!.touched = event }
    return true
  }

  func arrive(_ event: SimulatedDisk.KernelEvent, _ place: Place, _ isWanted: Bool) {
    guard let departure = held.removeValue(forKey: event.cookie) else {
      if isWanted { note(place, onlyCreated: false, event: fileEvent(event)) }
      return
    }
    guard isWanted, isWatched(departure.place) else {
      return note(isWanted ? place : departure.place, onlyCreated: false, event: fileEvent(event))
    }
    cancelLooks(place)
    let naming = naming(of: departure, to: place, event)
    var stat: FileStat?
    if case .success(let seen?)? = look(place) { stat = seen.stat }
    send(
      .fileMoved(
        from: departure.place.directory, fromName: SimulatedName.bytes(departure.place.name), to: place.directory,
        toName: SimulatedName.bytes(place.name), stat: stat,
        event: FileEvent(time: disk.clock.wall, isWritten: departure.isWritten, naming: naming)))
    touchHeld(place, fileEvent(event))
    if let touched = departure.touched { note(departure.place, onlyCreated: false, event: touched) }
  }

  /// Whether a rename is one half of an exchange of two names.
  private func naming(
    of departure: Departure, to place: Place, _ event: SimulatedDisk.KernelEvent
  ) -> FileEvent.Naming {
    let rename = Rename(from: departure.place, to: place, cookie: event.cookie, stamp: stamp)
    let last = lastRename
    lastRename = rename
    if let last, last.from == rename.to, last.to == rename.from, last.cookie + 1 == rename.cookie,
      last.stamp + 2 == rename.stamp, departure.stamp + 1 == rename.stamp
    {
      lastRename = nil
      return .secondOfExchange
    }
    let next = disk.queue.prefix(min(2, unhandled))
    let goesBack =
      next.count == 2 && next.allSatisfy { !$0.isDirectory && $0.cookie == event.cookie + 1 }
      && next[0].kind == .movedFrom && next[0].watch == event.watch && next[0].name == place.name
      && next[1].kind == .movedTo && next[1].watch == nodes[departure.place.directory]?.watch
      && next[1].name == departure.place.name
    return goesBack ? .firstOfExchange : .renamed
  }

  func expireMoves(_ forced: Int) {
    for (cookie, departure) in held.sorted(by: { $0.value.stamp < $1.value.stamp }) {
      let grace = departure.stamp <= forced ? Self.forcedGrace : Self.moveGrace
      guard now - departure.since >= grace else { continue }
      held[cookie] = nil
      stamp = departure.stamp
      note(departure.place, onlyCreated: false, event: departure.touched ?? .none)
    }
    stamp = eventCount
    flushLooks()
  }
}
