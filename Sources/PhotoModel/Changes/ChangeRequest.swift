/// One request of `PerformChanges`. Exactly one field is set.
public struct ChangeRequest: Codable, Hashable, Sendable {
  public struct EditAsset: Codable, Hashable, Sendable {
    public var ids: [AssetID]
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

    public init(ids: [AssetID], isFavorite: Bool? = nil, isHidden: Bool? = nil) {
      self.ids = ids
      self.isFavorite = isFavorite
      self.isHidden = isHidden
    }
  }

  public struct CreateAlbum: Codable, Hashable, Sendable {
    public var title: String
    public var assetIDs: [AssetID]?
  }

  public struct EditAlbum: Codable, Hashable, Sendable {
    public var id: CollectionID
    public var title: String?
    public var placeAssetIDs: [AssetID]?
    public var beforeAssetID: AssetID?
    public var removeAssetIDs: [AssetID]?
    public var keyAssetID: AssetID?
  }

  public var editAsset: EditAsset?
  public var trashAssets: [AssetID]?
  public var restoreAssets: [AssetID]?
  public var createAlbum: CreateAlbum?
  public var editAlbum: EditAlbum?
  public var deleteAlbum: CollectionID?

  public init(editAsset: EditAsset) { self.editAsset = editAsset }
}
