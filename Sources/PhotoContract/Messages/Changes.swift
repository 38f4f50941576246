import PhotoModel

// The messages of PerformChanges.

package struct PerformChangesRequest: Codable, Sendable {
  package var requests: [ChangeRequest]
  package var clientName: String?

  package init(requests: [ChangeRequest], clientName: String? = nil) {
    self.requests = requests
    self.clientName = clientName
  }
}

/// The result of PerformChanges.
public struct ChangeResult: Codable, Hashable, Sendable {
  /// The library's token with the changes in it.
  public let token: String
  public let createdAlbumIDs: [CollectionID]

  package init(token: String, createdAlbumIDs: [CollectionID]) {
    self.token = token
    self.createdAlbumIDs = createdAlbumIDs
  }
}
