/// The user data of one asset, without its albums: the values that a person gave it. They count instead of those of its file.
///
/// A nil value was not given.
public struct UserData: Codable, Hashable, Sendable {
  /// The asset.
  public var assetID: AssetID
  /// Whether a person made it a favorite.
  public var isFavorite: Bool
  /// Whether a person hid it.
  public var isHidden: Bool
  /// 0...5
  public var rating: Int?
  /// An empty title means that the asset has none, whatever its file says.
  public var title: String?
  /// As ``title``.
  public var caption: String?
  /// The keywords that the asset has beside those of its file.
  public var addedKeywords: [String]
  /// The keywords of its file that the asset does not have.
  public var removedKeywords: [String]
  /// When it was taken, according to a person.
  public var creationDate: PhotoDate?
  /// The place where it was taken, according to a person.
  public var location: Location?
  /// Whether the asset has no location, whatever its file says.
  public var hasNoLocation: Bool
  /// The hash of the whole content of the first file: 32 hex digits, by MurmurHash3 (x64, 128 bits). nil until photod has
  /// read the file whole.
  public var contentHash: String?

  /// Creates the user data of an asset. Members that are not given have no value from a person, so those of the file
  /// count.
  public init(
    assetID: AssetID, isFavorite: Bool = false, isHidden: Bool = false, rating: Int? = nil, title: String? = nil,
    caption: String? = nil, addedKeywords: [String] = [], removedKeywords: [String] = [],
    creationDate: PhotoDate? = nil, location: Location? = nil, hasNoLocation: Bool = false, contentHash: String? = nil
  ) {
    self.assetID = assetID
    self.isFavorite = isFavorite
    self.isHidden = isHidden
    self.rating = rating
    self.title = title
    self.caption = caption
    self.addedKeywords = addedKeywords
    self.removedKeywords = removedKeywords
    self.creationDate = creationDate
    self.location = location
    self.hasNoLocation = hasNoLocation
    self.contentHash = contentHash
  }
}
