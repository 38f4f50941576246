import PhotoContract
import PhotoImages
import PhotoModel
import Varlink

// The requests of clients, checked.

extension ImageDemand {
  /// - Parameters:
  ///   - place: the name of the request in its call, for errors.
  ///   - id: replaces the id of the request.
  /// - Throws: `VarlinkError.invalidParameter` with the member that is out of its range or has an unknown word.
  init(_ request: ImageRequest, at place: String, id: Int64? = nil) throws(VarlinkError) {
    func check(_ isValid: Bool, _ member: String) throws(VarlinkError) {
      guard isValid else { throw .invalidParameter("\(place).\(member)") }
    }
    let sizes = 1...ImageLimits.maximumTarget
    try check(request.targetWidth.map(sizes.contains) ?? (request.targetHeight == nil), "targetWidth")
    try check(request.targetHeight.map(sizes.contains) ?? (request.targetWidth == nil), "targetHeight")
    try check(request.contentMode != .unknown, "contentMode")
    try check(request.deliveryMode != .unknown, "deliveryMode")
    try check(request.resizeMode != .unknown, "resizeMode")
    try check(request.version != .unknown, "version")
    try check(request.format != .unknown, "format")
    try check(request.resource.map { $0 >= 0 } ?? true, "resource")
    try check(request.atSeconds.map { $0 >= 0 && $0.isFinite } ?? true, "atSeconds")
    var frame: ImageFrame?
    if let width = request.targetWidth, let height = request.targetHeight {
      frame = ImageFrame(width: width, height: height)
    }
    self.init(
      id: id ?? request.id, assetID: request.assetID,
      options: ImageOptions(
        frame: frame, contentMode: request.contentMode == .aspectFill ? .aspectFill : .aspectFit,
        delivery: request.deliveryMode.map(Self.delivery) ?? .opportunistic,
        resize: request.resizeMode == .exact ? .exact : .fast,
        version: request.version == .original ? .original : .current, resource: request.resource,
        atSeconds: request.atSeconds, format: request.format == .png ? .png : .jpeg))
  }

  private static func delivery(_ mode: ImageDeliveryMode) -> ImageOptions.Delivery {
    switch mode {
    case .opportunistic, .unknown: .opportunistic
    case .highQuality: .highQuality
    case .fast: .fast
    }
  }
}

extension CachingRequest {
  /// The frame and the mode of the pictures.
  ///
  /// - Throws: `VarlinkError.invalidParameter`.
  func frame() throws(VarlinkError) -> (ImageFrame, ImageOptions.ContentMode) {
    let sizes = 1...ImageLimits.maximumTarget
    guard sizes.contains(targetWidth) else { throw .invalidParameter("targetWidth") }
    guard sizes.contains(targetHeight) else { throw .invalidParameter("targetHeight") }
    guard contentMode != .unknown else { throw .invalidParameter("contentMode") }
    return (
      ImageFrame(width: targetWidth, height: targetHeight), contentMode == .aspectFill ? .aspectFill : .aspectFit
    )
  }
}
