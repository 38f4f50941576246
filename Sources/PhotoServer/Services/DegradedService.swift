import PhotoContract
import PhotoIndexer
import PhotoLive
import PhotoModel
import Varlink

/// `org.photod.library` without a library. Its status and its errors have the reason.
package final class DegradedService: VarlinkInterface {
  package let name = "org.photod.library"
  package let definition = InterfaceDefinition.library
  package let bounds = RequestBounds.library.mapValues(VarlinkBound.init)
  private let status: @Sendable () -> LibraryStatus
  /// Advances when the status changes.
  private let feed: ChangeFeed

  /// - Parameter reasons: the errors that keep photod from opening the library, as sentences with their remedies. They are
  ///   those of the log, so they are no ``Warning``.
  package init(reasons: [String], version: String) {
    let status = LibraryStatus(state: .degraded, library: "", token: "", version: version, warnings: reasons)
    self.status = { status }
    feed = ChangeFeed(sequence: 0)
  }

  /// For the time while the library is being opened.
  package init(opening progress: OpeningProgress) {
    status = { progress.status }
    feed = progress.feed
  }

  /// Why calls can't be answered, for a person.
  var reason: String {
    let status = status()
    return status.state == .opening
      ? "The catalog is being upgraded. `photoctl status` shows the progress. Repeat the call when the library is live."
      : status.warnings.joined(separator: " ")
  }

  package func respond(to call: VarlinkServiceCall) async throws {
    // The keys are the same for every library.
    if call.method == "ListKeys" { return try await call.reply(ListKeys.current) }
    var version = feed.sequence
    let status = status()
    guard call.method == "Status" else {
      throw ContractError.unavailable(reason)
    }
    guard call.wantsMore else {
      try await call.reply(StatusReply(status: status))
      return
    }
    try await call.replyContinuing(StatusReply(status: status))
    while let next = await feed.next(after: version) {
      version = next
      try await call.drained()
      try await call.replyContinuing(StatusReply(status: self.status()))
      // This limits the replies to ten a second.
      try await Task.sleep(for: .milliseconds(100))
    }
    // The status no longer changes, so this waits until the connection or the service ends.
    try await Task.sleep(for: .seconds(Int64.max / 2))
  }
}
