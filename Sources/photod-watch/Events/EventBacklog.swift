// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// One event as the kernel queued it.
struct WatchEvent {
  /// The watch descriptor; -1 with IN_Q_OVERFLOW.
  var watch: Int32
  var mask: UInt32
  /// Pairs the two halves of a rename; 0 for other events.
  var moveCookie: UInt32
  /// Empty when the event is about the watched directory itself.
  var name: [UInt8]
  /// When it was read from the kernel's queue.
  var time: FileTime

  /// The part of the event that a record about the file carries.
  var ofFile: FileEvent {
    FileEvent(
      time: time, isWritten: has(IN_CLOSE_WRITE),
      naming: has(IN_CREATE) ? .created : has(IN_MOVED_TO) ? .renamed : .unknown)
  }

  func has(_ bits: Int32) -> Bool { mask & UInt32(bits) != 0 }
}

/// Events that were read but not handled yet, in order. The backlog extends the kernel's queue while a large directory
/// is listed. The kernel's default of 16,384 events lasts for some 80 ms of a fast copy.
struct EventBacklog {
  /// At this size reading stops, so the kernel's queue overflows. After that, everything is scanned again.
  static let maximumEvents = 1 << 19
  /// Fewer handled events than these are kept until the backlog is empty, because their removal moves the others.
  private static let mostHandled = 1 << 16

  private struct Entry {
    var watch: Int32
    var mask: UInt32
    var moveCookie: UInt32
    var nameLength: UInt16
    var time: FileTime
  }

  private var entries: [Entry] = []
  /// The names of the entries, one after another.
  private var names: [UInt8] = []
  /// How many entries, and how many bytes of names, belong to handled events.
  private var head = 0
  private var nameHead = 0
  /// The number of unhandled events that report a rename out of a directory or into it, by watch.
  private var renames: [Int32: Int] = [:]

  var isEmpty: Bool { head == entries.count }
  var count: Int { entries.count - head }
  var isFull: Bool { entries.count - head >= Self.maximumEvents }

  /// Whether an unhandled event reports a rename out of this watch's directory or into it.
  func hasRename(in watch: Int32) -> Bool { renames[watch] != nil }

  /// Whether the next two events report this rename of a file.
  func beginsWithRename(
    from source: (watch: Int32, name: [UInt8]), to target: (watch: Int32, name: [UInt8]), cookie: UInt32
  ) -> Bool {
    guard head + 1 < entries.count else { return false }
    let halves = [(source, UInt32(IN_MOVED_FROM)), (target, UInt32(IN_MOVED_TO))]
    var nameStart = nameHead
    for (entry, (place, mask)) in zip(entries[head...], halves) {
      let nameEnd = nameStart + Int(entry.nameLength)
      guard entry.watch == place.watch, entry.mask == mask, entry.moveCookie == cookie,
        names[nameStart..<nameEnd].elementsEqual(place.name)
      else { return false }
      nameStart = nameEnd
    }
    return true
  }

  /// - Parameter time: when the event was read.
  mutating func append(_ event: UnsafeMutablePointer<inotify_event>, time: FileTime) {
    if isEmpty { removeAll() }
    var length = 0
    if event.pointee.len > 0, let name = watchshim_event_name(event) {
      length = strnlen(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self), Int(event.pointee.len))
      names.append(contentsOf: UnsafeBufferPointer(start: name, count: length))
    }
    if event.pointee.mask & UInt32(IN_MOVED_FROM | IN_MOVED_TO) != 0 { renames[event.pointee.wd, default: 0] += 1 }
    entries.append(
      Entry(
        watch: event.pointee.wd, mask: event.pointee.mask, moveCookie: event.pointee.cookie,
        nameLength: UInt16(length), time: time))
  }

  mutating func next() -> WatchEvent? {
    guard head < entries.count else { return nil }
    let entry = entries[head]
    let name = Array(names[nameHead..<nameHead + Int(entry.nameLength)])
    head += 1
    nameHead += name.count
    if head >= Self.mostHandled, head > entries.count / 2 { removeHandled() }
    if entry.mask & UInt32(IN_MOVED_FROM | IN_MOVED_TO) != 0, let count = renames[entry.watch] {
      renames[entry.watch] = count == 1 ? nil : count - 1
    }
    return WatchEvent(
      watch: entry.watch, mask: entry.mask, moveCookie: entry.moveCookie, name: name, time: entry.time)
  }

  /// In a lasting flood, the backlog is never empty. At most as many events move as are removed.
  private mutating func removeHandled() {
    entries.removeFirst(head)
    names.removeFirst(nameHead)
    (head, nameHead) = (0, 0)
  }

  /// Handled events must not pile up in a backlog that is never empty.
  func checkInvariants() {
    precondition(head < Self.mostHandled || head <= entries.count / 2, "handled events are kept")
  }

  private mutating func removeAll() {
    (head, nameHead) = (0, 0)
    entries.removeAll(keepingCapacity: entries.capacity <= 65536)
    names.removeAll(keepingCapacity: names.capacity <= 1 << 20)
  }
}
