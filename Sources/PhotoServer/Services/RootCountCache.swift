import Dispatch
import PhotoCatalog
import PhotoModel
import Synchronization

/// The counts of each root. They are made only as often as callers need them, because counting walks over the library.
///
/// It has its own thread, so that a status never waits for reads of clients.
final class RootCountCache: Sendable {
  typealias Counts = [String: (assets: Int, directories: Int)]

  private struct State {
    var counts: Counts = [:]
    var sequence: Int64 = -1
    var countedAt: ContinuousClock.Instant?
  }

  private let catalog: Catalog
  private let now: @Sendable () -> ContinuousClock.Instant
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "photod.counts")

  init(catalog: Catalog, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.catalog = catalog
    self.now = now
  }

  /// - Parameter maximumAge: the age up to which counts of an older commit suffice.
  /// - Returns: the counts by the root's path. If they are of an older commit, also the time until which they are kept.
  func counts(at sequence: Int64, maximumAge: Duration) async throws -> (Counts, dueAt: ContinuousClock.Instant?) {
    if let known = known(at: sequence, maximumAge) { return known }
    return try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(
          with: Result {
            // An earlier caller may have waited for the same counts.
            try self.known(at: sequence, maximumAge) ?? (self.count(), nil)
          })
      }
    }
  }

  private func known(at sequence: Int64, _ maximumAge: Duration) -> (Counts, dueAt: ContinuousClock.Instant?)? {
    state.withLock { state in
      if state.sequence >= sequence { return (state.counts, nil) }
      guard let countedAt = state.countedAt, now() - countedAt < maximumAge else { return nil }
      return (state.counts, countedAt + maximumAge)
    }
  }

  private func count() throws -> Counts {
    let time = now()
    let (newest, rows) = try catalog.read { (try $0.sequence(), try $0.rootCounts()) }
    var counts: Counts = [:]
    for row in rows { counts[FilePath.text(row.path)] = (row.assets, row.directories) }
    state.withLock { $0 = State(counts: counts, sequence: newest, countedAt: time) }
    return counts
  }
}
