import ExtractRecords
import PhotoModel

extension MediaReader {
  /// Reads a HEIF or AVIF file: its primary item, the film of a motion photo beside it, and image sequences.
  ///
  /// The orientation of EXIF and XMP is ignored (ISO/IEC 23008-12, 6.5.10): the properties of the item have turned the picture
  /// already.
  func readHEIF(into facts: inout MediaFacts) {
    var items: HEIFItems?
    var sequence: MovieHeader?
    for box in MediaBoxes(window, in: window.whole, ahead: MediaBoxes.far) {
      switch box.type {
      case "meta": if items == nil { items = HEIFItems(window, meta: box.content) }
      case "moov": if sequence == nil { sequence = MovieHeader(window, moov: box.content) }
      case "mpvd": facts.mediaSubtypes.insert(.motionPhoto)
      case "sefd":
        if SamsungTrailer.hasMotionPhoto(window, in: box.content) { facts.mediaSubtypes.insert(.motionPhoto) }
      default: break
      }
    }
    let frames = sequence?.first("pict") ?? sequence?.first("vide")
    if let frames, frames.sampleCount > 1 { facts.mediaSubtypes.insert(.animated) }
    let exif = exif(items?.exif)
    // Without the properties, the picture is upright. That is a fact only if something tells an orientation.
    facts.apply(exif, width: nil, height: nil, orientation: items?.orientation ?? exif?.orientation.map { _ in 1 })
    (facts.pixelWidth, facts.pixelHeight) = (items?.width ?? frames?.width, items?.height ?? frames?.height)
    var packet = items?.xmp.flatMap { xmpFacts([$0], for: facts) }
    if packet?.orientation != nil { packet?.orientation = 1 }
    describe(&facts, exif, xmp: packet, iptc: nil)
    if items?.hasDepth == true { facts.mediaSubtypes.insert(.depth) }
    if items?.isHDR == true { facts.mediaSubtypes.insert(.hdr) }
    if facts.pixelWidth == nil {
      facts.failure = "the HEIF file is damaged or cut off: its primary picture has no size"
    }
  }

  /// Reads a Canon CR3 file. Its EXIF is in three structures, which become one block.
  func readCanonRAW(into facts: inout MediaFacts) {
    let raw = CanonRAW(window)
    guard let main = raw.main, var directories = ExifDirectories(window: window, structure: main),
      directories.copy(to: blob)
    else {
      facts.failure = "the CR3 is damaged or cut off: it has no EXIF"
      return
    }
    for (part, kind) in [(raw.exif, ExifBlob.Directory.exif), (raw.gps, .gps)] {
      guard let part, var other = ExifDirectories(window: window, structure: part), other.order == directories.order
      else { continue }
      _ = other.copyFirst(as: kind, to: blob)
    }
    let exif = blob.isEmpty ? nil : ExifFacts(blob.finish(), in: arena)
    facts.apply(exif, width: raw.size?.width ?? exif?.imageWidth, height: raw.size?.height ?? exif?.imageHeight)
    describe(&facts, exif, xmp: raw.xmp)
  }
}
