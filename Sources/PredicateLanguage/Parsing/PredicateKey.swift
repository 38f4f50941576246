import PhotoModel

/// A field of an asset that a predicate may name. The raw value is its name.
package enum PredicateKey: String, Hashable, Sendable, CaseIterable {
  case id, mediaType, mediaSubtypes
  case creationDate, creationDateSource, modificationDate, addedDate
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
  case location
  case locationLatitude = "location.latitude"
  case locationLongitude = "location.longitude"
  case locationAltitude = "location.altitude"
  // The fields of the first resource.
  case filename, path, byteCount, contentType
  // Lists: of the keywords, and of all resources including the first.
  case keywords
  case resourcesPath = "resources.path"
  case resourcesFilename = "resources.filename"
  case resourcesByteCount = "resources.byteCount"
  case resourcesContentType = "resources.contentType"
  // The lengths of the lists.
  case keywordsCount = "keywords.@count"
  case resourcesCount = "resources.@count"

  /// The type of a key's value, or of each value in its list.
  package enum ValueType: Hashable, Sendable {
    case boolean, integer, real, string, date, mediaType, mediaSubtype, dateSource, place

    package var isNumber: Bool { self == .integer || self == .real }
    /// Whether a value can be less than another. Texts are ordered by their scalars.
    package var isOrdered: Bool {
      switch self {
      case .integer, .real, .string, .date: true
      case .boolean, .mediaType, .mediaSubtype, .dateSource, .place: false
      }
    }
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
    case .mediaSubtypes: .mediaSubtype
    case .creationDateSource: .dateSource
    case .location: .place
    }
  }

  /// Whether a comparison with a value needs ANY, ALL or NONE before the key.
  package var needsQuantifier: Bool { isList && !isOfEveryResource }

  /// Whether an asset has a list of values for this key.
  package var isList: Bool { self == .keywords || self == .mediaSubtypes || isOfEveryResource }

  /// Whether this is a list of all resources. It is never empty, and a comparison without a quantifier means `ANY`.
  package var isOfEveryResource: Bool {
    switch self {
    case .resourcesPath, .resourcesFilename, .resourcesByteCount, .resourcesContentType: true
    default: false
    }
  }
}

extension PredicateKey.ValueType {
  /// A description of a literal of this type, for messages.
  var expectation: String {
    switch self {
    case .boolean: "true or false"
    case .integer, .real: "a number"
    case .string: "a text in quotes"
    case .date: "a date in quotes, such as '2024-07' or '2024-07-21T10:00'"
    case .mediaType: "one of 'image', 'video', 'audio', 'unknown'"
    case .mediaSubtype: "one of \(MediaSubtypes.each.flatMap(\.names).map { "'\($0)'" }.joined(separator: ", "))"
    case .dateSource: "one of 'user', 'metadata', 'filename', 'file'"
    case .place: "nil, or by NEAR {latitude, longitude, kilometres}"
    }
  }

  package var isWrittenInQuotes: Bool {
    switch self {
    case .string, .date, .mediaType, .mediaSubtype, .dateSource: true
    case .boolean, .integer, .real, .place: false
    }
  }

  /// The operators for this type.
  package var operatorNames: [String] {
    switch self {
    case .boolean, .mediaType, .mediaSubtype, .dateSource: ["==", "!=", "IN"]
    case .place: ["NEAR", "==", "!="]
    case .integer, .real, .date: ["==", "!=", "<", "<=", ">", ">=", "IN", "BETWEEN"]
    case .string:
      ["==", "!=", "<", "<=", ">", ">=", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "IN"]
    }
  }

  /// The operators for this type, for messages.
  var operators: String {
    let names = operatorNames
    return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
  }
}
