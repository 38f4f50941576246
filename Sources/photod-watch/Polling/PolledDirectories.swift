// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// Directories without a watch, with the state of each at its last listing. `PollRounds` decides when they are looked
/// at. Each takes about 150 bytes.
struct PolledDirectories {
  /// The times that do not change as long as the names in the directory stay the same.
  struct Times: Equatable {
    var modification: FileTime
    var change: FileTime

    init(_ look: FileLook) {
      modification = look.stat.modificationTime
      change = look.stat.changeTime
    }
  }

  struct Entry {
    var reason: PollingReason
    fileprivate var position: Int
    /// nil until it has been listed.
    var times: Times?
    /// The digest of everything that was reported about it (`Listing.digest`). nil if the next look must be reported.
    var digest: UInt64?
    /// The time of the last listing.
    var listedAt = FileTime.unknown
    /// Something in it changed shortly before the listing. A later change may have the same times.
    var isYoung = false
  }

  /// Time stamps may be as coarse as 2 s (FAT), or 4 ms where they have nanoseconds. A second change within one grain
  /// leaves no trace.
  static let clockGrain = Interval.seconds(2)

  private var entries: [NodeIndex: Entry] = [:]
  private var byIdentity: [FileIdentity: NodeIndex] = [:]
  /// All of them, in no particular order.
  private(set) var indices: [NodeIndex] = []
  private(set) var watchlessCount = 0
  /// Increases when a directory is added, is removed, or gets another reason.
  private(set) var revision = 0

  var count: Int { indices.count }

  func node(_ identity: FileIdentity) -> NodeIndex? { byIdentity[identity] }

  subscript(index: NodeIndex) -> Entry? { entries[index] }

  mutating func insert(_ index: NodeIndex, identity: FileIdentity, reason: PollingReason) {
    guard entries[index] == nil else { return }
    entries[index] = Entry(reason: reason, position: indices.count)
    indices.append(index)
    byIdentity[identity] = index
    revision += 1
    if reason == .watchLimit { watchlessCount += 1 }
  }

  mutating func remove(_ index: NodeIndex, identity: FileIdentity) {
    guard let entry = entries.removeValue(forKey: index) else { return }
    indices.swapAt(entry.position, indices.count - 1)
    indices.removeLast()
    if entry.position < indices.count { entries[indices[entry.position]]?.position = entry.position }
    if byIdentity[identity] == index { byIdentity[identity] = nil }
    revision += 1
    if entry.reason == .watchLimit { watchlessCount -= 1 }
  }

  /// Records that a directory is polled for another reason than before.
  mutating func setReason(_ reason: PollingReason, of index: NodeIndex) {
    guard let before = entries[index]?.reason, before != reason else { return }
    entries[index]?.reason = reason
    watchlessCount += (reason == .watchLimit ? 1 : 0) - (before == .watchLimit ? 1 : 0)
    revision += 1
  }

  /// Records that there is an inotify instance now: directories polled for lack of one only lack a watch.
  mutating func instanceCame() {
    for index in indices where entries[index]?.reason == .noInstance {
      entries[index]?.reason = .watchLimit
      watchlessCount += 1
    }
    revision += 1
  }

  /// Records a listing that is about to be reported.
  mutating func noteListing(_ index: NodeIndex, _ listing: Listing) {
    guard entries[index] != nil else { return }
    entries[index]?.times = listing.times
    entries[index]?.digest = listing.digest
    entries[index]?.listedAt = listing.beganAt
    entries[index]?.isYoung = listing.newestChange > listing.beganAt - Self.clockGrain
  }

  /// Has the next look reported, whatever it finds: the directory could not be opened, or not everything in it entered.
  mutating func forgetListing(_ index: NodeIndex) { entries[index]?.digest = nil }

  /// Records that nothing has changed since the last report. After a grain of the clock, later changes have later
  /// times.
  mutating func noteRest(_ index: NodeIndex, _ listing: Listing) {
    entries[index]?.times = listing.times
    if let entry = entries[index], listing.beganAt - entry.listedAt > Self.clockGrain {
      entries[index]?.isYoung = false
    }
  }
}

extension Listing {
  /// A hash of the whole listing, whatever its order: names, and for files the inode, size and times. It is valid only
  /// within one process (`Hasher`).
  var digest: UInt64 {
    var sum: UInt64 = (hasMarker ? 1 : 0) + (hasCacheTag ? 2 : 0)
    for name in ignored {
      var hasher = Hasher()
      name.withUnsafeBytes { hasher.combine(bytes: $0) }
      sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
    }
    for file in files {
      var hasher = Hasher()
      file.name.withUnsafeBytes { hasher.combine(bytes: $0) }
      hasher.combine(file.stat)
      sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
    }
    for directory in directories {
      var hasher = Hasher()
      directory.name.withUnsafeBytes { hasher.combine(bytes: $0) }
      hasher.combine(directory.inode)
      sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
    }
    if let failure { sum &+= UInt64(bitPattern: Int64(failure.errorNumber)) &* 0x9E37_79B9_7F4A_7C15 }
    return sum
  }

  /// The latest time of the directory and its files.
  var newestChange: FileTime {
    var newest = times.map { max($0.change, $0.modification) } ?? .latest
    for file in files { newest = max(newest, file.stat.changeTime, file.stat.modificationTime) }
    return newest
  }
}
