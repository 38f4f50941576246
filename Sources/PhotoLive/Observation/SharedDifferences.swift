import PhotoContract
import PhotoModel
import Synchronization
import Varlink

/// The difference of one list between two commits, in the form in which it is sent.
package struct ListDifference: Sendable {
  /// nil if nothing differs. Without details if it would be larger than a difference may be.
  var observation: Observation?
  /// nil if it would be larger than a difference may be.
  var encoded: VarlinkEncoded?
  /// The number of assets that came, went or changed.
  var changeCount = 0
  /// Whether the collection of the list no longer exists. nil if that is as it was at the list before.
  var isOfDeletedCollection: Bool?

  package static let none = ListDifference()
}

/// The differences of lists with many observers. The first observer that needs a difference computes and encodes it,
/// and the others send the same bytes.
///
/// The newest are kept, a few megabytes in all. An observer that comes later computes its difference again.
package final class SharedDifferences: Sendable {
  /// Clients with equal keys are sent the same.
  package struct Key: Hashable {
    let plan: String
    /// The token that the clients have.
    let previousToken: String
    /// The newest sequence at which the clients' list was known to be current.
    let after: Int64
    let through: Int64
    let objects: Bool
  }

  package struct Counts: Hashable {
    /// Differences that were computed, and encoded if something differed.
    package var made = 0
    /// Differences that were already there.
    package var shared = 0

    package init(made: Int = 0, shared: Int = 0) {
      self.made = made
      self.shared = shared
    }
  }

  /// Locked while the first observer that needs the difference computes it.
  private final class Entry: Sendable {
    let difference = Mutex<ListDifference?>(nil)
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    /// Oldest first.
    var order: [(key: Key, byteCount: Int)] = []
    var byteCount = 0
    var counts = Counts()
  }

  /// The pages of the lists to which the differences belong.
  package let pages = SharedPages()
  private let maximumBytes: Int
  private let state = Mutex(State())

  package init(maximumBytes: Int = 8 << 20) { self.maximumBytes = maximumBytes }

  package var counts: Counts { state.withLock { $0.counts } }
  /// About how much memory the differences take, in bytes.
  package var byteCount: Int { state.withLock { $0.byteCount } }

  /// Blocks while another task computes the same difference.
  package func difference(_ key: Key, _ make: () throws -> ListDifference) throws -> ListDifference {
    let entry = state.withLock { state in
      if let entry = state.entries[key] { return entry }
      let entry = Entry()
      state.entries[key] = entry
      return entry
    }
    return try entry.difference.withLock { difference in
      if let difference {
        state.withLock { $0.counts.shared += 1 }
        return difference
      }
      do {
        let made = try make()
        // A difference that was computed after the budget was spent may be wrong.
        try WorkBudget.check()
        difference = made
        keep(key, made)
        return made
      } catch {
        state.withLock { $0.entries[key] = nil }
        throw error
      }
    }
  }

  /// A difference that was already computed. Does not block.
  package func made(_ key: Key) -> ListDifference? {
    guard let entry = state.withLock({ $0.entries[key] }),
      let difference = entry.difference.withLockIfAvailable({ $0 }) ?? nil
    else { return nil }
    state.withLock { $0.counts.shared += 1 }
    return difference
  }

  private func keep(_ key: Key, _ difference: ListDifference) {
    // The arrays of the observation take about as much memory as its text.
    let byteCount = 512 + key.plan.utf8.count + 2 * (difference.encoded?.byteCount ?? 0)
    state.withLock { state in
      state.counts.made += 1
      state.order.append((key, byteCount))
      state.byteCount += byteCount
      var forgotten = 0
      while state.byteCount > maximumBytes, forgotten < state.order.count {
        state.entries[state.order[forgotten].key] = nil
        state.byteCount -= state.order[forgotten].byteCount
        forgotten += 1
      }
      state.order.removeFirst(forgotten)
    }
  }
}
