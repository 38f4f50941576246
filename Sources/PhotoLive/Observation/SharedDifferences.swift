import PhotoContract
import PhotoModel
import Synchronization
import Varlink

/// What one list differs in between two commits, as it is sent.
package struct ListDifference: Sendable {
  /// nil: nothing differs.
  var observation: Observation?
  /// nil where it would be larger than what may be sent as a difference.
  var encoded: VarlinkEncoded?
  /// Assets that came, went or changed.
  var changeCount = 0

  package static let none = ListDifference()
}

/// Differences of lists that many observe: the first who needs one computes and encodes it, the others send the same bytes.
///
/// The newest are kept, a few megabytes in all. Whoever comes too late computes it again.
package final class SharedDifferences: Sendable {
  /// With the same of all, two clients are sent the same.
  package struct Key: Hashable {
    let plan: String
    /// What they have.
    let previousToken: String
    /// Up to here they know that it is what there is.
    let after: Int64
    let through: Int64
    let objects: Bool
  }

  package struct Counts: Hashable {
    /// Computed, and encoded where something differed.
    package var made = 0
    /// Found made.
    package var shared = 0

    package init(made: Int = 0, shared: Int = 0) {
      self.made = made
      self.shared = shared
    }
  }

  /// Locked while its first user makes it.
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

  /// Of the lists that the differences are of.
  package let pages = SharedPages()
  private let maximumBytes: Int
  private let state = Mutex(State())

  package init(maximumBytes: Int = 8 << 20) { self.maximumBytes = maximumBytes }

  package var counts: Counts { state.withLock { $0.counts } }
  /// About what they take in memory.
  package var byteCount: Int { state.withLock { $0.byteCount } }

  /// Blocks while somebody else makes the same.
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
        // A difference that was made without budget may be wrong.
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

  /// A difference that was made already. Does not block.
  package func made(_ key: Key) -> ListDifference? {
    guard let entry = state.withLock({ $0.entries[key] }),
      let difference = entry.difference.withLockIfAvailable({ $0 }) ?? nil
    else { return nil }
    state.withLock { $0.counts.shared += 1 }
    return difference
  }

  private func keep(_ key: Key, _ difference: ListDifference) {
    // The observation has about as much in its arrays as its text has.
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
