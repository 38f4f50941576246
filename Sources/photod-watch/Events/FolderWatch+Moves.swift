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
    var stat: FileStat?
    let look = look(place)
    if case .success(let seen) = look, seen.isRegularFile { stat = seen.stat }
    report(
      .fileMoved(
        from: departure.place.directory.number, fromName: departure.place.name, to: place.directory.number,
        toName: place.name, stat: stat,
        event: FileEvent(time: event.time, isWritten: departure.isWritten, naming: .renamed)))
    if case .failure(let error) = look, !meansAbsent(error.number) { cannotRead(place, error) }
    // Another rename from the new name may still be held. Then the name is looked at after it.
    _ = files.held.touch(place, event.ofFile)
    if let touched = departure.touched { note(departure.place, onlyCreated: false, event: touched) }
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
