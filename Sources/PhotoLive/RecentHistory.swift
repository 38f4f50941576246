import PhotoContract
import PhotoModel
import Synchronization
import Varlink

/// The newest commits, in the form in which photod sends them to clients that follow the history.
///
/// photod sends a new commit from memory, and does not read it from the catalog. Clients with the same token share a
/// page, so that it is encoded once.
package final class RecentHistory: Sendable {
  struct Limits {
    var commits = 64
    /// The most items of all commits together. A commit with more items is only in the history.
    var items = 1_024
    /// Longer pages are read from the history, which divides them.
    var pageBytes = 64 << 10
  }

  package struct Page: Sendable {
    package let encoded: VarlinkEncoded
    /// The sequence of its last commit.
    package let last: Int64
  }

  private struct State {
    /// Consecutive commits, oldest first.
    var changes: [(change: PersistentChange, itemCount: Int)] = []
    var itemCount = 0
    /// The sequence of the newest commit.
    var last: Int64 = 0
    /// The newest page, and the sequence after which it begins.
    var page: (after: Int64, page: Page)?
  }

  private let limits: Limits
  private let state = Mutex(State())

  init(limits: Limits = Limits()) { self.limits = limits }

  /// Adds a commit. It is called with each commit, before that is announced.
  ///
  /// - Parameter change: nil if the commit is too large.
  func append(_ change: PersistentChange?, sequence: Int64) {
    state.withLock { state in
      if sequence != state.last + 1 || change == nil { state = State() }
      state.last = sequence
      state.page = nil
      guard let change else { return }
      let itemCount = change.itemCount
      state.changes.append((change, itemCount))
      state.itemCount += itemCount
      while state.changes.count > limits.commits || state.itemCount > limits.items, !state.changes.isEmpty {
        state.itemCount -= state.changes.removeFirst().itemCount
      }
    }
  }

  /// All commits after this one; nil if there are none, or if they are in the history alone.
  package func page(after sequence: Int64) -> Page? {
    state.withLock { state in
      guard sequence < state.last, state.last - sequence <= state.changes.count else { return nil }
      if let (after, page) = state.page, after == sequence { return page }
      let changes = state.changes.suffix(Int(state.last - sequence)).map(\.change)
      let encoded = VarlinkEncoded(HistoryPage(changes: changes, token: changes[changes.count - 1].token))
      guard encoded.byteCount <= limits.pageBytes else { return nil }
      let page = Page(encoded: encoded, last: state.last)
      state.page = (sequence, page)
      return page
    }
  }
}

extension PersistentChange {
  /// The numbers of ids and paths.
  fileprivate var itemCount: Int {
    insertedAssets.count + updatedAssets.count + deletedAssets.count + insertedCollections.count
      + updatedCollections.count + deletedCollections.count + renamedDirectories.count + rootAvailability.count
  }
}
