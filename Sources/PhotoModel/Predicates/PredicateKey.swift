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
  // Lists: of the keywords, and of all resources, the first too.
  case keywords
  case resourcesPath = "resources.path"
  case resourcesFilename = "resources.filename"
  case resourcesByteCount = "resources.byteCount"
  case resourcesContentType = "resources.contentType"
  // How long those are.
  case keywordsCount = "keywords.@count"
  case resourcesCount = "resources.@count"

  /// What a key's value, or each value of a list, is compared with.
  package enum ValueType: Hashable, Sendable {
    case boolean, integer, real, string, date, mediaType

    package var isNumber: Bool { self == .integer || self == .real }
    /// Whether one value can be less than another; of texts, by their scalars.
    package var isOrdered: Bool { self != .boolean && self != .mediaType }
  }

  package var valueType: ValueType {
    switch self {
    case .isFavorite, .isHidden, .isTrashed, .available, .cameraFlashFired: .boolean
    case .id, .pixelWidth, .pixelHeight, .orientation, .rating, .cameraISO, .byteCount, .resourcesByteCount,
      .keywordsCount, .resourcesCount:
      .integer
    case .durationSeconds, .cameraExposureSeconds, .cameraFNumber, .cameraFocalLengthMillimeters, .locationLatitude,
      .locationLongitude, .locationAltitude:
      .real
    case .title, .caption, .burstIdentifier, .cameraMake, .cameraModel, .cameraLens, .filename, .path, .contentType,
      .keywords, .resourcesPath, .resourcesFilename, .resourcesContentType:
      .string
    case .creationDate, .modificationDate, .addedDate: .date
    case .mediaType: .mediaType
    }
  }

  /// Whether an asset has a list of values for it.
  package var isList: Bool { self == .keywords || isOfEveryResource }

  /// A list that no asset has empty, so that it goes without saying that one of it is enough.
  package var isOfEveryResource: Bool {
    switch self {
    case .resourcesPath, .resourcesFilename, .resourcesByteCount, .resourcesContentType: true
    default: false
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
    case .date: "a date in quotes, such as '2024-07' or '2024-07-21T10:00'"
    case .mediaType: "one of 'image', 'video', 'audio', 'unknown'"
    }
  }

  /// The operators for such a key, for messages.
  var operators: String {
    switch self {
    case .boolean, .mediaType: "==, != or IN"
    case .integer, .real, .date: "==, !=, <, <=, >, >=, IN or BETWEEN"
    case .string: "==, !=, <, <=, >, >=, CONTAINS, BEGINSWITH, ENDSWITH, LIKE, MATCHES or IN"
    }
  }
}
