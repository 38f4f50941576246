// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// The watches of directories.
struct Watches {
  var byDescriptor: [Int32: NodeIndex] = [:]
  /// Watches that were given up but may still have queued events.
  var retired: [Int32: NodeReference] = [:]
  var share = WatchShare()
}

/// The number of watches that photod-watch may use.
struct WatchShare {
  /// The part of the limit that photod-watch may use, as photod orders. The rest is for other programs of this user,
  /// and for photod's other photod-watch.
  var percent: UInt64 = 75
  /// Reserved within that part: a watch for the sync cookies' directory, and one to recognise a directory (`tryWatch`).
  static let reserved = 2
  /// The time after which another watch is requested, if the kernel refused one.
  static let retryInterval = Interval.seconds(10)

  /// 0 if it can't be read. Then only the kernel's refusals limit the watches.
  private(set) var limit: UInt32 = 0
  private(set) var isNamespaceLimit = false
  private var whole: UInt32?
  private var own: UInt32?
  /// When the kernel refused a watch although photod-watch had fewer than its share.
  var refusedAt: Moment?

  var allowed: UInt32 { limit == 0 ? .max : UInt32(UInt64(limit) * percent / 100) }

  /// The number of directories that may have a watch.
  var capacity: Int { max(0, Int(allowed) - Self.reserved) }

  func isRefused(_ now: Moment) -> Bool { refusedAt.map { now - $0 < Self.retryInterval } ?? false }

  /// Reads the limits, which may change at any time: that of the first user namespace and that of the present one. The
  /// smaller limit counts.
  /// - Returns: whether the limit has changed.
  mutating func readLimit() -> Bool {
    let before = limit
    // If a limit can't be read at the moment (EMFILE), its last value stays.
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

// Gives the watches to the directories that changed last.
extension FolderWatch {
  /// A directory takes over another's watch only if it changed later by this many seconds. Otherwise watches would go
  /// to and fro.
  static let exchangeMargin: UInt64 = 60
  /// The number of watches that are given up or exchanged before other work gets its turn.
  static let exchangesAtOnce = 256

  /// Whether the error says that no watch is left, rather than that this directory can't be watched.
  static func isExhausted(_ error: SystemError) -> Bool {
    error.number == ENOSPC || error.number == EMFILE || error.number == ENOMEM
  }

  var hasRoomForWatch: Bool {
    events.inotify.isOpen && watches.byDescriptor.count < watches.share.capacity
      && !watches.share.isRefused(Moment.now)
  }

  /// Watches the open directory `descriptor`. If there is no room, a watch is added for a moment, because its number
  /// shows whether the directory is known. It is then removed, unless it is that of a known directory.
  /// - Returns: -1 if the directory gets no watch.
  func tryWatch(_ descriptor: Int32, _ identity: FileIdentity, mask: UInt32) -> Result<Int32, SystemError> {
    guard events.inotify.isOpen else { return .success(-1) }
    let hasRoom = hasRoomForWatch
    if !hasRoom, polling.directories.node(identity) != nil { return .success(-1) }
    switch events.inotify.watch(descriptor, mask: mask) {
    case .success(let watch):
      guard watches.byDescriptor[watch] == nil, !hasRoom, watch != syncing.cookies?.watch else {
        return .success(watch)
      }
      events.inotify.unwatch(watch)
      return .success(-1)
    case .failure(let error):
      guard Self.isExhausted(error) else { return .failure(error) }
      noteRefusal()
      return .success(-1)
    }
  }

  /// Why a directory is polled that the kernel refuses to watch.
  ///
  /// - Parameter descriptor: is open on the directory.
  /// - Returns: nil if the directory can't be read, or can't be watched for another reason.
  func refusal(_ error: SystemError, _ descriptor: Int32) -> PollingReason? {
    guard error.number == EACCES, case .success(let same) = OpenDirectories.open(descriptor, [UInt8(ascii: ".")]) else {
      return nil
    }
    close(same)
    return .refused
  }

  /// Asks again for the watch of a directory that the kernel has refused to watch. The directory must be listed after that.
  ///
  /// - Parameter descriptor: is open on the directory.
  func watchAtLast(_ index: NodeIndex, _ descriptor: Int32) {
    guard polling.directories[index]?.reason == .refused, hasRoomForWatch,
      case .success(let watch) = events.inotify.watch(descriptor, mask: mask(of: index)),
      watches.byDescriptor[watch] == nil
    else { return }
    setWatch(index, watch)
  }

  private func mask(of index: NodeIndex) -> UInt32 {
    tree[index].parent < 0 ? InotifyInstance.topMask : InotifyInstance.contentMask
  }

  private func noteRefusal() {
    // Either other programs use the watches, or the limit was lowered.
    if watches.share.readLimit() { polling.mustRebalance = true }
    if watches.byDescriptor.count < watches.share.capacity { watches.share.refusedAt = Moment.now }
  }

  /// Gives watches to the directories that changed last, and gives up those that are beyond the share.
  /// - Complexity: O(*n* log *n*) in the directories, if something has changed.
  func rebalance() {
    guard polling.mustRebalance, events.inotify.isOpen, scans.running.isEmpty, walk.isIdle, events.backlog.isEmpty,
      !events.progress.hasOverflowed
    else { return }
    polling.mustRebalance = false
    let excess = watches.byDescriptor.count - watches.share.capacity
    guard excess > 0 || polling.directories.watchlessCount > 0 else { return }
    // These directories lose their watches now, and are listed. Only then do the next ones lose theirs.
    if min(excess, Self.exchangesAtOnce) > 0 {
      for index in quietest(min(excess, Self.exchangesAtOnce)) { giveUpWatch(index) }
      polling.mustRebalance = excess > Self.exchangesAtOnce
      return
    }
    exchange(with: candidates())
  }

  private func exchange(with candidates: [NodeIndex]) {
    var position = 0
    while position < candidates.count, hasRoomForWatch {
      if position == Self.exchangesAtOnce {
        polling.mustRebalance = true
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
    if candidates.count - position > rest.count { polling.mustRebalance = true }
  }

  /// The directories that are polled for lack of a watch, the last changed first.
  private func candidates() -> [NodeIndex] {
    let wanting = polling.directories.indices.filter {
      polling.directories[$0]?.reason == .watchLimit && walk[$0] == nil
    }
    return byLastChange(wanting).reversed()
  }

  /// Watched directories, the longest unchanged first. The tops of roots keep their watches, because they report on
  /// themselves.
  private func quietest(_ count: Int) -> ArraySlice<NodeIndex> {
    byLastChange(watches.byDescriptor.values.filter { tree[$0].parent >= 0 }).prefix(count)
  }

  /// Sorts by one number for each directory, made of time and index.
  private func byLastChange(_ indices: [NodeIndex]) -> [NodeIndex] {
    var keys = indices.map { index in
      UInt64(tree[index].parent < 0 ? .max : tree[index].lastChange) << 32 | UInt64(UInt32(bitPattern: index))
    }
    keys.sort()
    return keys.map { NodeIndex(truncatingIfNeeded: $0) }
  }

  /// Watches a polled directory. Then it requests a listing, which finds the changes before the watch.
  /// - Returns: false if the kernel grants no watch.
  private func gainWatch(_ index: NodeIndex) -> Bool {
    keepAlive()
    switch OpenDirectories.open(index, in: tree, rootPath: rootPath) {
    case .failure: listLater(index)
    case .success(let descriptor):
      switch events.inotify.watch(descriptor, mask: mask(of: index)) {
      case .failure(let error):
        let refusal = refusal(error, descriptor)
        close(descriptor)
        if let refusal { polling.directories.setReason(refusal, of: index) }
        guard Self.isExhausted(error) else { return true }
        noteRefusal()
        return false
      case .success(let watch):
        // The watch belongs to a directory with another path. A listing there finds which of the two paths is right.
        if let known = watches.byDescriptor[watch] {
          close(descriptor)
          listLater(known)
          return true
        }
        setWatch(index, watch)
        requestListing(index, evidence: .scan, descriptor: descriptor)
      }
    }
    return true
  }

  /// Has the directory polled from now on. Events that its watch has queued are still handled. The listing follows when
  /// IN_IGNORED says that no more of them come.
  private func giveUpWatch(_ index: NodeIndex) {
    let watch = tree[index].watch
    events.inotify.unwatch(watch)
    watches.byDescriptor[watch] = nil
    watches.retired[watch] = tree.reference(index)
    setWatch(index, -1)
  }

  /// Handles an event of a watch that was given up.
  func handleRetired(_ event: WatchEvent, of node: NodeReference) {
    let isHere = tree.isAlive(node)
    if event.has(IN_IGNORED) {
      watches.retired[event.watch] = nil
      if isHere, tree[node.index].watch < 0 { requestListing(node.index, evidence: .scan) }
    } else if isHere, !event.name.isEmpty {
      handleContent(event, in: node.index)
    }
  }
}
