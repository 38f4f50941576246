import PhotoModel

// The replies and errors of org.photod.images.

/// Why there is no picture.
public struct ImageFailure: Codable, Hashable, Sendable {
  /// The reasons, for a program.
  public enum Kind: String, OpenEnum {
    /// There is no such asset, or it was deleted while the request waited.
    case noSuchAsset
    /// Its drive is offline, its disk failed, or its file was changed and photod has not read it yet. No picture of it
    /// is kept.
    case unavailable
    /// The file is damaged, or its decoder gave up.
    case unreadable
    /// No decoder for this format is installed.
    case unsupported
    /// The picture has too many pixels, or its file is on a share and too large to be copied.
    case tooLarge
    /// The disk that holds the cache is full.
    case storageFull
    /// A case of a later version, which this version does not know.
    case unknown

    /// The cases that this version knows, without `unknown`.
    public static let allCases: [Kind] = [
      .noSuchAsset, .unavailable, .unreadable, .unsupported, .tooLarge, .storageFull,
    ]
  }

  /// The reason, for a program.
  public var kind: Kind
  /// For a person: what failed, on what, and the remedy.
  public var message: String

  /// Creates a failure. `message` is a sentence for a person, with the remedy.
  public init(kind: Kind, message: String) {
    self.kind = kind
    self.message = message
  }
}

/// One picture. Exactly one of `path`, `data` and `imageID` is set.
package struct ImageDescription: Codable, Hashable, Sendable {
  package var path: String?
  /// Base64.
  package var data: String?
  package var imageID: String?
  package var contentType: String
  package var width: Int
  package var height: Int
  package var byteCount: Int
  package var isDegraded: Bool
  package var revision: String

  package init(
    path: String? = nil, data: String? = nil, imageID: String? = nil, contentType: String, width: Int, height: Int,
    byteCount: Int, isDegraded: Bool, revision: String
  ) {
    self.path = path
    self.data = data
    self.imageID = imageID
    self.contentType = contentType
    self.width = width
    self.height = height
    self.byteCount = byteCount
    self.isDegraded = isDegraded
    self.revision = revision
  }
}

/// One result of a request. Exactly one of `image` and `failure` is set.
package struct ImageResult: Codable, Hashable, Sendable {
  package var requestID: Int64
  package var isFinal: Bool
  package var image: ImageDescription?
  package var failure: ImageFailure?

  package init(requestID: Int64, isFinal: Bool, image: ImageDescription? = nil, failure: ImageFailure? = nil) {
    self.requestID = requestID
    self.isFinal = isFinal
    self.image = image
    self.failure = failure
  }
}

package struct OpenSessionReply: Codable, Sendable {
  package var session: String
  package var results: [ImageResult]

  package init(session: String, results: [ImageResult]) {
    self.session = session
    self.results = results
  }
}

package struct CancelRequestsReply: Codable, Sendable {
  /// The requests that will have no further result.
  package var cancelled: [Int64]

  package init(cancelled: [Int64]) { self.cancelled = cancelled }
}

package struct ReadImageReply: Codable, Sendable {
  package var offset: Int
  /// Base64.
  package var data: String
  package var total: Int

  package init(offset: Int, data: String, total: Int) {
    self.offset = offset
    self.data = data
    self.total = total
  }
}

package struct MakeImagesReply: Codable, Sendable {
  package var results: [ImageResult]

  package init(results: [ImageResult]) { self.results = results }
}

package struct ReadResourceReply: Codable, Sendable {
  package var offset: Int64
  /// Base64.
  package var data: String
  /// The size of the file when the reading began.
  package var total: Int64
  package var revision: String

  package init(offset: Int64, data: String, total: Int64, revision: String) {
    self.offset = offset
    self.data = data
    self.total = total
    self.revision = revision
  }
}

/// The work of photod on pictures. The counts begin at its start.
public struct ImageStatistics: Codable, Hashable, Sendable {
  /// The sessions that are open.
  public var sessions: Int
  /// The requests and the pictures of caching sets that wait.
  public var queued: Int
  /// The pictures that are being made.
  public var running: Int
  /// The pictures that were made.
  public var made: Int
  /// The pictures that were kept from before.
  public var cacheHits: Int
  /// The pictures that could not be made.
  public var failed: Int
  /// The pictures that were made and never sent.
  public var undelivered: Int
  /// The size of the store of pictures.
  public var bytes: Int64
  /// The configured size of the store. Pictures that were sent in the last 60 seconds may exceed it.
  public var maximumBytes: Int64

  /// Creates the statistics. photod sends them; a program makes them for its own tests.
  public init(
    sessions: Int, queued: Int, running: Int, made: Int, cacheHits: Int, failed: Int, undelivered: Int, bytes: Int64,
    maximumBytes: Int64
  ) {
    self.sessions = sessions
    self.queued = queued
    self.running = running
    self.made = made
    self.cacheHits = cacheHits
    self.failed = failed
    self.undelivered = undelivered
    self.bytes = bytes
    self.maximumBytes = maximumBytes
  }
}

/// NoSuchSession.
package struct SessionError: Codable, Sendable {
  package var session: String
  package var message: String

  package init(session: String, message: String) {
    self.session = session
    self.message = message
  }
}

/// NoSuchImage.
package struct ImageIDError: Codable, Sendable {
  package var imageID: String
  package var message: String

  package init(imageID: String, message: String) {
    self.imageID = imageID
    self.message = message
  }
}

/// DuplicateRequest.
package struct RequestIDError: Codable, Sendable {
  package var id: Int64
  package var message: String

  package init(id: Int64, message: String) {
    self.id = id
    self.message = message
  }
}

/// TooManyRequests and TooManySessions.
package struct LimitError: Codable, Sendable {
  package var limit: Int
  package var message: String

  package init(limit: Int, message: String) {
    self.limit = limit
    self.message = message
  }
}

/// NoSuchResource.
package struct ResourceError: Codable, Sendable {
  package var assetID: AssetID
  package var resource: Int
  package var message: String

  package init(assetID: AssetID, resource: Int, message: String) {
    self.assetID = assetID
    self.resource = resource
    self.message = message
  }
}
