// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// Directories that got no watch because the user's limit is reached: they are looked at every two seconds and at each
/// sync, and listed again when their times have changed.
/// A file that is edited in place there is only seen when something is added or removed beside it.
struct UnwatchedDirectories {
  private struct Times: Equatable {
    var modification: Int64
    var change: Int64
  }

  private struct Entry {
    var times: Times?
    /// A change within two seconds before a listing may have come in two parts with one time stamp (ticks).
    var wasRecent = false
  }

  private var entries: [NodeIndex: Entry] = [:]
  private var byIdentity: [FileIdentity: NodeIndex] = [:]

  var count: Int { entries.count }
  var indices: [NodeIndex] { Array(entries.keys) }

  /// The errors that say that there is no watch left, rather than that this directory can't be watched.
  static func isExhausted(_ error: SystemError) -> Bool {
    error.number == ENOSPC || error.number == EMFILE || error.number == ENOMEM
  }

  func node(_ identity: FileIdentity) -> NodeIndex? { byIdentity[identity] }

  mutating func insert(_ index: NodeIndex, identity: FileIdentity) {
    entries[index] = Entry()
    byIdentity[identity] = index
  }

  mutating func remove(_ index: NodeIndex, identity: FileIdentity) {
    guard entries.removeValue(forKey: index) != nil else { return }
    if byIdentity[identity] == index { byIdentity[identity] = nil }
  }

  mutating func noteListing(_ index: NodeIndex, _ descriptor: Int32) {
    guard entries[index] != nil, case .success(let look) = FileLook.of(descriptor) else { return }
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let times = Times(modification: look.stat.modificationTime, change: look.stat.changeTime)
    entries[index] = Entry(
      times: times, wasRecent: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - times.change < 2_000_000_000)
  }

  /// Whether the directory may hold something else than when it was listed.
  func isChanged(_ index: NodeIndex, _ look: FileLook) -> Bool {
    guard let entry = entries[index] else { return false }
    let times = Times(modification: look.stat.modificationTime, change: look.stat.changeTime)
    return entry.wasRecent || entry.times != times
  }
}

extension FolderWatch {
  /// Tries to watch what has no watch, and has what changed listed.
  func pollUnwatched() {
    var mayWatch = true
    for index in unwatched.indices where walk[index] == nil {
      breathe()
      switch OpenDirectories.open(index, in: tree, rootPath: rootPath) {
      case .failure: doubt(index)
      case .success(let descriptor):
        if mayWatch {
          let mask = tree[index].parent < 0 ? InotifyInstance.topMask : InotifyInstance.contentMask
          if case .success(let watch) = inotify.watch(descriptor, mask: mask), byWatch[watch] == nil {
            setWatch(index, watch)
            requestListing(index, evidence: .event, descriptor: descriptor)
            continue
          }
          mayWatch = false
        }
        if case .success(let look) = FileLook.of(descriptor),
          unwatched.isChanged(index, look) || tree[index].flags.contains(.holdsCacheTag)
        {
          requestListing(index, evidence: .event, descriptor: descriptor)
        } else {
          close(descriptor)
        }
      }
    }
  }

  /// Says how many directories have a watch, when some have none (or had none when it was said last).
  func sayBudgetIfChanged() {
    guard unwatched.count != saidUnwatched, walk.isIdle || saidUnwatched == 0 else { return }
    saidUnwatched = unwatched.count
    let limit = watchLimit()
    say(.watchBudget(WatchBudget(watched: UInt32(byWatch.count), allowed: limit, limit: limit, isRefused: true)))
    let byRoot = Dictionary(grouping: unwatched.indices) { tree.root($0) }
    for (number, root) in roots.sorted(by: { $0.key < $1.key }) {
      guard let top = root.top else { continue }
      say(
        .polling(
          root: number, reason: .watchLimit, polled: UInt32(byRoot[number]?.count ?? 0),
          directories: UInt32(tree.subtree(top).count)))
    }
  }

  /// fs.inotify.max_user_watches; 0 when it can't be read.
  private func watchLimit() -> UInt32 {
    let descriptor = open("/proc/sys/fs/inotify/max_user_watches", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var digits = [UInt8](repeating: 0, count: 32)
    let count = read(descriptor, &digits, digits.count)
    guard count > 0 else { return 0 }
    return UInt32(String(decoding: digits[..<count].prefix { $0 >= 0x30 && $0 <= 0x39 }, as: UTF8.self)) ?? 0
  }
}
