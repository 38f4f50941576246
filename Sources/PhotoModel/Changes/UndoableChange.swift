/// A change of a client that can be undone.
public struct UndoableChange: Codable, Hashable, Sendable, Identifiable {
  public let id: Int
  public let date: PhotoDate
  /// `client:` and the client's name.
  public let origin: String
  /// The number of assets that were edited, or whose place in albums changed.
  public let assetCount: Int
  /// The titles of the collections that were created, edited or deleted, at most 20.
  public let collections: [String]

  public init(id: Int, date: PhotoDate, origin: String, assetCount: Int, collections: [String]) {
    self.id = id
    self.date = date
    self.origin = origin
    self.assetCount = assetCount
    self.collections = collections
  }
}
