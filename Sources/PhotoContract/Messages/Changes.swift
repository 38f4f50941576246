import PhotoModel

// The messages of PerformChanges, FetchUndoableChanges and UndoChange.

package struct PerformChangesRequest: Codable, Sendable {
  package var requests: [ChangeRequest]
  package var clientName: String?
  package var ifUnchangedSince: String?
  package var undoGroup: String?

  package init(
    requests: [ChangeRequest], clientName: String? = nil, ifUnchangedSince: String? = nil, undoGroup: String? = nil
  ) {
    self.requests = requests
    self.clientName = clientName
    self.ifUnchangedSince = ifUnchangedSince
    self.undoGroup = undoGroup
  }
}

/// The result of PerformChanges.
public struct ChangeResult: Codable, Hashable, Sendable {
  /// The library's token with the changes in it.
  public let token: String
  /// The collections that the requests created, in the order of the requests.
  public let createdCollectionIDs: [CollectionID]
  /// The number of assets that were edited, placed in albums or removed from albums. An asset that already was as
  /// requested does not count. It is `nil` if an older photod did not send it.
  public let changedAssetCount: Int?
  /// Whether the requests changed the library. It is `false` if all was as requested already, and `nil` if an older
  /// photod did not send it.
  public let changed: Bool?

  package init(
    token: String, createdCollectionIDs: [CollectionID], changedAssetCount: Int? = nil, changed: Bool? = nil
  ) {
    self.token = token
    self.createdCollectionIDs = createdCollectionIDs
    self.changedAssetCount = changedAssetCount
    self.changed = changed
  }
}

package struct FetchUndoableChangesRequest: Codable, Sendable {
  package var origin: String?

  package init(origin: String? = nil) { self.origin = origin }
}

package struct UndoableChangesReply: Codable, Sendable {
  package let changes: [UndoableChange]

  package init(changes: [UndoableChange]) { self.changes = changes }
}

package struct UndoChangeRequest: Codable, Sendable {
  package var id: Int
  package var clientName: String?

  package init(id: Int, clientName: String? = nil) {
    self.id = id
    self.clientName = clientName
  }
}
