/// A field of an asset that a predicate may name. The raw value is the name.
package enum PredicateKey: String, Hashable, Sendable, CaseIterable {
  case id, mediaType
  case creationDate, modificationDate, addedDate
  case pixelWidth, pixelHeight, orientation, durationSeconds
  case title, caption, rating
  case isFavorite, isHidden, isTrashed
  case burstIdentifier, available
  case cameraMake = "camera.make"
  case cameraModel = "camera.model"
  case cameraLens = "camera.lens"
  case cameraExposureSeconds = "camera.exposureSeconds"
  case cameraFNumber = "camera.fNumber"
  case cameraISO = "camera.iso"
  case cameraFocalLengthMillimeters = "camera.focalLengthMillimeters"
  case cameraFlashFired = "camera.flashFired"
  case locationLatitude = "location.latitude"
  case locationLongitude = "location.longitude"
  case locationAltitude = "location.altitude"
  // Of the first resource.
  case filename, path, byteCount, contentType

  /// What a key is compared with.
  package enum ValueType: Hashable, Sendable {
    case boolean, integer, real, string, date, mediaType
  }

  package var valueType: ValueType {
    switch self {
    case .isFavorite, .isHidden, .isTrashed, .available, .cameraFlashFired: .boolean
    case .id, .pixelWidth, .pixelHeight, .orientation, .rating, .cameraISO, .byteCount: .integer
    case .durationSeconds, .cameraExposureSeconds, .cameraFNumber, .cameraFocalLengthMillimeters, .locationLatitude,
      .locationLongitude, .locationAltitude:
      .real
    case .title, .caption, .burstIdentifier, .cameraMake, .cameraModel, .cameraLens, .filename, .path, .contentType:
      .string
    case .creationDate, .modificationDate, .addedDate: .date
    case .mediaType: .mediaType
    }
  }
}

extension PredicateKey.ValueType {
  /// What a literal for such a key looks like, for messages.
  var expectation: String {
    switch self {
    case .boolean: "true or false"
    case .integer, .real: "a number"
    case .string: "a text in quotes"
    case .date: "a date in quotes, such as '2024-01-31' or '2024-07-21T10:00:00+02:00'"
    case .mediaType: "one of 'image', 'video', 'audio', 'unknown'"
    }
  }
}
