import ExtractRecords

extension MediaReader {
  func readJPEGXL(into facts: inout MediaFacts) {
    let header = JPEGXL(window)
    let exif = exif(header.exif)
    facts.apply(exif, width: header.width, height: header.height, orientation: header.orientation)
    describe(&facts, exif, xmp: header.xmp)
    if header.isAnimated { facts.mediaSubtypes.insert(.animated) }
    if header.width == nil { facts.failure = Self.noSize }
  }

  func readJPEG2000(into facts: inout MediaFacts) {
    let header = JPEG2000(window)
    let exif = exif(header.exif)
    facts.apply(exif, width: header.width, height: header.height)
    describe(&facts, exif, xmp: header.xmp, iptc: header.iptc)
    if header.width == nil { facts.failure = Self.noSize }
  }
}
