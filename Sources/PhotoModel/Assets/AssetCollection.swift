/// A named list of assets: a smart album, an album that the user made, or the album of one folder.
public struct AssetCollection: Codable, Hashable, Sendable, Identifiable {
  /// The kinds of collections.
  public enum Kind: String, OpenEnum {
    /// `folder` is a folder of albums. It has no assets of its own.
    case smartAlbum, album, folderAlbum, folder
    /// A case of a later version, which this version does not know.
    case unknown

    /// The cases that this version knows, without `unknown`.
    public static let allCases: [Kind] = [.smartAlbum, .album, .folderAlbum, .folder]
  }

  /// The number of the collection. It is never used again.
  public var id: CollectionID
  /// The kind of the collection.
  public var kind: Kind
  /// For a smart album, its name in the contract, such as favorites or noLocation. Later versions may add more.
  public var subtype: String?
  /// The title to show.
  public var title: String
  /// The folder of albums that has it; nil at the top level.
  public var parentID: CollectionID?
  /// For a folder album: the folder, written like ``Resource/path``.
  public var path: String?
  /// The exact number of assets that a fetch of this collection without options returns.
  public var count: Int
  /// The asset to show as its cover.
  public var keyAssetID: AssetID?
  /// The cover that a person chose. It is not shown while it is hidden or not in the album.
  public var chosenKeyAssetID: AssetID?
  /// The earliest creation date of its assets; nil if it has none.
  public var startDate: PhotoDate?
  /// The latest creation date of its assets; nil if it has none.
  public var endDate: PhotoDate?
  /// The query of a smart album that a person made.
  public var query: SmartAlbumQuery?
  /// Why the query finds nothing, if it is invalid, or why its assets were not counted. A later version of photod may have
  /// written the query. If counting takes too long, ``count`` is 0 until the album has a simpler query.
  public var problem: String?

  /// Creates a collection. photod sends it; a program makes one for its own tests and previews.
  public init(
    id: CollectionID, kind: Kind, subtype: String? = nil, title: String, parentID: CollectionID? = nil,
    path: String? = nil, count: Int, keyAssetID: AssetID? = nil, chosenKeyAssetID: AssetID? = nil,
    startDate: PhotoDate? = nil, endDate: PhotoDate? = nil, query: SmartAlbumQuery? = nil, problem: String? = nil
  ) {
    self.id = id
    self.kind = kind
    self.subtype = subtype
    self.title = title
    self.parentID = parentID
    self.path = path
    self.count = count
    self.keyAssetID = keyAssetID
    self.chosenKeyAssetID = chosenKeyAssetID
    self.startDate = startDate
    self.endDate = endDate
    self.query = query
    self.problem = problem
  }
}
