import ImageRecords
import PhotoModel

/// The picture of an asset that a request needs.
struct PicturePlan: Sendable {
  /// Equal work has equal keys.
  struct WorkKey: Hashable, Sendable {
    var assetID: AssetID
    var revision: UInt64
    var file: Int
    var target: PictureTarget
    var isPNG: Bool
    var milliseconds: Int64?
    /// Whether the file is on a share.
    var isOnShare = false
  }

  struct Refusal: Error {
    var kind: PictureFailureKind
    var message: String
  }

  let library: UInt64
  var asset: ImageAsset
  var file: ImageFile
  var work: WorkKey

  /// - Parameters:
  ///   - library: the library of the key.
  ///   - pixelSize: the size of a picture of this asset, if one was made. It is preferred to the asset's.
  init(
    _ options: ImageOptions, _ asset: ImageAsset, library: UInt64, pixelSize: ImageFrame?
  ) throws(Refusal) {
    self.library = library
    let first = options.version == .original ? asset.originalFile : asset.currentFile
    let index = options.resource ?? first ?? 0
    guard asset.files.indices.contains(index), index <= 255 else {
      throw Refusal(kind: .unreadable, message: "the asset has no file with the index \(index)")
    }
    self.asset = asset
    file = asset.files[index]
    // The catalog's size is that of the file to show.
    let known = pixelSize ?? (index == 0 ? asset.pixelSize : nil)
    let isMoving = asset.mediaType == .video || asset.files[index].contentType.hasPrefix("video/")
    work = WorkKey(
      assetID: asset.id, revision: PictureHash.revision(asset.revision), file: index,
      target: PictureTarget(options, pixelSize: known), isPNG: options.format == .png,
      milliseconds: isMoving ? options.atSeconds.map(Self.milliseconds) : nil)
  }

  /// After the end of a video, each time means the last frame.
  private static func milliseconds(_ seconds: Double) -> Int64 {
    Int64((min(max(seconds, 0), Double(PictureRequest.latestMilliseconds / 1000)) * 1000).rounded())
  }

  func key(_ target: PictureTarget, isDegraded: Bool = false) -> PictureKey {
    PictureKey(
      library: library, assetID: work.assetID, revision: work.revision, file: work.file, target: target,
      isPNG: work.isPNG, milliseconds: work.milliseconds, isDegraded: isDegraded)
  }

  /// The key of failures of this result.
  func failureKey(_ source: FailureMemory.Source) -> FailureMemory.Key {
    FailureMemory.Key(
      assetID: work.assetID, revision: work.revision, file: work.file, milliseconds: work.milliseconds,
      source: source, result: .init(target: work.target, isPNG: work.isPNG))
  }

  /// The key under which a new picture is kept. A picture that is smaller than a kept size has the size of the original. If
  /// it is degraded, it is the largest preview of the file, so it serves all larger sizes as well.
  func key(of picture: ReceivedPicture) -> PictureKey {
    let size = picture.header.size
    guard case .kept(let side) = work.target else { return key(work.target, isDegraded: picture.isDegraded) }
    guard max(size.width, size.height) < side else { return key(work.target) }
    return key(.original, isDegraded: picture.isDegraded)
  }

  /// Whether a kept picture is smaller than this plan asks, although the file could give a larger one.
  func isDegraded(_ found: PictureStore.Found) -> Bool {
    found.key.isDegraded && max(found.header.size.width, found.header.size.height) < longerSide
  }

  /// The longer side of the picture that is wanted, in pixels.
  var longerSide: Int {
    switch work.target {
    case .kept(let side): side
    case .original: Int.max
    case .exact(let frame, let covers): PictureTarget.longerSide(of: asset.pixelSize, frame, covers: covers)
    }
  }

  /// The kept sizes below and above the target: the nearest first.
  var otherSizes: (smaller: [PictureTarget], larger: [PictureTarget]) {
    let side = longerSide
    let larger = PictureTarget.keptSizes.filter { $0 > side || ($0 == side && work.target != .kept(side)) }
    return (
      PictureTarget.keptSizes.filter { $0 < side }.reversed().map { .kept($0) },
      larger.map { .kept($0) } + (work.target == .original ? [] : [.original])
    )
  }
}
