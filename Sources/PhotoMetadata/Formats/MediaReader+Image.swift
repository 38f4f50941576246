import ExtractRecords
import PhotoModel

/// Images whose header has all of their facts: GIF, WebP, Photoshop and bitmap files.
extension MediaReader {
  func readImage(_ header: ImageHeader, into facts: inout MediaFacts) {
    let exif = exif(header.exif)
    facts.apply(exif, width: header.width, height: header.height)
    describe(&facts, exif, xmp: header.xmp, iptc: header.iptc)
    if header.isAnimated { facts.mediaSubtypes.insert(.animated) }
    if header.width == nil { facts.failure = Self.noSize }
  }
}
