/// The pictures that can't be made of a revision of an asset, so that the same file is not decoded in vain again.
///
/// It is lost when photod ends. A file that changes has another revision, and is tried again.
struct FailureMemory: Sendable {
  /// The source of a picture.
  enum Source: Hashable, Sendable {
    /// The file itself.
    case rendered
    /// The picture that the camera embedded in the file.
    case embedded
    /// A thumbnail that programs share.
    case shared
  }

  struct Key: Hashable, Sendable {
    var assetID: Int64
    var revision: UInt64
    var file: Int
    var milliseconds: Int64?
    var source: Source
  }

  struct Failure: Hashable, Sendable {
    var kind: PictureFailureKind
    var message: String
    /// When it is forgotten, by the clock of the store. A decoder may be installed meanwhile.
    var end: UInt32?
  }

  /// The most failures that are remembered. The older half is forgotten then.
  static let maximumCount = 16_384
  /// How long a missing decoder is remembered, in seconds.
  static let unsupportedTime: UInt32 = 60

  private var recent: [Key: Failure] = [:]
  private var older: [Key: Failure] = [:]

  var count: Int { recent.count + older.count }

  mutating func note(_ failure: Failure, of key: Key) {
    recent[key] = failure
    if recent.count >= Self.maximumCount / 2 { (older, recent) = (recent, [:]) }
  }

  func failure(of key: Key, now: UInt32) -> Failure? {
    guard let failure = recent[key] ?? older[key] else { return nil }
    return failure.end.map { $0 > now } ?? true ? failure : nil
  }

  mutating func removeAll() { (recent, older) = ([:], [:]) }
}
