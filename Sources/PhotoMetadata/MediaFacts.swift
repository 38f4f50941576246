import PhotoModel

/// What a media file says of itself.
package struct MediaFacts: Hashable, Sendable {
  package var mediaType: MediaType
  /// The media type of RFC 6838 that the content shows, else the one its extension promises.
  package var contentType: String
  /// `screenshot`, `raw`, `animated`, ... as in ``Asset/mediaSubtypes``, sorted.
  package var mediaSubtypes: [String] = []
  package var creationDate: PhotoDate?
  /// As displayed: the orientation is applied.
  package var pixelWidth: Int?
  package var pixelHeight: Int?
  /// EXIF 1...8
  package var orientation: Int?
  package var location: Location?
  package var camera: Camera?
  package var title: String?
  package var caption: String?
  /// In the file's order, each once, without control characters; at most 1,000 of 1,000 bytes.
  package var keywords: [String] = []
  /// 0...5
  package var rating: Int?
  /// Why the file could not be read, for a person; the other fields then hold what could be.
  package var failure: String?
  /// The errno of a read that failed: the disk is to blame, and not what is in the file.
  package var readError: Int32?
  /// See ``ContentFingerprint``; nil where its beginning could not be read, or there is none.
  package var fingerprint: UInt64?

  package init(mediaType: MediaType, contentType: String) {
    self.mediaType = mediaType
    self.contentType = contentType
  }
}
