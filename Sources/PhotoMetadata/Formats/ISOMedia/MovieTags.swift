import PhotoModel

/// The properties of a film in its `udta` and `meta` boxes.
///
/// There are four ways to write a property: QuickTime's texts (`©day`), QuickTime's keys (`mdta`), iTunes' list, and
/// 3GPP's boxes (3GPP TS 26.244, 8). QuickTime's keys precede all others, which are taken in the file's order.
struct MovieTags {
  enum Property {
    case date, place, make, model, title, caption, keywords, rating, percent, identifier
  }

  private(set) var creationDate: PhotoDate?
  /// The date of a text or a list, which may be that of a release.
  private(set) var day: PhotoDate?
  private(set) var location: Location?
  private(set) var make: String?
  private(set) var model: String?
  private(set) var title: String?
  private(set) var caption: String?
  private(set) var keywords = KeywordList()
  /// 0...5
  private(set) var rating: Int?
  /// The identifier of the still and the film of a Live Photo.
  private(set) var contentIdentifier: String?
  var xmp: FilePart?

  /// Takes over what is missing here.
  mutating func fill(from other: MovieTags) {
    creationDate = creationDate ?? other.creationDate
    day = day ?? other.day
    location = location ?? other.location
    make = make ?? other.make
    model = model ?? other.model
    title = title ?? other.title
    caption = caption ?? other.caption
    if keywords.isEmpty { keywords = other.keywords }
    rating = rating ?? other.rating
    contentIdentifier = contentIdentifier ?? other.contentIdentifier
    xmp = xmp ?? other.xmp
  }

  private static let keyLimit = 256
  private static let longestText = 8192

  // MARK: - User data

  mutating func readUserData(_ window: FileWindow, _ udta: FilePart) {
    for box in MediaBoxes(window, in: udta) {
      if box.type == "meta" {
        readMetadata(window, box.content)
      } else if box.type == "XMP_" {
        xmp = xmp ?? box.content
      } else if box.type == "loci" {
        location = location ?? Self.place3GPP(window, box.content)
      } else if let property = Self.property(ofText: box.type) {
        readText(window, box, property)
      }
    }
  }

  private static func property(ofText type: BoxType) -> Property? {
    switch type {
    case "©day": .date
    case "©xyz": .place
    case "©mak", "manu": .make
    case "©mod", "modl": .model
    case "©nam", "titl": .title
    case "©des", "dscp": .caption
    case "©key", "kywd": .keywords
    default: nil
    }
  }

  /// QuickTime's texts begin with their length and language. 3GPP's begin with a version and a language.
  private mutating func readText(_ window: FileWindow, _ box: MediaBox, _ property: Property) {
    if box.type == "kywd" { return readKeywords3GPP(window, box.content) }
    var cursor = PartCursor(window, box.content)
    if box.type.isQuickTimeText {
      guard let length = cursor.number(2), cursor.skip(2) else { return }
      // Some writers put iTunes' `data` box here.
      if length == 0, let data = MediaBoxes(window, in: box.content).first(where: { $0.type == "data" }) {
        return take(property, window, data.content)
      }
      guard let bytes = cursor.bytes(min(length, cursor.rest.count, Self.longestText)) else { return }
      take(property, bytes, isKey: false)
    } else {
      guard cursor.skip(6), let bytes = cursor.bytes(min(cursor.rest.count, Self.longestText)) else { return }
      Self.decoded(bytes) { take(property, $0, isKey: false) }
    }
  }

  /// Texts of 3GPP are in UTF-8, or in UTF-16 with a byte order mark.
  private static func decoded(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard bytes.count >= 4, bytes[0] == 0xFE, bytes[1] == 0xFF else { return body(bytes) }
    utf16(UnsafeRawBufferPointer(rebasing: bytes[2...])).utf8CString.withUnsafeBytes(body)
  }

  private static func utf16(_ bytes: UnsafeRawBufferPointer) -> String {
    var units: [UInt16] = []
    for offset in stride(from: 0, to: bytes.count - 1, by: 2) {
      let unit = bytes.uint16(at: offset, .big)
      guard unit != 0 else { break }
      units.append(unit)
    }
    return String(decoding: units, as: UTF16.self)
  }

  /// Version, language, count, and each keyword with its length.
  private mutating func readKeywords3GPP(_ window: FileWindow, _ box: FilePart) {
    var cursor = PartCursor(window, box)
    guard cursor.skip(6), let count = cursor.number(1) else { return }
    for _ in 0..<count {
      guard let length = cursor.number(1), let bytes = cursor.bytes(length) else { return }
      Self.decoded(bytes) { keywords.add($0) }
    }
  }

  /// Version, language, a name, the place's role, and then longitude, latitude and altitude as 16.16 fixed-point numbers.
  private static func place3GPP(_ window: FileWindow, _ box: FilePart) -> Location? {
    var cursor = PartCursor(window, box)
    guard cursor.skip(6) else { return nil }
    let rest = cursor.rest
    guard let name = window.bytes(at: rest.start, count: min(rest.count, 1024), ahead: MediaBoxes.near) else {
      return nil
    }
    var end = name.firstIndex(of: 0).map { $0 + 1 }
    if name.count >= 2, name[0] == 0xFE, name[1] == 0xFF {
      end = stride(from: 2, to: name.count - 1, by: 2).first { name[$0] == 0 && name[$0 + 1] == 0 }.map { $0 + 2 }
    }
    guard let end, cursor.skip(end + 1), let longitude = fixed(cursor.number(4)),
      let latitude = fixed(cursor.number(4))
    else { return nil }
    return Location(ofFile: latitude, longitude, altitude: fixed(cursor.number(4)))
  }

  private static func fixed(_ number: Int?) -> Double? {
    number.map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
  }

  // MARK: - Keys and lists

  mutating func readMetadata(_ window: FileWindow, _ meta: FilePart) {
    guard let content = HEIFItems.children(window, of: meta) else { return }
    var keys: [Property?] = []
    for box in MediaBoxes(window, in: content) {
      switch box.type {
      case "keys": keys = Self.keys(window, box.content)
      case "ilst":
        for item in MediaBoxes(window, in: box.content) {
          let index = Int(item.type.code)
          let isKey = index >= 1 && index <= keys.count
          guard let property = isKey ? keys[index - 1] : Self.property(inList: item.type),
            let data = MediaBoxes(window, in: item.content).first(where: { $0.type == "data" })
          else { continue }
          take(property, window, data.content, isKey: isKey)
        }
      // Sony's XAVC: a description in XML.
      case "xml ": readSony(window, box.content)
      default: break
      }
    }
  }

  /// QuickTime's keys (QuickTime File Format, "Metadata keys"). Android's have the same form.
  private static func keys(_ window: FileWindow, _ box: FilePart) -> [Property?] {
    var cursor = PartCursor(window, box)
    guard cursor.skip(8) else { return [] }
    var keys: [Property?] = []
    for key in MediaBoxes(window, in: cursor.rest) where keys.count < keyLimit {
      guard let name = window.bytes(at: key.content.start, count: min(key.content.count, 80), ahead: MediaBoxes.near)
      else { break }
      keys.append(property(ofKey: name))
    }
    return keys
  }

  /// ffmpeg writes the keys without Apple's prefix.
  private static func property(ofKey name: UnsafeRawBufferPointer) -> Property? {
    let prefix: StaticString = "com.apple.quicktime."
    let name = UnsafeRawBufferPointer(rebasing: name[(name.holds(prefix) ? prefix.utf8CodeUnitCount : 0)...])
    let known: [(StaticString, Property)] = [
      ("creationdate", .date), ("location.ISO6709", .place), ("make", .make), ("model", .model), ("title", .title),
      ("displayname", .title), ("description", .caption), ("keywords", .keywords), ("rating.user", .rating),
      ("content.identifier", .identifier), ("com.android.manufacturer", .make), ("com.android.model", .model),
    ]
    return known.first { $0.0.utf8CodeUnitCount == name.count && name.holds($0.0) }?.1
  }

  private static func property(inList type: BoxType) -> Property? {
    switch type {
    case "©day": .date
    case "©xyz": .place
    case "©mak": .make
    case "©mod": .model
    case "©nam": .title
    case "desc": .caption
    case "keyw": .keywords
    case "rate": .percent
    default: nil
    }
  }

  /// The content of a `data` box: the value's type, its locale, and the value.
  private mutating func take(_ property: Property, _ window: FileWindow, _ data: FilePart, isKey: Bool = false) {
    var cursor = PartCursor(window, data)
    guard let type = cursor.number(4), cursor.skip(4),
      let bytes = cursor.bytes(min(cursor.rest.count, Self.longestText))
    else { return }
    switch type & 0xFFFFFF {
    case 0, 1: take(property, bytes, isKey: isKey)
    case 2: Self.utf16(bytes).utf8CString.withUnsafeBytes { take(property, $0, isKey: isKey) }
    case 21 where bytes.count <= 8, 22 where bytes.count <= 8:
      take(property, number: Double(bytes.reduce(0) { $0 << 8 | UInt64($1) }))
    case 23 where bytes.count == 4: take(property, number: Double(Float(bitPattern: bytes.uint32(at: 0, .big))))
    case 24 where bytes.count == 8: take(property, number: Double(bitPattern: bytes.uint64(at: 0, .big)))
    default: break
    }
  }

  private mutating func take(_ property: Property, number: Double) {
    guard let whole = Int(exactly: number.rounded()) else { return }
    switch property {
    case .rating: if (0...5).contains(whole) { rating = rating ?? whole }
    case .percent: rating = rating ?? Rating.stars(percent: whole)
    default: break
    }
  }

  private mutating func take(_ property: Property, _ bytes: UnsafeRawBufferPointer, isKey: Bool) {
    func keep(_ old: String?) -> String? {
      let new = ExifText.decode(bytes)
      return isKey ? new ?? old : old ?? new
    }
    switch property {
    case .date:
      guard let date = Self.date(bytes) else { return }
      if isKey { creationDate = creationDate ?? date } else { day = day ?? date }
    case .place:
      guard let place = GeographicPoint.parse(bytes) else { return }
      location = isKey ? place : location ?? place
    case .make: make = keep(make)
    case .model: model = keep(model)
    case .title: title = keep(title)
    case .caption: caption = keep(caption)
    case .keywords:
      guard let text = ExifText.decode(bytes) else { return }
      for word in text.split(separator: ",") { keywords.add(String(word)) }
    case .identifier: contentIdentifier = contentIdentifier ?? ExifText.decode(bytes)
    case .rating, .percent:
      if let number = ExifText.decimal(bytes) { take(property, number: number) }
    }
  }

  /// A date of at least a day. A year alone is that of a release. A day without a time means 12:00.
  private static func date(_ bytes: UnsafeRawBufferPointer) -> PhotoDate? {
    guard let text = ExifText.decode(bytes), text.utf8.count >= 10 else { return nil }
    return EmbeddedDates.xmpDate(bytes)
  }

  // MARK: - Sony

  /// Sony's XAVC: `<CreationDate value="2026-04-26T11:25:15+02:00"/>` and
  /// `<Device manufacturer="Sony" modelName="ILCE-7M4"/>`, in the first 16 KiB.
  private mutating func readSony(_ window: FileWindow, _ xml: FilePart) {
    guard let text = window.bytes(at: xml.start, count: min(xml.count, FileWindow.pieceBytes)) else { return }
    if let value = Self.value(text, "<CreationDate value=\"") { creationDate = creationDate ?? Self.date(value) }
    if let value = Self.value(text, " manufacturer=\"") { make = make ?? ExifText.decode(value) }
    if let value = Self.value(text, " modelName=\"") { model = model ?? ExifText.decode(value) }
  }

  private static func value(_ text: UnsafeRawBufferPointer, _ beginning: StaticString) -> UnsafeRawBufferPointer? {
    let size = beginning.utf8CodeUnitCount
    guard let start = text.indices.first(where: { text[$0] == beginning.utf8Start[0] && text.holds(beginning, at: $0) })
    else { return nil }
    let rest = UnsafeRawBufferPointer(rebasing: text[(start + size)...].prefix(256))
    guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
    return UnsafeRawBufferPointer(rebasing: rest[..<end])
  }
}
