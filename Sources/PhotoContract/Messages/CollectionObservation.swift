import ChangeDetails
import PhotoModel

/// One reply of `ObserveCollections`: a page of the list of collections itself, or the difference from the reply before. See
/// `org.photod.library`.
public struct CollectionObservation: Codable, Hashable, Sendable {
  /// The token of the library of which the list or the difference is true.
  public var token: String
  /// The token of the reply before, from which the difference leads; nil in a page of the list.
  public var previousToken: String?
  /// The number of collections in the whole list, even if the reply has a page of it.
  public var count: Int
  /// The digest of the ids in the whole list. The other members of the collections have no part in it.
  public var digest: String
  /// The position of the first of ``collections`` in the list; nil in a difference.
  public var offset: Int?
  /// A page of the list; nil in a difference.
  public var collections: [AssetCollection]?
  /// True in the last page of the list.
  public var complete: Bool?
  /// Why the whole list is sent again; nil for the first list and for a difference.
  public var reload: Observation.Reload?
  /// The difference. Its ids are the numbers of the collections.
  public var details: FetchResultChangeDetails?
  /// Parallel to `details.insertedIDs`.
  public var inserted: [AssetCollection]?
  /// Parallel to `details.changedAfter`.
  public var updated: [AssetCollection]?
  /// The ids of the removed collections, in the order of the list before.
  public var deleted: [CollectionID]?

  /// Creates an observation of collections. A page of the list has `offset` and `collections`, and a difference has
  /// `details`. If only the token is new, it has neither.
  public init(
    token: String, previousToken: String? = nil, count: Int, digest: String, offset: Int? = nil,
    collections: [AssetCollection]? = nil, complete: Bool? = nil, reload: Observation.Reload? = nil,
    details: FetchResultChangeDetails? = nil, inserted: [AssetCollection]? = nil, updated: [AssetCollection]? = nil,
    deleted: [CollectionID]? = nil
  ) {
    self.token = token
    self.previousToken = previousToken
    self.count = count
    self.digest = digest
    self.offset = offset
    self.collections = collections
    self.complete = complete
    self.reload = reload
    self.details = details
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }
}
