// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

extension FolderWatch {
  /// Handles a rename from a wanted name. The second half will report the new place.
  func depart(_ event: WatchEvent, from place: FilePlace) {
    let isWritten = cancelPending(place)
    files.held.hold(
      event.moveCookie,
      HeldMoves.Departure(place: place, since: Moment.now, stamp: events.progress.stamp, isWritten: isWritten))
  }

  /// Handles a rename to this name.
  func arrive(_ event: WatchEvent, in index: NodeIndex, isWanted: Bool) {
    let place = FilePlace(directory: tree.reference(index), name: event.name)
    guard let departure = files.held.take(event.moveCookie) else {
      if isWanted { note(place, onlyCreated: false, event: event.ofFile) }
      return
    }
    guard isWanted else { return note(departure.place, onlyCreated: false, event: event.ofFile) }
    guard isWatched(departure.place) else { return note(place, onlyCreated: false, event: event.ofFile) }
    cancelPending(place)
    let naming = naming(of: departure, to: place, event)
    var stat: FileStat?
    let look = look(place)
    if case .success(let seen) = look, seen.isRegularFile { stat = seen.stat }
    report(
      .fileMoved(
        from: departure.place.directory.number, fromName: departure.place.name, to: place.directory.number,
        toName: place.name, stat: stat,
        event: FileEvent(time: event.time, isWritten: departure.isWritten, naming: naming)))
    if case .failure(let error) = look, !meansAbsent(error.number) { cannotRead(place, error) }
    // Another rename from the new name may still be held. Then the name is looked at after it.
    _ = files.held.touch(place, event.ofFile)
    if let touched = departure.touched { note(departure.place, onlyCreated: false, event: touched) }
  }

  /// Whether a rename is one half of an exchange of two names.
  ///
  /// The kernel queues both halves one directly after the other, with successive cookies. If another event came between
  /// them, or the second half was not read from the queue yet, this is not known.
  private func naming(
    of departure: HeldMoves.Departure, to place: FilePlace, _ event: WatchEvent
  ) -> FileEvent.Naming {
    let rename = HeldMoves.Rename(
      from: departure.place, to: place, cookie: event.moveCookie, stamp: events.progress.stamp)
    let isSplit = departure.stamp + 1 != rename.stamp
    if files.held.endsExchange(with: rename), !isSplit { return .secondOfExchange }
    let source = tree[departure.place.directory.index].watch
    let goesBack =
      source >= 0
      && events.backlog.beginsWithRename(
        from: (event.watch, place.name), to: (source, departure.place.name), cookie: event.moveCookie &+ 1)
    return goesBack ? .firstOfExchange : .renamed
  }

  /// Ends the wait for second halves that do not come. Either the file left the roots, or it is in a directory that is
  /// not watched yet, whose listing will report it.
  func expireMoves(_ now: Moment, forcedStamp: UInt64) {
    guard !files.held.isEmpty else { return }
    for (moveCookie, departure) in files.held.departures.sorted(by: { $0.value.stamp < $1.value.stamp }) {
      let grace = departure.stamp <= forcedStamp ? Self.forcedGrace : Self.moveGrace
      guard now - departure.since >= grace else { continue }
      _ = files.held.take(moveCookie)
      events.progress.stamp = departure.stamp
      note(
        departure.place, onlyCreated: false, isDeleted: departure.touched == nil, event: departure.touched ?? .none)
    }
    events.progress.stamp = events.progress.eventCount
    reportPending()
  }
}
