import PhotoModel
import Synchronization

/// The status of the library, readable from any thread without waiting for its work.
package final class StatusStore: Sendable {
  /// The parts that report warnings, in the order in which the status lists them.
  package enum Reporter: CaseIterable {
    /// The catalog's files and backups.
    case catalog
    case configuration
    /// The library: its roots, and how they are watched.
    case library
  }

  /// Rises with every change; wait on it to follow the status.
  package let feed = ChangeFeed(sequence: 0)

  private struct State {
    var status: LibraryStatus
    var version: Int64 = 0
    var warnings: [Reporter: [Warning]] = [:]
  }

  private let state: Mutex<State>

  package init(_ status: LibraryStatus) { state = Mutex(State(status: status)) }

  package var status: LibraryStatus {
    state.withLock { state in
      var status = state.status
      status.warnings = Reporter.allCases.flatMap { state.warnings[$0] ?? [] }.map(\.text)
      return status
    }
  }

  /// Why the catalog can't be written now; nil if it can.
  package var catalogProblem: CatalogProblem? {
    state.withLock { state in
      for case .catalogNotWritten(_, let problem) in state.warnings[.library] ?? [] { return problem }
      return nil
    }
  }

  package func update(_ change: (inout LibraryStatus) -> Void) {
    let version = state.withLock { state -> Int64? in
      let old = state.status
      change(&state.status)
      guard state.status != old else { return nil }
      state.version += 1
      return state.version
    }
    if let version { feed.publish(version) }
  }

  /// Replaces the warnings of one reporter.
  package func report(_ warnings: [Warning], by reporter: Reporter) {
    let version = state.withLock { state -> Int64? in
      guard state.warnings[reporter] ?? [] != warnings else { return nil }
      state.warnings[reporter] = warnings
      state.version += 1
      return state.version
    }
    if let version { feed.publish(version) }
  }
}
