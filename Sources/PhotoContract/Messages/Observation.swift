import ChangeDetails
import PhotoModel

/// One reply of `Observe`: a page of the list itself, or the difference from the reply before. See `org.photod.library`.
public struct Observation: Codable, Hashable, Sendable {
  /// Why the whole list is sent instead of a difference.
  public enum Reload: String, OpenEnum {
    /// The difference would be larger than the list.
    case tooManyChanges
    /// The daemon no longer knows what changed since the client's token.
    case tokenExpired
    /// The client's list is not the one that the daemon had at the client's token.
    case digestMismatch
    /// The client may see other assets than before.
    case accessChanged
    /// The token belongs to another library, or the library was restored from a backup.
    case libraryReplaced
    /// The client asked not to get differences. The observation has no list either.
    case notWanted
    /// A case of a later version, which this version does not know.
    case unknown

    /// The cases that this version knows, without `unknown`.
    public static let allCases: [Reload] = [
      .tooManyChanges, .tokenExpired, .digestMismatch, .accessChanged, .libraryReplaced, .notWanted,
    ]
  }

  /// The token of the library of which the list or the difference is true.
  public var token: String
  /// The token of the reply before, from which the difference leads; nil in a page of the list.
  public var previousToken: String?
  /// The number of assets in the whole list, even if the reply has a page of it.
  public var count: Int
  /// The digest of the ids in the whole list, as ``/ChangeDetails/ListDigest`` computes it.
  public var digest: String
  /// watcher, rescan, mount, migration, or client:<name>; `nil` if one difference has several origins.
  public var origin: String?
  /// The position of the first of ``ids`` in the list; nil in a difference.
  public var offset: Int?
  /// A page of the list; nil in a difference.
  public var ids: [AssetID]?
  /// True in the last page of the list.
  public var complete: Bool?
  /// Why the whole list is sent again; nil for the first list and for a difference.
  public var reload: Reload?
  /// The difference; nil in a page, and if the list is the same.
  public var details: FetchResultChangeDetails?
  /// The assets at `details.insertedAfter`, if the client asked for objects and they fit.
  public var insertedAssets: [Asset]?
  /// The assets at `details.changedAfter`, if the client asked for objects and they fit.
  public var changedAssets: [Asset]?
  /// True if the observed collection no longer exists. Its list is empty. nil otherwise.
  public var collectionDeleted: Bool?

  /// Creates an observation of assets. A page of the list has `offset` and `ids`, and a difference has `details`. If
  /// only the token or ``collectionDeleted`` is new, it has neither.
  public init(
    token: String, previousToken: String? = nil, count: Int, digest: String, origin: String? = nil, offset: Int? = nil,
    ids: [AssetID]? = nil, complete: Bool? = nil, reload: Reload? = nil, details: FetchResultChangeDetails? = nil,
    insertedAssets: [Asset]? = nil, changedAssets: [Asset]? = nil, collectionDeleted: Bool? = nil
  ) {
    self.token = token
    self.previousToken = previousToken
    self.count = count
    self.digest = digest
    self.origin = origin
    self.offset = offset
    self.ids = ids
    self.complete = complete
    self.reload = reload
    self.details = details
    self.insertedAssets = insertedAssets
    self.changedAssets = changedAssets
    self.collectionDeleted = collectionDeleted
  }
}
