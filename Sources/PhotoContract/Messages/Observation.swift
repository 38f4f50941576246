import ChangeDetails
import PhotoModel

/// One reply of `Observe`: a page of the list itself, or the difference from the reply before. See `org.photod.library`.
public struct Observation: Codable, Hashable, Sendable {
  public enum Reload: String, OpenEnum {
    case tooManyChanges, tokenExpired, digestMismatch, accessChanged, libraryReplaced, notWanted
    case unknown

    public static let allCases: [Reload] = [
      .tooManyChanges, .tokenExpired, .digestMismatch, .accessChanged, .libraryReplaced, .notWanted,
    ]
  }

  public var token: String
  public var previousToken: String?
  public var count: Int
  public var digest: String
  /// watcher, rescan, mount, migration, or client:<name>; `nil` if one difference has several origins.
  public var origin: String?
  public var offset: Int?
  public var ids: [AssetID]?
  public var complete: Bool?
  public var reload: Reload?
  public var details: FetchResultChangeDetails?
  public var insertedAssets: [Asset]?
  public var changedAssets: [Asset]?

  public init(
    token: String, previousToken: String? = nil, count: Int, digest: String, origin: String? = nil, offset: Int? = nil,
    ids: [AssetID]? = nil, complete: Bool? = nil, reload: Reload? = nil, details: FetchResultChangeDetails? = nil,
    insertedAssets: [Asset]? = nil, changedAssets: [Asset]? = nil
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
  }
}
