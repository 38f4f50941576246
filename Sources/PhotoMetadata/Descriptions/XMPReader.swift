import CExpat
import Glibc

/// Reads keywords, title, caption, rating, orientation, camera, place and dates from XMP packets (ISO 16684-1). It uses
/// expat, and understands only as much of RDF as XMP needs: properties as elements or attributes, bags and alternatives,
/// and values with qualifiers.
///
/// Names are recognised by their namespace, whatever the prefix. Only properties of the picture itself count, not those
/// within another property's structure (its history, ingredients or regions).
///
/// A packet is taken for hostile. Limits are ``packetLimit`` bytes, elements 60 deep and 50,000 in number, and values
/// of 8 KiB. A document type ends the parse, so there are no entities to expand. Facts found before an error count,
/// because packets are often cut off.
///
/// A reader belongs to one thread, and keeps its parser from packet to packet. A packet costs 5 to 40 µs. One without
/// wanted properties costs only the search for some words.
final class XMPReader {
  static let packetLimit = 1 << 20

  /// The facts that are wanted only if EXIF does not have them. A packet that has nothing else need not be parsed.
  struct Wanted: OptionSet {
    let rawValue: UInt8

    static let dates = Wanted(rawValue: 1)
    static let orientation = Wanted(rawValue: 2)
    static let lens = Wanted(rawValue: 4)
    /// Maker, model and exposure.
    static let camera = Wanted(rawValue: 8)
    static let place = Wanted(rawValue: 16)
    static let all: Wanted = [.dates, .orientation, .lens, .camera, .place]
  }

  private static let depthLimit = 60
  private static let elementLimit = 50_000
  private static let textLimit = 8192
  /// A parser keeps the memory that its largest packet needed. After a larger packet than this, it is freed.
  private static let keptPacketBytes = 1 << 18

  /// The `xml:lang` of an alternative.
  private enum Language {
    case none, standard, other
  }

  /// A text in the best language so far: `x-default` is preferred to the first one.
  private struct Alternative {
    var text: String?
    var isStandard = false

    mutating func add(_ text: String, _ language: Language) {
      guard self.text == nil || (language == .standard && !isStandard) else { return }
      self.text = text
      isStandard = language == .standard
    }
  }

  /// Separates namespace and name. A URI that contains it makes expat reject the packet.
  static let separator = CChar(0x0A)

  private var parser: XML_Parser?

  // The facts found in the packet so far.
  private var subjects = KeywordList()
  private var leaves = KeywordList()
  private var title = Alternative()
  private var caption = Alternative()
  private var rating: Int?
  private var ratingPercent: Int?
  private var orientation: Int?
  private var lens: String?
  private var lensModel: String?
  private var dates = XMPDates()
  private var camera = XMPCamera()
  private var hints = XMPHints()

  // The parser's position in the packet.
  private var depth = 0
  private var elements = 0
  private var isStopped = false
  /// The depth of `rdf:RDF`. Nodes are one level deeper, properties two.
  private var rootDepth: Int?
  private var property: XMPProperty?
  /// The depth of an element within the property that qualifies the value instead of being it.
  private var qualifierDepth: Int?
  /// The depth of an element that tells the meaning of an item in a container.
  private var semanticDepth: Int?
  private var language = Language.none
  private var text: [UInt8] = []

  deinit { if let parser { XML_ParserFree(parser) } }

  /// - Returns: `nil` if no wanted property is found.
  func facts(_ window: FileWindow, at part: FilePart, wanted: Wanted = .all) -> DescriptiveFacts? {
    facts(window, at: [part], wanted: wanted)
  }

  /// Reads a packet that is cut into several parts.
  ///
  /// If a byte is not UTF-8, the packet is read again with such bytes taken as Latin-1.
  func facts(_ window: FileWindow, at parts: [FilePart], wanted: Wanted = .all) -> DescriptiveFacts? {
    var count = 0
    for part in parts { count = min(count + part.count, Self.packetLimit + 1) }
    guard count > 0, count <= Self.packetLimit, let first = parts.first,
      let piece = window.piece(at: first.start, upTo: first.count)
    else { return nil }
    if piece.count == count, !Self.mayHoldFacts(piece, wanted) { return nil }
    guard let parser = begin() else { return nil }
    defer { if count > Self.keptPacketBytes { release() } }
    func parse(_ bytes: UnsafeRawBufferPointer) -> XML_Status {
      XML_Parse(parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), 0)
    }
    read(window, parts, with: parser, parse)
    if XML_GetErrorCode(parser) == XML_ERROR_INVALID_TOKEN, !isStopped, begin() != nil {
      var repair = Latin1Repair()
      read(window, parts, with: parser) { repair.repaired($0).withUnsafeBytes(parse) }
    }
    return found()
  }

  private func read(
    _ window: FileWindow, _ parts: [FilePart], with parser: XML_Parser,
    _ parse: (UnsafeRawBufferPointer) -> XML_Status
  ) {
    var isBeginning = true
    for part in parts {
      var offset = part.start
      while offset < part.end, var piece = window.piece(at: offset, upTo: part.end - offset) {
        offset += piece.count
        // Nothing may precede an XML declaration, but some packets have blanks there.
        while isBeginning, let first = piece.first, first == 0x20 || (0x09...0x0D).contains(first) {
          piece = UnsafeRawBufferPointer(rebasing: piece.dropFirst())
        }
        isBeginning = false
        guard parse(piece) == XML_STATUS_OK, !isStopped else { return }
      }
    }
    // At the end, expat parses anything that it postponed. An error because something is missing does not matter.
    _ = XML_Parse(parser, nil, 0, 1)
  }

  /// Whether the packet contains one of the words of which every wanted property's name has one. A packet in an
  /// encoding of wider units may contain anything.
  private static func mayHoldFacts(_ packet: UnsafeRawBufferPointer, _ wanted: Wanted) -> Bool {
    guard packet.count >= 2, packet[0] != 0, packet[1] != 0, packet[0] < 0xFE else { return true }
    func holds(_ word: StaticString) -> Bool {
      memmem(packet.baseAddress, packet.count, word.utf8Start, word.utf8CodeUnitCount) != nil
    }
    return ["ubject", "Rating", "title", "description", "TagsList"].contains(where: holds)
      || wanted.contains(.orientation) && holds("Orientation")
      || wanted.contains(.lens) && holds("Lens")
      || wanted.contains(.camera)
        && [
          "Make", "Model", "ExposureTime", "FNumber", "ShutterSpeedValue", "ApertureValue", "ISOSpeedRatings",
          "PhotographicSensitivity", "FocalLength",
        ].contains(where: holds)
      || wanted.contains(.place) && holds("GPSLatitude")
      || ["ns.google.com/photos", "hdr-gain-map", "HDRGainMap", "AuxiliaryImageType", "UserComment", "HasExtendedXMP"]
        .contains(where: holds)
      || wanted.contains(.dates) && ["DateTime", "DateCreated", "CreateDate"].contains(where: holds)
  }

  private func begin() -> XML_Parser? {
    if let parser { XML_ParserReset(parser, nil) } else { parser = XML_ParserCreateNS(nil, Self.separator) }
    guard let parser else { return nil }
    subjects = KeywordList()
    leaves = KeywordList()
    (title, caption) = (Alternative(), Alternative())
    (rating, ratingPercent, orientation, lens, lensModel) = (nil, nil, nil, nil, nil)
    dates = XMPDates()
    camera = XMPCamera()
    hints = XMPHints()
    (depth, elements, isStopped) = (0, 0, false)
    (rootDepth, property, qualifierDepth, semanticDepth, language) = (nil, nil, nil, nil, .none)
    text.removeAll(keepingCapacity: true)
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser, { XMPReader.reader($0)?.started($1, attributes: $2) },
      { data, name in XMPReader.reader(data)?.ended(name) })
    XML_SetCharacterDataHandler(parser) { XMPReader.reader($0)?.read($1, count: $2) }
    XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in XMPReader.reader(data)?.stop() }
    return parser
  }

  private static func reader(_ data: UnsafeMutableRawPointer?) -> XMPReader? {
    data.map { Unmanaged<XMPReader>.fromOpaque($0).takeUnretainedValue() }
  }

  private func release() {
    if let parser { XML_ParserFree(parser) }
    parser = nil
  }

  private func stop() {
    guard !isStopped else { return }
    isStopped = true
    XML_StopParser(parser, XML_Bool(XML_FALSE))
  }

  private func found() -> DescriptiveFacts? {
    // Hierarchies are for programs that show trees. Elsewhere people see the flat list of dc:subject, which usually
    // contains the leaves already.
    subjects.add(contentsOf: leaves)
    let facts = DescriptiveFacts(
      keywords: subjects.words, title: title.text, caption: caption.text,
      rating: rating ?? ratingPercent.flatMap(Rating.stars), lens: lensModel ?? lens, orientation: orientation,
      camera: camera.camera, location: camera.location, dates: dates.dates, hints: hints)
    return facts.isEmpty ? nil : facts
  }

  // MARK: - The parser's events

  private func started(_ name: UnsafePointer<CChar>?, attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
    depth += 1
    elements += 1
    guard depth <= Self.depthLimit, elements <= Self.elementLimit, !isStopped, let name else { return stop() }
    guard let rootDepth else {
      if RDFName(name) == .root { rootDepth = depth }
      return
    }
    if depth - rootDepth > 2 { startedItem(name, attributes: attributes) }
    switch depth - rootDepth {
    case 1:
      forEach(attributes) { name, value in
        property = XMPProperty(name)
        if property != nil { take(value) }
      }
      property = nil
    case 2:
      property = XMPProperty(name)
      language = .none
      text.removeAll(keepingCapacity: true)
      if property != nil { takeValueAttribute(attributes) }
    default:
      guard property != nil, qualifierDepth == nil else { return }
      switch RDFName(name) {
      case .item:
        text.removeAll(keepingCapacity: true)
        language = language(attributes)
        takeValueAttribute(attributes)
      case .value: text.removeAll(keepingCapacity: true)
      case .node: takeValueAttribute(attributes)
      case .list: break
      case .root, nil: qualifierDepth = depth
      }
    }
  }

  /// Notes the meaning of an item in a container, wherever it is. It is an attribute or an element.
  private func startedItem(
    _ name: UnsafePointer<CChar>, attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
  ) {
    forEach(attributes) { name, value in
      guard XMPHints.semantics.contains(where: { XMPName.equal(name, $0) }) else { return }
      noteSemantic(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }
    if property == nil, XMPHints.semantics.contains(where: { XMPName.equal(name, $0) }) {
      semanticDepth = depth
      text.removeAll(keepingCapacity: true)
    }
  }

  private func noteSemantic(_ value: UnsafeRawBufferPointer) {
    if value.count < 64, let text = ExifText.decode(value) { hints.note(semantic: text) }
  }

  private func ended(_ name: UnsafePointer<CChar>?) {
    defer { depth -= 1 }
    guard let rootDepth, !isStopped, let name else { return }
    // Only padding follows it.
    if depth == rootDepth { return stop() }
    if depth == semanticDepth {
      text.withUnsafeBytes(noteSemantic)
      semanticDepth = nil
    }
    guard property != nil else { return }
    if let qualifierDepth {
      if depth == qualifierDepth { self.qualifierDepth = nil }
      return
    }
    if depth == rootDepth + 2 {
      takeText()
      property = nil
    } else {
      switch RDFName(name) {
      case .item:
        takeText()
        language = .none
      case .value: takeText()
      default: break
      }
    }
  }

  private func read(_ bytes: UnsafePointer<CChar>?, count: Int32) {
    guard property != nil && qualifierDepth == nil || semanticDepth != nil, let bytes else { return }
    // One byte beyond the limit shows that the text was longer.
    let taken = min(Int(count), Self.textLimit + 1 - text.count)
    if taken > 0 { text.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: taken)) }
  }

  // MARK: - Values

  private func forEach(
    _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
    _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Void
  ) {
    guard var pair = attributes else { return }
    while let name = pair[0], let value = pair[1] {
      body(name, value)
      pair += 2
    }
  }

  /// Takes a value in an `rdf:value` attribute, which has qualifiers beside it.
  private func takeValueAttribute(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
    forEach(attributes) { name, value in
      if RDFName(name) == .value { take(value) }
    }
  }

  private func language(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> Language {
    var language = Language.none
    forEach(attributes) { name, value in
      guard XMPName.equal(name, "http://www.w3.org/XML/1998/namespace\nlang") else { return }
      language = strcasecmp(value, "x-default") == 0 ? .standard : .other
    }
    return language
  }

  private func take(_ value: UnsafePointer<CChar>) {
    text.removeAll(keepingCapacity: true)
    let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
    text.append(contentsOf: bytes.prefix(Self.textLimit + 1))
    takeText()
  }

  private func takeText() {
    guard !text.isEmpty else { return }
    if text.count > Self.textLimit {
      // The cut must be between characters, so not before a continuation byte.
      var end = Self.textLimit
      while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
      text.removeLast(text.count - end)
    }
    text.withUnsafeBytes(take)
    text.removeAll(keepingCapacity: true)
  }

  private func take(_ value: UnsafeRawBufferPointer) {
    switch property {
    case .subject: subjects.add(value)
    case .hierarchicalSubject: leaves.add(Self.leaf(value, after: UInt8(ascii: "|")))
    case .tagsList: leaves.add(Self.leaf(value, after: UInt8(ascii: "/")))
    case .title: if let text = ExifText.decode(value) { title.add(text, language) }
    case .caption: if let text = ExifText.decode(value) { caption.add(text, language) }
    case .rating: if rating == nil { rating = Self.stars(value) }
    case .ratingPercent:
      if ratingPercent == nil { ratingPercent = ExifText.decimal(value).flatMap(Self.rounded) }
    case .orientation: orientation = orientation ?? Self.orientation(value)
    case .lens: lens = lens ?? ExifText.decode(value)
    case .lensModel: lensModel = lensModel ?? ExifText.decode(value)
    case .date(let property): dates.note(property, value)
    case .camera(let property): camera.note(property, value)
    case .hint(let property):
      if value.count <= 256, let text = ExifText.decode(value) { hints.note(property, text) }
    case nil: break
    }
  }

  private static func leaf(_ path: UnsafeRawBufferPointer, after separator: UInt8) -> UnsafeRawBufferPointer {
    guard let last = path.lastIndex(of: separator) else { return path }
    return UnsafeRawBufferPointer(rebasing: path[(last + 1)...])
  }

  /// Parses "4" or "4.0". -1 means "rejected" (ISO 16684-1, 8.4) and becomes 0, the lowest rating here. Unlike an
  /// absent rating, it does not let another block decide.
  private static func stars(_ value: UnsafeRawBufferPointer) -> Int? {
    guard let number = ExifText.decimal(value), let stars = rounded(number), stars >= -1,
      stars <= 5
    else { return nil }
    return max(stars, 0)
  }

  private static func orientation(_ value: UnsafeRawBufferPointer) -> Int? {
    ExifText.decimal(value).flatMap { Int(exactly: $0) }.flatMap { (1...8).contains($0) ? $0 : nil }
  }

  private static func rounded(_ number: Double) -> Int? { Int(exactly: number.rounded()) }
}
