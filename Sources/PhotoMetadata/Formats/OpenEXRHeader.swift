import PhotoModel

/// The attributes of an OpenEXR file ("OpenEXR File Layout" and "Standard Attributes", openexr.com).
///
/// The size is that of the data window, as in ExifTool: the pixels that the file has. The first part's header is read.
/// OpenEXR has no EXIF; some of its standard attributes say the same.
struct OpenEXRHeader {
  private(set) var width: Int?
  private(set) var height: Int?
  private(set) var date: PhotoDate?
  private(set) var caption: String?
  private(set) var camera = Camera()
  private(set) var location: Location?

  private static let attributeLimit = 500
  private static let longestName = 256

  private var clock: PhotoDate?
  private var offsetSeconds: Double?
  private var (latitude, longitude, altitude): (Double?, Double?, Double?)

  init(_ window: FileWindow) {
    var offset = 8
    for _ in 0..<Self.attributeLimit {
      guard let name = Self.name(window, at: offset), !name.isEmpty,
        let type = Self.name(window, at: offset + name.utf8.count + 1)
      else { break }
      let sizeOffset = offset + name.utf8.count + type.utf8.count + 2
      guard let size = window.bytes(at: sizeOffset, count: 4),
        let data = window.whole.part(at: sizeOffset + 4, count: Int(size.uint32(at: 0, .little)))
      else { break }
      note(name, type, window, data)
      offset = data.end
    }
    // UTC is the clock plus the offset, so the offset is positive in the west.
    if let clock {
      let offset = offsetSeconds.flatMap { Int(exactly: (-$0 / 60).rounded()) }
        .flatMap { (-1439...1439).contains($0) ? $0 : nil }
      date =
        offset.map { PhotoDate(microseconds: clock.microseconds - Int64($0) * 60_000_000, offsetMinutes: $0) } ?? clock
    }
    if let latitude, let longitude { location = Location(ofFile: latitude, longitude, altitude: altitude) }
  }

  /// A text up to its NUL.
  private static func name(_ window: FileWindow, at offset: Int) -> String? {
    guard let place = window.whole.part(at: offset, upTo: longestName), place.count > 0,
      let bytes = window.bytes(at: place.start, count: place.count), let end = bytes.firstIndex(of: 0)
    else { return nil }
    return String(validating: bytes[..<end], as: UTF8.self)
  }

  private mutating func note(_ name: String, _ type: String, _ window: FileWindow, _ part: FilePart) {
    guard part.count > 0, let bytes = window.bytes(at: part.start, count: min(part.count, 8192)) else { return }
    func number() -> Double? {
      guard type == "float", bytes.count == 4 else { return nil }
      let value = Double(Float(bitPattern: bytes.uint32(at: 0, .little)))
      return value.isFinite ? value : nil
    }
    func positive() -> Double? { number().flatMap { $0 > 0 ? $0 : nil } }
    switch name {
    case "dataWindow", "displayWindow":
      guard type == "box2i", bytes.count == 16, name == "dataWindow" || width == nil else { return }
      let corners = (0..<4).map { Int(Int32(bitPattern: bytes.uint32(at: 4 * $0, .little))) }
      let size = (corners[2] - corners[0] + 1, corners[3] - corners[1] + 1)
      if size.0 > 0, size.1 > 0 { (width, height) = size }
    case "capDate": clock = ExifDate.parse(bytes, fraction: nil, offset: nil)
    case "utcOffset": offsetSeconds = number()
    case "comments": caption = ExifText.decode(bytes)
    case "expTime": camera.exposureSeconds = positive()
    case "aperture": camera.fNumber = positive()
    case "isoSpeed": camera.iso = positive().flatMap { Int(exactly: $0.rounded()) }
    case "latitude": latitude = number()
    case "longitude": longitude = number()
    case "altitude": altitude = number()
    default: break
    }
  }
}
