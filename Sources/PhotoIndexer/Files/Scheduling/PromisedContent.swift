import ExtractRecords
import PhotoCatalog
import PhotoModel

/// The content that the name alone promises, for a file that has not been read yet.
func promisedContent(name: [UInt8], failure: String? = nil) -> AssetContent {
  let promise = MediaFormat.promised(byName: name)
  return AssetContent(
    mediaType: promise?.mediaType ?? .unknown, mediaSubtypes: promise?.isRAW == true ? .raw : [],
    contentType: promise?.contentType ?? "application/octet-stream", failure: failure)
}

extension AssetContent {
  init(_ facts: MediaFacts) {
    self.init(
      mediaType: facts.mediaType, mediaSubtypes: facts.mediaSubtypes,
      contentType: facts.contentType, creationDate: facts.creationDate, pixelWidth: facts.pixelWidth,
      pixelHeight: facts.pixelHeight, orientation: facts.orientation, durationSeconds: facts.durationSeconds,
      location: facts.location, camera: facts.camera,
      title: facts.title, caption: facts.caption, keywords: facts.keywords, rating: facts.rating,
      burstIdentifier: facts.burstIdentifier, failure: facts.failure
    )
  }
}
