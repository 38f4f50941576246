import PhotoCatalog
import PhotoModel
import Synchronization

/// The result of one fetch at one commit.
package final class FetchedList: Sendable {
  package let sequence: Int64
  package let ids: [Int64]
  package let digest: String

  init(sequence: Int64, ids: [Int64]) {
    self.sequence = sequence
    self.ids = ids
    digest = ListDigest(of: ids).description
  }
}

/// The lists that clients observe: each distinct fetch is run once a commit, whoever asks, and its recent results are kept
/// for some minutes so that a client that reconnects gets the difference by its token alone.
package final class LiveLists: Sendable {
  private final class Entry: Sendable {
    struct State {
      var current: FetchedList?
      /// Older results, oldest first, with when they were made.
      var recent: [(list: FetchedList, at: ContinuousClock.Instant)] = []
    }
    let state = Mutex(State())
  }

  private static let keptCount = 64
  private static let keptTime = Duration.seconds(300)

  private let catalog: Catalog
  private let feed: ChangeFeed
  private let entries = Mutex<[String: Entry]>([:])

  init(catalog: Catalog, feed: ChangeFeed) {
    self.catalog = catalog
    self.feed = feed
  }

  /// The list as it is now. Blocks while it is fetched.
  package func current(_ plan: FetchPlan) throws -> FetchedList {
    let entry = entry(plan)
    return try entry.state.withLock { state in
      if let list = state.current, list.sequence >= feed.sequence { return list }
      let (sequence, ids) = try catalog.read { (try $0.sequence(), try $0.ids(plan)) }
      if let old = state.current, old.sequence == sequence { return old }
      let list = FetchedList(sequence: sequence, ids: ids)
      let now = ContinuousClock.now
      state.recent.append((list, now))
      let firstKept = state.recent.firstIndex { now - $0.at < Self.keptTime } ?? state.recent.count
      state.recent.removeFirst(max(firstKept, state.recent.count - Self.keptCount))
      state.current = list
      return list
    }
  }

  /// The list as it was at a sequence, if it is still kept.
  package func recent(_ plan: FetchPlan, sequence: Int64) -> FetchedList? {
    entry(plan).state.withLock { state in state.recent.last { $0.list.sequence == sequence }?.list }
  }

  private func entry(_ plan: FetchPlan) -> Entry {
    entries.withLock { entries in
      if let entry = entries[plan.key] { return entry }
      if entries.count >= 256 { evict(&entries) }
      let entry = Entry()
      entries[plan.key] = entry
      return entry
    }
  }

  /// Forgets fetches that nobody asked for lately.
  private func evict(_ entries: inout [String: Entry]) {
    let now = ContinuousClock.now
    entries = entries.filter { _, entry in
      entry.state.withLock { $0.recent.last.map { now - $0.at < Self.keptTime } ?? false }
    }
  }
}
