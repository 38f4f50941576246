import PhotoContract
import PhotoModel
import Varlink

/// PhotoKit's name for an image manager that also prepares pictures. Here, each ``ImageManager`` does.
public typealias CachingImageManager = ImageManager

/// Pictures of the library's assets at the size in which they are shown, as PhotoKit's `PHCachingImageManager`.
///
/// ```swift
/// let images = ImageManager(of: library)
/// for try await image in images.requestImage(for: asset.id, targetSize: ImageSize(width: 256, height: 256)) {
///   show(try await images.data(of: image))   // a small picture at once, then the final one
/// }
/// ```
///
/// All requests of a manager are one session of photod, which is opened for the first one. It has two connections: one
/// for the results, and one for requests and cancellations. So a slow picture holds up nothing else. If photod is
/// restarted, the manager opens another session and repeats the requests that have no final result. It waits for photod
/// for 10 s, while fetches wait for 30 s. After that, the requests throw. The next request tries again, and the caching
/// set is kept.
///
/// Use one manager for all views of a program. Requests are served in their order; cancel those of cells that are gone,
/// and photod does not begin their work.
///
/// Every call throws ``PhotoLibraryError`` or `CancellationError`, and nothing else.
public final class ImageManager: Sendable {
  private let library: PhotoLibrary
  let session: ImageSessionConnection
  static let interface = "org.photod.images"

  /// - Parameter wantsData: true to get the bytes of pictures instead of paths, for a program that can't open files.
  public convenience init(of library: PhotoLibrary, wantsData: Bool = false) {
    self.init(of: library, wantsData: wantsData, patience: .seconds(10))
  }

  /// - Parameter patience: how long photod may be away before requests fail. It may be restarting.
  package init(of library: PhotoLibrary, wantsData: Bool = false, patience: Duration) {
    self.library = library
    session = ImageSessionConnection(path: library.socketPath, wantsData: wantsData, patience: patience)
  }

  deinit { session.close() }

  // MARK: - Pictures

  /// Requests a picture. The work begins at once, and is cancelled when the loop over the results is left.
  ///
  /// - Parameters:
  ///   - targetSize: the frame; nil for the picture's own size.
  ///   - contentMode: whether the picture fits inside the frame, or covers it.
  /// - Returns: the results: at most one degraded picture, and the final one. If there is none, the sequence throws
  ///   ``PhotoLibraryError/noImage(kind:message:)``.
  public func requestImage(
    for id: AssetID, targetSize: ImageSize?, contentMode: ImageContentMode = .aspectFit,
    options: ImageRequestOptions = ImageRequestOptions()
  ) -> ImageResults {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: AssetImage.self, throwing: (any Error).self)
    if let fault = Self.fault(targetSize, options) {
      continuation.finish(throwing: PhotoLibraryError.invalidParameter(fault))
    } else {
      session.submit(Self.request(0, id, targetSize, contentMode, options), continuation)
    }
    return ImageResults(stream: stream)
  }

  /// Requests a picture of an asset, as the same call with the id of the asset.
  public func requestImage(
    for asset: Asset, targetSize: ImageSize?, contentMode: ImageContentMode = .aspectFit,
    options: ImageRequestOptions = ImageRequestOptions()
  ) -> ImageResults {
    requestImage(for: asset.id, targetSize: targetSize, contentMode: contentMode, options: options)
  }

  /// The final picture.
  ///
  /// - Throws: ``PhotoLibraryError/noImage(kind:message:)`` if there is none.
  public func image(
    for id: AssetID, targetSize: ImageSize?, contentMode: ImageContentMode = .aspectFit,
    options: ImageRequestOptions = ImageRequestOptions(deliveryMode: .highQuality)
  ) async throws -> AssetImage {
    for try await image in requestImage(for: id, targetSize: targetSize, contentMode: contentMode, options: options)
    where image.isFinal { return image }
    throw PhotoLibraryError.malformedReply("a request ended without a final picture")
  }

  /// The final picture of an asset, as the same call with the id of the asset.
  public func image(
    for asset: Asset, targetSize: ImageSize?, contentMode: ImageContentMode = .aspectFit,
    options: ImageRequestOptions = ImageRequestOptions(deliveryMode: .highQuality)
  ) async throws -> AssetImage {
    try await image(for: asset.id, targetSize: targetSize, contentMode: contentMode, options: options)
  }

  /// The bytes of a picture, within 60 s after it came.
  ///
  /// - Throws: ``PhotoLibraryError/snapshotExpired(message:)`` if it came longer ago, or photod was restarted.
  /// - Complexity: O(n) for n bytes, which come from a file or from photod, unless they came with the picture.
  public func data(of image: AssetImage) async throws -> [UInt8] {
    switch image.content {
    case .data(let bytes): return bytes
    case .file(let path): return try await ImageFileReader.bytes(path)
    case .stored(let imageID):
      return try await translatingErrors(at: library.socketPath) {
        try await session.readImage(imageID, of: image.session)
      }
    }
  }

  // MARK: - Caching

  /// Makes pictures before they are requested, while photod has nothing else to do. Adding an asset twice is the same as
  /// once. At most 50,000 pictures are in the set.
  ///
  /// - Complexity: O(n) for n ids, in the background. The set goes to photod without a wait.
  public func startCachingImages(
    for ids: [AssetID], targetSize: ImageSize, contentMode: ImageContentMode = .aspectFit
  ) {
    session.startCaching(ids, .init(size: targetSize, contentMode: contentMode))
  }

  /// Makes pictures of assets before they are requested, as the same call with the ids of the assets.
  ///
  /// - Complexity: O(n) for n assets, in the background. The set goes to photod without a wait.
  public func startCachingImages(
    for assets: [Asset], targetSize: ImageSize, contentMode: ImageContentMode = .aspectFit
  ) {
    startCachingImages(for: assets.map(\.id), targetSize: targetSize, contentMode: contentMode)
  }

  /// Takes pictures out of the set. Pictures that are made already stay in photod's store.
  ///
  /// - Complexity: O(n) for n ids, in the background.
  public func stopCachingImages(
    for ids: [AssetID], targetSize: ImageSize, contentMode: ImageContentMode = .aspectFit
  ) {
    session.stopCaching(ids, .init(size: targetSize, contentMode: contentMode))
  }

  /// Takes pictures of assets out of the set, as the same call with the ids of the assets.
  ///
  /// - Complexity: O(n) for n assets, in the background.
  public func stopCachingImages(
    for assets: [Asset], targetSize: ImageSize, contentMode: ImageContentMode = .aspectFit
  ) {
    stopCachingImages(for: assets.map(\.id), targetSize: targetSize, contentMode: contentMode)
  }

  /// Empties the set. Pictures that are made already stay in photod's store.
  public func stopCachingImagesForAllAssets() { session.stopCachingAll() }

  /// Returns when photod has the caching sets and requests of the calls before.
  package func sent() async { await session.sent() }

  /// Ends the session and its requests, which throw `CancellationError`. The next request opens another one.
  public func close() { session.close() }

  // MARK: - Other calls

  /// The work of photod on pictures now, and since its start.
  public func statistics() async throws -> ImageStatistics {
    try await library.call("Statistics", in: Self.interface, VarlinkEmpty(), returning: ImageStatistics.self)
  }

  /// The bytes of one file of an asset, for a program that can't open files.
  ///
  /// - Parameters:
  ///   - resource: the index of the file among `resources` of the asset.
  ///   - ifRevision: ends with ``PhotoLibraryError/resourceChanged(message:)`` if the asset has another revision.
  /// - Returns: pages from `offset` to the end, or of `count` bytes. If the file changes meanwhile, they end with
  ///   ``PhotoLibraryError/resourceChanged(message:)``. Discard what was read then.
  /// - Complexity: O(n) for n bytes, of which one page of at most 512 KiB is in memory.
  public func resource(
    _ resource: Int, of id: AssetID, offset: Int64? = nil, count: Int64? = nil, ifRevision: String? = nil
  ) -> LibraryReplies<ResourcePage> {
    let request = ReadResourceRequest(
      assetID: id, resource: resource, offset: offset, count: count, ifRevision: ifRevision)
    return library.stream("ReadResource", in: Self.interface, request, of: ResourceReply.self) { $0.page }
  }

  /// Makes pictures over one connection, for programs that want a few.
  package static func makeImages(
    _ ids: [AssetID], of library: PhotoLibrary, targetSize: ImageSize?, contentMode: ImageContentMode = .aspectFit,
    options: ImageRequestOptions = ImageRequestOptions(), wantsData: Bool = false
  ) -> LibraryReplies<[(index: Int, result: Result<AssetImage, PhotoLibraryError>)]> {
    let requests = ids.enumerated().map { request(Int64($0), $1, targetSize, contentMode, options) }
    let call = MakeImagesRequest(requests: requests, wantsData: wantsData ? true : nil)
    return library.stream("MakeImages", in: interface, call, of: MakeImagesReply.self) { reply in
      reply.results.map { (Int($0.requestID), $0.image(in: "")) }
    }
  }

  private static func fault(_ size: ImageSize?, _ options: ImageRequestOptions) -> String? {
    let sizes = 1...ImageLimits.maximumTarget
    if let size, !sizes.contains(size.width) || !sizes.contains(size.height) { return "targetSize" }
    if let resource = options.resource, resource < 0 { return "resource" }
    if let seconds = options.atSeconds, !(seconds >= 0 && seconds.isFinite) { return "atSeconds" }
    return nil
  }

  private static func request(
    _ number: Int64, _ id: AssetID, _ size: ImageSize?, _ contentMode: ImageContentMode, _ options: ImageRequestOptions
  ) -> ImageRequest {
    ImageRequest(
      id: number, assetID: id, targetWidth: size?.width, targetHeight: size?.height, contentMode: contentMode,
      deliveryMode: options.deliveryMode, resizeMode: options.resizeMode, version: options.version,
      resource: options.resource, atSeconds: options.atSeconds, format: options.format)
  }
}

extension ImageResult {
  /// The picture, or why there is none.
  func image(in session: String) -> Result<AssetImage, PhotoLibraryError> {
    if let failure { return .failure(.noImage(kind: failure.kind, message: failure.message)) }
    guard let image else { return .failure(.malformedReply("a result has neither a picture nor a failure")) }
    do {
      return .success(try AssetImage(image, isFinal: isFinal, session: session))
    } catch let error as PhotoLibraryError {
      return .failure(error)
    } catch {
      return .failure(.malformedReply("\(error)"))
    }
  }
}
