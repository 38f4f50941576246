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
    var stat: FileStat?
    if case .success(let seen?)? = look(place) { stat = seen.stat }
    send(
      .fileMoved(
        from: departure.place.directory, fromName: SimulatedName.bytes(departure.place.name), to: place.directory,
        toName: SimulatedName.bytes(place.name), stat: stat,
        event: FileEvent(time: disk.clock.wall, isWritten: departure.isWritten, naming: .renamed)))
    touchHeld(place, fileEvent(event))
    if let touched = departure.touched { note(departure.place, onlyCreated: false, event: touched) }
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
