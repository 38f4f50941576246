/// One key of a sort order. `org.photod.library` lists the keys and how absent values sort.
public struct SortDescriptor: Codable, Hashable, Sendable {
  public var key: String
  public var ascending: Bool

  public init(key: String, ascending: Bool) {
    self.key = key
    self.ascending = ascending
  }
}

/// The assets in a list, and their order. Every option may be omitted.
public struct FetchOptions: Codable, Hashable, Sendable {
  /// `smart:favorites`, `album:Title`, `folder:/path`, `id:42`, or a bare title.
  public var collection: String?
  /// `image`, `video`, `audio`.
  public var mediaTypes: [String]?
  /// `isFavorite == true AND camera.model CONTAINS 'X-T'`; see `Predicate`.
  public var predicate: String?
  /// Words of the filename, title, caption, keywords or camera: `beach "birthday party" 2024`. All must occur, in any
  /// order. A word matches every word that begins with it. Words in quotes match only these very words in a row.
  public var text: String?
  public var sortDescriptors: [SortDescriptor]?
  /// Applied before any change is computed.
  public var fetchLimit: Int?
  public var includeHidden: Bool?
  public var includeTrashed: Bool?
  public var excludeUnavailable: Bool?

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
