/// A change of a client. It can be undone if it has no ``problem``.
public struct UndoableChange: Codable, Hashable, Sendable, Identifiable {
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
  /// Why the change can't be undone, for a person; nil if it can. It may be too large, or another change of the same things
  /// came between its calls.
  public let problem: String?

  /// Creates an entry of the list. photod sends it; a program makes one for its own tests and previews. It can be undone if
  /// `problem` is nil.
  public init(
    id: Int, date: PhotoDate, origin: String, assetCount: Int, collections: [String], problem: String? = nil
  ) {
    self.id = id
    self.date = date
    self.origin = origin
    self.assetCount = assetCount
    self.collections = collections
    self.problem = problem
  }
}
