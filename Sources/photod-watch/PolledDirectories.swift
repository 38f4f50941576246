// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// Directories without a watch, and what was seen of each when it was last listed. `PollRounds` says when they are looked
/// at. About 150 bytes a directory.
struct PolledDirectories {
  /// What must stay as it is for a directory's names to be the same.
  struct Times: Equatable {
    var modification: Int64
    var change: Int64

    init(_ look: FileLook) {
      modification = look.stat.modificationTime
      change = look.stat.changeTime
    }
  }

  struct Entry {
    var reason: PollingReason
    fileprivate var position: Int
    /// nil until it was listed.
    var times: Times?
    /// Of all that was said of it (`Listing.digest`); nil when the next look must be said.
    var digest: UInt64?
    /// CLOCK_REALTIME when it was listed last, nanoseconds.
    var listedAt: Int64 = 0
    /// Something in it changed so shortly before it was listed that another change may bear the same times.
    var isYoung = false
  }

  /// Time stamps are as coarse as 2 s (FAT), and 4 ms where they are in nanoseconds: within a grain a second change leaves
  /// no trace.
  static let clockGrain: Int64 = 2_000_000_000

  private var entries: [NodeIndex: Entry] = [:]
  private var byIdentity: [FileIdentity: NodeIndex] = [:]
  /// All of them, in no order.
  private(set) var indices: [NodeIndex] = []
  private(set) var watchlessCount = 0
  /// Rises when a directory comes, goes or has another reason.
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

  /// There is an inotify instance now: it is watches that are wanting.
  mutating func instanceCame() {
    for index in indices where entries[index]?.reason == .noInstance {
      entries[index]?.reason = .watchLimit
      watchlessCount += 1
    }
    revision += 1
  }

  /// What a listing saw is being said.
  mutating func noteListing(_ index: NodeIndex, _ listing: Listing) {
    guard entries[index] != nil else { return }
    entries[index]?.times = listing.times
    entries[index]?.digest = listing.digest
    entries[index]?.listedAt = listing.beganAt
    entries[index]?.isYoung = listing.newestChange > listing.beganAt - Self.clockGrain
  }

  /// It could not be opened, or not all in it entered: the next look is said, whatever it sees.
  mutating func forgetListing(_ index: NodeIndex) { entries[index]?.digest = nil }

  /// Nothing changed since what was said, and a look now would see any change that follows.
  mutating func noteRest(_ index: NodeIndex, _ listing: Listing) {
    entries[index]?.times = listing.times
    if let entry = entries[index], listing.beganAt - entry.listedAt > Self.clockGrain {
      entries[index]?.isYoung = false
    }
  }
}

extension Listing {
  /// Of all that it says, whatever its order: names, and of files inode, size and times. Of one process only (`Hasher`).
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

  /// The directory's own and its files'; nanoseconds since 1970.
  var newestChange: Int64 {
    var newest = times.map { max($0.change, $0.modification) } ?? .max
    for file in files { newest = max(newest, file.stat.changeTime, file.stat.modificationTime) }
    return newest
  }
}
