/// The kind of media of an asset.
public enum MediaType: String, OpenEnum {
  /// photod does not know the kind, or this program does not know the word of a later photod.
  case unknown
  case image, video, audio
}

/// A place on earth, in the WGS 84 datum.
public struct Location: Codable, Hashable, Sendable {
  /// Degrees, north positive, -90...90.
  public var latitude: Double
  /// Degrees, east positive, -180...180.
  public var longitude: Double
  /// Metres above sea level.
  public var altitude: Double?

  public init(latitude: Double, longitude: Double, altitude: Double? = nil) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
  }
}

/// The camera that took the picture, and its settings.
public struct Camera: Codable, Hashable, Sendable {
  public var make: String?
  public var model: String?
  public var lens: String?
  public var exposureSeconds: Double?
  public var fNumber: Double?
  public var iso: Int?
  public var focalLengthMillimeters: Double?
  public var flashFired: Bool?

  public init(
    make: String? = nil, model: String? = nil, lens: String? = nil, exposureSeconds: Double? = nil,
    fNumber: Double? = nil, iso: Int? = nil, focalLengthMillimeters: Double? = nil, flashFired: Bool? = nil
  ) {
    self.make = make
    self.model = model
    self.lens = lens
    self.exposureSeconds = exposureSeconds
    self.fNumber = fNumber
    self.iso = iso
    self.focalLengthMillimeters = focalLengthMillimeters
    self.flashFired = flashFired
  }

  public var isEmpty: Bool { self == Camera() }
}

/// One file of an asset.
public struct Resource: Codable, Hashable, Sendable {
  public enum Kind: String, OpenEnum {
    case photo, video, audio, alternatePhoto, pairedVideo, adjustedPhoto, sidecar
    case unknown

    public static let allCases: [Kind] = [
      .photo, .video, .audio, .alternatePhoto, .pairedVideo, .adjustedPhoto, .sidecar,
    ]
  }

  public var kind: Kind
  /// Absolute. A path that is not UTF-8 is a `file://` URI with percent-encoded bytes (see ``FilePath``).
  public var path: String
  public var filename: String
  public var byteCount: Int64
  /// The media type (RFC 6838), for example `image/jpeg`.
  public var contentType: String

  public init(kind: Kind, path: String, filename: String, byteCount: Int64, contentType: String) {
    self.kind = kind
    self.path = path
    self.filename = filename
    self.byteCount = byteCount
    self.contentType = contentType
  }
}

/// One photo or video of the library, as `org.photod.library` describes it.
public struct Asset: Codable, Hashable, Sendable, Identifiable {
  /// Unique in its library and never reused. A deleted photo gets its id back if it returns within 30 days.
  public var id: AssetID
  public var mediaType: MediaType
  /// livePhoto, panorama, hdr, screenshot, raw, animated, motionPhoto, burst, depth; more may come.
  public var mediaSubtypes: [String]
  /// When the photo was taken, by the best source.
  public var creationDate: PhotoDate
  public var creationDateSource: CreationDateSource
  /// When the content last changed.
  public var modificationDate: PhotoDate
  /// When this library first saw it.
  public var addedDate: PhotoDate
  /// As displayed: the orientation is applied.
  public var pixelWidth: Int?
  public var pixelHeight: Int?
  /// EXIF 1...8, as in the file.
  public var orientation: Int?
  public var durationSeconds: Double?
  public var location: Location?
  public var camera: Camera?
  public var title: String?
  public var caption: String?
  public var keywords: [String]
  /// 0...5
  public var rating: Int?
  public var isFavorite: Bool
  public var isHidden: Bool
  public var isTrashed: Bool
  public var burstIdentifier: String?
  /// `false` while its volume is offline.
  public var available: Bool
  /// The version of what its files show. It changes with their content, and not with their paths or with user data.
  /// A program that keeps pictures keeps them by id, revision and size.
  public var revision: String
  /// The resource to show comes first.
  public var resources: [Resource]

  public init(
    id: AssetID, mediaType: MediaType, mediaSubtypes: [String] = [], creationDate: PhotoDate,
    creationDateSource: CreationDateSource, modificationDate: PhotoDate, addedDate: PhotoDate, pixelWidth: Int? = nil,
    pixelHeight: Int? = nil,
    orientation: Int? = nil, durationSeconds: Double? = nil, location: Location? = nil, camera: Camera? = nil,
    title: String? = nil, caption: String? = nil, keywords: [String] = [], rating: Int? = nil,
    isFavorite: Bool = false, isHidden: Bool = false, isTrashed: Bool = false, burstIdentifier: String? = nil,
    available: Bool = true, revision: String = "", resources: [Resource] = []
  ) {
    self.id = id
    self.mediaType = mediaType
    self.mediaSubtypes = mediaSubtypes
    self.creationDate = creationDate
    self.creationDateSource = creationDateSource
    self.modificationDate = modificationDate
    self.addedDate = addedDate
    self.pixelWidth = pixelWidth
    self.pixelHeight = pixelHeight
    self.orientation = orientation
    self.durationSeconds = durationSeconds
    self.location = location
    self.camera = camera
    self.title = title
    self.caption = caption
    self.keywords = keywords
    self.rating = rating
    self.isFavorite = isFavorite
    self.isHidden = isHidden
    self.isTrashed = isTrashed
    self.burstIdentifier = burstIdentifier
    self.available = available
    self.revision = revision
    self.resources = resources
  }
}
