import PhotoContract
import PhotoModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The size of a frame, in pixels and not in points.
public struct ImageSize: Hashable, Sendable {
  /// The width.
  public var width: Int
  /// The height.
  public var height: Int

  /// - Parameters: 1...16,384 each.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

/// The options of a request for pictures, as PhotoKit's `PHImageRequestOptions`.
public struct ImageRequestOptions: Hashable, Sendable {
  /// The results that the request has.
  public var deliveryMode: ImageDeliveryMode
  /// How near the size of the picture is to the frame.
  public var resizeMode: ImageResizeMode
  /// The file of the asset that is shown.
  public var version: ImageVersion
  /// The index of a file among `resources` of the asset; nil for the file that ``version`` means.
  public var resource: Int?
  /// The time of a video's frame; nil for the first one that is not black.
  public var atSeconds: Double?
  /// The format of the picture.
  public var format: ImageFormat

  /// Creates options. A request without options has the defaults.
  public init(
    deliveryMode: ImageDeliveryMode = .opportunistic, resizeMode: ImageResizeMode = .fast,
    version: ImageVersion = .current, resource: Int? = nil, atSeconds: Double? = nil, format: ImageFormat = .jpeg
  ) {
    self.deliveryMode = deliveryMode
    self.resizeMode = resizeMode
    self.version = version
    self.resource = resource
    self.atSeconds = atSeconds
    self.format = format
  }
}

/// A picture of an asset: upright, in sRGB, without metadata.
public struct AssetImage: Hashable, Sendable {
  /// The place of a picture's bytes.
  public enum Content: Hashable, Sendable {
    /// The path of a file of photod. It can be read for 60 s. Its content never changes.
    case file(path: String)
    /// The bytes, if the manager was made with `wantsData`.
    case data([UInt8])
    /// A larger picture for a client without access to files. ``ImageManager/data(of:)`` reads it, for 60 s.
    case stored(imageID: String)
  }

  /// The place of the bytes.
  public let content: Content
  /// `image/jpeg` or `image/png`.
  public let contentType: String
  /// The width in pixels.
  public let width: Int
  /// The height in pixels.
  public let height: Int
  /// The size of the encoded picture.
  public let byteCount: Int
  /// Whether it is smaller than requested, although the file has more. A better one follows unless ``isFinal``.
  public let isDegraded: Bool
  /// Whether it is the last result of its request.
  public let isFinal: Bool
  /// The revision of the asset that it shows. Keep pictures by the asset's id, this, and their size.
  public let revision: String
  /// The session that has its bytes.
  let session: String

  /// - Throws: ``PhotoLibraryError/malformedReply(_:)``.
  init(_ image: ImageDescription, isFinal: Bool, session: String) throws {
    if let path = image.path {
      content = .file(path: path)
    } else if let text = image.data {
      guard let bytes = Base64.bytes(text) else {
        throw PhotoLibraryError.malformedReply("the data of a picture is not base64")
      }
      content = .data(bytes)
    } else if let imageID = image.imageID {
      content = .stored(imageID: imageID)
    } else {
      throw PhotoLibraryError.malformedReply("a picture has no content")
    }
    contentType = image.contentType
    width = image.width
    height = image.height
    byteCount = image.byteCount
    isDegraded = image.isDegraded
    self.isFinal = isFinal
    revision = image.revision
    self.session = session
  }
}

/// The results of one request: at most one degraded picture, then the final one.
///
/// Leaving the loop, or cancelling its task, cancels the request.
public struct ImageResults: AsyncSequence, Sendable {
  /// One result of the request.
  public typealias Element = AssetImage

  let stream: AsyncThrowingStream<AssetImage, any Error>

  /// Begins to read the results. Only one task may read them.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: stream.makeAsyncIterator()) }

  /// Reads the results. When it is released, the request is cancelled.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var base: AsyncThrowingStream<AssetImage, any Error>.Iterator

    /// The next picture; nil after the final one. A task that was cancelled gets none.
    ///
    /// - Throws: ``PhotoLibraryError``, such as ``PhotoLibraryError/noImage(kind:message:)``; `CancellationError` if
    ///   the task was cancelled.
    public mutating func next() async throws -> AssetImage? { try await next(isolation: nil) }

    /// The next picture; nil after the final one.
    ///
    /// It is delivered on the actor of the caller. So after the actor has cancelled the task, for example because a cell is
    /// reused, the task gets no picture.
    ///
    /// - Throws: as ``next()``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> AssetImage? {
      let image = try await base.next(isolation: actor)
      // A picture may have waited in the stream when the task was cancelled.
      try Task.checkCancellation()
      return image
    }
  }
}

/// A part of a file of an asset.
public struct ResourcePage: Hashable, Sendable {
  /// The position of the first byte in the file.
  public let offset: Int64
  /// The bytes.
  public let bytes: [UInt8]
  /// The size of the file when the reading began.
  public let total: Int64
  /// The revision of the asset.
  public let revision: String
}

extension ResourceReply {
  var page: ResourcePage { ResourcePage(offset: offset, bytes: bytes, total: total, revision: revision) }
}

/// ReadResourceReply with decoded data.
struct ResourceReply: Decodable, Sendable {
  let offset: Int64
  let bytes: [UInt8]
  let total: Int64
  let revision: String

  init(from decoder: any Decoder) throws {
    let reply = try ReadResourceReply(from: decoder)
    guard let bytes = Base64.bytes(reply.data) else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "the data is not base64"))
    }
    offset = reply.offset
    self.bytes = bytes
    total = reply.total
    revision = reply.revision
  }
}

enum Base64 {
  /// - Returns: nil if the text is not base64.
  static func bytes(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map(Array.init) }
}
