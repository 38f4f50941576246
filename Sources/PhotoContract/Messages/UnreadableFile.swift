import PhotoModel

/// A file or a folder of the library that can't be read; what the library has of it stays.
public struct UnreadableFile: Codable, Hashable, Sendable {
  /// The words of ``kind``.
  package enum Kind: String, CaseIterable, Sendable {
    /// Its content can't be parsed.
    case damaged
    /// The disk fails in its content.
    case failing
    /// It can't be opened, or looked at.
    case unreadable
  }

  public var path: String
  /// `damaged`: its content can't be parsed. `failing`: the disk fails in it. `unreadable`: it can't be opened, or looked
  /// at. More may come.
  public var kind: String
  /// What the system, or the reader of its format, said.
  public var reason: String
  /// When it was found to be so, where that is known.
  public var since: PhotoDate?
  /// What helps.
  public var remedy: String
  /// `nil` for a folder, and for a file that is not in the library.
  public var assetID: Int64?

  public init(
    path: String, kind: String, reason: String, since: PhotoDate? = nil, remedy: String, assetID: Int64? = nil
  ) {
    self.path = path
    self.kind = kind
    self.reason = reason
    self.since = since
    self.remedy = remedy
    self.assetID = assetID
  }
}
