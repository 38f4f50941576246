/// A key whose values can be listed and counted. The raw value is its name in the contract.
package enum ValueKey: String, CaseIterable, Sendable {
  // The creation date, by the clock at the photo's place.
  case year, month, day
  case mediaType, mediaSubtypes, creationDateSource
  /// The make and the model together.
  case camera
  case cameraMake = "camera.make"
  case cameraModel = "camera.model"
  case cameraLens = "camera.lens"
  case cameraISO = "camera.iso"
  case cameraFNumber = "camera.fNumber"
  case cameraFocalLengthMillimeters = "camera.focalLengthMillimeters"
  case rating, keywords
  /// The path of the first resource's folder.
  case folder
  /// The titles of folders and of the user's albums.
  case album
  /// The same, by names that tell albums with the same title apart.
  case collection
  /// The format of the first resource.
  case contentType

  /// - Throws: ``FetchError/unknownValueKey(key:known:)``.
  package init(named name: String) throws(FetchError) {
    guard let key = Self(rawValue: name) else {
      throw .unknownValueKey(key: String(name.prefix(100)), known: Self.allCases.map(\.rawValue))
    }
    self = key
  }
}

/// The values that the assets of a list have for a key.
package struct CountedValues: Sendable {
  package struct Value: Sendable {
    package let text: String
    /// The number of assets with this value.
    package let count: Int
  }

  /// By count, the largest first. Values with the same count are in the order of their scalars.
  package let values: [Value]
  package let assetCount: Int
  /// The number of assets without a value.
  package let absentCount: Int
}
