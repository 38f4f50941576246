import PhotoClient

/// The result of `photoctl thumbnail` for one asset.
struct Thumbnail: Encodable, Sendable {
  let id: AssetID
  var path: String?
  var width: Int?
  var height: Int?
  var byteCount: Int?
  var contentType: String?
  var isDegraded: Bool?
  var revision: String?
  /// A kind of the contract, or `error`.
  var failure: String?
  var message: String?

  /// - Parameter folder: where the picture is copied.
  /// - Throws: ``Failure`` if it can't be copied.
  init(_ id: AssetID, _ image: AssetImage, _ folder: PictureFolder?) throws {
    guard case .file(let path) = image.content else {
      throw PhotoLibraryError.malformedReply("the picture of the asset \(id) has no path")
    }
    self.id = id
    self.path = try folder?.copy(path, as: "\(id).\(image.contentType == "image/png" ? "png" : "jpg")") ?? path
    (width, height, byteCount) = (image.width, image.height, image.byteCount)
    (contentType, isDegraded, revision) = (image.contentType, image.isDegraded, image.revision)
  }

  init(_ id: AssetID, failing error: any Error, _ message: String) {
    self.id = id
    self.message = message
    guard let error = error as? PhotoLibraryError, case .noImage(let kind, _) = error else {
      failure = "error"
      return
    }
    failure = kind.rawValue
  }
}

/// Prints thumbnails as they come. A list in JSON is one array.
struct ThumbnailPrinter {
  let format: ThumbnailFormat
  private var all: [Thumbnail] = []

  init(format: ThumbnailFormat) { self.format = format }

  mutating func put(_ thumbnail: Thumbnail) throws {
    switch format {
    case .paths: if let path = thumbnail.path { try Output.put(path + "\n") }
    case .jsonl: try Output.put(try JSONText.line(thumbnail) + [UInt8(ascii: "\n")])
    case .json: all.append(thumbnail)
    }
  }

  func end() throws {
    if format == .json { try Output.put(JSONText.indented(all)) }
  }
}
