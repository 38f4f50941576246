import PhotoModel

// The requests of org.photod.images.

/// How a picture is scaled to a frame, as PhotoKit's `PHImageContentMode`.
public enum ImageContentMode: String, OpenEnum {
  /// The whole picture is inside the frame.
  case aspectFit
  /// The picture covers the frame, and the client crops it.
  case aspectFill
  /// A case of a later version, which this version does not know.
  case unknown

  /// The cases that this version knows, without `unknown`.
  public static let allCases: [ImageContentMode] = [.aspectFit, .aspectFill]
}

/// The results that a request has, as PhotoKit's `PHImageRequestOptionsDeliveryMode`.
public enum ImageDeliveryMode: String, OpenEnum {
  /// A degraded picture at once if there is one, then the final one.
  case opportunistic
  /// The final picture only.
  case highQuality
  /// One picture: an immediate one, which may be degraded. Only if there is none, a new one is made.
  case fast
  /// A case of a later version, which this version does not know.
  case unknown

  /// The cases that this version knows, without `unknown`.
  public static let allCases: [ImageDeliveryMode] = [.opportunistic, .highQuality, .fast]
}

/// The size of a picture, as PhotoKit's `PHImageRequestOptionsResizeMode`.
public enum ImageResizeMode: String, OpenEnum {
  /// The smallest size that photod keeps and that suits the frame.
  case fast
  /// As large as the frame requires.
  case exact
  /// A case of a later version, which this version does not know.
  case unknown

  /// The cases that this version knows, without `unknown`.
  public static let allCases: [ImageResizeMode] = [.fast, .exact]
}

/// The file of an asset that is shown, as PhotoKit's `PHImageRequestOptionsVersion`.
public enum ImageVersion: String, OpenEnum {
  /// The edited file beside the original, if there is one.
  case current
  /// The file that the camera made.
  case original
  /// A case of a later version, which this version does not know.
  case unknown

  /// The cases that this version knows, without `unknown`.
  public static let allCases: [ImageVersion] = [.current, .original]
}

/// The format of a picture.
public enum ImageFormat: String, OpenEnum {
  /// JPEG, but PNG for a picture with transparency.
  case jpeg
  /// PNG, which keeps every pixel and is several times as large.
  case png
  /// A case of a later version, which this version does not know.
  case unknown

  /// The cases that this version knows, without `unknown`.
  public static let allCases: [ImageFormat] = [.jpeg, .png]
}

/// One picture that a client requests.
package struct ImageRequest: Codable, Hashable, Sendable {
  /// Chosen by the client. Ids ascend within a session.
  package var id: Int64
  package var assetID: AssetID
  /// The frame in pixels; both are nil for the picture's own size.
  package var targetWidth: Int?
  package var targetHeight: Int?
  package var contentMode: ImageContentMode?
  package var deliveryMode: ImageDeliveryMode?
  package var resizeMode: ImageResizeMode?
  package var version: ImageVersion?
  /// The index of a file among the asset's resources, instead of the one that `version` means.
  package var resource: Int?
  /// The time of a video's frame.
  package var atSeconds: Double?
  package var format: ImageFormat?

  package init(
    id: Int64, assetID: AssetID, targetWidth: Int? = nil, targetHeight: Int? = nil,
    contentMode: ImageContentMode? = nil, deliveryMode: ImageDeliveryMode? = nil, resizeMode: ImageResizeMode? = nil,
    version: ImageVersion? = nil, resource: Int? = nil, atSeconds: Double? = nil, format: ImageFormat? = nil
  ) {
    self.id = id
    self.assetID = assetID
    self.targetWidth = targetWidth
    self.targetHeight = targetHeight
    self.contentMode = contentMode
    self.deliveryMode = deliveryMode
    self.resizeMode = resizeMode
    self.version = version
    self.resource = resource
    self.atSeconds = atSeconds
    self.format = format
  }
}

package struct OpenSessionRequest: Codable, Sendable {
  package var wantsData: Bool?

  package init(wantsData: Bool? = nil) { self.wantsData = wantsData }
}

package struct RequestImagesRequest: Codable, Sendable {
  package var session: String
  package var requests: [ImageRequest]

  package init(session: String, requests: [ImageRequest]) {
    self.session = session
    self.requests = requests
  }
}

package struct CancelRequestsRequest: Codable, Sendable {
  package var session: String
  /// nil for all requests that are open.
  package var ids: [Int64]?

  package init(session: String, ids: [Int64]? = nil) {
    self.session = session
    self.ids = ids
  }
}

/// StartCaching and StopCaching.
package struct CachingRequest: Codable, Sendable {
  package var session: String
  package var assetIDs: [AssetID]
  package var targetWidth: Int
  package var targetHeight: Int
  package var contentMode: ImageContentMode?

  package init(
    session: String, assetIDs: [AssetID], targetWidth: Int, targetHeight: Int, contentMode: ImageContentMode? = nil
  ) {
    self.session = session
    self.assetIDs = assetIDs
    self.targetWidth = targetWidth
    self.targetHeight = targetHeight
    self.contentMode = contentMode
  }
}

package struct StopCachingAllRequest: Codable, Sendable {
  package var session: String

  package init(session: String) { self.session = session }
}

package struct ReadImageRequest: Codable, Sendable {
  package var session: String
  package var imageID: String
  package var offset: Int?

  package init(session: String, imageID: String, offset: Int? = nil) {
    self.session = session
    self.imageID = imageID
    self.offset = offset
  }
}

package struct MakeImagesRequest: Codable, Sendable {
  package var requests: [ImageRequest]
  package var wantsData: Bool?

  package init(requests: [ImageRequest], wantsData: Bool? = nil) {
    self.requests = requests
    self.wantsData = wantsData
  }
}

package struct ReadResourceRequest: Codable, Sendable {
  package var assetID: AssetID
  package var resource: Int
  package var offset: Int64?
  package var count: Int64?
  package var ifRevision: String?

  package init(
    assetID: AssetID, resource: Int, offset: Int64? = nil, count: Int64? = nil, ifRevision: String? = nil
  ) {
    self.assetID = assetID
    self.resource = resource
    self.offset = offset
    self.count = count
    self.ifRevision = ifRevision
  }
}
