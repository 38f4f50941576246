import PhotoCatalog

/// The lists that ``LiveLists`` keeps: for each fetch the newest list, and some lists that it superseded.
struct ListCache {
  typealias Instant = ContinuousClock.Instant

  struct Fetch {
    let gate = ListGate()
    /// Oldest first. The last is the newest known list.
    private(set) var versions: [ListVersion] = []
    /// The cost of all versions. It is updated with each change, because there are hundreds of versions and each commit
    /// changes one for each fetch.
    private var cost = 0
    var observerCount = 0
    /// No observation holds the newest list, so it may be evicted although the fetch is observed.
    var isNewestFree = false
    var usedAt: Instant
    /// A key contains the predicate, which may have 64 KiB. Observations count their own keys.
    private let keyByteCount: Int

    init(_ key: String, usedAt: Instant) {
      self.usedAt = usedAt
      keyByteCount = key.utf8.count
    }

    /// How many of the versions may be evicted.
    var keptCount: Int { isNewestHeld ? max(versions.count - 1, 0) : versions.count }
    /// How many bytes their eviction, and that of an unobserved fetch, would free.
    var keptBytes: Int { (isNewestHeld ? cost - (versions.last?.cost ?? 0) : cost) + (isObserved ? 0 : keyByteCount) }
    private var isObserved: Bool { observerCount > 0 }
    private var isNewestHeld: Bool { isObserved && !isNewestFree }

    mutating func append(_ version: ListVersion) {
      versions.append(version)
      cost += version.cost
    }

    mutating func edit(_ index: Int, _ body: (inout ListVersion) -> Void) {
      cost -= versions[index].cost
      body(&versions[index])
      cost += versions[index].cost
    }

    /// The previous version becomes the only owner of the parts that it shared with the removed one.
    mutating func remove(at index: Int) {
      let removed = versions.remove(at: index)
      cost -= removed.cost
      guard index > 0 else { return }
      let difference = index == versions.count ? .max : removed.byteCount
      edit(index - 1) { $0.noteDifference(difference) }
    }
  }

  private let limits: LiveLists.Limits
  /// The fetches by their plan's key.
  private var fetches: [String: Fetch] = [:]
  private var observedCount = 0
  /// The memory that ``LiveLists/Limits/keptBytes`` bounds.
  private(set) var keptBytes = 0
  /// When to look for lists that are too old. A commit may change a thousand lists, so this does not happen with each
  /// of them.
  private var nextSweep: Instant

  init(_ limits: LiveLists.Limits, _ time: Instant) {
    self.limits = limits
    nextSweep = time + limits.keptTime / 64
  }

  var fetchCount: Int { fetches.count }

  mutating func gate(_ key: String, _ time: Instant) -> ListGate {
    if fetches[key] == nil { trim(time) }
    return change(key, time) { $0.gate }
  }

  func newest(_ key: String) -> FetchedList? {
    guard let version = fetches[key]?.versions.last, let span = version.spans.last else { return nil }
    return FetchedList(sequence: span.upperBound, list: version.list)
  }

  mutating func find(_ key: String, _ sequence: Int64, _ time: Instant) -> FetchedList? {
    guard let versions = fetches[key]?.versions,
      let index = versions.lastIndex(where: { $0.spans.contains { $0.contains(sequence) } })
    else { return nil }
    fetches[key]?.usedAt = time
    fetches[key]?.edit(index) { $0.usedAt = time }
    return FetchedList(sequence: sequence, list: versions[index].list)
  }

  mutating func observe(_ key: String, by difference: Int, _ time: Instant) {
    if fetches[key] == nil { trim(time) }
    change(key, time) { $0.observerCount += difference }
  }

  /// Counts the newest list of an observed fetch as kept if no observation holds it. Otherwise it would count nowhere.
  mutating func freeNewest(_ key: String, _ time: Instant, _ isFree: (OrderedList) -> Bool) {
    guard let newest = fetches[key]?.versions.last, isFree(newest.list) else { return }
    change(key, time) { $0.isNewestFree = true }
  }

  /// Keeps a list. If its ids are those of the newest known list, `previous` is the sequence of that list.
  mutating func put(_ list: FetchedList, after previous: Int64?, _ key: String, _ time: Instant) {
    change(key, time) { [limits] fetch in
      // The caller is an observation that will hold it.
      fetch.isNewestFree = false
      let newest = fetch.versions.last?.spans.last?.upperBound
      if let newest, newest == previous {
        let last = fetch.versions.count - 1
        fetch.edit(last) { $0.extend(to: list.sequence, limit: limits.spansPerVersion) }
        // The keys may differ, because they are right for the newest commit only.
        guard !fetch.versions[last].list.entries.isIdentical(to: list.list.entries) else { return }
        fetch.edit(last) { $0.list = list.list }
        if last > 0 { fetch.edit(last - 1) { $0.noteDifference(list.list.ownByteCount) } }
      } else if newest.map({ $0 < list.sequence }) ?? true {
        if let last = fetch.versions.indices.last {
          fetch.edit(last) { version in
            version.usedAt = time
            version.byteCount = 0
            version.noteDifference(list.list.ownByteCount)
          }
        }
        fetch.append(ListVersion(list.list, at: list.sequence, time))
        if fetch.versions.count > limits.versionsPerFetch { fetch.remove(at: 0) }
      }
    }
    if previous == nil { trim(time) }
  }

  @discardableResult
  private mutating func change<Value>(_ key: String, _ time: Instant, _ body: (inout Fetch) -> Value) -> Value {
    let (bytes, wasObserved) = fetches[key].map { ($0.keptBytes, $0.observerCount > 0) } ?? (0, false)
    var fetch = fetches[key] ?? Fetch(key, usedAt: time)
    // Without this, the versions would be shared, and the change would copy them.
    fetches[key] = nil
    let value = body(&fetch)
    fetch.usedAt = time
    keptBytes += fetch.keptBytes - bytes
    observedCount += (fetch.observerCount > 0 ? 1 : 0) - (wasObserved ? 1 : 0)
    fetches[key] = fetch
    return value
  }

  // MARK: Bounds

  /// Evicts lists that are too old, and then the least recently used lists that are above the bounds.
  private mutating func trim(_ time: Instant) {
    if time >= nextSweep {
      nextSweep = time + limits.keptTime / 64
      sweep(time)
    }
    let excess = fetches.count - observedCount - limits.keptFetches
    if excess > 0 {
      let unobserved = fetches.filter { $0.value.observerCount == 0 }.sorted { $0.value.usedAt < $1.value.usedAt }
      for (key, _) in unobserved.prefix(excess) { forget(key) }
    }
    if keptBytes > limits.keptBytes { trimBytes() }
  }

  private mutating func sweep(_ time: Instant) {
    let oldest = time - limits.keptTime
    func isOld(_ usedAt: Instant) -> Bool { usedAt <= oldest }
    for (key, fetch) in fetches {
      if fetch.observerCount == 0 && isOld(fetch.usedAt) {
        forget(key)
      } else if fetch.versions.dropLast().contains(where: { isOld($0.usedAt) }) {
        change(key, fetch.usedAt) { fetch in
          for index in fetch.versions.indices.dropLast().reversed() where isOld(fetch.versions[index].usedAt) {
            fetch.remove(at: index)
          }
        }
      }
    }
  }

  private mutating func forget(_ key: String) { keptBytes -= fetches.removeValue(forKey: key)?.keptBytes ?? 0 }

  /// Evicts down to an eighth below the bound, so that not every new list requires sorting all of them.
  private mutating func trimBytes() {
    let kept = fetches.flatMap { key, fetch in
      fetch.versions.indices.prefix(fetch.keptCount).map { index in
        // A fetch that a caller asks for uses its newest list.
        let isNewest = index == fetch.versions.count - 1
        let version = fetch.versions[index]
        return (key: key, first: version.firstSequence, usedAt: isNewest ? fetch.usedAt : version.usedAt)
      }
    }
    for version in kept.sorted(by: { $0.usedAt < $1.usedAt }) {
      guard keptBytes > limits.keptBytes / 8 * 7, let fetch = fetches[version.key] else { return }
      change(version.key, fetch.usedAt) { fetch in
        if let index = fetch.versions.firstIndex(where: { $0.firstSequence == version.first }) {
          fetch.remove(at: index)
        }
      }
    }
  }
}

/// One list, for the commits at which it did not change.
struct ListVersion {
  var list: OrderedList
  /// The commit at which it was first read. No two versions of a fetch have the same.
  let firstSequence: Int64
  /// The commits at which it was read. Between two spans, the fetch may have had another list.
  var spans: [ClosedRange<Int64>]
  /// When it was superseded or, later, last asked for.
  var usedAt: ContinuousClock.Instant
  /// About how much memory it takes beside the next version. For the newest version, its whole size.
  var byteCount: Int

  init(_ list: OrderedList, at sequence: Int64, _ time: ContinuousClock.Instant) {
    self.list = list
    firstSequence = sequence
    spans = [sequence...sequence]
    usedAt = time
    byteCount = list.byteCount
  }

  var cost: Int { 128 + byteCount + spans.count * MemoryLayout<ClosedRange<Int64>>.size }

  /// Adds bytes in which the next version differs from it, beyond those noted before.
  mutating func noteDifference(_ bytes: Int) {
    byteCount = min(byteCount + min(bytes, list.byteCount), list.byteCount)
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
