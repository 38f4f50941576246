import PhotoModel
import Synchronization

/// What the library says of itself, readable from any thread without waiting for its work.
package final class StatusBoard: Sendable {
  /// Rises with every change; wait on it to follow the status.
  package let feed = ChangeFeed(sequence: 0)

  private struct State {
    var status: LibraryStatus
    var version: Int64 = 0
    /// By the cause that puts it up and takes it down.
    var warnings: [String: String] = [:]
  }

  private let state: Mutex<State>

  package init(_ status: LibraryStatus) { state = Mutex(State(status: status)) }

  package var status: LibraryStatus {
    state.withLock { state in
      var status = state.status
      status.warnings = state.warnings.sorted { $0.key < $1.key }.map(\.value)
      return status
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

  /// The warnings of the configuration, in place of those before.
  package func warn(all messages: [String]) {
    let version = state.withLock { state -> Int64? in
      let old = state.warnings
      state.warnings = state.warnings.filter { !$0.key.hasPrefix("configuration ") }
      for (index, message) in messages.enumerated() { state.warnings["configuration \(index)"] = message }
      guard state.warnings != old else { return nil }
      state.version += 1
      return state.version
    }
    if let version { feed.publish(version) }
  }

  /// Puts up a warning under a cause, or with nil takes it down.
  package func warn(_ cause: String, _ message: String?) {
    let version = state.withLock { state -> Int64? in
      guard state.warnings[cause] != message else { return nil }
      state.warnings[cause] = message
      state.version += 1
      return state.version
    }
    if let version { feed.publish(version) }
  }
}
