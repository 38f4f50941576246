import PhotoModel

/// The camera, its settings and the place in an XMP packet (ISO 16684-1; CIPA DC-010, "Exif metadata for XMP").
///
/// Programs copy them from EXIF. If a converter or an editor has dropped EXIF, they are only here. The lens has properties
/// of its own (see ``XMPProperty``). The flash is a structure and is not read.
struct XMPCamera {
  enum Property: CaseIterable {
    case make, model, exposureTime, fNumber, shutterSpeed, aperture, sensitivity, speedRatings, focalLength
    case latitude, longitude, altitude, altitudeReference

    /// The namespace and the name, as expat passes them.
    var name: StaticString {
      switch self {
      case .make: "http://ns.adobe.com/tiff/1.0/\nMake"
      case .model: "http://ns.adobe.com/tiff/1.0/\nModel"
      case .exposureTime: "http://ns.adobe.com/exif/1.0/\nExposureTime"
      case .fNumber: "http://ns.adobe.com/exif/1.0/\nFNumber"
      case .shutterSpeed: "http://ns.adobe.com/exif/1.0/\nShutterSpeedValue"
      case .aperture: "http://ns.adobe.com/exif/1.0/\nApertureValue"
      case .sensitivity: "http://cipa.jp/exif/1.0/\nPhotographicSensitivity"
      case .speedRatings: "http://ns.adobe.com/exif/1.0/\nISOSpeedRatings"
      case .focalLength: "http://ns.adobe.com/exif/1.0/\nFocalLength"
      case .latitude: "http://ns.adobe.com/exif/1.0/\nGPSLatitude"
      case .longitude: "http://ns.adobe.com/exif/1.0/\nGPSLongitude"
      case .altitude: "http://ns.adobe.com/exif/1.0/\nGPSAltitude"
      case .altitudeReference: "http://ns.adobe.com/exif/1.0/\nGPSAltitudeRef"
      }
    }
  }

  private var make: String?
  private var model: String?
  private var numbers: [Property: Double] = [:]

  /// The first value of each property counts.
  mutating func note(_ property: Property, _ value: UnsafeRawBufferPointer) {
    switch property {
    case .make: make = make ?? ExifText.decode(value)
    case .model: model = model ?? ExifText.decode(value)
    case .latitude, .longitude:
      if numbers[property] == nil {
        numbers[property] = Self.degrees(value, property == .latitude ? ("N", "S") : ("E", "W"))
      }
    default: if numbers[property] == nil { numbers[property] = Self.number(value) }
    }
  }

  /// The lens is not among them.
  var camera: Camera {
    func positive(_ property: Property) -> Double? { numbers[property].flatMap { $0 > 0 ? $0 : nil } }
    return Camera(
      make: make, model: model,
      exposureSeconds: positive(.exposureTime) ?? numbers[.shutterSpeed].flatMap(APEX.seconds),
      fNumber: positive(.fNumber) ?? numbers[.aperture].flatMap(APEX.fNumber),
      iso: (positive(.sensitivity) ?? positive(.speedRatings)).flatMap { Int(exactly: $0.rounded()) },
      focalLengthMillimeters: positive(.focalLength))
  }

  var location: Location? {
    guard let latitude = numbers[.latitude], let longitude = numbers[.longitude] else { return nil }
    let isBelow = numbers[.altitudeReference] == 1
    return Location(
      ofFile: latitude, longitude, altitude: numbers[.altitude].map { isBelow ? -abs($0) : $0 })
  }

  /// A fraction such as "1/250", or a decimal number. As in EXIF, x/0 and 0xFFFFFFFF mean that the value is unknown. A
  /// larger number is not valid.
  private static func number(_ value: UnsafeRawBufferPointer) -> Double? {
    guard let text = ExifText.decode(value) else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { ExifText.decimal($0) }.filter { abs($0) < Double(UInt32.max) }
    guard numbers.count == parts.count, parts.count <= 2 else { return nil }
    guard numbers.count == 2 else { return numbers[0] }
    return numbers[1] == 0 ? nil : numbers[0] / numbers[1]
  }

  /// "47,22,30N" or "47,22.5N": degrees, minutes and perhaps seconds, then the hemisphere (ISO 16684-1, GPSCoordinate).
  private static func degrees(_ value: UnsafeRawBufferPointer, _ letters: (Character, Character)) -> Double? {
    guard let text = ExifText.decode(value), let letter = text.last?.uppercased().first else { return nil }
    let parts = text.dropLast().split(separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { ExifText.decimal($0) }
    guard numbers.count == parts.count, numbers.count <= 3, numbers.allSatisfy({ $0 >= 0 }),
      numbers.dropFirst().allSatisfy({ $0 <= 60 })
    else { return nil }
    let degrees = zip(numbers, [1.0, 60, 3600]).reduce(0) { $0 + $1.0 / $1.1 }
    if letter == letters.0 { return degrees }
    return letter == letters.1 ? -degrees : nil
  }
}
