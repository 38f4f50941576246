import ChangeDetails
import PhotoCatalog
import PhotoModel
import Synchronization

/// The collections that clients observe. All clients share their counts, which the first client that asks updates once
/// for each commit.
///
/// The counts are in memory while a client observes them. The first observer waits until they are read.
package final class LiveCollections: Sendable {
  /// The list of some kinds of collections at one commit, as it was sent to a client.
  package struct Version: Sendable {
    package let kinds: Set<AssetCollection.Kind>
    package let sequence: Int64
    package let order: OrderedIDs
  }

  /// How often work was done for all clients together.
  package struct Counts: Hashable, Sendable {
    /// Complete reads of the counts.
    package var reads = 0
    package var updates = 0
    /// Small statements that the updates ran.
    package var statements = 0
    /// Differences that were computed, and differences that another client had asked for before.
    package var made = 0
    package var shared = 0
  }

  private struct Step: Hashable {
    let kinds: Set<AssetCollection.Kind>
    let after: Int64
  }

  private struct State {
    var collections: CollectionCounts?
    /// Some changes up to the commit of the counts.
    var changes: [Step: CollectionChange?] = [:]
    var counts = Counts()
  }

  private let catalog: Catalog
  private let feed: ChangeFeed
  private let recent: RecentCommits
  /// Held while the counts are read or updated. All callers that wait for it need that result, and have a read thread.
  private let state = Mutex(State())
  /// Outside of the lock, because observations begin and end on threads that must not wait.
  private let observerCount = Atomic(0)
  /// Each change may contain all collections. Observers that read have the same step.
  private static let mostChanges = 16

  init(catalog: Catalog, feed: ChangeFeed, recent: RecentCommits) {
    self.catalog = catalog
    self.feed = feed
    self.recent = recent
  }

  /// The counts stay in memory until ``endObserving()`` is called as often as this method.
  package func beginObserving() { observerCount.add(1, ordering: .sequentiallyConsistent) }

  package func endObserving() {
    observerCount.subtract(1, ordering: .sequentiallyConsistent)
    dropIfUnobserved()
  }

  /// Drops the counts if no client observes them. If a read thread holds the lock, it does this after its work.
  private func dropIfUnobserved() {
    guard !isObserved else { return }
    state.withLockIfAvailable { state in
      guard !isObserved else { return }
      state.collections = nil
      state.changes = [:]
    }
  }

  private var isObserved: Bool { observerCount.load(ordering: .sequentiallyConsistent) > 0 }

  /// The collections as they are now, in their order. Blocks while the counts are read.
  package func list(_ kinds: Set<AssetCollection.Kind>) throws -> (Version, [AssetCollection]) {
    try current { collections, _ in
      let version = Version(kinds: kinds, sequence: collections.sequence, order: collections.order(of: kinds))
      return (version, version.order.compactMap { collections.collection(CollectionID(element: $0)) })
    }
  }

  /// The collections as they are now, and how they differ from `version`. The change is nil if they do not differ.
  package func change(since version: Version) throws -> (Version, CollectionChange?) {
    try current { collections, state in
      let now = Version(
        kinds: version.kinds, sequence: collections.sequence, order: collections.order(of: version.kinds))
      guard now.sequence > version.sequence else { return (version, nil) }
      let step = Step(kinds: version.kinds, after: version.sequence)
      if let known = state.changes[step] {
        state.counts.shared += 1
        return (now, known)
      }
      let change = collections.change(from: version.order, at: version.sequence, of: version.kinds)
      if state.changes.count >= Self.mostChanges { state.changes = [:] }
      state.changes[step] = .some(change)
      state.counts.made += 1
      return (now, change)
    }
  }

  package var countsSinceStart: Counts { state.withLock { $0.counts } }

  private func current<Value: Sendable>(_ body: (inout CollectionCounts, inout State) -> Value) throws -> Value {
    defer { dropIfUnobserved() }
    return try state.withLock { state in
      // The counts are taken out of the state, so that they are changed in place. If that fails, the next call reads
      // them again.
      let known = state.collections
      state.collections = nil
      var collections = try known ?? read(&state)
      try update(&collections, &state)
      let value = body(&collections, &state)
      state.collections = collections
      return value
    }
  }

  private func read(_ state: inout State) throws -> CollectionCounts {
    state.counts.reads += 1
    state.changes = [:]
    return try catalog.read { try $0.collectionCounts() }
  }

  private func update(_ collections: inout CollectionCounts, _ state: inout State) throws {
    guard collections.sequence < feed.sequence else { return }
    state.changes = [:]
    state.counts.updates += 1
    let before = collections.statementCount
    defer { state.counts.statements += max(0, collections.statementCount - before) }
    try catalog.read { reader in
      if let effects = recent.known(after: collections.sequence, through: try reader.sequence()) {
        try collections.update(reader, CollectionTouches(effects))
      } else if try reader.historyReaches(collections.sequence) {
        try collections.update(reader)
      } else {
        // No update was possible for so long that the history since then was pruned.
        state.counts.reads += 1
        collections = try reader.collectionCounts()
      }
    }
  }
}
