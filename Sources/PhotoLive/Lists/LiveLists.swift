import PhotoCatalog
import PhotoModel
import Synchronization

/// The result of one fetch at one commit.
package struct FetchedList: Sendable {
  package let sequence: Int64
  package let list: OrderedList

  package var count: Int { list.count }
  /// - Complexity: O(n)
  package var ids: [AssetID] { list.ids }
  package var digest: String { list.digest }
}

/// The lists that clients observe. Each distinct fetch is updated once for each commit, whichever client asks. Its
/// recent lists are kept for some minutes, so that a client that reconnects gets the difference by its token alone.
/// Lists share the parts that they have in common.
///
/// ``Limits`` bounds what is kept. Lists above a bound are evicted when the next list is read, so that no timer is
/// needed.
package final class LiveLists: Sendable {
  struct Limits: Sendable {
    /// How long a superseded list, or the list of a fetch without observers, stays in memory after it was last used.
    var keptTime = Duration.seconds(300)
    /// Bounds all lists except the current ones of observed fetches, which ``ClientLists`` bounds.
    var keptBytes = 64 << 20
    /// The number of fetches without observers. The fetch that is being run is not counted.
    var keptFetches = 256
    var versionsPerFetch = 256
    var spansPerVersion = 1_024
    /// How long an attempt that spent its budget answers all callers of the same fetch at the same commit.
    var failureTime = Duration.seconds(10)
  }

  /// The lists that calls of clients hold.
  package let held: ClientLists
  private let feed: ChangeFeed
  private let recent: RecentCommits
  private let limits: Limits
  private let now: @Sendable () -> ContinuousClock.Instant
  private let fetch: Fetch
  /// Never held while a fetch is run, or lists are compared.
  private let cache: Mutex<ListCache>
  private let counts = Mutex(Counts())

  /// Reads a list and the sequence that it belongs to, in one snapshot. It may derive the list from the newest known
  /// list.
  typealias Fetch = @Sendable (FetchPlan, _ known: FetchedList?) throws -> (sequence: Int64, list: OrderedList)

  convenience init(
    catalog: Catalog, feed: ChangeFeed, recent: RecentCommits, limits: Limits = Limits(),
    held: ClientLists = ClientLists(), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.init(feed: feed, recent: recent, limits: limits, held: held, now: now) { plan, known in
      try catalog.read { reader in
        let sequence = try reader.sequence()
        guard let known else { return (sequence, try reader.list(plan)) }
        let effects = recent.known(after: known.sequence, through: sequence)
        return (sequence, try reader.list(plan, updating: known.list, of: known.sequence, effects: effects))
      }
    }
  }

  init(
    feed: ChangeFeed, recent: RecentCommits, limits: Limits = Limits(), held: ClientLists = ClientLists(),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, fetch: @escaping Fetch
  ) {
    self.held = held
    self.feed = feed
    self.recent = recent
    self.limits = limits
    cache = Mutex(ListCache(limits, now()))
    self.now = now
    self.fetch = fetch
  }

  /// The list as it is now. Blocks while it is fetched.
  ///
  /// - Parameter sequence: a commit that the catalog already has, although the feed may not have announced it yet.
  package func current(_ plan: FetchPlan, atLeast sequence: Int64 = 0) throws -> FetchedList {
    let time = now()
    let gate = cache.withLock { $0.gate(plan.key, time) }
    return try gate.failure.withLock { failure in
      let known = cache.withLock { $0.newest(plan.key) }
      let newest = max(feed.sequence, sequence)
      if let known, known.sequence >= newest { return known }
      if let known, let list = unconcerned(known, plan, through: newest) { return list }
      if let failed = failure, failed.sequence >= newest, now() - failed.at < limits.failureTime {
        throw WorkBudget.Spent.timedOut
      }
      failure = nil
      counts.withLock { $0.looks += 1 }
      let (sequence, list): (Int64, OrderedList)
      do { (sequence, list) = try fetch(plan, known) } catch WorkBudget.Spent.timedOut {
        failure = ListGate.Failure(sequence: newest, at: now())
        throw WorkBudget.Spent.timedOut
      }
      let isSame = known.map { $0.list.hasSameIDs(as: list) } ?? false
      let fetched = FetchedList(sequence: sequence, list: list)
      let time = now()
      cache.withLock { $0.put(fetched, after: isSame ? known?.sequence : nil, plan.key, time) }
      return fetched
    }
  }

  /// The list as it is now, if it was already fetched.
  package func known(_ plan: FetchPlan) -> FetchedList? {
    guard let list = cache.withLock({ $0.newest(plan.key) }), list.sequence >= feed.sequence else { return nil }
    return list
  }

  /// The known list, if the effects in memory show that the commits since left its ids unchanged.
  private func unconcerned(_ known: FetchedList, _ plan: FetchPlan, through sequence: Int64) -> FetchedList? {
    guard let effects = recent.known(after: known.sequence, through: sequence),
      plan.concern(of: effects, in: known.list) < .list
    else { return nil }
    let list = FetchedList(sequence: sequence, list: known.list)
    counts.withLock { $0.passes += 1 }
    let time = now()
    cache.withLock { $0.put(list, after: known.sequence, plan.key, time) }
    return list
  }

  /// The list as it was at a sequence, if it is still kept and was read at that sequence.
  package func recent(_ plan: FetchPlan, sequence: Int64) -> FetchedList? {
    let time = now()
    return cache.withLock { $0.find(plan.key, sequence, time) }
  }

  /// Keeps the current list of this fetch, however long nothing changes, until ``endObserving(_:)`` is called as often
  /// as this method.
  package func beginObserving(_ plan: FetchPlan) {
    let time = now()
    cache.withLock { $0.observe(plan.key, by: 1, time) }
  }

  /// The observation must have released its list before. If the other observers hold older lists, the current one is
  /// bounded like a superseded one.
  package func endObserving(_ plan: FetchPlan) {
    let time = now()
    cache.withLock { cache in
      cache.observe(plan.key, by: -1, time)
      cache.freeNewest(plan.key, time) { !held.isHeld($0) }
    }
  }

  /// How often a list was brought to a newer commit.
  package struct Counts: Hashable, Sendable {
    /// By asking the catalog.
    package var looks = 0
    /// Without the catalog, because the assets that the commits touched cannot concern the list.
    package var passes = 0
  }

  package var countsSinceStart: Counts { counts.withLock { $0 } }

  /// The memory that ``Limits/keptBytes`` bounds.
  var keptBytes: Int { cache.withLock { $0.keptBytes } }

  var fetchCount: Int { cache.withLock { $0.fetchCount } }
}

/// Lets one task at a time run a fetch. The others wait for its result.
final class ListGate: Sendable {
  /// The list was too expensive. Each observer of it would spend as much, with the same outcome.
  struct Failure {
    let sequence: Int64
    let at: ContinuousClock.Instant
  }

  /// Held while the fetch is run.
  let failure = Mutex<Failure?>(nil)
}
