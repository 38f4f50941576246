// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// A name in a directory.
struct FilePlace: Hashable {
  var directory: NodeReference
  var name: [UInt8]
}

/// A queue of the names in events for which photod-watch has not read the file's stat yet. Each name is in it once, so
/// that CREATE, CLOSE_WRITE and ATTRIB of one file become one record. The queue is processed when the kernel's queue is
/// empty, when many names are pending, or when the oldest name has waited long enough.
struct PendingFiles {
  static let maximumCount = 512
  static let maximumAge = Interval.milliseconds(10)

  struct Entry {
    var place: FilePlace
    /// Only CREATE was reported, so the file may still be being written.
    var onlyCreated: Bool
    /// The last event was a deletion.
    var isDeleted: Bool
    var event: FileEvent
    /// The stamp of the first event (see `FolderWatch.currentStamp`).
    var stamp: UInt64
  }

  /// In the order of the events. A cancelled entry is nil.
  private var entries: [Entry?] = []
  /// The index in `entries` of each pending name.
  private var positions: [FilePlace: Int] = [:]
  /// When the first entry was added.
  private var since = Moment.start

  var isEmpty: Bool { positions.isEmpty }

  var isDue: Bool {
    positions.count >= Self.maximumCount || (!entries.isEmpty && Moment.now - since >= Self.maximumAge)
  }

  mutating func add(_ place: FilePlace, onlyCreated: Bool, isDeleted: Bool, event: FileEvent, stamp: UInt64) {
    if let position = positions[place] {
      if !onlyCreated { entries[position]?.onlyCreated = false }
      entries[position]?.isDeleted = isDeleted
      entries[position]?.event.add(event)
      return
    }
    if entries.isEmpty { since = Moment.now }
    positions[place] = entries.count
    entries.append(Entry(place: place, onlyCreated: onlyCreated, isDeleted: isDeleted, event: event, stamp: stamp))
  }

  /// Removes the names that `isWanted` accepts if their last event was a deletion, and returns them in order.
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

/// New files that are not reported yet, because a program may still be writing to them: files with one link for which
/// the only event is CREATE.
///
/// CLOSE_WRITE usually follows and reports the file. It does not follow if a program made the file with O_TMPFILE and
/// gave it its name later. So a file is also reported when it has not changed for ``restTime``.
struct UnreportedFiles {
  static let restTime = Interval.milliseconds(500)
  /// If there are as many files already, a further file is reported at once.
  static let maximumCount = 16384

  struct Entry {
    /// When to read the stat again.
    var checkAt: Moment
    var byteCount: Int64
    var modificationTime: FileTime
    var event: FileEvent
    var stamp: UInt64
  }

  private(set) var entries: [FilePlace: Entry] = [:]

  subscript(place: FilePlace) -> Entry? {
    get { entries[place] }
    set { entries[place] = newValue }
  }

  var nextCheck: Moment? { entries.values.map(\.checkAt).min() }
}

extension FolderWatch {
  /// Records an event of a file. The file's stat is read later (``PendingFiles``).
  ///
  /// - Parameter isDeleted: whether the kernel deleted the file, or renamed it away.
  func note(_ place: FilePlace, onlyCreated: Bool, isDeleted: Bool = false, event: FileEvent) {
    // A rename from this name is waiting for its second half. It keeps the event until the wait ends.
    if files.held.touch(place, event) { return }
    if !onlyCreated { files.unreported[place] = nil }
    files.pending.add(place, onlyCreated: onlyCreated, isDeleted: isDeleted, event: event, stamp: events.progress.stamp)
  }

  /// Removes a name from the pending files, because the caller sends a newer record about it.
  ///
  /// - Returns: whether a program has written to the file and no record has reported that.
  @discardableResult
  func cancelPending(_ place: FilePlace) -> Bool {
    files.unreported[place] = nil
    return files.pending.cancel(place)?.event.isWritten ?? false
  }

  /// Reports the current state of all pending names.
  func reportPending() {
    guard !files.pending.isEmpty else { return }
    for entry in files.pending.takeAll() {
      events.progress.stamp = entry.stamp
      reportState(of: entry.place, onlyCreated: entry.onlyCreated, isDeleted: entry.isDeleted, entry.event)
    }
    events.progress.stamp = events.progress.eventCount
  }

  /// Reads the stat of the file that now has this name.
  ///
  /// - Returns: nil if its directory is no longer at its path, or if that cannot be checked. In that case a listing of
  ///   the directory is requested.
  func look(_ place: FilePlace) -> Result<FileLook, SystemError>? {
    keepAlive()
    switch directories.descriptor(of: place.directory.index, in: tree, rootPath: rootPath) {
    case .success(let descriptor): return FileLook.at(descriptor, place.name)
    case .failure:
      listLater(place.directory.index)
      return nil
    }
  }

  func isWatched(_ place: FilePlace) -> Bool {
    tree.isAlive(place.directory) && !tree[place.directory.index].flags.contains(.contentsIgnored)
  }

  /// Whether the ignore patterns still include a file. They may have changed since its event. A listing reports the
  /// files that new patterns exclude.
  private func isStillWanted(_ place: FilePlace) -> Bool {
    rules.patterns.isEmpty || wantsFile(place.name, in: place.directory.index)
  }

  /// Reports that the file's stat cannot be read. Its directory is listed again if a retry may succeed.
  func cannotRead(_ place: FilePlace, _ error: SystemError) {
    report(.unreadable(directory: place.directory.number, name: place.name, errorNumber: error.number))
    tree[place.directory.index].flags.insert(.incomplete)
    tryAgain(place.directory.index, after: error)
  }

  /// Reports the current state of a name: the file that has it now, or that no file has it.
  private func reportState(of place: FilePlace, onlyCreated: Bool, isDeleted: Bool, _ event: FileEvent) {
    guard isWatched(place) else { return }
    let number = place.directory.number
    guard let look = look(place) else {
      // The directory has moved, or it was removed. If the kernel reported that this file was deleted, the deletion is
      // certain wherever the directory is now.
      if isDeleted { report(.fileGone(directory: number, name: place.name)) }
      return
    }
    switch look {
    case .success(let seen) where seen.isRegularFile:
      guard isStillWanted(place) else { return }
      if onlyCreated, seen.linkCount == 1, files.unreported.entries.count < UnreportedFiles.maximumCount {
        files.unreported[place] = UnreportedFiles.Entry(
          checkAt: Moment.now + UnreportedFiles.restTime, byteCount: seen.stat.byteCount,
          modificationTime: seen.stat.modificationTime, event: event, stamp: events.progress.stamp)
      } else {
        report(.fileFound(directory: number, name: place.name, stat: seen.stat, event: event))
      }
    case .success: if !onlyCreated { report(.fileGone(directory: number, name: place.name)) }
    case .failure(let error) where meansAbsent(error.number):
      if !onlyCreated { report(.fileGone(directory: number, name: place.name)) }
    case .failure(let error): cannotRead(place, error)
    }
  }

  /// Reads the stat of ``UnreportedFiles`` again if they are due or if a sync waits for them. A file with content is
  /// reported if it has not changed since the last time, or if a sync waits for it. An empty file is dropped, because
  /// CLOSE_WRITE will report its first write.
  ///
  /// - Parameter forcedStamp: a sync waits for all events up to this stamp.
  func checkUnreported(_ now: Moment, forcedStamp: UInt64) {
    // A listing that a file requires is as old as the file's event, so that a sync waits for it.
    defer { events.progress.stamp = events.progress.eventCount }
    for (place, entry) in files.unreported.entries where entry.checkAt <= now || entry.stamp <= forcedStamp {
      events.progress.stamp = entry.stamp
      files.unreported[place] = nil
      guard isWatched(place), isStillWanted(place), let look = look(place) else { continue }
      if case .failure(let error) = look, !meansAbsent(error.number) {
        cannotRead(place, error)
        continue
      }
      guard case .success(let seen) = look, seen.isRegularFile, seen.stat.byteCount > 0 else { continue }
      let rests = seen.stat.byteCount == entry.byteCount && seen.stat.modificationTime == entry.modificationTime
      if rests || entry.stamp <= forcedStamp {
        report(.fileFound(directory: place.directory.number, name: place.name, stat: seen.stat, event: entry.event))
      } else {
        files.unreported[place] = UnreportedFiles.Entry(
          checkAt: now + UnreportedFiles.restTime, byteCount: seen.stat.byteCount,
          modificationTime: seen.stat.modificationTime, event: entry.event, stamp: entry.stamp)
      }
    }
  }
}
