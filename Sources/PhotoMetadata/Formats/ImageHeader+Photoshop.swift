/// PSD and PSB files (https://www.adobe.com/devnet-apps/photoshop/fileformatashtml/).
extension ImageHeader {
  /// The header has the size. The resources, after the palette, have EXIF, XMP and IPTC.
  static func photoshop(_ window: FileWindow) -> ImageHeader {
    var header = ImageHeader()
    guard let head = window.bytes(at: 0, count: 30) else { return header }
    header.setSize(Int(head.uint32(at: 18, .big)), Int(head.uint32(at: 14, .big)))
    let palette = Int(head.uint32(at: 26, .big))
    guard let place = window.whole.part(at: 30 + palette, count: 4),
      let size = window.bytes(at: place.start, count: 4),
      let part = window.whole.part(at: 34 + palette, upTo: Int(size.uint32(at: 0, .big)))
    else { return header }
    let resources = PhotoshopResources(window, part: part, wanted: [.exif, .xmp, .iptc])
    header.exif = resources[.exif]
    header.xmp = resources[.xmp]
    header.iptc = resources[.iptc]
    return header
  }
}
