// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import WatchRecords

/// Decides when polled directories are looked at.
///
/// A *glance* is one statx(2) of the directory. It finds names that came or went. A *look* reads the directory and
/// looks at every file in it. It also finds files that were edited in place. Four rounds run side by side:
///
/// | round | directories | repeated every |
/// |---|---|---|
/// | glance | the 512 that changed last | 2 s |
/// | look | the same | 10 s |
/// | glance | all | 30 s |
/// | look | all | 60 s |
///
/// A change is seen within its interval, if one round is done in that time. In every 2 s, a round gets at most 10 ms of
/// the processor and 250 ms in all, which includes waiting for a network. So polling never takes more than a fiftieth of
/// one processor. For 100,000 directories, a round of glances takes about a minute. A round of looks, with ten files in
/// each directory, takes a quarter of an hour. A sync looks at all directories at once, without these limits.
///
/// A root may have a longer interval of its own. A round leaves out its directories until the interval has passed since
/// the last time that the round included them.
struct PollRounds {
  /// How often the rounds get their share of time.
  static let tick = FolderWatch.checkInterval
  static let processorShare = Interval.milliseconds(10)
  static let timeShare = Interval.milliseconds(250)
  static let hotCount = 512

  struct Round {
    var interval: Interval
    /// Whether files are looked at, too.
    var isDeep: Bool
    var isHot: Bool
    fileprivate(set) var nodes: [NodeReference] = []
    fileprivate(set) var position = 0
    fileprivate var beganAt = Moment.longAgo
    /// When this round last included the directories of each root with an interval of its own.
    fileprivate var includedAt: [UInt16: Moment] = [:]
    /// The position at which the round pauses until the next tick.
    fileprivate var quota = 0
    var processorLeft = Interval.none
    var timeLeft = Interval.none

    init(interval: Interval, isDeep: Bool, isHot: Bool) {
      self.interval = interval
      self.isDeep = isDeep
      self.isHot = isHot
    }

    var hasWork: Bool { position < quota && processorLeft > .none && timeLeft > .none }

    /// The directories whose root has no interval of its own, or whose interval has passed.
    fileprivate mutating func included(
      _ nodes: [NodeReference], _ now: Moment, _ tree: WatchedTree, _ intervals: [UInt16: Interval]
    ) -> [NodeReference] {
      guard !intervals.isEmpty else { return nodes }
      var waiting: Set<UInt16> = []
      for (root, interval) in intervals {
        if let last = includedAt[root], now - last <= interval - PollRounds.tick / 2 {
          waiting.insert(root)
        } else {
          includedAt[root] = now
        }
      }
      return nodes.filter { tree.isAlive($0) && (waiting.isEmpty || !waiting.contains(tree.root($0.index))) }
    }

    mutating func next() -> NodeReference? {
      guard hasWork else { return nil }
      position += 1
      return nodes[position - 1]
    }
  }

  var rounds = [
    Round(interval: tick, isDeep: false, isHot: true),
    Round(interval: 5 * tick, isDeep: true, isHot: true),
    Round(interval: 15 * tick, isDeep: false, isHot: false),
    Round(interval: 30 * tick, isDeep: true, isHot: false),
  ]

  /// The directories that changed last.
  private(set) var hot: [NodeReference] = []
  private var lastTick = Moment.longAgo
  private var rankedRevision = -1
  private var rankedAt = Moment.longAgo

  /// The directories of the running pass. A pass looks at all polled directories, for syncs.
  private(set) var pass: [NodeReference] = []
  private(set) var passPosition = 0
  private(set) var isPassing = false
  private(set) var passesDone: UInt64 = 0
  private(set) var passesWanted: UInt64 = 0

  var hasWork: Bool { passesWanted > passesDone || rounds.contains(where: \.hasWork) }

  /// Adds a changed directory to the hot ones, which are polled more often.
  mutating func noteChange(_ node: NodeReference) {
    if !hot.contains(node) { hot.append(node) }
  }

  /// Gives every round its share of time. A round that is complete begins again when its interval has passed.
  ///
  /// - Parameter intervals: the intervals of roots that have one.
  mutating func beginTick(
    _ now: Moment, _ polled: PolledDirectories, _ tree: WatchedTree, _ intervals: [UInt16: Interval] = [:]
  ) {
    guard now - lastTick > Self.tick / 2 else { return }
    lastTick = now
    rank(now, polled, tree)
    for number in rounds.indices {
      // If there are few directories, all of them are hot.
      if !rounds[number].isHot, polled.count <= Self.hotCount { continue }
      if rounds[number].position >= rounds[number].nodes.count {
        guard now - rounds[number].beganAt > rounds[number].interval - Self.tick / 2 else { continue }
        let nodes = rounds[number].isHot ? hot : polled.indices.map(tree.reference)
        rounds[number].nodes = rounds[number].included(nodes, now, tree, intervals)
        rounds[number].position = 0
        rounds[number].beganAt = now
      }
      let round = rounds[number]
      let part = (now - round.beganAt + Self.tick) / round.interval
      rounds[number].quota = min(round.nodes.count, Int((Double(round.nodes.count) * min(part, 1)).rounded(.up)))
      rounds[number].processorLeft = Self.processorShare
      rounds[number].timeLeft = Self.timeShare
    }
  }

  private mutating func rank(_ now: Moment, _ polled: PolledDirectories, _ tree: WatchedTree) {
    guard polled.revision != rankedRevision || hot.count > Self.hotCount else { return }
    guard polled.count <= Self.hotCount || now - rankedAt >= 15 * Self.tick || hot.count > Self.hotCount * 5 / 4 else {
      return
    }
    rankedRevision = polled.revision
    rankedAt = now
    var indices = polled.indices
    if indices.count > Self.hotCount {
      indices.sort { tree[$0].lastChange > tree[$1].lastChange }
      indices.removeLast(indices.count - Self.hotCount)
    }
    hot = indices.map(tree.reference)
  }

  // MARK: - Passes for syncs

  /// Requests a pass that begins after this call.
  /// - Returns: its number. The pass is over when `passesDone` has reached it.
  mutating func wantPass() -> UInt64 {
    passesWanted = max(passesWanted, passesDone + (isPassing ? 2 : 1))
    return passesWanted
  }

  /// Begins a pass if one is wanted and none is running.
  /// - Returns: its number; nil if none begins.
  mutating func beginPass(_ polled: PolledDirectories, _ tree: WatchedTree) -> UInt64? {
    guard !isPassing, passesWanted > passesDone else { return nil }
    isPassing = true
    pass = polled.indices.map(tree.reference)
    passPosition = 0
    return passesDone + 1
  }

  mutating func nextInPass() -> NodeReference? {
    guard isPassing else { return nil }
    if passPosition < pass.count {
      passPosition += 1
      return pass[passPosition - 1]
    }
    isPassing = false
    passesDone += 1
    pass = []
    return nil
  }
}
