/// The size, the orientation and the place.
extension ExifToolTruth {
  var orientation: Int? {
    if isHEIF, let turned = number("QuickTime:Rotation") { return [0: 1, 90: 8, 180: 3, 270: 6][Int(turned)] }
    // The codestream has its own, which ExifTool does not tell. These files are upright.
    if format == "JXL" { return size == nil ? nil : 1 }
    // Without turns, a HEIF picture is upright.
    return isHEIF ? writtenOrientation.map { _ in 1 } : writtenOrientation
  }

  private var writtenOrientation: Int? {
    for tag in ["IFD0:Orientation", "XMP-tiff:Orientation"] {
      if let value = number(tag), (1...8).contains(value) { return Int(value) }
    }
    // Degrees of formats without EXIF
    return (number("SigmaRaw:Rotation") ?? number("CanonRaw:Rotation")).flatMap { [90: 6, 180: 3, 270: 8][$0] }
  }

  /// The formats whose size is read from their header. ExifTool's composite may take it from another image in the file.
  private static let formatsWithOwnSize: Set = [
    "JPEG", "MPO", "TIFF", "X3F", "PNG", "GIF", "WEBP", "HEIC", "AVIF", "JXL", "JP2", "CR3",
  ]

  /// The size as displayed.
  var size: [Int]? {
    if isMovie { return movieSize }
    let group =
      switch format {
      case "TIFF", "CR3": "IFD0"
      case "JP2": "Jpeg2000"
      case "X3F": "SigmaRaw"
      case "PNG", "GIF": format
      case "WEBP": "RIFF"
      default: "File"
      }
    if !Self.formatsWithOwnSize.contains(format) {
      let numbers = (string("Composite:ImageSize") ?? "").split(separator: " ").compactMap { Int($0) }
      guard numbers.count == 2, numbers.allSatisfy({ $0 > 0 }) else { return nil }
      return (orientation ?? 1) >= 5 ? numbers.reversed() : numbers
    }
    guard let width = number("\(group):ImageWidth") ?? number("File:ImageWidth"),
      let height = number("\(group):ImageHeight") ?? number("File:ImageHeight"), width > 0, height > 0
    else { return nil }
    var stored = [Int(width), Int(height)]
    if isHEIF, let crop = string("QuickTime:CleanAperture")?.split(separator: " ").compactMap({ Double($0) }),
      crop.count == 4
    {
      stored = crop.prefix(2).map { Int($0) }
    }
    if format == "JXL" { return stored }
    return (orientation ?? 1) >= 5 ? stored.reversed() : stored
  }

  /// The size of the first track that has one, turned by the film's rotation.
  private var movieSize: [Int]? {
    for track in 1...9 {
      guard let width = number("Track\(track):ImageWidth"), let height = number("Track\(track):ImageHeight") else {
        continue
      }
      let isTurned = number("Composite:Rotation").map { $0 == 90 || $0 == 270 } ?? false
      return isTurned ? [Int(height), Int(width)] : [Int(width), Int(height)]
    }
    return nil
  }

  // MARK: - Place

  var latitude: Double? { coordinate("GPSLatitude", negative: "S") ?? number("XMP-exif:GPSLatitude") }
  var longitude: Double? { coordinate("GPSLongitude", negative: "W") ?? number("XMP-exif:GPSLongitude") }
  var altitude: Double? {
    if isMovie { return number("Composite:GPSAltitude") }
    guard latitude != nil, longitude != nil else { return nil }
    let group = coordinate("GPSLatitude", negative: "S") == nil ? "XMP-exif" : "GPS"
    guard let value = number("\(group):GPSAltitude") else { return nil }
    return number("\(group == "GPS" ? "EXIF" : group):GPSAltitudeRef") == 1 ? -abs(value) : value
  }

  private func coordinate(_ tag: String, negative: String) -> Double? {
    if isMovie { return number("Composite:\(tag)") }
    guard let value = number("GPS:\(tag)"), let reference = string("EXIF:\(tag)Ref"), !reference.isEmpty else {
      return nil
    }
    return reference.uppercased().hasPrefix(negative) ? -value : value
  }
}
