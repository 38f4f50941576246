// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// A name in a directory.
struct FilePlace: Hashable {
  var directory: NodeReference
  var name: [UInt8]
}

/// The names that events mentioned, in order. Each is looked at once: when the queue is empty, when many are pending,
/// or when the oldest has waited long enough. So CREATE, CLOSE_WRITE and ATTRIB of one file become one record.
struct PendingLooks {
  static let maximumCount = 512
  static let maximumAge: Int64 = 10_000_000

  struct Entry {
    var place: FilePlace
    /// Only CREATE was reported, so the file may still be being written.
    var onlyCreated: Bool
    /// The last event was a deletion.
    var isDeleted: Bool
    var event: FileEvent
    var stamp: UInt64
  }

  private var entries: [Entry?] = []
  private var positions: [FilePlace: Int] = [:]
  private var since: Int64 = 0

  var isEmpty: Bool { positions.isEmpty }

  var isDue: Bool {
    positions.count >= Self.maximumCount || (!entries.isEmpty && watchshim_now() - since >= Self.maximumAge)
  }

  mutating func add(_ place: FilePlace, onlyCreated: Bool, isDeleted: Bool, event: FileEvent, stamp: UInt64) {
    if let position = positions[place] {
      if !onlyCreated { entries[position]?.onlyCreated = false }
      entries[position]?.isDeleted = isDeleted
      entries[position]?.event.add(event)
      return
    }
    if entries.isEmpty { since = watchshim_now() }
    positions[place] = entries.count
    entries.append(Entry(place: place, onlyCreated: onlyCreated, isDeleted: isDeleted, event: event, stamp: stamp))
  }

  /// Removes the names that `isWanted` accepts and whose last event was a deletion. Returns them in order.
  mutating func takeDeleted(where isWanted: (FilePlace) -> Bool) -> [FilePlace] {
    let places = entries.compactMap { $0 }.filter { $0.isDeleted && isWanted($0.place) }.map(\.place)
    for place in places { cancel(place) }
    return places
  }

  /// - Returns: the entry that was pending for this place.
  @discardableResult
  mutating func cancel(_ place: FilePlace) -> Entry? {
    guard let position = positions.removeValue(forKey: place) else { return nil }
    defer { entries[position] = nil }
    return entries[position]
  }

  mutating func takeAll() -> [Entry] {
    defer {
      entries.removeAll(keepingCapacity: true)
      positions.removeAll(keepingCapacity: true)
    }
    return entries.compactMap { $0 }
  }
}

/// Files with one link for which the only event is CREATE. Programs may still write to them. CLOSE_WRITE usually follows
/// and removes them. A file linked from an O_TMPFILE gets none, so a file that has not changed for a while is reported.
struct FreshFiles {
  static let restTime: Int64 = 500_000_000
  /// Further files are reported at once.
  static let maximumCount = 16384

  struct Entry {
    var checkAt: Int64
    var byteCount: Int64
    var modificationTime: Int64
    var event: FileEvent
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
  /// Records that something happened at this name. The name is looked at later.
  ///
  /// - Parameter isDeleted: whether the kernel deleted the file, or renamed it away.
  func note(_ place: FilePlace, onlyCreated: Bool, isDeleted: Bool = false, event: FileEvent) {
    if held.touch(place, event) { return }
    if !onlyCreated { fresh[place] = nil }
    looks.add(place, onlyCreated: onlyCreated, isDeleted: isDeleted, event: event, stamp: progress.stamp)
  }

  /// Cancels pending looks at this name, because the next record about it is newer.
  ///
  /// - Returns: whether the file was written without that having been reported.
  @discardableResult
  func cancelLooks(_ place: FilePlace) -> Bool {
    fresh[place] = nil
    return looks.cancel(place)?.event.isWritten ?? false
  }

  func flushLooks() {
    guard !looks.isEmpty else { return }
    for entry in looks.takeAll() {
      progress.stamp = entry.stamp
      sayTruth(of: entry.place, onlyCreated: entry.onlyCreated, isDeleted: entry.isDeleted, entry.event)
    }
    progress.stamp = progress.eventCount
  }

  /// The file at this name now, for records that need it. nil if its directory could not be verified. The directory is
  /// in doubt in that case.
  func look(_ place: FilePlace) -> Result<FileLook, SystemError>? {
    breathe()
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

  /// A pattern set after the event may exclude it. A listing then has reported that, or will.
  private func isStillWanted(_ place: FilePlace) -> Bool {
    rules.patterns.isEmpty || wantsFile(place.name, in: place.directory.index)
  }

  /// Reports that the file cannot be looked at. Its directory is listed again if that may help.
  func cannotLook(_ place: FilePlace, _ error: SystemError) {
    say(.unreadable(directory: place.directory.number, name: place.name, errorNumber: error.number))
    tree[place.directory.index].flags.insert(.incomplete)
    tryAgain(place.directory.index, after: error)
  }

  private func sayTruth(of place: FilePlace, onlyCreated: Bool, isDeleted: Bool, _ event: FileEvent) {
    guard isWatched(place) else { return }
    let number = place.directory.number
    guard let look = look(place) else {
      // The directory has moved or is gone. A file that the kernel deleted in it is deleted, wherever the directory is.
      if isDeleted { say(.fileGone(directory: number, name: place.name)) }
      return
    }
    switch look {
    case .success(let seen) where seen.isRegularFile:
      guard isStillWanted(place) else { return }
      if onlyCreated, seen.linkCount == 1, fresh.entries.count < FreshFiles.maximumCount {
        fresh[place] = FreshFiles.Entry(
          checkAt: watchshim_now() + FreshFiles.restTime, byteCount: seen.stat.byteCount,
          modificationTime: seen.stat.modificationTime, event: event, stamp: progress.stamp)
      } else {
        say(.fileFound(directory: number, name: place.name, stat: seen.stat, event: event))
      }
    case .success: if !onlyCreated { say(.fileGone(directory: number, name: place.name)) }
    case .failure(let error) where saysAbsent(error.number):
      if !onlyCreated { say(.fileGone(directory: number, name: place.name)) }
    case .failure(let error): cannotLook(place, error)
    }
  }

  /// Looks again at files for which the only event is CREATE. A file with content is reported when it has stopped
  /// changing, or when a sync waits for it (`forcedStamp`). An empty file is forgotten: CLOSE_WRITE reports its first
  /// write.
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
        say(.fileFound(directory: place.directory.number, name: place.name, stat: seen.stat, event: entry.event))
      } else {
        fresh[place] = FreshFiles.Entry(
          checkAt: now + FreshFiles.restTime, byteCount: seen.stat.byteCount,
          modificationTime: seen.stat.modificationTime, event: entry.event, stamp: entry.stamp)
      }
    }
  }
}
