import PhotoModel

/// The work that waits for the thread of shared thumbnails. Its size does not depend on that of the library.
struct ThumbnailQueue: Sendable {
  enum Work: Hashable, Sendable {
    /// Moves or removes the thumbnails of an asset, if it has moved, or is hidden, trashed or deleted.
    case settle(assetID: AssetID)
    /// Queues the recorded assets of one of the 256 folders.
    case readRecords(folder: Int)
    case write(PictureKey)
    case writeFailure(Failure)
  }

  /// A file that could not be decoded.
  struct Failure: Hashable, Sendable {
    var assetID: AssetID
    /// FNV-1a of the revision.
    var revision: UInt64
    var file: Int
  }

  /// If so many pictures wait, caching pauses.
  static let mostPictures = 256
  /// The room for pictures that the threads of caching had begun when it paused. Each thread has begun at most one. If requests
  /// fill this room too, more pictures are not shared.
  static let mostPicturesUnderWay = 256
  static let mostFailures = 256
  /// The most assets that wait. If there are more, all records are read instead.
  static let mostAssets = 1 << 17
  private static let folderCount = 256

  private var assetIDs: Set<AssetID> = []
  /// The folders of records from this one on are to be read.
  private var nextFolder = Self.folderCount
  private var pictures: [PictureKey] = []
  private var failures: [Failure] = []

  var isEmpty: Bool {
    assetIDs.isEmpty && nextFolder == Self.folderCount && pictures.isEmpty && failures.isEmpty
  }
  var isFull: Bool { pictures.count >= Self.mostPictures }

  mutating func settle(_ ids: some Collection<AssetID>) {
    guard assetIDs.count + ids.count <= Self.mostAssets else {
      assetIDs = []
      return settleAll()
    }
    assetIDs.formUnion(ids)
  }

  /// Settles all recorded assets.
  mutating func settleAll() { nextFolder = 0 }

  mutating func write(_ picture: PictureKey) {
    guard pictures.count < Self.mostPictures + Self.mostPicturesUnderWay, !pictures.contains(picture) else { return }
    pictures.append(picture)
  }

  mutating func write(_ failure: Failure) {
    if failures.count < Self.mostFailures, !failures.contains(failure) { failures.append(failure) }
  }

  /// Takes the next work. Thumbnails that must go come first.
  /// - Parameter mayDecode: whether a picture may be made now.
  mutating func take(mayDecode: Bool) -> Work? {
    if let id = assetIDs.popFirst() { return .settle(assetID: id) }
    if nextFolder < Self.folderCount {
      nextFolder += 1
      return .readRecords(folder: nextFolder - 1)
    }
    if !failures.isEmpty { return .writeFailure(failures.removeFirst()) }
    return mayDecode && !pictures.isEmpty ? .write(pictures.removeFirst()) : nil
  }
}
