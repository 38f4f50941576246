import ImageRecords
import PhotoModel

/// The pictures that can't be made of a revision of an asset, so that the same file is not decoded in vain again.
///
/// Most failures hold for all sizes and formats, because the file is damaged, or has too many pixels. A failure for which
/// `PictureFailure.dependsOnResult` is true holds for one ``Result`` only.
///
/// It is lost when photod ends. A file that changes has another revision, and is tried again.
struct FailureMemory: Sendable {
  /// The source of a picture.
  enum Source: Hashable, Sendable {
    /// The file itself.
    case rendered
    /// The picture that the camera embedded in the file.
    case embedded
    /// The thumbnail of this size that programs share.
    case shared(ThumbnailSize)
  }

  /// The size and format of a picture.
  struct Result: Hashable, Sendable {
    var target: PictureTarget
    var isPNG: Bool
  }

  struct Key: Hashable, Sendable {
    var assetID: AssetID
    var revision: UInt64
    var file: Int
    var milliseconds: Int64?
    var source: Source
    /// Nil if the failure holds for all sizes and formats.
    var result: Result?
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
  /// How long an immediate picture that came too late is remembered, in seconds. The machine may have been busy.
  static let lateTime: UInt32 = 60

  private var recent: [Key: Failure] = [:]
  private var older: [Key: Failure] = [:]

  var count: Int { recent.count + older.count }

  mutating func note(_ failure: Failure, of key: Key) {
    recent[key] = failure
    if recent.count >= Self.maximumCount / 2 { (older, recent) = (recent, [:]) }
  }

  /// The failure of this result, or of all results of the same file.
  func failure(of key: Key, now: UInt32) -> Failure? {
    var fileKey = key
    fileKey.result = nil
    return [fileKey, key].lazy.compactMap { held($0, now: now) }.first
  }

  private func held(_ key: Key, now: UInt32) -> Failure? {
    guard let failure = recent[key] ?? older[key] else { return nil }
    return failure.end.map { $0 > now } ?? true ? failure : nil
  }

  mutating func removeAll() { (recent, older) = ([:], [:]) }
}

extension PictureFailure {
  /// Whether a picture of another size or format may be possible.
  var dependsOnResult: Bool { self == .resultTooLarge || self == .outOfMemory }
}
