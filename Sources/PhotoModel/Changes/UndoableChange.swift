/// A change of a client. It can be undone if it has no ``problem``.
public struct UndoableChange: Codable, Hashable, Sendable, Identifiable {
  /// The number of the change, by which it is undone.
  public let id: Int
  /// When the change was made.
  public let date: PhotoDate
  /// `client:` and the client's name.
  public let origin: String
  /// The number of assets that were edited, or whose place in albums changed. In a change with a ``problem``, an asset may
  /// count once for each call.
  public let assetCount: Int
  /// The titles of the collections that were created, edited or deleted, at most 20.
  public let collections: [String]
  /// The reason why the change can't be undone, as a text for a person; nil if it can. The change may be too large, or
  /// another change of the same assets or collections came between its calls.
  public let problem: String?
  /// The actions of the change, such as `isHidden` or `createAlbum`, each once, in the order of the requests. Nil from a
  /// photod that does not send it.
  public let actions: [Action]?
  /// The name of the asset's file, if the change is about one asset that is in the library.
  public let filename: String?

  /// An action of a request: the kind of the request, or a field of assets or albums that it edited.
  public struct Action: Codable, Hashable, Sendable, RawRepresentable {
    /// The word of the contract.
    public let rawValue: String

    /// A word of the contract. Later versions may have more.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The assets became favorites.
    public static let favorite = Action(rawValue: "favorite")
    /// The assets are no longer favorites.
    public static let unfavorite = Action(rawValue: "unfavorite")
    /// The assets were hidden.
    public static let hide = Action(rawValue: "hide")
    /// The assets became visible.
    public static let unhide = Action(rawValue: "unhide")
    /// The assets got another rating.
    public static let rating = Action(rawValue: "rating")
    /// The assets got another title.
    public static let title = Action(rawValue: "title")
    /// The assets got another caption.
    public static let caption = Action(rawValue: "caption")
    /// The assets got keywords, or lost some.
    public static let keywords = Action(rawValue: "keywords")
    /// The assets got another date.
    public static let creationDate = Action(rawValue: "creationDate")
    /// The assets got another place, or none.
    public static let location = Action(rawValue: "location")
    /// Fields got the values of the file again.
    public static let clear = Action(rawValue: "clear")
    /// An album was made.
    public static let createAlbum = Action(rawValue: "createAlbum")
    /// A folder of albums was made.
    public static let createFolder = Action(rawValue: "createFolder")
    /// A smart album was made.
    public static let createSmartAlbum = Action(rawValue: "createSmartAlbum")
    /// Assets were added to an album, or moved in it.
    public static let addAssets = Action(rawValue: "addAssets")
    /// Assets were removed from an album.
    public static let removeAssets = Action(rawValue: "removeAssets")
    /// An album got another cover.
    public static let keyAsset = Action(rawValue: "keyAsset")
    /// A smart album got another query.
    public static let query = Action(rawValue: "query")
    /// A collection got another title.
    public static let rename = Action(rawValue: "rename")
    /// A collection was moved.
    public static let move = Action(rawValue: "move")
    /// A collection was deleted.
    public static let delete = Action(rawValue: "delete")
  }

  /// Creates an entry of the list. photod sends it; a program makes one for its own tests and previews. It can be
  /// undone if `problem` is nil.
  public init(
    id: Int, date: PhotoDate, origin: String, assetCount: Int, collections: [String], problem: String? = nil,
    actions: [Action]? = nil, filename: String? = nil
  ) {
    self.id = id
    self.date = date
    self.origin = origin
    self.assetCount = assetCount
    self.collections = collections
    self.problem = problem
    self.actions = actions
    self.filename = filename
  }
}
