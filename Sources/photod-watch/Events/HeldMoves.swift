// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

/// First halves of renames (MOVED_FROM) whose second half was not read yet. Later events at the old name are reported
/// only after the rename. Otherwise the rename would carry off a file that came to that name later.
struct HeldMoves {
  struct Departure {
    var place: FilePlace
    var since: Moment
    var stamp: UInt64
    /// The file was written just before, and that was not reported yet.
    var isWritten: Bool
    /// The events at the old name since.
    var touched: FileEvent?
  }

  /// A rename whose both halves were read.
  struct Rename {
    var from: FilePlace
    var to: FilePlace
    var cookie: UInt32
    /// The stamp of its second half.
    var stamp: UInt64
  }

  private(set) var departures: [UInt32: Departure] = [:]
  private var byPlace: [FilePlace: UInt32] = [:]
  private var perDirectory: [NodeReference: Int] = [:]
  /// The last rename, unless it ended an exchange.
  private var last: Rename?

  var isEmpty: Bool { departures.isEmpty }
  var oldest: Moment? { departures.values.map(\.since).min() }

  func hasDeparture(from directory: NodeReference) -> Bool { perDirectory[directory] != nil }

  mutating func hold(_ moveCookie: UInt32, _ departure: Departure) {
    _ = touch(departure.place, FileEvent(time: FileTime.now, isWritten: false))
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

  /// Notes a rename.
  /// - Returns: whether the rename before it was the first half of an exchange that this one ends.
  mutating func endsExchange(with rename: Rename) -> Bool {
    let isSecond =
      last.map {
        $0.from == rename.to && $0.to == rename.from && $0.cookie &+ 1 == rename.cookie && $0.stamp + 2 == rename.stamp
      } ?? false
    last = isSecond ? nil : rename
    return isSecond
  }

  /// Removes the renames from names that `isWanted` accepts, if nothing has happened at the old name since.
  /// - Returns: the old names, in order.
  mutating func takeDepartures(where isWanted: (FilePlace) -> Bool) -> [FilePlace] {
    let taken = departures.filter { $0.value.touched == nil && isWanted($0.value.place) }
      .sorted { $0.value.stamp < $1.value.stamp }
    for (moveCookie, _) in taken { _ = take(moveCookie) }
    return taken.map(\.value.place)
  }

  /// Records that something happened at a name. It matters only if a rename from that name is held.
  /// - Returns: false if none is held.
  mutating func touch(_ place: FilePlace, _ event: FileEvent) -> Bool {
    guard !byPlace.isEmpty, let moveCookie = byPlace[place] else { return false }
    if departures[moveCookie]?.touched?.add(event) == nil { departures[moveCookie]?.touched = event }
    return true
  }
}
