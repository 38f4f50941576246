import PhotoCatalog
import Synchronization

/// The effects of the newest commits by their sequence. Memory holds the effects of small commits. The others are read
/// from the history.
///
/// A thousand lists ask for the same commits at the same time, so each part of the history is read once only.
package final class RecentCommits: Sendable {
  struct Limits {
    /// The most assets of one commit. The effects of a larger commit are only in the history.
    var assetsPerCommit = 1_024
    /// The most assets of all commits together, at some 100 bytes each.
    var assets = 1 << 16
    var commits = 4_096
  }

  private struct State {
    /// The effects of consecutive commits. Earlier ones than `start` were removed.
    var commits: [CommitEffects?] = []
    var start = 0
    /// The sequence of the commit at `start`.
    var firstSequence: Int64 = 0
    var assetCount = 0

    var endSequence: Int64 { firstSequence + Int64(commits.count - start) }

    mutating func removeFirst() {
      assetCount -= commits[start]?.assetCount ?? 0
      commits[start] = nil
      start += 1
      firstSequence += 1
      if start > commits.count / 2 {
        commits.removeSubrange(..<start)
        start = 0
      }
    }
  }

  /// The ranges of commits that were asked for last, with their combined effects, newest last.
  private struct Answers {
    private var kept: [(range: Range<Int64>, effects: CommitEffects)] = []

    mutating func effects(
      after sequence: Int64, through last: Int64, _ make: () throws -> CommitEffects
    ) rethrows -> CommitEffects {
      let range = sequence..<last
      if let known = kept.first(where: { $0.range == range }) { return known.effects }
      let effects = try make()
      kept.append((range, effects))
      if kept.count > 4 { kept.removeFirst() }
      return effects
    }
  }

  let limits: Limits
  private let state = Mutex(State())
  private let readHistory: @Sendable (_ after: Int64, _ through: Int64) throws -> CommitEffects
  /// The combined effects of several commits in memory.
  private let merged = Mutex(Answers())
  /// Effects rebuilt from the history. They carry less detail, so lists are never updated from them. The lock is held
  /// while they are read, so that concurrent callers share one read.
  private let read = Mutex(Answers())
  private let reads = Mutex(0)

  package convenience init(catalog: Catalog) {
    self.init { after, through in try catalog.read { try $0.effects(after: after, through: through) } }
  }

  init(
    limits: Limits = Limits(), read: @escaping @Sendable (_ after: Int64, _ through: Int64) throws -> CommitEffects
  ) {
    self.limits = limits
    readHistory = read
  }

  /// Whether a commit touches few enough assets to be kept.
  package func wants(_ record: CommitRecord) -> Bool { record.assetCount <= limits.assetsPerCommit }

  /// Must be called with each commit, before it is announced. If a commit is left out, the effects of all earlier
  /// commits are only in the history.
  ///
  /// - Parameter effects: nil if they are too many.
  package func append(_ effects: CommitEffects?, sequence: Int64) {
    state.withLock { state in
      if state.endSequence != sequence {
        state = State()
        state.firstSequence = sequence
      }
      let kept = effects.flatMap { $0.assetCount <= limits.assetsPerCommit ? $0 : nil }
      state.commits.append(kept)
      state.assetCount += kept?.assetCount ?? 0
      while state.assetCount > limits.assets || state.commits.count - state.start > limits.commits {
        state.removeFirst()
      }
    }
  }

  /// The combined effects of these commits, if all are in memory. Assets below moved directories are left out.
  package func known(after sequence: Int64, through last: Int64) -> CommitEffects? {
    let commits = state.withLock { state -> ArraySlice<CommitEffects?>? in
      guard sequence < last, sequence + 1 >= state.firstSequence, last < state.endSequence else { return nil }
      let first = state.start + Int(sequence + 1 - state.firstSequence)
      return state.commits[first..<first + Int(last - sequence)]
    }
    guard let commits, commits.allSatisfy({ $0 != nil }) else { return nil }
    guard commits.count > 1 else { return commits.first ?? nil }
    return merged.withLock {
      $0.effects(after: sequence, through: last) {
        commits.reduce(into: CommitEffects()) { merged, next in next.map { merged.merge($0) } }
      }
    }
  }

  /// The combined effects of these commits, with all assets below the directories that they moved. Blocks while the
  /// history is read.
  package func effects(after sequence: Int64, through last: Int64) throws -> CommitEffects {
    if let known = known(after: sequence, through: last), known.namesAllAssets { return known }
    return try read.withLock {
      try $0.effects(after: sequence, through: last) {
        reads.withLock { $0 += 1 }
        return try readHistory(sequence, last)
      }
    }
  }

  /// How often history was read.
  package var readCount: Int { reads.withLock { $0 } }
}
