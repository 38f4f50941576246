/// The kind of media of an asset.
public enum MediaType: String, OpenEnum {
  /// photod does not know the kind, or this program does not know the word of a later photod.
  case unknown
  /// A photo, or another picture.
  case image
  /// A video that is no part of a Live Photo.
  case video
  /// A sound.
  case audio
}

/// A place on earth, in the WGS 84 datum.
public struct Location: Codable, Hashable, Sendable {
  /// Degrees, north positive, -90...90.
  public var latitude: Double
  /// Degrees, east positive, -180...180.
  public var longitude: Double
  /// Metres above sea level.
  public var altitude: Double?

  /// Creates a place. South and west are negative.
  public init(latitude: Double, longitude: Double, altitude: Double? = nil) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
  }
}

/// The camera that took the picture, and its settings.
public struct Camera: Codable, Hashable, Sendable {
  /// The manufacturer, as the file names it.
  public var make: String?
  /// The model, as the file names it.
  public var model: String?
  /// The lens, as the file names it.
  public var lens: String?
  /// The exposure time.
  public var exposureSeconds: Double?
  /// The aperture: 2.8 for f/2.8.
  public var fNumber: Double?
  /// The sensitivity.
  public var iso: Int?
  /// The focal length of the lens, not its equivalent for 35 mm film.
  public var focalLengthMillimeters: Double?
  /// Whether the flash fired.
  public var flashFired: Bool?

  /// Creates the facts about a camera. All of them are unknown unless given.
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

  /// Whether the camera and all settings are unknown.
  public var isEmpty: Bool { self == Camera() }
}

/// One file of an asset.
public struct Resource: Codable, Hashable, Sendable {
  /// The part that a file has in its asset.
  public enum Kind: String, OpenEnum {
    /// The picture to show.
    case photo
    /// A video, in an asset that is a video.
    case video
    /// A sound, in an asset that is a sound.
    case audio
    /// The same picture in another format, such as the RAW beside a JPEG.
    case alternatePhoto
    /// The video of a Live Photo.
    case pairedVideo
    /// The edited version of the picture.
    case adjustedPhoto
    /// A file that describes the others, such as XMP.
    case sidecar
    /// A case of a later version, which this version does not know.
    case unknown

    /// The cases that this version knows, without `unknown`.
    public static let allCases: [Kind] = [
      .photo, .video, .audio, .alternatePhoto, .pairedVideo, .adjustedPhoto, .sidecar,
    ]
  }

  /// The part that the file has in its asset.
  public var kind: Kind
  /// Absolute. A path that is not UTF-8 is a `file://` URI with percent-encoded bytes (see ``FilePath``).
  public var path: String
  /// The last part of ``path``.
  public var filename: String
  /// The size of the file.
  public var byteCount: Int64
  /// The media type (RFC 6838), for example `image/jpeg`.
  public var contentType: String

  /// Creates a file of an asset. photod sends it; a program makes one for its own tests and previews.
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
  /// Whether it is a picture, a video or a sound.
  public var mediaType: MediaType
  /// livePhoto, panorama, hdr, screenshot, raw, animated, motionPhoto, burst, depth; more may come.
  public var mediaSubtypes: [String]
  /// When the photo was taken, by the best source.
  public var creationDate: PhotoDate
  /// The source of ``creationDate``.
  public var creationDateSource: CreationDateSource
  /// When the content last changed.
  public var modificationDate: PhotoDate
  /// When this library first saw it.
  public var addedDate: PhotoDate
  /// As displayed: the orientation is applied.
  public var pixelWidth: Int?
  /// The height in pixels as displayed.
  public var pixelHeight: Int?
  /// EXIF 1...8, as in the file.
  public var orientation: Int?
  /// The length of a video or a sound; nil for a picture.
  public var durationSeconds: Double?
  /// The place where it was taken.
  public var location: Location?
  /// The camera and its settings; nil if they are unknown.
  public var camera: Camera?
  /// The title, from a person or from its file.
  public var title: String?
  /// The caption, from a person or from its file.
  public var caption: String?
  /// The keywords, from a person or from its file. None is in it twice.
  public var keywords: [String]
  /// 0...5
  public var rating: Int?
  /// Whether a person made it a favorite.
  public var isFavorite: Bool
  /// Whether a person hid it. Lists leave hidden assets out, unless the fetch includes them.
  public var isHidden: Bool
  /// Whether it is in the trash. Lists leave such assets out, unless the fetch includes them.
  public var isTrashed: Bool
  /// The same text for all photos of a burst; nil for any other asset.
  public var burstIdentifier: String?
  /// `false` while its volume is offline.
  public var available: Bool
  /// The version of the content of its files. It does not change with their paths or with user data. A program can keep
  /// pictures by id, revision and size.
  public var revision: String
  /// The resource to show comes first.
  public var resources: [Resource]

  /// Creates an asset. photod sends it; a program makes one for its own tests and previews. Facts that are not given
  /// are unknown, and flags are false.
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
