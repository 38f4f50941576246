import PhotoModel
import WatchRecords

// The facts are a u32 with one bit for each optional field that is there, followed by the fields in the order of the bits.
// Integers are little-endian, fractions are the bits of a 64-bit float, and a text is a u32 length and UTF-8.

extension MediaFacts {
  private struct Fields: OptionSet {
    let rawValue: UInt32

    static let creationDate = Fields(rawValue: 1 << 0)
    static let dateOffset = Fields(rawValue: 1 << 1)
    static let size = Fields(rawValue: 1 << 2)
    static let duration = Fields(rawValue: 1 << 3)
    static let orientation = Fields(rawValue: 1 << 4)
    static let location = Fields(rawValue: 1 << 5)
    static let altitude = Fields(rawValue: 1 << 6)
    static let make = Fields(rawValue: 1 << 7)
    static let model = Fields(rawValue: 1 << 8)
    static let lens = Fields(rawValue: 1 << 9)
    static let exposure = Fields(rawValue: 1 << 10)
    static let fNumber = Fields(rawValue: 1 << 11)
    static let iso = Fields(rawValue: 1 << 12)
    static let focalLength = Fields(rawValue: 1 << 13)
    static let flash = Fields(rawValue: 1 << 14)
    static let flashFired = Fields(rawValue: 1 << 15)
    static let title = Fields(rawValue: 1 << 16)
    static let caption = Fields(rawValue: 1 << 17)
    static let keywords = Fields(rawValue: 1 << 18)
    static let rating = Fields(rawValue: 1 << 19)
    static let burst = Fields(rawValue: 1 << 20)
    static let failure = Fields(rawValue: 1 << 21)
    static let readError = Fields(rawValue: 1 << 22)
    static let fingerprint = Fields(rawValue: 1 << 23)
    static let sample = Fields(rawValue: 1 << 24)
    static let hash = Fields(rawValue: 1 << 25)
    static let contentIdentifier = Fields(rawValue: 1 << 26)
  }

  package func encode(into bytes: inout [UInt8]) {
    let start = bytes.count
    var fields: Fields = []
    bytes.append(integer: fields.rawValue)
    bytes.append(MediaType.codes.firstIndex(of: mediaType).map { UInt8($0) } ?? 0)
    bytes.append(integer: UInt32(truncatingIfNeeded: mediaSubtypes.rawValue))
    bytes.append(text: contentType)
    func add<Value>(_ value: Value?, _ field: Fields, _ append: (Value) -> Void) {
      guard let value else { return }
      fields.insert(field)
      append(value)
    }
    func addText(_ text: String?, _ field: Fields) { add(text, field) { bytes.append(text: $0) } }
    func addNumber(_ number: Double?, _ field: Fields) { add(number, field) { bytes.append(integer: $0.bitPattern) } }
    func addDigest(_ digest: ContentDigest?, _ field: Fields) {
      add(digest, field) { digest in digest.withBytes { bytes.append(contentsOf: $0) } }
    }
    add(creationDate, .creationDate) { bytes.append(integer: $0.microseconds) }
    add(creationDate?.offsetMinutes, .dateOffset) { bytes.append(integer: Int16(truncatingIfNeeded: $0)) }
    if let pixelWidth, let pixelHeight {
      fields.insert(.size)
      bytes.append(integer: Int64(pixelWidth))
      bytes.append(integer: Int64(pixelHeight))
    }
    addNumber(durationSeconds, .duration)
    add(orientation, .orientation) { bytes.append(UInt8(truncatingIfNeeded: $0)) }
    add(location, .location) {
      bytes.append(integer: $0.latitude.bitPattern)
      bytes.append(integer: $0.longitude.bitPattern)
    }
    addNumber(location?.altitude, .altitude)
    addText(camera?.make, .make)
    addText(camera?.model, .model)
    addText(camera?.lens, .lens)
    addNumber(camera?.exposureSeconds, .exposure)
    addNumber(camera?.fNumber, .fNumber)
    add(camera?.iso, .iso) { bytes.append(integer: Int64($0)) }
    addNumber(camera?.focalLengthMillimeters, .focalLength)
    if let fired = camera?.flashFired { fields.formUnion(fired ? [.flash, .flashFired] : .flash) }
    addText(title, .title)
    addText(caption, .caption)
    if !keywords.isEmpty {
      fields.insert(.keywords)
      bytes.append(integer: UInt16(truncatingIfNeeded: keywords.count))
      for keyword in keywords.prefix(Self.mostKeywords) { bytes.append(text: keyword) }
    }
    add(rating, .rating) { bytes.append(UInt8(truncatingIfNeeded: $0)) }
    addText(burstIdentifier, .burst)
    addText(failure, .failure)
    add(readError, .readError) { bytes.append(integer: $0) }
    add(marks.fingerprint, .fingerprint) { bytes.append(integer: $0) }
    addDigest(marks.sample, .sample)
    addDigest(marks.hash, .hash)
    addText(contentIdentifier, .contentIdentifier)
    for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: fields.rawValue >> (8 * UInt32(index))) }
  }

  /// The most keywords of a file.
  package static let mostKeywords = 1_000
  /// The longest text, in bytes.
  package static let longestText = 65_536

  /// Decodes facts that a hostile process may have sent. Every text is UTF-8, and a number outside of its range counts as
  /// unknown.
  package init(from reader: inout ByteReader) throws(WatchFormatError) {
    let fields = Fields(rawValue: try reader.integer("the facts' fields"))
    let type: UInt8 = try reader.integer("a media type")
    guard MediaType.codes.indices.contains(Int(type)) else { throw reader.error("media type \(type) is unknown") }
    let subtypes: UInt32 = try reader.integer("the subtypes")
    let contentType = try reader.text("a content type", longest: 100)
    guard contentType.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw reader.error("a content type is no media type of RFC 6838")
    }
    self.init(mediaType: MediaType.codes[Int(type)], contentType: contentType)
    mediaSubtypes = MediaSubtypes(rawValue: Int64(subtypes)).intersection(.all)
    if fields.contains(.creationDate) {
      let microseconds: Int64 = try reader.integer("a date")
      var offset: Int16?
      if fields.contains(.dateOffset) { offset = try reader.integer("a date's offset") }
      creationDate = PhotoDate(microseconds: microseconds, offsetMinutes: offset.map { Int($0) })
    }
    if fields.contains(.size) {
      let width = try reader.number("a width", in: 1...Int64(UInt32.max))
      let height = try reader.number("a height", in: 1...Int64(UInt32.max))
      if let width, let height { (pixelWidth, pixelHeight) = (width, height) }
    }
    if fields.contains(.duration) { durationSeconds = try reader.fraction("a duration", in: 0...1e12) }
    if fields.contains(.orientation) { orientation = try reader.small("an orientation", in: 1...8) }
    if fields.contains(.location) {
      let latitude = try reader.fraction("a latitude", in: -90...90)
      let longitude = try reader.fraction("a longitude", in: -180...180)
      if let latitude, let longitude { location = Location(latitude: latitude, longitude: longitude) }
    }
    if fields.contains(.altitude) {
      let altitude = try reader.fraction("an altitude", in: -1e9...1e9)
      location?.altitude = altitude
    }
    var camera = Camera()
    if fields.contains(.make) { camera.make = try reader.text("a make") }
    if fields.contains(.model) { camera.model = try reader.text("a model") }
    if fields.contains(.lens) { camera.lens = try reader.text("a lens") }
    if fields.contains(.exposure) { camera.exposureSeconds = try reader.fraction("an exposure time", in: 0...1e12) }
    if fields.contains(.fNumber) { camera.fNumber = try reader.fraction("an f-number", in: 0...1e12) }
    if fields.contains(.iso) { camera.iso = try reader.number("an ISO number", in: 0...Int64(UInt32.max)) }
    if fields.contains(.focalLength) {
      camera.focalLengthMillimeters = try reader.fraction("a focal length", in: 0...1e12)
    }
    if fields.contains(.flash) { camera.flashFired = fields.contains(.flashFired) }
    self.camera = camera.isEmpty ? nil : camera
    if fields.contains(.title) { title = try reader.text("a title") }
    if fields.contains(.caption) { caption = try reader.text("a caption") }
    if fields.contains(.keywords) {
      let count: UInt16 = try reader.integer("the number of keywords")
      guard count <= Self.mostKeywords else { throw reader.error("\(count) keywords are too many") }
      for _ in 0..<count { keywords.append(try reader.text("a keyword")) }
    }
    if fields.contains(.rating) { rating = try reader.small("a rating", in: 0...5) }
    if fields.contains(.burst) { burstIdentifier = try reader.text("a burst") }
    if fields.contains(.failure) { failure = try reader.text("a failure") }
    if fields.contains(.readError) { readError = try reader.integer("an errno") }
    if fields.contains(.fingerprint) { marks.fingerprint = try reader.integer("a fingerprint") }
    if fields.contains(.sample) { marks.sample = try reader.digest("a sample") }
    if fields.contains(.hash) { marks.hash = try reader.digest("a hash") }
    if fields.contains(.contentIdentifier) { contentIdentifier = try reader.text("a content identifier") }
  }
}

extension MediaType {
  /// The media types by their number on the wire.
  fileprivate static let codes: [MediaType] = [.unknown, .image, .video, .audio]
}

extension [UInt8] {
  fileprivate mutating func append(text: String) {
    var text = text
    text.withUTF8 { utf8 in
      append(integer: UInt32(utf8.count))
      append(contentsOf: utf8)
    }
  }
}

extension ByteReader {
  fileprivate func error(_ what: String) -> WatchFormatError { WatchFormatError(what: what, offset: offset) }

  fileprivate mutating func text(
    _ field: String, longest: Int = MediaFacts.longestText
  ) throws(WatchFormatError) -> String {
    let count: UInt32 = try integer(field)
    guard count <= longest else { throw error("\(field) has \(count) bytes") }
    guard let text = try utf8(Int(count), field) else {
      throw error("\(field) is not UTF-8")
    }
    return text
  }

  fileprivate mutating func fraction(
    _ field: String, in range: ClosedRange<Double>
  ) throws(WatchFormatError) -> Double? {
    let value = Double(bitPattern: try integer(field))
    // A value that is no number is in no range.
    return range.contains(value) ? value : nil
  }

  fileprivate mutating func number(_ field: String, in range: ClosedRange<Int64>) throws(WatchFormatError) -> Int? {
    let value: Int64 = try integer(field)
    return range.contains(value) ? Int(value) : nil
  }

  fileprivate mutating func small(_ field: String, in range: ClosedRange<UInt8>) throws(WatchFormatError) -> Int? {
    let value: UInt8 = try integer(field)
    return range.contains(value) ? Int(value) : nil
  }

  fileprivate mutating func digest(_ field: String) throws(WatchFormatError) -> ContentDigest {
    // The order of the bytes is that of ContentDigest.withBytes(_:).
    let high: UInt64 = try integer(field)
    let low: UInt64 = try integer(field)
    return ContentDigest(high: high.byteSwapped, low: low.byteSwapped)
  }
}
