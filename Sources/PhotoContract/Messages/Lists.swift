import PhotoModel

// The messages of Fetch, FetchIDs, GetAssets, FindAssets, FetchCollections, ListKeys and ListValues.

package struct FetchRequest: Codable, Sendable {
  package var options: FetchOptions?
  package var offset: Int?
  package var count: Int?

  package init(options: FetchOptions? = nil, offset: Int? = nil, count: Int? = nil) {
    self.options = options
    self.offset = offset
    self.count = count
  }
}

/// A part of a list of assets, at one token.
public struct AssetPage: Codable, Hashable, Sendable {
  /// The token of the library from which the reply was made.
  public let token: String
  /// The length of the whole list, after its limit.
  public let total: Int
  /// The position of the first of these assets in the list.
  public let offset: Int
  /// The assets, in the order of the list.
  public let assets: [Asset]

  package init(token: String, total: Int, offset: Int, assets: [Asset]) {
    self.token = token
    self.total = total
    self.offset = offset
    self.assets = assets
  }
}

package struct FetchIDsRequest: Codable, Sendable {
  package var options: FetchOptions?

  package init(options: FetchOptions? = nil) { self.options = options }
}

/// A part of a list, as ids, at one token.
public struct AssetIDPage: Codable, Hashable, Sendable {
  /// The token of the library from which the reply was made.
  public let token: String
  /// The length of the whole list, after its limit.
  public let total: Int
  /// The position of the first of these ids in the list.
  public let offset: Int
  /// The ids, in the order of the list.
  public let ids: [AssetID]

  package init(token: String, total: Int, offset: Int, ids: [AssetID]) {
    self.token = token
    self.total = total
    self.offset = offset
    self.ids = ids
  }
}

package struct GetAssetsRequest: Codable, Sendable {
  package var ids: [AssetID]

  package init(ids: [AssetID]) { self.ids = ids }
}

/// An id that is neither in `assets` nor in `missing` did not fit in the reply.
package struct GetAssetsReply: Codable, Sendable {
  package var token: String
  package var assets: [Asset]
  package var missing: [AssetID]

  package init(token: String, assets: [Asset], missing: [AssetID]) {
    self.token = token
    self.assets = assets
    self.missing = missing
  }
}

package struct FindAssetsRequest: Codable, Sendable {
  package var paths: [String]

  package init(paths: [String]) { self.paths = paths }
}

package struct FindAssetsReply: Codable, Sendable {
  package var token: String
  /// Parallel to the paths of the request; 0 if no asset has the path.
  package var ids: [AssetID]

  package init(token: String, ids: [AssetID]) {
    self.token = token
    self.ids = ids
  }
}

package struct FetchCollectionsRequest: Codable, Sendable {
  /// Words of ``AssetCollection/Kind``; all kinds if it is nil.
  package var kinds: [String]?
  package var containingAsset: AssetID?

  package init(kinds: [String]? = nil, containingAsset: AssetID? = nil) {
    self.kinds = kinds
    self.containingAsset = containingAsset
  }
}

package struct CollectionPage: Codable, Sendable {
  package var token: String
  package var collections: [AssetCollection]

  package init(token: String, collections: [AssetCollection]) {
    self.token = token
    self.collections = collections
  }
}

/// The keys that lists can be made from. A later daemon may know more.
public struct ListKeys: Codable, Hashable, Sendable {
  /// The keys that a predicate may name.
  public let predicateKeys: [String]
  /// The keys that a sort descriptor may name.
  public let sortKeys: [String]
  /// The keys of ListValues. An older daemon does not send them.
  public let valueKeys: [String]?

  /// Creates the lists of keys. `valueKeys` is nil if the daemon does not send them.
  public init(predicateKeys: [String], sortKeys: [String], valueKeys: [String]? = nil) {
    self.predicateKeys = predicateKeys
    self.sortKeys = sortKeys
    self.valueKeys = valueKeys
  }
}

package struct ListValuesRequest: Codable, Sendable {
  package var key: String
  package var prefix: String?
  package var limit: Int?
  package var options: FetchOptions?

  package init(key: String, prefix: String? = nil, limit: Int? = nil, options: FetchOptions? = nil) {
    self.key = key
    self.prefix = prefix
    self.limit = limit
    self.options = options
  }
}

/// The values that the assets of a list have for a key, the most frequent first.
public struct ValueCounts: Codable, Hashable, Sendable {
  /// The token of the library from which the reply was made.
  public let token: String
  /// The values, the most frequent first.
  public let values: [String]
  /// How many assets have each value. Parallel to ``values``.
  public let counts: [Int]
  /// The number of all values that begin with the prefix.
  public let total: Int
  /// The number of assets in the list.
  public let assetCount: Int
  /// How many of these assets have no value.
  public let absentCount: Int

  package init(token: String, values: [String], counts: [Int], total: Int, assetCount: Int, absentCount: Int) {
    self.token = token
    self.values = values
    self.counts = counts
    self.total = total
    self.assetCount = assetCount
    self.absentCount = absentCount
  }
}
