import CExpat
import Glibc

/// Reads keywords, title, caption and rating from XMP packets (ISO 16684-1), with expat below and of RDF only what XMP
/// uses: properties as elements or attributes, bags and alternatives, and values with qualifiers.
///
/// Names are told by their namespace, whatever the prefix. Only properties of the picture itself count, not those within
/// another property's structure (its history, its ingredients, its regions).
///
/// A packet is hostile until read: at most ``packetLimit`` bytes, elements 60 deep and 50,000 in number, values of 8 KiB,
/// no document type (so no entities to expand). What was read before an error counts: packets are cut off in practice.
///
/// One reader belongs to one thread; it keeps its parser from packet to packet. A packet costs 5 to 40 µs, one without
/// anything of interest the search for seven words.
final class XMPReader {
  static let packetLimit = 1 << 20

  private static let depthLimit = 60
  private static let elementLimit = 50_000
  private static let textLimit = 8192
  /// A parser keeps the memory that the largest packet took; beyond this it is let go.
  private static let keptPacketBytes = 1 << 18

  /// What is looked for, by namespace and name as expat gives them: with ``separator`` between.
  private enum Property {
    case subject, hierarchicalSubject, tagsList, title, caption, rating, ratingPercent

    init?(_ name: UnsafePointer<CChar>) {
      switch true {
      case XMPReader.equal(name, "http://purl.org/dc/elements/1.1/\nsubject"): self = .subject
      case XMPReader.equal(name, "http://purl.org/dc/elements/1.1/\ntitle"): self = .title
      case XMPReader.equal(name, "http://purl.org/dc/elements/1.1/\ndescription"): self = .caption
      case XMPReader.equal(name, "http://ns.adobe.com/xap/1.0/\nRating"): self = .rating
      case XMPReader.equal(name, "http://ns.adobe.com/lightroom/1.0/\nhierarchicalSubject"): self = .hierarchicalSubject
      case XMPReader.equal(name, "http://www.digikam.org/ns/1.0/\nTagsList"): self = .tagsList
      // Windows' own programs write it with and without the slash.
      case XMPReader.equal(name, "http://ns.microsoft.com/photo/1.0/\nRating"),
        XMPReader.equal(name, "http://ns.microsoft.com/photo/1.0\nRating"):
        self = .ratingPercent
      default: return nil
      }
    }
  }

  /// What of RDF's own vocabulary (https://www.w3.org/TR/rdf-syntax-grammar/) has a meaning here.
  private enum RDFName {
    case root, node, list, item, value

    init?(_ name: UnsafePointer<CChar>) {
      guard let local = Self.localName(name) else { return nil }
      switch true {
      case XMPReader.equal(local, "li"): self = .item
      case XMPReader.equal(local, "Bag"), XMPReader.equal(local, "Seq"), XMPReader.equal(local, "Alt"): self = .list
      case XMPReader.equal(local, "Description"): self = .node
      case XMPReader.equal(local, "value"): self = .value
      case XMPReader.equal(local, "RDF"): self = .root
      default: return nil
      }
    }

    private static func localName(_ name: UnsafePointer<CChar>) -> UnsafePointer<CChar>? {
      let space: StaticString = "http://www.w3.org/1999/02/22-rdf-syntax-ns#\n"
      for index in 0..<space.utf8CodeUnitCount where UInt8(bitPattern: name[index]) != space.utf8Start[index] {
        return nil
      }
      return name + space.utf8CodeUnitCount
    }
  }

  /// Of the `xml:lang` of an alternative.
  private enum Language {
    case none, standard, other
  }

  /// A text in the best language that has come: `x-default` before the first one.
  private struct Alternative {
    var text: String?
    var isStandard = false

    mutating func add(_ text: String, _ language: Language) {
      guard self.text == nil || (language == .standard && !isStandard) else { return }
      self.text = text
      isStandard = language == .standard
    }
  }

  /// Where namespace and name meet; a URI that holds it makes expat refuse the packet.
  private static let separator = CChar(0x0A)

  private var parser: XML_Parser?

  // What has been found in the packet.
  private var subjects = KeywordList()
  private var leaves = KeywordList()
  private var title = Alternative()
  private var caption = Alternative()
  private var rating: Int?
  private var ratingPercent: Int?

  // Where in the packet the parser is.
  private var depth = 0
  private var elements = 0
  private var isStopped = false
  /// Of `rdf:RDF`: one deeper are the nodes, two deeper the properties.
  private var rootDepth: Int?
  private var property: Property?
  /// Within the property: an element that says something about the value and isn't it.
  private var qualifierDepth: Int?
  private var language = Language.none
  private var text: [UInt8] = []

  deinit { if let parser { XML_ParserFree(parser) } }

  /// - Parameter place: where the packet stands in the file.
  /// - Returns: `nil` where it says nothing of interest.
  func facts(_ window: FileWindow, at place: (base: Int, length: Int)) -> DescriptiveFacts? {
    guard place.length > 0, place.length <= Self.packetLimit,
      var piece = window.piece(at: place.base, upTo: place.length)
    else { return nil }
    if piece.count == place.length, !Self.mayHoldFacts(piece) { return nil }
    guard let parser = begin() else { return nil }
    defer { if place.length > Self.keptPacketBytes { release() } }
    var offset = place.base + piece.count
    let end = place.base + place.length
    // Before an XML declaration nothing may stand, but blanks do.
    while let first = piece.first, first == 0x20 || (0x09...0x0D).contains(first) {
      piece = UnsafeRawBufferPointer(rebasing: piece.dropFirst())
    }
    while true {
      let status = XML_Parse(parser, piece.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(piece.count), 0)
      guard status == XML_STATUS_OK, !isStopped, offset < end,
        let next = window.piece(at: offset, upTo: end - offset)
      else { break }
      piece = next
      offset += piece.count
    }
    // The end: expat may have put off what the last pieces complete. That something is missing then is no matter.
    if !isStopped { _ = XML_Parse(parser, nil, 0, 1) }
    return found()
  }

  /// Whether the words occur that all of the properties have in their names; a packet that isn't in an encoding of bytes
  /// may hold anything.
  private static func mayHoldFacts(_ packet: UnsafeRawBufferPointer) -> Bool {
    guard packet.count >= 2, packet[0] != 0, packet[1] != 0, packet[0] < 0xFE else { return true }
    return ["ubject", "Rating", "title", "description", "TagsList"].contains { (word: StaticString) in
      memmem(packet.baseAddress, packet.count, word.utf8Start, word.utf8CodeUnitCount) != nil
    }
  }

  private func begin() -> XML_Parser? {
    if let parser { XML_ParserReset(parser, nil) } else { parser = XML_ParserCreateNS(nil, Self.separator) }
    guard let parser else { return nil }
    subjects = KeywordList()
    leaves = KeywordList()
    (title, caption) = (Alternative(), Alternative())
    (rating, ratingPercent) = (nil, nil)
    (depth, elements, isStopped) = (0, 0, false)
    (rootDepth, property, qualifierDepth, language) = (nil, nil, nil, .none)
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
    // Hierarchies are for programs that show trees; the flat list of dc:subject is what people see elsewhere, and mostly
    // holds the leaves already.
    subjects.add(contentsOf: leaves)
    let facts = DescriptiveFacts(
      keywords: subjects.words, title: title.text, caption: caption.text,
      rating: rating ?? ratingPercent.flatMap(Rating.stars))
    let isEmpty = facts.keywords.isEmpty && facts.title == nil && facts.caption == nil && facts.rating == nil
    return isEmpty ? nil : facts
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
    switch depth - rootDepth {
    case 1:
      forEach(attributes) { name, value in
        property = Property(name)
        if property != nil { take(value) }
      }
      property = nil
    case 2:
      property = Property(name)
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

  private func ended(_ name: UnsafePointer<CChar>?) {
    defer { depth -= 1 }
    guard let rootDepth, !isStopped, let name else { return }
    // Behind it only padding comes.
    if depth == rootDepth { return stop() }
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
    guard property != nil, qualifierDepth == nil, let bytes else { return }
    // One byte more than is taken says that the text was longer.
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

  /// A value that stands in `rdf:value`, qualifiers beside it.
  private func takeValueAttribute(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
    forEach(attributes) { name, value in
      if RDFName(name) == .value { take(value) }
    }
  }

  private func language(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> Language {
    var language = Language.none
    forEach(attributes) { name, value in
      guard Self.equal(name, "http://www.w3.org/XML/1998/namespace\nlang") else { return }
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
      // Cut between characters: never before a byte that continues one.
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
      if ratingPercent == nil { ratingPercent = ExifText.decode(value).flatMap { Double($0) }.flatMap(Self.rounded) }
    case nil: break
    }
  }

  private static func leaf(_ path: UnsafeRawBufferPointer, after separator: UInt8) -> UnsafeRawBufferPointer {
    guard let last = path.lastIndex(of: separator) else { return path }
    return UnsafeRawBufferPointer(rebasing: path[(last + 1)...])
  }

  /// "4", "4.0"; -1 stands for "rejected" (ISO 16684-1, 8.4): the least that a rating here can be, and no reason to ask
  /// another place of the file, as an absent one is.
  private static func stars(_ value: UnsafeRawBufferPointer) -> Int? {
    guard let number = ExifText.decode(value).flatMap({ Double($0) }), let stars = rounded(number), stars >= -1,
      stars <= 5
    else { return nil }
    return max(stars, 0)
  }

  private static func rounded(_ number: Double) -> Int? { Int(exactly: number.rounded()) }

  private static func equal(_ name: UnsafePointer<CChar>, _ text: StaticString) -> Bool {
    // A StaticString ends with a NUL as well.
    text.utf8Start.withMemoryRebound(to: CChar.self, capacity: text.utf8CodeUnitCount + 1) { strcmp(name, $0) == 0 }
  }
}
