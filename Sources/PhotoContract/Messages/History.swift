import PhotoModel

// The messages of FetchPersistentChanges and Synchronize.

package struct HistoryRequest: Codable, Sendable {
  package var since: String?
  package var follow: Bool?

  package init(since: String? = nil, follow: Bool? = nil) {
    self.since = since
    self.follow = follow
  }
}

/// Committed changes, oldest first.
public struct HistoryPage: Codable, Hashable, Sendable {
  /// The changes; empty if there is no change yet.
  public let changes: [PersistentChange]
  /// The token to continue from.
  public let token: String

  package init(changes: [PersistentChange], token: String) {
    self.changes = changes
    self.token = token
  }
}

package struct SynchronizeRequest: Codable, Sendable {
  package var timeoutSeconds: Double?

  package init(timeoutSeconds: Double? = nil) { self.timeoutSeconds = timeoutSeconds }
}

package struct TokenReply: Codable, Sendable {
  package var token: String

  package init(token: String) { self.token = token }
}
