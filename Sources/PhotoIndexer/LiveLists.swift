import PhotoCatalog
import PhotoModel
import Synchronization

/// The result of one fetch at one commit.
package struct FetchedList: Sendable {
  package let sequence: Int64
  package let ids: [Int64]
  package let digest: String
}

/// The lists that clients observe: each distinct fetch is run once a commit, whoever asks, and its recent results are kept
/// for some minutes so that a client that reconnects gets the difference by its token alone.
///
/// What is kept is bounded (``Limits``), and what is over a bound goes when the next list is made; nothing wakes for it.
package final class LiveLists: Sendable {
  struct Limits: Sendable {
    /// Of a list after it was superseded or last asked for, and of a fetch that nobody observes after it was.
    var keptTime = Duration.seconds(300)
    /// Of all lists but the current ones of observed fetches, which their observers hold anyway.
    var keptBytes = 64 << 20
    /// Fetches that nobody observes; the one that is being run comes on top.
    var keptFetches = 256
    var versionsPerFetch = 256
    var spansPerVersion = 1_024
  }

  private let feed: ChangeFeed
  private let limits: Limits
  private let now: @Sendable () -> ContinuousClock.Instant
  private let fetch: Fetch
  /// Never held while a fetch is run, or lists are compared.
  private let shelf = Mutex(Shelf())

  /// Reads a list and the sequence that it belongs to, in one snapshot; it may make it of the newest list that is known.
  typealias Fetch = @Sendable (FetchPlan, _ known: FetchedList?) throws -> (sequence: Int64, ids: [Int64])

  convenience init(
    catalog: Catalog, feed: ChangeFeed, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.init(feed: feed, now: now) { plan, known in
      try catalog.read { reader in
        let ids =
          if let known {
            try reader.ids(plan, updating: known.ids, of: known.sequence)
          } else {
            try reader.ids(plan)
          }
        return (try reader.sequence(), ids)
      }
    }
  }

  init(
    feed: ChangeFeed, limits: Limits = Limits(), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    fetch: @escaping Fetch
  ) {
    self.feed = feed
    self.limits = limits
    self.now = now
    self.fetch = fetch
  }

  /// The list as it is now. Blocks while it is fetched.
  ///
  /// - Parameter sequence: a commit that is in already, though the feed may not have announced it yet.
  package func current(_ plan: FetchPlan, atLeast sequence: Int64 = 0) throws -> FetchedList {
    let time = now()
    let gate = shelf.withLock { $0.gate(plan.key, time, limits) }
    return try gate.turn.withLock { _ in
      let known = shelf.withLock { $0.newest(plan.key) }
      if let known, known.sequence >= max(feed.sequence, sequence) { return known }
      let (sequence, ids) = try fetch(plan, known)
      let isSame = known.map { $0.ids == ids } ?? false
      let list =
        if let known, isSame {
          FetchedList(sequence: sequence, ids: known.ids, digest: known.digest)
        } else {
          FetchedList(sequence: sequence, ids: ids, digest: ListDigest(of: ids).description)
        }
      let time = now()
      shelf.withLock { $0.put(list, after: isSame ? known?.sequence : nil, plan.key, time, limits) }
      return list
    }
  }

  /// The list as it was at a sequence, if it is still kept and was looked at then.
  package func recent(_ plan: FetchPlan, sequence: Int64) -> FetchedList? {
    let time = now()
    return shelf.withLock { $0.find(plan.key, sequence, time) }
  }

  /// The current list of this fetch stays, however long nothing changes, until as many calls of ``endObserving(_:)``.
  package func beginObserving(_ plan: FetchPlan) {
    let time = now()
    shelf.withLock { $0.observe(plan.key, by: 1, time, limits) }
  }

  package func endObserving(_ plan: FetchPlan) {
    let time = now()
    shelf.withLock { $0.observe(plan.key, by: -1, time, limits) }
  }

  /// What ``Limits/keptBytes`` bounds.
  var keptBytes: Int { shelf.withLock { $0.keptBytes } }

  var fetchCount: Int { shelf.withLock { $0.fetches.count } }
}

/// One fetch is run by one task at a time; the others wait for its result.
private final class Gate: Sendable {
  let turn = Mutex(())
}

/// One list, for as long as it was the same.
private struct Version {
  let ids: [Int64]
  let digest: String
  /// The commits at which it was looked at. What was between two spans nobody knows: it may have been another list.
  var spans: [ClosedRange<Int64>]
  /// When it was superseded or, later, asked for.
  var usedAt: ContinuousClock.Instant

  /// About what it takes in memory.
  var byteCount: Int {
    128 + ids.count * MemoryLayout<Int64>.size + spans.count * MemoryLayout<ClosedRange<Int64>>.size
  }

  mutating func extend(to sequence: Int64, limit: Int) {
    guard let last = spans.last, sequence > last.upperBound else { return }
    if sequence == last.upperBound + 1 {
      spans[spans.count - 1] = last.lowerBound...sequence
    } else {
      spans.append(sequence...sequence)
      if spans.count > limit { spans.removeFirst(limit / 4) }
    }
  }
}

private struct Shelf {
  struct Fetch {
    let gate = Gate()
    /// Oldest first; the last is the newest list that is known.
    var versions: [Version] = []
    var observerCount = 0
    var usedAt: ContinuousClock.Instant

    /// How many of the versions may be forgotten.
    var keptCount: Int { observerCount > 0 ? max(versions.count - 1, 0) : versions.count }
  }

  /// By the plan's key.
  var fetches: [String: Fetch] = [:]

  typealias Instant = ContinuousClock.Instant

  mutating func gate(_ key: String, _ time: Instant, _ limits: LiveLists.Limits) -> Gate {
    use(key, time, limits) { $0.gate }
  }

  func newest(_ key: String) -> FetchedList? {
    guard let version = fetches[key]?.versions.last, let span = version.spans.last else { return nil }
    return FetchedList(sequence: span.upperBound, ids: version.ids, digest: version.digest)
  }

  mutating func find(_ key: String, _ sequence: Int64, _ time: Instant) -> FetchedList? {
    guard let versions = fetches[key]?.versions,
      let index = versions.lastIndex(where: { $0.spans.contains { $0.contains(sequence) } })
    else { return nil }
    fetches[key]?.usedAt = time
    fetches[key]?.versions[index].usedAt = time
    return FetchedList(sequence: sequence, ids: versions[index].ids, digest: versions[index].digest)
  }

  mutating func observe(_ key: String, by difference: Int, _ time: Instant, _ limits: LiveLists.Limits) {
    use(key, time, limits) { $0.observerCount += difference }
  }

  /// Keeps a list; `previous` is the sequence of the newest known one if both are the same.
  mutating func put(
    _ list: FetchedList, after previous: Int64?, _ key: String, _ time: Instant, _ limits: LiveLists.Limits
  ) {
    use(key, time, limits) { fetch in
      let newest = fetch.versions.last?.spans.last?.upperBound
      if let newest, newest == previous {
        fetch.versions[fetch.versions.count - 1].extend(to: list.sequence, limit: limits.spansPerVersion)
      } else if newest.map({ $0 < list.sequence }) ?? true {
        if !fetch.versions.isEmpty { fetch.versions[fetch.versions.count - 1].usedAt = time }
        fetch.versions.append(
          Version(ids: list.ids, digest: list.digest, spans: [list.sequence...list.sequence], usedAt: time))
        if fetch.versions.count > limits.versionsPerFetch { fetch.versions.removeFirst() }
      }
    }
    if previous == nil { trim(time, limits) }
  }

  private mutating func use<Value>(
    _ key: String, _ time: Instant, _ limits: LiveLists.Limits, _ body: (inout Fetch) -> Value
  ) -> Value {
    if fetches[key] == nil { trim(time, limits) }
    fetches[key, default: Fetch(usedAt: time)].usedAt = time
    return body(&fetches[key, default: Fetch(usedAt: time)])
  }

  // MARK: Bounds

  var keptBytes: Int {
    fetches.values.reduce(0) { total, fetch in
      fetch.versions.prefix(fetch.keptCount).reduce(total) { $0 + $1.byteCount }
    }
  }

  /// Forgets what is too old, then what is too much, least recently used first.
  mutating func trim(_ time: Instant, _ limits: LiveLists.Limits) {
    func isOld(_ usedAt: Instant) -> Bool { time - usedAt >= limits.keptTime }
    fetches = fetches.filter { $0.value.observerCount > 0 || !isOld($0.value.usedAt) }
    for key in fetches.keys {
      guard let versions = fetches[key]?.versions, versions.dropLast().contains(where: { isOld($0.usedAt) }) else {
        continue
      }
      fetches[key]?.versions = versions.dropLast().filter { !isOld($0.usedAt) } + versions.suffix(1)
    }
    if fetches.count > limits.keptFetches {
      let unobserved = fetches.filter { $0.value.observerCount == 0 }.sorted { $0.value.usedAt < $1.value.usedAt }
      for (key, _) in unobserved.dropLast(limits.keptFetches) { fetches[key] = nil }
    }
    trimBytes(to: limits.keptBytes)
  }

  private mutating func trimBytes(to limit: Int) {
    var excess = keptBytes - limit
    guard excess > 0 else { return }
    let kept = fetches.flatMap { key, fetch in
      fetch.versions.indices.prefix(fetch.keptCount).map { index in
        // A fetch that is asked for uses its newest list.
        let isNewest = index == fetch.versions.count - 1
        return (key: key, index: index, usedAt: isNewest ? fetch.usedAt : fetch.versions[index].usedAt)
      }
    }
    var forgotten: [String: Set<Int>] = [:]
    for version in kept.sorted(by: { $0.usedAt < $1.usedAt }) where excess > 0 {
      excess -= fetches[version.key]?.versions[version.index].byteCount ?? 0
      forgotten[version.key, default: []].insert(version.index)
    }
    for (key, indices) in forgotten {
      guard let versions = fetches[key]?.versions else { continue }
      fetches[key]?.versions = versions.indices.filter { !indices.contains($0) }.map { versions[$0] }
    }
  }
}
