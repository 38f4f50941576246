import PhotoModel

/// The frame in which a picture is shown, in pixels: 1...16384.
package struct ImageFrame: Hashable, Sendable {
  package var width: Int
  package var height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

/// The way in which a client wants a picture. The members are those of `ImageRequest` in `org.photod.images`.
package struct ImageOptions: Hashable, Sendable {
  package enum ContentMode: Sendable { case aspectFit, aspectFill }
  package enum Delivery: Sendable {
    /// An immediate degraded picture if there is one, then the final one. If a kept picture has the right size, there is
    /// only the final one.
    case opportunistic
    /// The final picture only.
    case highQuality
    /// One picture: a kept one of any size, or the one that the camera embedded. Only if there is neither, one is made.
    case fast
  }
  package enum Resize: Sendable {
    /// The smallest kept size that fits or covers the frame.
    case fast
    /// As large as the frame asks.
    case exact
  }
  package enum Version: Sendable { case current, original }
  package enum Format: Sendable { case jpeg, png }

  /// Nil means the picture's own size.
  package var frame: ImageFrame?
  package var contentMode: ContentMode
  package var delivery: Delivery
  package var resize: Resize
  package var version: Version
  /// The index of a file in ``ImageAsset/files``. Nil means the one that `version` selects.
  package var resource: Int?
  /// The time of a video's frame, in seconds.
  package var atSeconds: Double?
  package var format: Format

  package init(
    frame: ImageFrame? = nil, contentMode: ContentMode = .aspectFit, delivery: Delivery = .opportunistic,
    resize: Resize = .fast, version: Version = .current, resource: Int? = nil, atSeconds: Double? = nil,
    format: Format = .jpeg
  ) {
    self.frame = frame
    self.contentMode = contentMode
    self.delivery = delivery
    self.resize = resize
    self.version = version
    self.resource = resource
    self.atSeconds = atSeconds
    self.format = format
  }
}

/// One request of a session.
package struct ImageDemand: Sendable {
  /// The client's number for the request.
  package var id: Int64
  package var assetID: AssetID
  package var options: ImageOptions

  package init(id: Int64, assetID: AssetID, options: ImageOptions) {
    self.id = id
    self.assetID = assetID
    self.options = options
  }
}

/// The process that opened a session, and the listener through which it came.
///
/// Turns go between processes. A session can be used by every process that came through the same listener.
package struct ImageClient: Hashable, Sendable {
  /// One text for each process, such as its number and the time of its start.
  package var process: String
  package var listener: String

  package init(process: String, listener: String = "") {
    self.process = process
    self.listener = listener
  }
}
