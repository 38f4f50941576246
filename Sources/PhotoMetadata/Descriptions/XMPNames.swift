import Glibc

/// The wanted properties, by namespace and name as expat passes them, with ``XMPReader/separator`` between.
enum XMPProperty {
  case subject, hierarchicalSubject, tagsList, title, caption, rating, ratingPercent, orientation, lens, lensModel
  case date(XMPDates.Property)
  case camera(XMPCamera.Property)
  case hint(XMPHints.Property)

  init?(_ name: UnsafePointer<CChar>) {
    switch true {
    case XMPName.equal(name, "http://purl.org/dc/elements/1.1/\nsubject"): self = .subject
    case XMPName.equal(name, "http://purl.org/dc/elements/1.1/\ntitle"): self = .title
    case XMPName.equal(name, "http://purl.org/dc/elements/1.1/\ndescription"): self = .caption
    case XMPName.equal(name, "http://ns.adobe.com/xap/1.0/\nRating"): self = .rating
    case XMPName.equal(name, "http://ns.adobe.com/lightroom/1.0/\nhierarchicalSubject"): self = .hierarchicalSubject
    case XMPName.equal(name, "http://www.digikam.org/ns/1.0/\nTagsList"): self = .tagsList
    // Windows' own programs write the namespace with and without the slash.
    case XMPName.equal(name, "http://ns.microsoft.com/photo/1.0/\nRating"),
      XMPName.equal(name, "http://ns.microsoft.com/photo/1.0\nRating"):
      self = .ratingPercent
    case XMPName.equal(name, "http://ns.adobe.com/tiff/1.0/\nOrientation"): self = .orientation
    case XMPName.equal(name, "http://ns.adobe.com/exif/1.0/aux/\nLens"): self = .lens
    case XMPName.equal(name, "http://cipa.jp/exif/1.0/\nLensModel"): self = .lensModel
    case XMPName.equal(name, "http://ns.adobe.com/exif/1.0/\nDateTimeOriginal"): self = .date(.taken)
    case XMPName.equal(name, "http://ns.adobe.com/photoshop/1.0/\nDateCreated"): self = .date(.created)
    case XMPName.equal(name, "http://ns.adobe.com/xap/1.0/\nCreateDate"): self = .date(.digitized)
    case XMPName.equal(name, "http://ns.adobe.com/exif/1.0/\nDateTimeDigitized"): self = .date(.exifDigitized)
    default:
      if let found = XMPCamera.Property.allCases.first(where: { XMPName.equal(name, $0.name) }) {
        self = .camera(found)
      } else if let found = XMPHints.Property.allCases.first(where: { XMPName.equal(name, $0.name) }) {
        self = .hint(found)
      } else {
        return nil
      }
    }
  }
}

/// The names of RDF's own vocabulary (https://www.w3.org/TR/rdf-syntax-grammar/) that have a meaning here.
enum RDFName {
  case root, node, list, item, value

  init?(_ name: UnsafePointer<CChar>) {
    guard let local = Self.localName(name) else { return nil }
    switch true {
    case XMPName.equal(local, "li"): self = .item
    case XMPName.equal(local, "Bag"), XMPName.equal(local, "Seq"), XMPName.equal(local, "Alt"): self = .list
    case XMPName.equal(local, "Description"): self = .node
    case XMPName.equal(local, "value"): self = .value
    case XMPName.equal(local, "RDF"): self = .root
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

/// Names as expat passes them.
enum XMPName {
  static func equal(_ name: UnsafePointer<CChar>, _ text: StaticString) -> Bool {
    // A StaticString also ends with a NUL.
    text.utf8Start.withMemoryRebound(to: CChar.self, capacity: text.utf8CodeUnitCount + 1) { strcmp(name, $0) == 0 }
  }
}
