/// The source of an asset's creation date. The best one comes first.
public enum CreationDateSource: String, OpenEnum {
  /// A person set it.
  case user
  /// The file's own metadata: EXIF, XMP or IPTC.
  case metadata
  /// The name of the file.
  case filename
  /// The oldest modification time that was seen.
  case file
  /// A case of a later version, which this version does not know.
  case unknown

  /// The cases that this version knows, without `unknown`.
  public static let allCases: [CreationDateSource] = [.user, .metadata, .filename, .file]
}

extension CreationDateSource {
  package func isBetter(than other: Self) -> Bool { rank < other.rank }

  private var rank: Int {
    switch self {
    case .user: 0
    case .metadata: 1
    case .filename: 2
    case .file: 3
    case .unknown: 4
    }
  }
}
