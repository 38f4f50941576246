import PhotoModel

/// Sigma's RAW format (X3F): a header with the size, a directory at the end, a property list, and in newer cameras a
/// JPEG with EXIF.
///
/// The rules are those of "X3F Raw File Format" (Foveon, 2003) and ExifTool's SigmaRaw.pm. The header of version 4 has
/// no size. The JPEG's EXIF has it, but it is not read.
struct SigmaRAW {
  private(set) var width: Int?
  private(set) var height: Int?
  /// Degrees, clockwise.
  private(set) var rotation = 0
  private(set) var jpeg: FilePart?
  private(set) var properties: [String: String] = [:]

  private static let sectionLimit = 20
  private static let propertyLimit = 256

  init(_ window: FileWindow) {
    guard let header = window.bytes(at: 0, count: 40), header.holds("FOVb") else { return }
    if header.uint32(at: 4, .little) >> 16 < 4 {
      let (samples, lines) = (Int(header.uint32(at: 28, .little)), Int(header.uint32(at: 32, .little)))
      if samples > 0, lines > 0, samples < 65_536, lines < 65_536 { (width, height) = (samples, lines) }
      rotation = Int(header.uint32(at: 36, .little))
    }
    let end = window.whole.end
    guard end >= 44, let pointer = window.bytes(at: end - 4, count: 4) else { return }
    let start = Int(pointer.uint32(at: 0, .little))
    guard let head = window.bytes(at: start, count: 12), head.holds("SECd") else { return }
    let count = min(Int(head.uint32(at: 8, .little)), Self.sectionLimit)
    for index in 0..<count {
      guard let entry = window.bytes(at: start + 12 + 12 * index, count: 12) else { return }
      let (offset, length) = (Int(entry.uint32(at: 0, .little)), Int(entry.uint32(at: 4, .little)))
      let (isList, isImage) = (entry.holds("PROP", at: 8), entry.holds("IMA2", at: 8) || entry.holds("IMAG", at: 8))
      guard let section = window.whole.part(at: offset, count: length) else { continue }
      if isList { readProperties(window, section) } else if isImage, jpeg == nil { readImage(window, section) }
    }
  }

  /// An image section has a header of 28 bytes. Format 18 is JPEG.
  private mutating func readImage(_ window: FileWindow, _ section: FilePart) {
    guard let data = section.part(at: 28, upTo: section.count), data.count > 4,
      let head = window.bytes(at: section.start, count: 32), head.holds("SECi"), head.uint32(at: 12, .little) == 18,
      head[28] == 0xFF, head[29] == 0xD8, head[30] == 0xFF, head[31] == 0xE1
    else { return }
    jpeg = data
  }

  /// A property section has pairs of offsets, of a name and its value. The names and values follow as UTF-16 texts that
  /// end with NUL.
  private mutating func readProperties(_ window: FileWindow, _ section: FilePart) {
    guard section.count >= 24, section.count <= FileWindow.pieceBytes,
      let bytes = window.bytes(at: section.start, count: section.count), bytes.holds("SECp")
    else { return }
    let count = Int(bytes.uint32(at: 8, .little))
    guard count <= Self.propertyLimit, bytes.uint32(at: 12, .little) == 0, 24 + 8 * count <= bytes.count else { return }
    let texts = UnsafeRawBufferPointer(rebasing: bytes[(24 + 8 * count)...])
    func text(_ position: UInt32) -> String? {
      let offset = 2 * Int(position)
      guard offset < texts.count else { return nil }
      return ExifText.decodeUTF16(UnsafeRawBufferPointer(rebasing: texts[offset..<min(texts.count, offset + 512)]))
    }
    for index in 0..<count {
      let place = 24 + 8 * index
      if let name = text(bytes.uint32(at: place, .little)), let value = text(bytes.uint32(at: place + 4, .little)) {
        properties[name] = value
      }
    }
  }

  // MARK: - Facts of the property list

  var camera: Camera {
    func number(_ name: String) -> Double? {
      properties[name].flatMap { ExifText.decimal($0) }.flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
    }
    var camera = Camera()
    camera.make = properties["CAMMANUF"]
    camera.model = properties["CAMMODEL"]
    camera.exposureSeconds = number("SHUTTER")
    camera.fNumber = number("APERTURE")
    camera.iso = number("ISO").flatMap { Int(exactly: $0.rounded()) }
    camera.focalLengthMillimeters = number("FLENGTH")
    return camera
  }

  /// `TIME` is the time that the camera's clock showed, as seconds since 1970. Its offset from UTC is unknown.
  var date: PhotoDate? {
    guard let seconds = properties["TIME"].flatMap({ Int64($0) }), seconds > 0, seconds < Int64(UInt32.max) else {
      return nil
    }
    return PhotoDate(microseconds: seconds * 1_000_000, offsetMinutes: nil)
  }
}
