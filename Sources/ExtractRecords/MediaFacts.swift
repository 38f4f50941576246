import PhotoModel

/// The facts that a media file contains about itself.
package struct MediaFacts: Hashable, Sendable {
  package var mediaType: MediaType
  /// The media type (RFC 6838) of the content. If the content does not show it, it is that of the extension.
  package var contentType: String
  // An empty literal would be made of an array, whose elements are inserted one by one.
  package var mediaSubtypes = MediaSubtypes()
  package var creationDate: PhotoDate?
  /// The size of the picture as it is displayed, which is after its rotation by the orientation.
  package var pixelWidth: Int?
  package var pixelHeight: Int?
  /// The length of a video, in seconds.
  package var durationSeconds: Double?
  /// The orientation as in EXIF, from 1 to 8.
  package var orientation: Int?
  package var location: Location?
  package var camera: Camera?
  package var title: String?
  package var caption: String?
  /// The keywords in the file's order, each once, without control characters. There are at most 1,000, of at most 1,000
  /// bytes each.
  package var keywords: [String] = []
  /// The number of stars, from 0 to 5.
  package var rating: Int?
  /// The camera's name for the series that the photo belongs to. It is unique among the photos of one camera.
  package var burstIdentifier: String?
  /// The identifier that the still and the film of a Live Photo share. A still with one has the subtype `livePhoto`.
  package var contentIdentifier: String?
  /// The reason why the file could not be read, as a text for a person. The other fields then have the facts that could
  /// be read.
  package var failure: String?
  /// The errno of a failed read. The disk is at fault, not the file's content.
  package var readError: Int32?
  /// The fingerprint (see `ContentFingerprint`), if the file's beginning could be read. If that was the whole file,
  /// its sample and hash, too.
  package var marks = ContentMarks()

  package init(mediaType: MediaType, contentType: String) {
    self.mediaType = mediaType
    self.contentType = contentType
  }
}
