import PhotoCatalog
import PhotoModel

/// The restart of the library after a failed transaction. Until it has restarted from the catalog, batches are dropped.
///
/// The delay doubles while restarts fail. It begins anew when the catalog was written again.
struct CatalogRestart {
  struct Breakdown {
    let problem: CatalogProblem
    /// When the library restarts from the catalog.
    let endsAt: MonotonicTime
  }

  private static let firstDelay = Duration.seconds(1)
  private static let longestDelay = Duration.seconds(60)

  /// The failed transaction; nil while the library works.
  private(set) var breakdown: Breakdown?
  /// The delay before the next restart.
  private(set) var delay = Self.firstDelay

  /// Notes that a transaction failed.
  mutating func begin(because error: any Error, at uptime: MonotonicTime) {
    breakdown = Breakdown(problem: CatalogProblem(error), endsAt: uptime + delay)
    delay = min(delay * 2, Self.longestDelay)
  }

  /// Notes that the library has restarted. The next transaction shows whether the catalog can be written.
  mutating func end() { breakdown = nil }

  /// Notes that the catalog was written.
  mutating func noteWrite() { delay = Self.firstDelay }
}

/// Why the catalog can't be written now.
package struct CatalogProblem: Hashable, Sendable {
  let error: String
  let failure: WriteFailure

  init(_ error: any Error) {
    self.error = "\(error)"
    failure = WriteFailure(error)
  }
}
