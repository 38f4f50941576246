import PhotoModel

/// One file of an asset, as PhotoKit's `PHAssetResource`.
///
/// ```swift
/// for resource in AssetResource.resources(for: asset) {
///   print(resource.filename, Double(resource.byteCount) / 1e6, "MB")
/// }
/// ```
///
/// It describes the file as it was when the asset was fetched. ``AssetResourceManager`` reads its bytes.
public struct AssetResource: Hashable, Sendable {
  /// The asset to which the file belongs.
  public let assetID: AssetID
  /// The index of the file among the `resources` of the asset. 0 is the file to show.
  public let index: Int
  /// The part that the file has in its asset.
  public let kind: Resource.Kind
  /// The last part of ``path``.
  public let filename: String
  /// The absolute path. A path that is not UTF-8 is a `file://` URI with percent-encoded bytes.
  public let path: String
  /// The media type (RFC 6838), for example `image/jpeg`.
  public let contentType: String
  /// The size of the file.
  public let byteCount: Int64
  /// The revision of the asset.
  public let revision: String

  /// The files of an asset, the one to show first.
  ///
  /// - Complexity: O(n) for n files.
  public static func resources(for asset: Asset) -> [AssetResource] {
    asset.resources.enumerated().map { index, resource in
      AssetResource(
        assetID: asset.id, index: index, kind: resource.kind, filename: resource.filename, path: resource.path,
        contentType: resource.contentType, byteCount: resource.byteCount, revision: asset.revision)
    }
  }
}

/// A part of the bytes of a resource, and how far the reading is.
public struct ResourceChunk: Hashable, Sendable {
  /// The bytes, which follow those of the chunk before.
  public let bytes: [UInt8]
  /// The number of bytes so far, these included.
  public let bytesRead: Int64
  /// The size of the file.
  public let total: Int64

  /// 0...1: the part of the file that was read so far.
  public var fractionCompleted: Double { total > 0 ? Double(bytesRead) / Double(total) : 1 }
}

/// The bytes of a resource in their order.
///
/// Leaving the loop, or cancelling its task, ends the reading.
public struct ResourceData: AsyncSequence, Sendable {
  /// A part of the bytes.
  public typealias Element = ResourceChunk

  let library: PhotoLibrary
  let resource: AssetResource

  /// Each iteration reads the file again.
  ///
  /// - Complexity: O(1)
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(library: library, resource: resource) }

  /// Reads one chunk after another.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let library: PhotoLibrary
    private let resource: AssetResource
    private var pages: LibraryReplies<ResourcePage>.AsyncIterator
    private var bytesRead: Int64 = 0

    fileprivate init(library: PhotoLibrary, resource: AssetResource) {
      (self.library, self.resource) = (library, resource)
      pages = library.pages(of: resource, from: 0).makeAsyncIterator()
    }

    /// The next chunk; nil after the last one.
    ///
    /// - Throws: ``PhotoLibraryError/resourceChanged(message:)`` if the file has changed since the asset was fetched, or
    ///   changes meanwhile. Discard what was read then. Any other ``PhotoLibraryError``, or `CancellationError`.
    public mutating func next() async throws -> ResourceChunk? {
      let page = try await library.patiently {
        do { return try await pages.next() } catch let error as PhotoLibraryError where Reconnection.isOutage(error) {
          pages = library.pages(of: resource, from: bytesRead).makeAsyncIterator()
          throw error
        }
      }
      guard let page else {
        try Task.checkCancellation()
        return nil
      }
      guard page.offset == bytesRead, page.offset + Int64(page.bytes.count) <= page.total else {
        throw PhotoLibraryError.malformedReply("a page of a file at \(page.offset) came after \(bytesRead) bytes")
      }
      bytesRead += Int64(page.bytes.count)
      return ResourceChunk(bytes: page.bytes, bytesRead: bytesRead, total: page.total)
    }
  }
}

extension PhotoLibrary {
  /// The bytes of a file from an offset to its end. It may be the end itself.
  fileprivate func pages(of resource: AssetResource, from offset: Int64) -> LibraryReplies<ResourcePage> {
    let request = ReadResourceRequest(
      assetID: resource.assetID, resource: resource.index, offset: offset == 0 ? nil : offset, count: nil,
      ifRevision: resource.revision)
    return stream("ReadResource", in: ImageManager.interface, request, of: ResourceReply.self) { $0.page }
  }
}
