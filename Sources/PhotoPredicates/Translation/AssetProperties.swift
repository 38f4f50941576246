import PhotoModel
import PredicateLanguage

extension Term.Subject {
  /// The value of a property; nil if the language has no key for it.
  func property(_ keyPath: AnyKeyPath) -> Term? {
    switch self {
    case .asset: Self.ofAsset(keyPath)
    case .camera: Self.ofCamera(keyPath)
    case .location: Self.ofLocation(keyPath)
    case .firstResource: Self.ofResource(keyPath, .path, .filename, .byteCount, .contentType, isOptional: true)
    case .eachResource:
      Self.ofResource(
        keyPath, .resourcesPath, .resourcesFilename, .resourcesByteCount, .resourcesContentType, isOptional: false)
    }
  }

  private static func ofAsset(_ keyPath: AnyKeyPath) -> Term? {
    switch keyPath {
    case \Asset.id: .key(.id, isOptional: false)
    case \Asset.mediaType: .key(.mediaType, isOptional: false)
    case \Asset.mediaSubtypes: Term(.list(.mediaSubtypes))
    case \Asset.creationDate: .key(.creationDate, isOptional: false)
    case \Asset.creationDateSource: .key(.creationDateSource, isOptional: false)
    case \Asset.modificationDate: .key(.modificationDate, isOptional: false)
    case \Asset.addedDate: .key(.addedDate, isOptional: false)
    case \Asset.pixelWidth: .key(.pixelWidth)
    case \Asset.pixelHeight: .key(.pixelHeight)
    case \Asset.orientation: .key(.orientation)
    case \Asset.durationSeconds: .key(.durationSeconds)
    case \Asset.location: Term(.subject(.location), if: .present(.location))
    case \Asset.camera: Term(.subject(.camera), if: .any(cameraKeys.map(Condition.present)))
    case \Asset.title: .key(.title)
    case \Asset.caption: .key(.caption)
    case \Asset.keywords: Term(.list(.keywords))
    case \Asset.rating: .key(.rating)
    case \Asset.isFavorite: .key(.isFavorite, isOptional: false)
    case \Asset.isHidden: .key(.isHidden, isOptional: false)
    case \Asset.isTrashed: .key(.isTrashed, isOptional: false)
    case \Asset.burstIdentifier: .key(.burstIdentifier)
    case \Asset.available: .key(.available, isOptional: false)
    case \Asset.resources: Term(.list(.resources))
    default: nil
    }
  }

  /// An asset has a camera if one of these is known.
  private static let cameraKeys: [PredicateKey] = [
    .cameraMake, .cameraModel, .cameraLens, .cameraExposureSeconds, .cameraFNumber, .cameraISO,
    .cameraFocalLengthMillimeters, .cameraFlashFired,
  ]

  private static func ofCamera(_ keyPath: AnyKeyPath) -> Term? {
    switch keyPath {
    case \Camera.make: .key(.cameraMake)
    case \Camera.model: .key(.cameraModel)
    case \Camera.lens: .key(.cameraLens)
    case \Camera.exposureSeconds: .key(.cameraExposureSeconds)
    case \Camera.fNumber: .key(.cameraFNumber)
    case \Camera.iso: .key(.cameraISO)
    case \Camera.focalLengthMillimeters: .key(.cameraFocalLengthMillimeters)
    case \Camera.flashFired: .key(.cameraFlashFired)
    default: nil
    }
  }

  private static func ofLocation(_ keyPath: AnyKeyPath) -> Term? {
    switch keyPath {
    case \Location.latitude: .key(.locationLatitude)
    case \Location.longitude: .key(.locationLongitude)
    case \Location.altitude: .key(.locationAltitude)
    default: nil
    }
  }

  /// An asset without a resource is only in memory.
  static var firstResourceTerm: Term {
    Term(
      .subject(.firstResource),
      if: .any([PredicateKey.path, .filename, .byteCount, .contentType].map(Condition.present)))
  }

  private static func ofResource(
    _ keyPath: AnyKeyPath, _ path: PredicateKey, _ filename: PredicateKey, _ byteCount: PredicateKey,
    _ contentType: PredicateKey, isOptional: Bool
  ) -> Term? {
    switch keyPath {
    case \Resource.path: .key(path, isOptional: isOptional)
    case \Resource.filename: .key(filename, isOptional: isOptional)
    case \Resource.byteCount: .key(byteCount, isOptional: isOptional)
    case \Resource.contentType: .key(contentType, isOptional: isOptional)
    default: nil
    }
  }
}

extension AssetList {
  /// One element, in a closure.
  var element: Term {
    switch self {
    case .keywords: .key(.keywords, isOptional: false)
    case .mediaSubtypes: .key(.mediaSubtypes, isOptional: false)
    case .resources: Term(.subject(.eachResource))
    }
  }
}
