// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// A name in a directory.
struct FilePlace: Hashable {
  var directory: NodeReference
  var name: [UInt8]
}

/// Names that events named, in order; each is looked at once when the queue is empty, or when there are many. So CREATE,
/// CLOSE_WRITE and ATTRIB of one file are one record.
struct PendingLooks {
  static let maximumCount = 512
  static let maximumAge: Int64 = 10_000_000

  struct Entry {
    var place: FilePlace
    /// Nothing but CREATE was reported: it may be in the middle of being written.
    var onlyCreated: Bool
    var stamp: UInt64
  }

  private var entries: [Entry?] = []
  private var positions: [FilePlace: Int] = [:]
  private var since: Int64 = 0

  var isEmpty: Bool { positions.isEmpty }

  var isDue: Bool {
    positions.count >= Self.maximumCount || (!entries.isEmpty && watchshim_now() - since >= Self.maximumAge)
  }

  mutating func add(_ place: FilePlace, onlyCreated: Bool, stamp: UInt64) {
    if let position = positions[place] {
      if !onlyCreated { entries[position]?.onlyCreated = false }
      return
    }
    if entries.isEmpty { since = watchshim_now() }
    positions[place] = entries.count
    entries.append(Entry(place: place, onlyCreated: onlyCreated, stamp: stamp))
  }

  mutating func cancel(_ place: FilePlace) {
    if let position = positions.removeValue(forKey: place) { entries[position] = nil }
  }

  mutating func takeAll() -> [Entry] {
    defer {
      entries.removeAll(keepingCapacity: true)
      positions.removeAll(keepingCapacity: true)
    }
    return entries.compactMap { $0 }
  }
}

/// Files of which only CREATE was reported: one link and maybe still being written. CLOSE_WRITE usually follows and takes
/// them out; what an O_TMPFILE was linked to gets none, so what rests for a while is said as it is.
struct FreshFiles {
  static let restTime: Int64 = 500_000_000
  /// Beyond this they are said at once.
  static let maximumCount = 16384

  struct Entry {
    var checkAt: Int64
    var byteCount: Int64
    var modificationTime: Int64
    var stamp: UInt64
  }

  private(set) var entries: [FilePlace: Entry] = [:]

  subscript(place: FilePlace) -> Entry? {
    get { entries[place] }
    set { entries[place] = newValue }
  }

  var nextCheck: Int64? { entries.values.map(\.checkAt).min() }
}

extension FolderWatch {
  /// Something happened at this name: it will be looked at.
  func note(_ place: FilePlace, onlyCreated: Bool) {
    if held.touch(place) { return }
    if !onlyCreated { fresh[place] = nil }
    looks.add(place, onlyCreated: onlyCreated, stamp: currentStamp)
  }

  /// Forgets what was to be looked at there: what is said next of the name is newer.
  func cancelLooks(_ place: FilePlace) {
    looks.cancel(place)
    fresh[place] = nil
  }

  func flushLooks() {
    guard !looks.isEmpty else { return }
    for entry in looks.takeAll() {
      breathe()
      currentStamp = entry.stamp
      sayTruth(of: entry.place, onlyCreated: entry.onlyCreated)
    }
    currentStamp = eventCount
  }

  /// What is at this name now, for those records that need it; nil when its directory could not be verified, which is in
  /// doubt then.
  func look(_ place: FilePlace) -> Result<FileLook, SystemError>? {
    switch directories.descriptor(of: place.directory.index, in: tree, rootPath: rootPath) {
    case .success(let descriptor): return FileLook.at(descriptor, place.name)
    case .failure:
      doubt(place.directory.index)
      return nil
    }
  }

  func isWatched(_ place: FilePlace) -> Bool {
    tree.isAlive(place.directory) && !tree[place.directory.index].flags.contains(.contentsIgnored)
  }

  /// A pattern may keep it out that came after the event: a listing has said so then, or will.
  private func isStillWanted(_ place: FilePlace) -> Bool {
    rules.patterns.isEmpty || wantsFile(place.name, in: place.directory.index)
  }

  /// The file can't be looked at; its directory is listed again, where that may help.
  func cannotLook(_ place: FilePlace, _ error: SystemError) {
    say(.unreadable(directory: place.directory.number, name: place.name, errorNumber: error.number))
    tree[place.directory.index].flags.insert(.incomplete)
    tryAgain(place.directory.index, after: error)
  }

  private func sayTruth(of place: FilePlace, onlyCreated: Bool) {
    guard isWatched(place), let look = look(place) else { return }
    let number = place.directory.number
    switch look {
    case .success(let seen) where seen.isRegularFile:
      guard isStillWanted(place) else { return }
      if onlyCreated, seen.linkCount == 1, fresh.entries.count < FreshFiles.maximumCount {
        fresh[place] = FreshFiles.Entry(
          checkAt: watchshim_now() + FreshFiles.restTime, byteCount: seen.stat.byteCount,
          modificationTime: seen.stat.modificationTime, stamp: currentStamp)
      } else {
        say(.fileFound(directory: number, name: place.name, stat: seen.stat))
      }
    case .success: if !onlyCreated { say(.fileGone(directory: number, name: place.name)) }
    case .failure(let error) where saysAbsent(error.number):
      if !onlyCreated { say(.fileGone(directory: number, name: place.name)) }
    case .failure(let error): cannotLook(place, error)
    }
  }

  /// Looks again at files that were only created: said when they rest, or when a sync waits (`forcedStamp`) and they have
  /// bytes. Empty ones are forgotten: the first write's close reports them.
  func checkFresh(_ now: Int64, forcedStamp: UInt64) {
    for (place, entry) in fresh.entries where entry.checkAt <= now || entry.stamp <= forcedStamp {
      fresh[place] = nil
      guard isWatched(place), isStillWanted(place), let look = look(place) else { continue }
      if case .failure(let error) = look, !saysAbsent(error.number) {
        cannotLook(place, error)
        continue
      }
      guard case .success(let seen) = look, seen.isRegularFile, seen.stat.byteCount > 0 else { continue }
      let rests = seen.stat.byteCount == entry.byteCount && seen.stat.modificationTime == entry.modificationTime
      if rests || entry.stamp <= forcedStamp {
        say(.fileFound(directory: place.directory.number, name: place.name, stat: seen.stat))
      } else {
        fresh[place] = FreshFiles.Entry(
          checkAt: now + FreshFiles.restTime, byteCount: seen.stat.byteCount,
          modificationTime: seen.stat.modificationTime, stamp: entry.stamp)
      }
    }
  }
}
