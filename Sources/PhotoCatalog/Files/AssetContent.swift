import PhotoModel
import PredicateLanguage

/// The metadata of a file's content, in the form of the catalog.
package struct AssetContent: Hashable, Sendable {
  package var mediaType: MediaType
  package var mediaSubtypes: MediaSubtypes
  package var contentType: String
  /// The date in the file's own metadata. The asset's date may come from another source (see ``CreationDate``).
  package var creationDate: PhotoDate?
  package var pixelWidth: Int?
  package var pixelHeight: Int?
  package var orientation: Int?
  package var durationSeconds: Double?
  package var location: Location?
  package var camera: Camera?
  package var title: String?
  package var caption: String?
  package var keywords: [String]
  package var rating: Int?
  package var burstIdentifier: String?
  package var failure: String?

  package init(
    mediaType: MediaType, mediaSubtypes: MediaSubtypes, contentType: String, creationDate: PhotoDate? = nil,
    pixelWidth: Int? = nil, pixelHeight: Int? = nil, orientation: Int? = nil, durationSeconds: Double? = nil,
    location: Location? = nil, camera: Camera? = nil, title: String? = nil, caption: String? = nil,
    keywords: [String] = [],
    rating: Int? = nil, burstIdentifier: String? = nil, failure: String? = nil
  ) {
    self.mediaType = mediaType
    self.mediaSubtypes = mediaSubtypes
    self.contentType = contentType
    self.creationDate = creationDate
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
    self.burstIdentifier = burstIdentifier
    self.failure = failure
  }

  /// Returns the fields that differ from those in the catalog, without the bytes and the creation date.
  func changedFields(since held: AssetContent?) -> ChangedFields {
    var fields: ChangedFields = []
    if held?.keywords != keywords { fields.insert(.keywords) }
    var rest = held
    rest?.keywords = keywords
    rest?.creationDate = creationDate
    if rest != self { fields.insert(.metadata) }
    return fields
  }
}
