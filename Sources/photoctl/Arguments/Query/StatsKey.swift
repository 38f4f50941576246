import ArgumentParser
import PhotoContract

/// The values by which `stats` counts.
enum StatsKey: String, ExpressibleByArgument, CaseIterable, Sendable {
  case year, month, day
  case dateSource = "date-source"
  case camera, make, model, lens, iso, aperture
  case focalLength = "focal-length"
  case type, subtype, format, rating, keyword, folder, album

  /// The key of ListValues.
  var valueKey: String {
    switch self {
    case .year, .month, .day, .camera, .folder, .rating: rawValue
    // An album's title alone may be that of several folders.
    case .album: "collection"
    case .dateSource: "creationDateSource"
    case .make: "camera.make"
    case .model: "camera.model"
    case .lens: "camera.lens"
    case .iso: "camera.iso"
    case .aperture: "camera.fNumber"
    case .focalLength: "camera.focalLengthMillimeters"
    case .type: "mediaType"
    case .subtype: "mediaSubtypes"
    case .format: "contentType"
    case .keyword: "keywords"
    }
  }

  /// The name of the line for assets without a value.
  var absentName: String {
    switch self {
    case .iso: "(no ISO speed)"
    case .focalLength: "(no focal length)"
    case .dateSource: "(no date source)"
    default: "(no \(rawValue))"
    }
  }

  /// Whether the lines are in the order of their values, and not of their counts.
  private var isOrderedByValue: Bool {
    switch self {
    case .year, .month, .day, .iso, .aperture, .focalLength, .rating: true
    default: false
    }
  }

  private var isNumber: Bool {
    switch self {
    case .iso, .aperture, .focalLength, .rating: true
    default: false
    }
  }

  /// The lines in their order. The last one has the assets without a value, if there are any.
  func lines(of counts: ValueCounts) -> [ValueCount] {
    var lines = zip(counts.values, counts.counts).map { ValueCount(value: $0, count: $1) }
    if isNumber {
      lines.sort { (Double($0.value ?? "") ?? 0) < (Double($1.value ?? "") ?? 0) }
    } else if isOrderedByValue {
      lines.sort { $0.value ?? "" < $1.value ?? "" }
    }
    if counts.absentCount > 0 { lines.append(ValueCount(value: nil, count: counts.absentCount)) }
    return lines
  }
}
