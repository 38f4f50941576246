/// XMP packets and IPTC blocks, and files that contain them.
enum DescriptionSamples {
  static let namespaces = """
    xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" \
    xmlns:digiKam="http://www.digikam.org/ns/1.0/" xmlns:lr="http://ns.adobe.com/lightroom/1.0/" \
    xmlns:MicrosoftPhoto="http://ns.microsoft.com/photo/1.0/" xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/"
    """
  static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

  /// A packet with one node, padded as programs pad it.
  static func packet(_ properties: String = "", attributes: String = "", padding: Int = 100) -> String {
    """
    <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
    <x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="test"><rdf:RDF xmlns:rdf="\(rdf)">
    <rdf:Description rdf:about="" \(namespaces) \(attributes)>\(properties)</rdf:Description>
    </rdf:RDF></x:xmpmeta>
    """ + String(repeating: " ", count: padding) + "<?xpacket end=\"w\"?>"
  }

  static func bag(_ name: String, _ words: [String]) -> String {
    "<\(name)><rdf:Bag>" + words.map { "<rdf:li>\($0)</rdf:li>" }.joined() + "</rdf:Bag></\(name)>"
  }

  /// A packet with one of each property.
  static let full = packet(
    bag("dc:subject", ["sea", "boat"]) + bag("lr:hierarchicalSubject", ["Places|Italy", "sea"])
      + bag("digiKam:TagsList", ["People/Ada"])
      + "<dc:title><rdf:Alt><rdf:li xml:lang='de'>Meer</rdf:li><rdf:li xml:lang='x-default'>Sea</rdf:li></rdf:Alt></dc:title>"
      + "<dc:description><rdf:Alt><rdf:li xml:lang='x-default'>A boat &amp; the sea</rdf:li></rdf:Alt></dc:description>",
    attributes: "xmp:Rating='4'")

  static func xmpSegment(_ packet: [UInt8]) -> [UInt8] {
    ExifBuilder.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + packet)
  }

  static func jpeg(_ segments: [[UInt8]]) -> [UInt8] {
    [0xFF, 0xD8] + segments.flatMap { $0 } + ExifBuilder.frame(width: 160, height: 120)
  }

  static func jpeg(xmp packet: String) -> [UInt8] { jpeg([xmpSegment(Array(packet.utf8))]) }

  // MARK: - IPTC

  static func dataset(_ number: UInt8, _ value: [UInt8], record: UInt8 = 2) -> [UInt8] {
    [0x1C, record, number, UInt8(value.count >> 8), UInt8(value.count & 255)] + value
  }

  /// A block that begins with version and character set, as programs write it.
  static func iptc(keywords: [[UInt8]] = [], title: [UInt8]? = nil, caption: [UInt8]? = nil) -> [UInt8] {
    dataset(90, [0x1B, 0x25, 0x47], record: 1) + dataset(0, [0, 4])
      + (title.map { dataset(5, $0) } ?? []) + keywords.flatMap { dataset(25, $0) }
      + (caption.map { dataset(120, $0) } ?? [])
  }

  /// - Parameter before: the names and data of other Photoshop resources.
  static func photoshopSegment(_ iptc: [UInt8], before: [(name: String, data: [UInt8])] = []) -> [UInt8] {
    func resource(_ number: Int, _ name: String, _ data: [UInt8]) -> [UInt8] {
      var bytes = Array("8BIM".utf8) + [UInt8(number >> 8), UInt8(number & 255), UInt8(name.utf8.count)] + name.utf8
      if name.utf8.count % 2 == 0 { bytes.append(0) }
      return bytes + Samples.big(data.count) + data + (data.count % 2 == 1 ? [0] : [])
    }
    let others = before.flatMap { resource(0x03ED, $0.name, $0.data) }
    return ExifBuilder.segment(0xED, Array("Photoshop 3.0\0".utf8) + others + resource(0x0404, "", iptc))
  }

  static let fullIPTC = iptc(
    keywords: [Array("harbour".utf8), Array("Ada".utf8)], title: Array("Harbour".utf8),
    caption: Array("In the harbour".utf8))
}
