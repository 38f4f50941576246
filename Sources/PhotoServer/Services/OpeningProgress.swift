import PhotoCatalog
import PhotoIndexer
import PhotoLive
import PhotoModel
import Synchronization

/// The progress of opening a library, while the catalog of an older photod is upgraded.
package final class OpeningProgress: Sendable {
  private struct State {
    var progress: LibraryStatus.Progress?
    var number: Int64 = 0
    var isCancelled = false
  }

  /// Advances with each change. It ends when the library is open or can't be opened.
  package let feed = ChangeFeed(sequence: 0)
  private let state = Mutex(State())
  private let version: String

  /// - Parameter version: the version of photod, for the status.
  package init(version: String) { self.version = version }

  package var status: LibraryStatus {
    LibraryStatus(
      state: .opening, library: "", token: "", version: version, progress: state.withLock { $0.progress })
  }

  /// - Throws: `CancellationError` after ``cancel()``. The upgrade then stops, and continues at the next start.
  package func note(_ progress: CatalogUpgradeProgress) throws {
    let new: LibraryStatus.Progress =
      switch progress {
      case .copying(let done, let total): .init(done: done, total: total, phase: "pages of the catalog copied")
      case .upgrading(let done, let total): .init(done: done, total: total, phase: "steps of the upgrade done")
      }
    let number = try state.withLock { state -> Int64? in
      if state.isCancelled { throw CancellationError() }
      guard state.progress != new else { return nil }
      state.progress = new
      state.number += 1
      return state.number
    }
    if let number { feed.publish(number) }
  }

  package func cancel() { state.withLock { $0.isCancelled = true } }
  package func end() { feed.finish() }
}
