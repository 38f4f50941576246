/// The items of a HEIF file's `meta` box (ISO/IEC 23008-12; ISO/IEC 14496-12, 8.11; AV1 Image File Format).
///
/// The size is that of the primary item. Its crop, turns and mirrors are applied in their order.
struct HEIFItems {
  private struct Item {
    var id: Int
    var type: BoxType
  }

  /// As displayed.
  private(set) var width: Int?
  private(set) var height: Int?
  /// EXIF's number for `irot` and `imir`; `nil` if the primary item has neither.
  private(set) var orientation: Int?
  /// The position of the TIFF structure that describes the primary item.
  private(set) var exif: FilePart?
  /// The position of the XMP packet that describes the primary item.
  private(set) var xmp: FilePart?
  /// Whether an auxiliary image contains depths.
  private(set) var hasDepth = false
  /// Whether the picture has a gain map, or is coded for displays of high dynamic range (PQ or HLG).
  private(set) var isHDR = false

  private var primary: Int?
  private var primaryType: BoxType?
  private var exifItems: [Int] = []
  private var xmpItems: [Int] = []
  private var places: [Int: FilePart] = [:]
  /// The items that describe the primary item, and those that describe any item.
  private var describing: (primary: Set<Int>, any: Set<Int>) = ([], [])
  private var properties: [MediaBox] = []
  private var primaryProperties: [Int] = []

  private static let itemLimit = 4096
  private static let propertyLimit = 2048
  private static let associationLimit = 64

  /// - Parameter meta: the content of the box.
  init(_ window: FileWindow, meta: FilePart) {
    guard let content = Self.children(window, of: meta) else { return }
    // The boxes may be in any order, and all of them refer to the primary item.
    var boxes: [MediaBox] = []
    for box in MediaBoxes(window, in: content) where boxes.count < 64 { boxes.append(box) }
    func first(_ type: BoxType) -> FilePart? { boxes.first { $0.type == type }?.content }
    if let box = first("pitm") { readPrimary(window, box) }
    if let box = first("iinf") { readItems(window, box) }
    if let box = first("iref") { readReferences(window, box) }
    if let box = first("iprp") { readProperties(window, box) }
    if let box = first("iloc") { readLocations(window, box, data: first("idat")) }
    applyProperties(window)
    if width == nil, primaryType == "grid", let primary, let place = places[primary] { readGrid(window, place) }
    exif = described(exifItems).flatMap { Self.structure(window, in: $0) }
    xmp = described(xmpItems)
  }

  /// The boxes of a `meta` box. It begins with a version in ISO's formats, but not in QuickTime's.
  static func children(_ window: FileWindow, of meta: FilePart) -> FilePart? {
    guard let head = window.bytes(at: meta.start, count: 8, within: meta, ahead: MediaBoxes.near) else { return nil }
    return head.holds("hdlr", at: 4) ? meta : meta.part(at: 4, upTo: meta.count)
  }

  // MARK: - Items

  private mutating func readPrimary(_ window: FileWindow, _ box: FilePart) {
    var cursor = PartCursor(window, box)
    guard let version = cursor.number(4) else { return }
    primary = cursor.number(version >> 24 == 0 ? 2 : 4)
  }

  private mutating func readItems(_ window: FileWindow, _ box: FilePart) {
    var cursor = PartCursor(window, box)
    guard let version = cursor.number(4), cursor.number(version >> 24 == 0 ? 2 : 4) != nil else { return }
    for entry in MediaBoxes(window, in: cursor.rest) where entry.type == "infe" {
      var cursor = PartCursor(window, entry.content)
      guard let version = cursor.number(4), version >> 24 >= 2, let id = cursor.number(version >> 24 == 2 ? 2 : 4),
        cursor.skip(2), let type = cursor.number(4)
      else { continue }
      let item = Item(id: id, type: BoxType(code: UInt32(type)))
      if id == primary { primaryType = item.type }
      switch item.type {
      case "Exif": if exifItems.count < 16 { exifItems.append(id) }
      case "mime": if xmpItems.count < 16, Self.isXMP(window, cursor.rest) { xmpItems.append(id) }
      case "tmap": isHDR = true  // a gain map (ISO 21496-1, in ISO/IEC 23008-12 amendment 1)
      default: break
      }
    }
  }

  /// Whether the content type after the item's name is that of XMP.
  private static func isXMP(_ window: FileWindow, _ texts: FilePart) -> Bool {
    guard let bytes = window.bytes(at: texts.start, count: min(texts.count, 256), ahead: MediaBoxes.near),
      let end = bytes.firstIndex(of: 0)
    else { return false }
    return bytes.holds("application/rdf+xml", at: end + 1)
  }

  private mutating func readReferences(_ window: FileWindow, _ box: FilePart) {
    var cursor = PartCursor(window, box)
    guard let version = cursor.number(4) else { return }
    let size = version >> 24 == 0 ? 2 : 4
    for reference in MediaBoxes(window, in: cursor.rest) where reference.type == "cdsc" {
      var cursor = PartCursor(window, reference.content)
      guard let from = cursor.number(size), let count = cursor.number(2), describing.any.count < Self.itemLimit else {
        continue
      }
      describing.any.insert(from)
      for _ in 0..<count {
        guard let to = cursor.number(size) else { break }
        if to == primary { describing.primary.insert(from) }
      }
    }
  }

  /// Several items may contain XMP, for the picture and for its auxiliary images.
  private func described(_ items: [Int]) -> FilePart? {
    let item = items.first { describing.primary.contains($0) } ?? items.first { !describing.any.contains($0) }
    return item.flatMap { places[$0] }
  }

  /// The first extent of each wanted item. Metadata in several extents, or in another item, is not read.
  private mutating func readLocations(_ window: FileWindow, _ box: FilePart, data: FilePart?) {
    var cursor = PartCursor(window, box)
    guard let version = cursor.number(4).map({ $0 >> 24 }), version <= 2, let sizes = cursor.number(2),
      let count = cursor.number(version < 2 ? 2 : 4)
    else { return }
    let offsetSize = sizes >> 12
    let lengthSize = sizes >> 8 & 15
    let baseSize = sizes >> 4 & 15
    let indexSize = version == 0 ? 0 : sizes & 15
    guard offsetSize <= 8, lengthSize <= 8, baseSize <= 8, indexSize <= 8 else { return }
    let wanted = Set(exifItems + xmpItems + (primary.map { [$0] } ?? []))
    for _ in 0..<min(count, Self.itemLimit) {
      guard let id = cursor.number(version < 2 ? 2 : 4), let method = version == 0 ? 0 : cursor.number(2),
        cursor.skip(2), let base = cursor.number(baseSize), let extents = cursor.number(2)
      else { return }
      let extentSize = indexSize + offsetSize + lengthSize
      guard wanted.contains(id), extents > 0 else {
        guard cursor.skip(extents * extentSize) else { return }
        continue
      }
      guard cursor.skip(indexSize), let offset = cursor.number(offsetSize), let length = cursor.number(lengthSize),
        cursor.skip((extents - 1) * extentSize)
      else { return }
      let container: FilePart? = method & 15 == 0 ? window.whole : method & 15 == 1 ? data : nil
      guard let start = container?.part(at: base, upTo: .max), places[id] == nil else { continue }
      // A length of 0 means the whole rest.
      places[id] = length == 0 ? start.part(at: offset, upTo: .max) : start.part(at: offset, upTo: length)
    }
  }

  /// The TIFF structure of an `Exif` item, after an offset of four bytes (ISO/IEC 23008-12, A.2.1). Programs also
  /// count a preceding "Exif", NUL, NUL not in the offset, or leave the offset out.
  static func structure(_ window: FileWindow, in item: FilePart) -> FilePart? {
    guard let head = window.bytes(at: item.start, count: 4, within: item) else { return nil }
    let offset = Int(head.uint32(at: 0, .big))
    for place in [4 + offset, 4, 10, 0, 6] {
      guard let part = item.part(at: place, upTo: .max),
        let bytes = window.bytes(at: part.start, count: 4, within: part)
      else { continue }
      if bytes.holds("II*\0") || bytes.holds("MM\0*") { return part }
    }
    return nil
  }

  // MARK: - Properties

  private mutating func readProperties(_ window: FileWindow, _ box: FilePart) {
    for child in MediaBoxes(window, in: box) {
      if child.type == "ipco", properties.isEmpty {
        for property in MediaBoxes(window, in: child.content) where properties.count < Self.propertyLimit {
          properties.append(property)
        }
      } else if child.type == "ipma" {
        readAssociations(window, child.content)
      }
    }
    for property in properties where property.type == "auxC" { noteAuxiliary(window, property.content) }
  }

  private mutating func readAssociations(_ window: FileWindow, _ box: FilePart) {
    var cursor = PartCursor(window, box)
    guard let flags = cursor.number(4), let count = cursor.number(4) else { return }
    let indexSize = flags & 1 == 1 ? 2 : 1
    for _ in 0..<min(count, Self.itemLimit) {
      guard let id = cursor.number(flags >> 24 == 0 ? 2 : 4), let associations = cursor.number(1) else { return }
      guard id == primary else {
        guard cursor.skip(associations * indexSize) else { return }
        continue
      }
      for _ in 0..<associations where primaryProperties.count < Self.associationLimit {
        guard let index = cursor.number(indexSize) else { return }
        // The highest bit says whether a reader must know the property.
        primaryProperties.append(index & (indexSize == 2 ? 0x7FFF : 0x7F))
      }
    }
  }

  private mutating func noteAuxiliary(_ window: FileWindow, _ property: FilePart) {
    guard let bytes = window.bytes(at: property.start, count: min(property.count, 128), ahead: MediaBoxes.near)
    else { return }
    for depth: StaticString in [
      "urn:mpeg:hevc:2015:auxid:2\0", "urn:mpeg:avc:2015:auxid:2\0", "urn:mpeg:mpegB:cicp:systems:auxiliary:depth\0",
    ] where bytes.holds(depth, at: 4) { hasDepth = true }
    if bytes.holds("urn:com:apple:photo:2020:aux:hdrgainmap\0", at: 4) { isHDR = true }
  }

  /// Applies the properties of the primary item in the order of their associations.
  private mutating func applyProperties(_ window: FileWindow) {
    var transform = ImageTransform()
    var isTransformed = false
    let own = primaryProperties.filter { $0 >= 1 && $0 <= properties.count }.map { properties[$0 - 1] }
    // It describes the picture before all changes, wherever it is in the list.
    var size = own.first { $0.type == "ispe" }.flatMap { Self.extent(window, $0.content) }
    for property in own {
      var cursor = PartCursor(window, property.content)
      switch property.type {
      case "clap":
        guard let (width, height) = Self.crop(&cursor), let whole = size, width <= whole.width, height <= whole.height
        else { continue }
        size = (width, height)
      case "irot":
        guard let angle = cursor.number(1) else { continue }
        transform.turn(angle)
        isTransformed = true
        if angle & 1 == 1, let whole = size { size = (whole.height, whole.width) }
      case "imir":
        guard let axis = cursor.number(1) else { continue }
        transform.mirror(axis: axis)
        isTransformed = true
      case "colr":
        guard let kind = cursor.number(4), BoxType(code: UInt32(kind)) == "nclx", cursor.skip(2),
          let transfer = cursor.number(2)
        else { continue }
        // SMPTE ST 2084 (PQ) and HLG (ITU-T H.273, table 3).
        if transfer == 16 || transfer == 18 { isHDR = true }
      default: break
      }
    }
    if let size { (width, height) = (size.width, size.height) }
    if isTransformed { orientation = transform.orientation }
  }

  private static func extent(_ window: FileWindow, _ ispe: FilePart) -> (width: Int, height: Int)? {
    var cursor = PartCursor(window, ispe)
    guard cursor.skip(4), let width = cursor.number(4), let height = cursor.number(4), width > 0, height > 0 else {
      return nil
    }
    return (width, height)
  }

  /// The size of a clean aperture (ISO/IEC 14496-12, 12.1.4): two fractions.
  private static func crop(_ cursor: inout PartCursor) -> (width: Int, height: Int)? {
    guard let width = cursor.number(4), let widthUnit = cursor.number(4), let height = cursor.number(4),
      let heightUnit = cursor.number(4), widthUnit > 0, heightUnit > 0
    else { return nil }
    let size = (width: width / widthUnit, height: height / heightUnit)
    return size.width > 0 && size.height > 0 ? size : nil
  }

  /// The output size of a derived image (ISO/IEC 23008-12, 6.6.2.3), for writers that leave its `ispe` out.
  private mutating func readGrid(_ window: FileWindow, _ place: FilePart) {
    var cursor = PartCursor(window, place)
    guard cursor.skip(1), let flags = cursor.number(1), cursor.skip(2) else { return }
    let size = flags & 1 == 1 ? 4 : 2
    guard let width = cursor.number(size), let height = cursor.number(size), width > 0, height > 0 else { return }
    let isTurned = (orientation ?? 1) >= 5
    (self.width, self.height) = isTurned ? (height, width) : (width, height)
  }
}
