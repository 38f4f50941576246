/// One request of `PerformChanges`. Exactly one field is set.
public struct ChangeRequest: Codable, Hashable, Sendable {
  public struct EditAsset: Codable, Hashable, Sendable {
    public var ids: [Int64]
    public var isFavorite: Bool?
    public var isHidden: Bool?
    public var rating: Int?
    public var title: String?
    public var caption: String?
    public var addKeywords: [String]?
    public var removeKeywords: [String]?
    public var creationDate: String?
    public var location: Location?
    /// The names of the fields to clear.
    public var clear: [String]?

    public init(ids: [Int64], isFavorite: Bool? = nil, isHidden: Bool? = nil) {
      self.ids = ids
      self.isFavorite = isFavorite
      self.isHidden = isHidden
    }
  }

  public struct CreateAlbum: Codable, Hashable, Sendable {
    public var title: String
    public var assetIDs: [Int64]?
  }

  public struct EditAlbum: Codable, Hashable, Sendable {
    public var id: Int64
    public var title: String?
    public var placeAssetIDs: [Int64]?
    public var beforeAssetID: Int64?
    public var removeAssetIDs: [Int64]?
    public var keyAssetID: Int64?
  }

  public var editAsset: EditAsset?
  public var trashAssets: [Int64]?
  public var restoreAssets: [Int64]?
  public var createAlbum: CreateAlbum?
  public var editAlbum: EditAlbum?
  public var deleteAlbum: Int64?

  public init(editAsset: EditAsset) { self.editAsset = editAsset }
}
