import ChangeDetails
import PhotoCatalog
import PhotoModel
import Synchronization

/// The collections that clients observe: one board for all of them, brought up to date once a commit, whoever asks first.
///
/// It is there while somebody observes; the first who begins to waits until it is read.
package final class LiveCollections: Sendable {
  /// The list of some kinds of collections at one commit, as a client was sent it.
  package struct Version: Sendable {
    package let kinds: Set<AssetCollection.Kind>
    package let sequence: Int64
    package let order: OrderedIDs
  }

  /// How often something was done for all.
  package struct Counts: Hashable, Sendable {
    /// The board was read as a whole.
    package var reads = 0
    package var updates = 0
    /// Small statements of the updates.
    package var statements = 0
    /// Differences that were computed, and those that somebody else had asked for before.
    package var made = 0
    package var shared = 0
  }

  private struct Step: Hashable {
    let kinds: Set<AssetCollection.Kind>
    let after: Int64
  }

  private struct State {
    var board: CollectionCounts?
    var observerCount = 0
    /// To the board's commit.
    var changes: [Step: CollectionChange?] = [:]
    var counts = Counts()
  }

  private let catalog: Catalog
  private let feed: ChangeFeed
  private let recent: RecentCommits
  /// Held while the board is read or brought up to date: all who wait for it want just that.
  private let state = Mutex(State())

  init(catalog: Catalog, feed: ChangeFeed, recent: RecentCommits) {
    self.catalog = catalog
    self.feed = feed
    self.recent = recent
  }

  /// The board stays until as many calls of ``endObserving()``.
  package func beginObserving() { state.withLock { $0.observerCount += 1 } }

  package func endObserving() {
    state.withLock { state in
      state.observerCount -= 1
      guard state.observerCount == 0 else { return }
      state.board = nil
      state.changes = [:]
    }
  }

  /// The collections as they are now, in their order. Blocks while they are read.
  package func list(_ kinds: Set<AssetCollection.Kind>) throws -> (Version, [AssetCollection]) {
    try current { board, _ in
      let version = Version(kinds: kinds, sequence: board.sequence, order: board.order(of: kinds))
      return (version, version.order.compactMap { board.collection($0) })
    }
  }

  /// The collections as they are now, and what differs from what they were; nil: nothing does.
  package func change(since version: Version) throws -> (Version, CollectionChange?) {
    try current { board, state in
      let now = Version(kinds: version.kinds, sequence: board.sequence, order: board.order(of: version.kinds))
      guard now.sequence > version.sequence else { return (version, nil) }
      let step = Step(kinds: version.kinds, after: version.sequence)
      if let known = state.changes[step] {
        state.counts.shared += 1
        return (now, known)
      }
      let change = board.change(from: version.order, at: version.sequence, of: version.kinds)
      state.changes[step] = .some(change)
      state.counts.made += 1
      return (now, change)
    }
  }

  package var countsSinceStart: Counts { state.withLock { $0.counts } }

  private func current<Value: Sendable>(_ body: (inout CollectionCounts, inout State) -> Value) throws -> Value {
    try state.withLock { state in
      // Taken out, so that it is changed in place; where that fails it is read anew the next time.
      let known = state.board
      state.board = nil
      var board = try known ?? read(&state)
      try update(&board, &state)
      let value = body(&board, &state)
      if state.observerCount > 0 { state.board = board }
      return value
    }
  }

  private func read(_ state: inout State) throws -> CollectionCounts {
    state.counts.reads += 1
    state.changes = [:]
    return try catalog.read { try $0.collectionCounts() }
  }

  private func update(_ board: inout CollectionCounts, _ state: inout State) throws {
    guard board.sequence < feed.sequence else { return }
    state.changes = [:]
    state.counts.updates += 1
    let before = board.statementCount
    defer { state.counts.statements += max(0, board.statementCount - before) }
    try catalog.read { reader in
      if let effects = recent.known(after: board.sequence, through: try reader.sequence()) {
        try board.update(reader, CollectionTouches(effects))
      } else if try reader.historyReaches(board.sequence) {
        try board.update(reader)
      } else {
        // Nobody could take anything for so long that history was pruned.
        state.counts.reads += 1
        board = try reader.collectionCounts()
      }
    }
  }
}
