// The requests and the wrapping replies of org.photod.manage.

/// The connected clients, the oldest connection first.
public struct ClientList: Codable, Hashable, Sendable {
  /// The clients, the oldest connection first.
  public var clients: [ConnectedClient]
  /// The number of further clients for which the reply, of at most 1 MiB, has no room; nil if it has all.
  public var omitted: Int?

  package init(clients: [ConnectedClient], omitted: Int? = nil) {
    self.clients = clients
    self.omitted = omitted
  }
}

package struct EventsRequest: Codable, Sendable {
  package var follow: Bool?

  package init(follow: Bool? = nil) { self.follow = follow }
}

package struct UnreadablePage: Codable, Sendable {
  package var files: [UnreadableFile]
  /// The number of all unreadable files.
  package var count: Int

  package init(files: [UnreadableFile], count: Int) {
    self.files = files
    self.count = count
  }
}

package struct BackupRequest: Codable, Sendable {
  package var path: String?

  package init(path: String? = nil) { self.path = path }
}

package struct BackupReply: Codable, Sendable {
  package var backup: BackupFile

  package init(backup: BackupFile) { self.backup = backup }
}

package struct BackupListReply: Codable, Sendable {
  package var backups: [BackupFile]

  package init(backups: [BackupFile]) { self.backups = backups }
}

package struct RestoreRequest: Codable, Sendable {
  package var path: String

  package init(path: String) { self.path = path }
}

package struct CheckRequest: Codable, Sendable {
  package var deep: Bool?

  package init(deep: Bool? = nil) { self.deep = deep }
}
