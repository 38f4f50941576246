import PhotoModel
import PredicateLanguage

extension PredicateKey {
  /// The fields that this key's value comes from. A change of any other field cannot make an asset enter or leave a
  /// list whose predicate uses this key.
  var fields: ChangedFields {
    switch self {
    case .path, .filename, .resourcesPath, .resourcesFilename: [.path, .resources]
    case .available: [.availability, .path, .resources]
    case .resourcesCount: .resources
    // A file's keywords are read with the rest of its metadata.
    case .keywords, .keywordsCount: [.keywords, .content, .metadata, .resources]
    case .isFavorite: .favorite
    case .isHidden: .hidden
    case .isTrashed: .trashed
    case .id, .addedDate: []
    case .mediaType, .mediaSubtypes, .location, .creationDate, .creationDateSource, .modificationDate, .pixelWidth,
      .pixelHeight, .orientation,
      .durationSeconds,
      .title,
      .caption, .rating, .burstIdentifier, .cameraMake, .cameraModel, .cameraLens, .cameraExposureSeconds,
      .cameraFNumber,
      .cameraISO, .cameraFocalLengthMillimeters, .cameraFlashFired, .locationLatitude, .locationLongitude,
      .locationAltitude, .byteCount, .contentType, .resourcesByteCount, .resourcesContentType:
      [.content, .metadata, .resources]
    }
  }

  /// The SQL expression for an asset's date, as an instant or in the photo's local time.
  func column(by clock: DateSpan.Clock) -> String {
    // Only the creation date has an offset. The other dates are compared in UTC.
    self == .creationDate && clock == .local
      ? "(asset.creation_date + ifnull(asset.creation_offset, 0) * 60000000)" : column
  }

  /// The SQL expression for an asset's value.
  var column: String {
    switch self {
    case .id: "asset.id"
    case .mediaType: "asset.media_type"
    case .creationDate: "asset.creation_date"
    case .creationDateSource: "asset.creation_source"
    case .modificationDate: "asset.modification_date"
    case .addedDate: "asset.added_date"
    case .pixelWidth: "asset.pixel_width"
    case .pixelHeight: "asset.pixel_height"
    case .orientation: "asset.orientation"
    case .durationSeconds: "asset.duration"
    case .title: "asset.title"
    case .caption: "asset.caption"
    case .rating: "asset.rating"
    case .isFavorite: "asset.is_favorite"
    case .isHidden: "asset.is_hidden"
    case .isTrashed: "asset.is_trashed"
    case .burstIdentifier: "asset.burst_identifier"
    case .available: "(asset.directory_id NOT IN offline)"
    case .cameraMake: "asset.camera_make"
    case .cameraModel: "asset.camera_model"
    case .cameraLens: "asset.camera_lens"
    case .cameraExposureSeconds: "asset.exposure"
    case .cameraFNumber: "asset.f_number"
    case .cameraISO: "asset.iso"
    case .cameraFocalLengthMillimeters: "asset.focal_length"
    case .cameraFlashFired: "asset.flash_fired"
    // A location needs both latitude and longitude.
    case .location, .locationLatitude: "iif(asset.longitude IS NULL, NULL, asset.latitude)"
    case .locationLongitude: "iif(asset.latitude IS NULL, NULL, asset.longitude)"
    case .locationAltitude: "iif(asset.latitude IS NULL OR asset.longitude IS NULL, NULL, asset.altitude)"
    case .filename: "photod_name(asset.name)"
    case .path: "photod_path(place.path || '/' || asset.name)"
    case .byteCount: "asset.byte_count"
    case .contentType: "asset.content_type"
    case .keywordsCount: "(SELECT count(*) FROM asset_keyword AS link WHERE link.asset_id = asset.id)"
    case .resourcesCount:
      "(1 + (SELECT count(*) FROM resource AS companion WHERE companion.asset_id = asset.id AND companion.position > 0))"
    // These keys have several values for each asset. ``PredicateCompiler`` makes conditions of their own for them.
    case .keywords, .mediaSubtypes, .resourcesPath, .resourcesFilename, .resourcesByteCount, .resourcesContentType:
      "NULL"
    }
  }
}
