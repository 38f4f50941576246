import PhotoCatalog
import Synchronization

/// The lengths of lists that were counted lately, so that the same list is not counted again before the next commit.
package final class ListTotals: Sendable {
  /// The totals by the plan's key.
  private let totals = Mutex<[String: (sequence: Int64, total: Int)]>([:])
  private static let mostLists = 256
  /// A list with a longer key is counted again for each call. A predicate may have 64 KiB.
  static let longestKey = 4 << 10

  package func total(of plan: FetchPlan, at sequence: Int64) -> Int? {
    totals.withLock { $0[plan.key].flatMap { $0.sequence == sequence ? $0.total : nil } }
  }

  package func note(_ total: Int, of plan: FetchPlan, at sequence: Int64) {
    guard plan.key.utf8.count <= Self.longestKey else { return }
    totals.withLock { totals in
      if let known = totals[plan.key], known.sequence >= sequence { return }
      if totals.count >= Self.mostLists {
        totals = totals.filter { $0.value.sequence >= sequence }
        if totals.count >= Self.mostLists { totals = [:] }
      }
      totals[plan.key] = (sequence, total)
    }
  }
}
