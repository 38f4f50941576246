// SPDX-License-Identifier: GPL-2.0-or-later

import CWatchShim
import Glibc
import WatchRecords

/// How many watches photod-watch may have.
struct WatchShare {
  /// Of the limit: what is left is for other programs of this user.
  static let percent: UInt64 = 75
  /// Of the share, for the sync cookies' directory and for the watch by which a directory is recognised (`tryWatch`).
  static let reserved = 2
  /// So long after the kernel refused a watch, another is asked for.
  static let retryInterval: Int64 = 10_000_000_000

  /// 0 when it can't be read: then the kernel's refusal is all that is known.
  private(set) var limit: UInt32 = 0
  private(set) var isNamespaceLimit = false
  private var whole: UInt32?
  private var own: UInt32?
  /// The kernel refused a watch at this time, by which there are fewer than our share.
  var refusedAt: Int64?

  var allowed: UInt32 { limit == 0 ? .max : UInt32(UInt64(limit) * Self.percent / 100) }

  /// Directories that may have a watch.
  var capacity: Int { max(0, Int(allowed) - Self.reserved) }

  func isRefused(_ now: Int64) -> Bool { refusedAt.map { now - $0 < Self.retryInterval } ?? false }

  /// Reads the limits; they may change at any time. The smaller counts: of the first user namespace, and of this one.
  /// - returns: whether the limit is another than before.
  mutating func readLimit() -> Bool {
    let before = limit
    // Where one can't be read just now (EMFILE) it is what it was.
    whole = Self.number(in: "/proc/sys/fs/inotify/max_user_watches") ?? whole
    own = Self.number(in: "/proc/sys/user/max_inotify_watches") ?? own
    limit = min(whole ?? .max, own ?? .max)
    if whole == nil, own == nil { limit = 0 }
    isNamespaceLimit = (own ?? .max) < (whole ?? .max)
    if limit != before { refusedAt = nil }
    return limit != before
  }

  static func number(in path: String) -> UInt32? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var digits = [UInt8](repeating: 0, count: 32)
    let count = read(descriptor, &digits, digits.count)
    guard count > 0 else { return nil }
    let text = String(decoding: digits[..<count].prefix { $0 >= 0x30 && $0 <= 0x39 }, as: UTF8.self)
    return UInt64(text).map { UInt32(clamping: $0) }
  }
}

// Who has the watches: the directories that changed last.
extension FolderWatch {
  /// A directory without a watch gets that of another only if it changed so much later: nothing goes to and fro. Seconds.
  static let exchangeMargin: UInt64 = 60
  /// So many watches are given up or exchanged before anything else has its turn.
  static let exchangesAtOnce = 256

  /// The errors that say that there is no watch left, rather than that this directory can't be watched.
  static func isExhausted(_ error: SystemError) -> Bool {
    error.number == ENOSPC || error.number == EMFILE || error.number == ENOMEM
  }

  var hasRoomForWatch: Bool {
    inotify.isOpen && byWatch.count < share.capacity && !share.isRefused(watchshim_now())
  }

  /// Watches what `descriptor` is open on. Where there is no room the directory is recognised all the same: a watch is
  /// added, and removed again unless it is known.
  /// - returns: -1 where there is no watch for it.
  func tryWatch(_ descriptor: Int32, _ identity: FileIdentity, mask: UInt32) -> Result<Int32, SystemError> {
    guard inotify.isOpen else { return .success(-1) }
    let hasRoom = hasRoomForWatch
    if !hasRoom, polled.node(identity) != nil { return .success(-1) }
    switch inotify.watch(descriptor, mask: mask) {
    case .success(let watch):
      guard byWatch[watch] == nil, !hasRoom, watch != cookies?.watch else { return .success(watch) }
      inotify.unwatch(watch)
      return .success(-1)
    case .failure(let error):
      guard Self.isExhausted(error) else { return .failure(error) }
      noteRefusal()
      return .success(-1)
    }
  }

  private func noteRefusal() {
    // Either others have them, or the limit fell just now.
    if share.readLimit() { mustRebalance = true }
    if byWatch.count < share.capacity { share.refusedAt = watchshim_now() }
  }

  /// Gives watches to the directories that changed last, and gives up those that are beyond the share.
  /// - Complexity: O(*n* log *n*) in the directories, when something has changed.
  func rebalance() {
    guard mustRebalance, inotify.isOpen, scans.isEmpty, walk.isIdle, backlog.isEmpty, !overflowed else { return }
    mustRebalance = false
    let excess = byWatch.count - share.capacity
    guard excess > 0 || polled.watchlessCount > 0 else { return }
    // What is given up now is listed before the next part.
    if min(excess, Self.exchangesAtOnce) > 0 {
      for index in quietest(min(excess, Self.exchangesAtOnce)) { giveUpWatch(index) }
      mustRebalance = excess > Self.exchangesAtOnce
      return
    }
    exchange(with: candidates())
  }

  private func exchange(with candidates: [NodeIndex]) {
    var position = 0
    while position < candidates.count, hasRoomForWatch {
      if position == Self.exchangesAtOnce {
        mustRebalance = true
        return
      }
      guard gainWatch(candidates[position]) else { break }
      position += 1
    }
    guard position < candidates.count else { return }
    let rest = candidates[position...].prefix(Self.exchangesAtOnce)
    for (candidate, quiet) in zip(rest, quietest(rest.count)) {
      guard UInt64(tree[candidate].lastChange) > UInt64(tree[quiet].lastChange) + Self.exchangeMargin else { return }
      giveUpWatch(quiet)
      guard gainWatch(candidate) else { return }
    }
    if candidates.count - position > rest.count { mustRebalance = true }
  }

  /// Polled for want of a watch, the last changed first.
  private func candidates() -> [NodeIndex] {
    let wanting = polled.indices.filter { polled[$0]?.reason == .watchLimit && walk[$0] == nil }
    return byLastChange(wanting).reversed()
  }

  /// Watched, the longest quiet first; the tops of roots say what becomes of themselves and keep theirs.
  private func quietest(_ count: Int) -> ArraySlice<NodeIndex> {
    byLastChange(byWatch.values.filter { tree[$0].parent >= 0 }).prefix(count)
  }

  /// Sorted as one number each, time and index.
  private func byLastChange(_ indices: [NodeIndex]) -> [NodeIndex] {
    var keys = indices.map { index in
      UInt64(tree[index].parent < 0 ? .max : tree[index].lastChange) << 32 | UInt64(UInt32(bitPattern: index))
    }
    keys.sort()
    return keys.map { NodeIndex(truncatingIfNeeded: $0) }
  }

  /// Watched first, listed second.
  /// - returns: false when the kernel gives none.
  private func gainWatch(_ index: NodeIndex) -> Bool {
    switch OpenDirectories.open(index, in: tree, rootPath: rootPath) {
    case .failure: doubt(index)
    case .success(let descriptor):
      let mask = tree[index].parent < 0 ? InotifyInstance.topMask : InotifyInstance.contentMask
      switch inotify.watch(descriptor, mask: mask) {
      case .failure(let error):
        close(descriptor)
        guard Self.isExhausted(error) else { return true }
        noteRefusal()
        return false
      case .success(let watch):
        // Known, but as another: a listing will tell.
        guard byWatch[watch] == nil else {
          close(descriptor)
          break
        }
        setWatch(index, watch)
        requestListing(index, evidence: .scan, descriptor: descriptor)
      }
    }
    return true
  }

  /// From now on the directory is polled. What its watch has queued is handled still; the listing comes after that, when
  /// IN_IGNORED says that no more follows.
  private func giveUpWatch(_ index: NodeIndex) {
    let watch = tree[index].watch
    inotify.unwatch(watch)
    byWatch[watch] = nil
    retired[watch] = tree.reference(index)
    setWatch(index, -1)
  }

  /// An event of a watch that was given up.
  func handleRetired(_ event: WatchEvent, of node: NodeReference) {
    let isHere = tree.isAlive(node)
    if event.has(IN_IGNORED) {
      retired[event.watch] = nil
      if isHere, tree[node.index].watch < 0 { requestListing(node.index, evidence: .scan) }
    } else if isHere, !event.name.isEmpty {
      handleContent(event, in: node.index)
    }
  }
}
