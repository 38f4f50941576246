import PhotoModel

/// A file or a folder of the library that can't be read. The library keeps its data about it.
public struct UnreadableFile: Codable, Hashable, Sendable {
  /// The words of ``kind``.
  package enum Kind: String, CaseIterable, Sendable {
    /// Its content can't be parsed.
    case damaged
    /// The disk fails in its content.
    case failing
    /// It can't be opened or examined.
    case unreadable
  }

  /// The absolute path of the file or folder.
  public var path: String
  /// `damaged`: its content can't be parsed. `failing`: the disk fails in its content. `unreadable`: it can't be opened
  /// or examined. Later daemons may have more.
  public var kind: String
  /// The message of the system, or of the reader of the file's format.
  public var reason: String
  /// When the failure was found; `nil` if that is not known.
  public var since: PhotoDate?
  /// How to correct it.
  public var remedy: String
  /// `nil` for a folder, and for a file that is not in the library.
  public var assetID: AssetID?

  /// Creates an unreadable file or folder. `assetID` is nil if no asset of the library has this path.
  public init(
    path: String, kind: String, reason: String, since: PhotoDate? = nil, remedy: String, assetID: AssetID? = nil
  ) {
    self.path = path
    self.kind = kind
    self.reason = reason
    self.since = since
    self.remedy = remedy
    self.assetID = assetID
  }
}
