import PhotoModel

/// Part of a list of assets, at one token.
public struct AssetPage: Codable, Hashable, Sendable {
  public let token: String
  /// The length of the whole list, after its limit.
  public let total: Int
  /// Where in the list the first of the assets is.
  public let offset: Int
  public let assets: [Asset]
}

/// Part of a list, by ids, at one token.
public struct AssetIDPage: Codable, Hashable, Sendable {
  public let token: String
  public let total: Int
  public let offset: Int
  public let ids: [Int64]
}

/// What a list may be made from. Later daemons may know more.
public struct ListKeys: Codable, Hashable, Sendable {
  public let predicateKeys: [String]
  public let sortKeys: [String]

  public init(predicateKeys: [String], sortKeys: [String]) {
    self.predicateKeys = predicateKeys
    self.sortKeys = sortKeys
  }
}

/// Committed changes, oldest first.
public struct HistoryPage: Codable, Hashable, Sendable {
  /// May be empty: then there was nothing yet.
  public let changes: [PersistentChange]
  /// To go on from.
  public let token: String
}

/// What ``PhotoLibrary/performChanges(_:)`` did.
public struct ChangeResult: Codable, Hashable, Sendable {
  /// The library's token with the changes in it.
  public let token: String
  public let createdAlbumIDs: [Int64]
}

/// What a rescan found, and did.
public struct RescanResult: Codable, Hashable, Sendable {
  public let inserted: Int
  public let updated: Int
  public let removed: Int
  /// Of a dry run: as many of ``removed`` would stay for now, because so many are missing at once; nil: none.
  public let heldBack: Int?

  public init(inserted: Int, updated: Int, removed: Int, heldBack: Int? = nil) {
    self.inserted = inserted
    self.updated = updated
    self.removed = removed
    self.heldBack = heldBack
  }
}

/// Why a path is, or is not, in the library.
public struct PathExplanation: Codable, Hashable, Sendable {
  /// indexed, unreadable, pending, offline, ignored, empty, notMedia, missing, outside; more may come.
  public let state: String
  /// Sentences for a person.
  public let reason: String
  public let assetID: Int64?
}

// MARK: - As they are on the wire

struct FetchCall: Encodable, Sendable {
  let options: FetchOptions
  let offset: Int?
  let count: Int?
}

struct FetchIDsCall: Encodable, Sendable { let options: FetchOptions }

struct GetAssetsCall: Encodable, Sendable { let ids: [Int64] }

struct GetAssetsReply: Decodable {
  let assets: [Asset]
  let missing: [Int64]
}

struct FindAssetsCall: Encodable, Sendable { let paths: [String] }

struct FindAssetsReply: Decodable { let ids: [Int64] }

struct FetchCollectionsCall: Encodable, Sendable {
  let kinds: [AssetCollection.Kind]?
  let containingAsset: Int64?
}

struct CollectionsReply: Decodable { let collections: [AssetCollection] }

struct ObserveCall: Encodable, Sendable {
  let options: FetchOptions
  let since: String?
  let sinceDigest: String?
  let sinceIDs: [Int64]?
  let objects: Bool?
  let reloadOnly: Bool?
}

struct ObserveReply: Decodable { let observation: Observation }

struct ObserveCollectionsCall: Encodable, Sendable { let kinds: [AssetCollection.Kind]? }

struct HistoryCall: Encodable, Sendable {
  let since: String?
  let follow: Bool?
}

struct SynchronizeCall: Encodable, Sendable { let timeoutSeconds: Double? }

struct TokenReply: Decodable { let token: String }

struct PerformChangesCall: Encodable, Sendable {
  let requests: [ChangeRequest]
  let clientName: String?
}

struct StatusReply: Decodable { let status: LibraryStatus }

struct ExplainCall: Encodable, Sendable { let path: String }

struct RescanCall: Encodable, Sendable {
  let path: String?
  let dryRun: Bool?
  let confirm: Bool?
}
