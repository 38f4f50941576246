/// A list of assets with a name: a smart album, an album of the user's, or the album of one folder.
public struct AssetCollection: Codable, Hashable, Sendable, Identifiable {
  public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
    case smartAlbum, album, folderAlbum
  }

  public var id: Int64
  public var kind: Kind
  /// Of a smart album: recents, favorites, videos, screenshots; more may come.
  public var subtype: String?
  public var title: String
  /// Of a folder album: the folder, written as in ``Resource/path``.
  public var path: String?
  /// Exact: that of a fetch of this collection with every option left out.
  public var count: Int
  /// The asset to show as its cover.
  public var keyAssetID: Int64?
  public var startDate: PhotoDate?
  public var endDate: PhotoDate?

  public init(
    id: Int64, kind: Kind, subtype: String? = nil, title: String, path: String? = nil, count: Int,
    keyAssetID: Int64? = nil, startDate: PhotoDate? = nil, endDate: PhotoDate? = nil
  ) {
    self.id = id
    self.kind = kind
    self.subtype = subtype
    self.title = title
    self.path = path
    self.count = count
    self.keyAssetID = keyAssetID
    self.startDate = startDate
    self.endDate = endDate
  }
}
