import PhotoModel

// The messages of PerformChanges.

package struct PerformChangesRequest: Codable, Sendable {
  package var requests: [ChangeRequest]
  package var clientName: String?
  package var ifUnchangedSince: String?

  package init(requests: [ChangeRequest], clientName: String? = nil, ifUnchangedSince: String? = nil) {
    self.requests = requests
    self.clientName = clientName
    self.ifUnchangedSince = ifUnchangedSince
  }
}

/// The result of PerformChanges.
public struct ChangeResult: Codable, Hashable, Sendable {
  /// The library's token with the changes in it.
  public let token: String
  /// The collections that the requests created, in the order of the requests.
  public let createdCollectionIDs: [CollectionID]

  package init(token: String, createdCollectionIDs: [CollectionID]) {
    self.token = token
    self.createdCollectionIDs = createdCollectionIDs
  }
}
