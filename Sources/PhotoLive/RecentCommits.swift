import PhotoCatalog
import Synchronization

/// What the newest commits touched, by their sequence: in memory where they were small, from history else.
///
/// A thousand lists ask for the same commits at the same time: what is read of history is read once.
package final class RecentCommits: Sendable {
  struct Limits {
    /// Of one commit; larger ones are in history alone.
    var assetsPerCommit = 1_024
    /// Of all, some 100 bytes each.
    var assets = 1 << 16
    var commits = 4_096
  }

  private struct State {
    /// Of consecutive commits. Those before `start` are forgotten.
    var commits: [CommitEffects?] = []
    var start = 0
    /// Of the commit at `start`.
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

  /// The last ranges of commits that were asked for, with what they did together, newest last.
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
  /// Of several commits in memory.
  private let merged = Mutex(Answers())
  /// Of what history says, which is less: lists are not judged by it. Held while it is read: who asks for the same gets it
  /// from here.
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

  /// Whether what a commit does is few enough to be kept.
  package func wants(_ record: CommitRecord) -> Bool {
    record.insertedAssets.count + record.updatedAssets.count + record.deletedAssets.count <= limits.assetsPerCommit
  }

  /// To be called with each commit, before it is announced. Where one is left out, those before it are in history alone.
  ///
  /// - Parameter effects: nil where they are too many.
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

  /// What these commits did, if it is in memory.
  func known(after sequence: Int64, through last: Int64) -> CommitEffects? {
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

  /// What these commits did, with all assets below the directories that they moved. Blocks while history is read.
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
