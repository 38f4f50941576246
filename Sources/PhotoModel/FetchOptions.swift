/// One key of a sort order. `org.photod.library` lists the keys and how absent values sort.
public struct SortDescriptor: Codable, Hashable, Sendable {
  /// The sort key, such as `creationDate`.
  public var key: String
  /// Whether the smallest value comes first.
  public var ascending: Bool

  /// Creates a descriptor, for example `SortDescriptor(key: "rating", ascending: false)`. photod refuses unknown keys.
  public init(key: String, ascending: Bool) {
    self.key = key
    self.ascending = ascending
  }
}

/// A request for a list: which assets are in it, and in which order. Every option may be omitted.
public struct FetchOptions: Codable, Hashable, Sendable {
  /// `smart:favorites`, `album:Title`, `folder:/path`, `id:42`, or a bare title.
  public var collection: String?
  /// `image`, `video`, `audio` or `unknown`. If it is omitted, the list has assets of all types.
  public var mediaTypes: [String]?
  /// `isFavorite == true AND camera.model CONTAINS 'X-T'`; see `Predicate`.
  public var predicate: String?
  /// Words of the filename, title, caption, keywords, camera or lens: `beach "birthday party"`. All must occur, in any
  /// order. A word matches every word that begins with it. Words in quotes match only these very words in a row; if a
  /// `*` follows, the last of them matches every word that begins with it.
  public var text: String?
  /// The sort keys, the most significant first. If it is omitted, the newest asset is first, and a user's album has its
  /// own order.
  public var sortDescriptors: [SortDescriptor]?
  /// The largest number of assets in the list. An asset that a change pushes beyond the limit counts as removed.
  public var fetchLimit: Int?
  /// Whether hidden assets are in the list; no if it is omitted.
  public var includeHidden: Bool?
  /// Whether assets in the trash are in the list; no if it is omitted.
  public var includeTrashed: Bool?
  /// Whether assets on drives that are offline are left out.
  public var excludeUnavailable: Bool?

  /// Creates options. Without arguments, they select all visible assets, with the newest first.
  public init(
    collection: String? = nil, mediaTypes: [String]? = nil, predicate: String? = nil, text: String? = nil,
    sortDescriptors: [SortDescriptor]? = nil, fetchLimit: Int? = nil, includeHidden: Bool? = nil,
    includeTrashed: Bool? = nil, excludeUnavailable: Bool? = nil
  ) {
    self.collection = collection
    self.mediaTypes = mediaTypes
    self.predicate = predicate
    self.text = text
    self.sortDescriptors = sortDescriptors
    self.fetchLimit = fetchLimit
    self.includeHidden = includeHidden
    self.includeTrashed = includeTrashed
    self.excludeUnavailable = excludeUnavailable
  }
}
