// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import WatchRecords

/// First halves of renames (MOVED_FROM) whose second half was not read yet. What happens to the old name meanwhile is said
/// after the rename: else it would carry off what came to that name later.
struct HeldMoves {
  struct Departure {
    var place: FilePlace
    var since: Int64
    var stamp: UInt64
    /// Something happened to the old name since.
    var isTouched = false
  }

  private(set) var departures: [UInt32: Departure] = [:]
  private var byPlace: [FilePlace: UInt32] = [:]
  private var perDirectory: [NodeReference: Int] = [:]

  var isEmpty: Bool { departures.isEmpty }
  var oldest: Int64? { departures.values.map(\.since).min() }

  func hasDeparture(from directory: NodeReference) -> Bool { perDirectory[directory] != nil }

  mutating func hold(_ moveCookie: UInt32, _ departure: Departure) {
    _ = touch(departure.place)
    departures[moveCookie] = departure
    byPlace[departure.place] = moveCookie
    perDirectory[departure.place.directory, default: 0] += 1
  }

  mutating func take(_ moveCookie: UInt32) -> Departure? {
    guard let departure = departures.removeValue(forKey: moveCookie) else { return nil }
    if byPlace[departure.place] == moveCookie { byPlace[departure.place] = nil }
    let directory = departure.place.directory
    let count = perDirectory[directory, default: 1]
    perDirectory[directory] = count == 1 ? nil : count - 1
    return departure
  }

  /// Notes that something happened at a name from which a rename is held.
  /// - returns: false when none is.
  mutating func touch(_ place: FilePlace) -> Bool {
    guard !byPlace.isEmpty, let moveCookie = byPlace[place] else { return false }
    departures[moveCookie]?.isTouched = true
    return true
  }
}

extension FolderWatch {
  /// A wanted name was renamed away; where to, the second half says.
  func depart(_ event: WatchEvent, from place: FilePlace) {
    cancelLooks(place)
    held.hold(
      event.moveCookie, HeldMoves.Departure(place: place, since: watchshim_now(), stamp: currentStamp))
  }

  /// Something was renamed to this name.
  func arrive(_ event: WatchEvent, in index: NodeIndex, isWanted: Bool) {
    let place = FilePlace(directory: tree.reference(index), name: event.name)
    guard let departure = held.take(event.moveCookie) else {
      if isWanted { note(place, onlyCreated: false) }
      return
    }
    guard isWanted else { return note(departure.place, onlyCreated: false) }
    guard isWatched(departure.place) else { return note(place, onlyCreated: false) }
    cancelLooks(place)
    var stat: FileStat?
    let look = look(place)
    if case .success(let seen) = look, seen.isRegularFile { stat = seen.stat }
    say(
      .fileMoved(
        from: departure.place.directory.number, fromName: departure.place.name, to: place.directory.number,
        toName: place.name, stat: stat))
    if case .failure(let error) = look, !saysAbsent(error.number) { cannotLook(place, error) }
    // Another rename from the new name may still wait for its second half: the name is looked at after it.
    _ = held.touch(place)
    if departure.isTouched { note(departure.place, onlyCreated: false) }
  }

  /// Renames whose second half does not come: the file left the roots, or the directory it went to is not watched yet and
  /// its listing says it.
  func expireMoves(_ now: Int64, forcedStamp: UInt64) {
    guard !held.isEmpty else { return }
    for (moveCookie, departure) in held.departures.sorted(by: { $0.value.stamp < $1.value.stamp }) {
      let grace = departure.stamp <= forcedStamp ? Self.forcedGrace : Self.moveGrace
      guard now - departure.since >= grace else { continue }
      _ = held.take(moveCookie)
      currentStamp = departure.stamp
      note(departure.place, onlyCreated: false)
    }
    currentStamp = eventCount
    flushLooks()
  }
}
