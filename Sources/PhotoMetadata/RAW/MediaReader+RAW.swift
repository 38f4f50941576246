import ExtractRecords
import PhotoModel

/// TIFF files, and the RAW formats of cameras. Most of these are TIFF structures, too.
extension MediaReader {
  func readTIFF(into facts: inout MediaFacts) {
    let isRAW = facts.mediaSubtypes.contains(.raw)
    let name = isRAW ? "RAW file" : "TIFF"
    var places = ExifDirectories.Places()
    guard let exif = exif(window.whole, &places), let tiff = TIFFStructure(window: window, part: window.whole) else {
      facts.failure = "the \(name) is damaged or cut off: its first directory is missing"
      return
    }
    let prefersExif = ["image/x-canon-cr2", "image/x-phaseone-iiq"].contains(facts.contentType)
    let image = MainImage(tiff, prefersExif: prefersExif)
    if image.isDNG, !isRAW {
      facts.contentType = "image/x-adobe-dng"
      facts.mediaSubtypes.insert(.raw)
    }
    var xmp = places.xmp
    if let preview = image.preview {
      let jpeg = EmbeddedJPEG(window, part: preview)
      if let inner = self.exif(jpeg.exif) { exif.complete(with: inner) }
      xmp = xmp ?? jpeg.xmp
    }
    if exif.camera.iso == nil { exif.camera.iso = image.iso }
    facts.apply(exif, width: image.width, height: image.height)
    describe(&facts, exif, xmp: xmp, iptc: places.iptc)
    if facts.pixelWidth == nil, !facts.mediaSubtypes.contains(.raw) {
      facts.failure = "the TIFF is damaged or cut off: its first directory has no size"
    }
  }

  func readFuji(into facts: inout MediaFacts) {
    let raw = FujiRAW(window)
    let jpeg = raw.jpeg.map { EmbeddedJPEG(window, part: $0) }
    let exif = exif(jpeg?.exif)
    facts.apply(exif, width: raw.width, height: raw.height)
    describe(&facts, exif, xmp: jpeg?.xmp)
    failIfEmpty(&facts, exif != nil)
  }

  func readMinolta(into facts: inout MediaFacts) {
    let raw = MinoltaBlocks(window, part: window.whole)
    let exif = exif(raw?.exif)
    facts.apply(exif, width: raw?.width, height: raw?.height)
    describe(&facts, exif)
    failIfEmpty(&facts, exif != nil)
  }

  func readCanonHeap(into facts: inout MediaFacts) {
    guard let raw = CanonHeap(window) else { return failIfEmpty(&facts, false) }
    let exif = ExifFacts()
    exif.creationDate = raw.date
    (exif.camera.make, exif.camera.model, exif.camera.iso) = (raw.make, raw.model, raw.iso)
    exif.orientation = Self.orientation(degrees: raw.rotation)
    facts.apply(exif, width: raw.width, height: raw.height)
    failIfEmpty(&facts, raw.make != nil || raw.date != nil)
  }

  func readSigma(into facts: inout MediaFacts) {
    let raw = SigmaRAW(window)
    let jpeg = raw.jpeg.map { EmbeddedJPEG(window, part: $0) }
    let listed = ExifFacts()
    listed.camera = raw.camera
    listed.creationDate = raw.date
    listed.orientation = Self.orientation(degrees: raw.rotation)
    let exif = exif(jpeg?.exif) ?? ExifFacts()
    exif.complete(with: listed)
    facts.apply(exif, width: raw.width, height: raw.height)
    describe(&facts, exif, xmp: jpeg?.xmp)
    failIfEmpty(&facts, !exif.camera.isEmpty)
  }

  private func failIfEmpty(_ facts: inout MediaFacts, _ hasExif: Bool) {
    if facts.pixelWidth == nil, !hasExif {
      facts.failure = "the RAW file is damaged or cut off: its header names neither a size nor a camera"
    }
  }

  /// The orientation that turns an image clockwise; `nil` for none.
  private static func orientation(degrees: Int) -> Int? { [90: 6, 180: 3, 270: 8, -90: 8][degrees] }
}

extension ExifFacts {
  /// Takes over what is missing here from another block of the same file.
  func complete(with other: ExifFacts) {
    creationDate = creationDate ?? other.creationDate
    location = location ?? other.location
    orientation = orientation ?? other.orientation
    rating = rating ?? other.rating
    title = title ?? other.title
    caption = caption ?? other.caption
    if keywords.isEmpty { keywords = other.keywords }
    noteLens = noteLens ?? other.noteLens
    camera.complete(with: other.camera)
  }
}

extension Camera {
  /// Takes over what is missing here from another block of the same file.
  mutating func complete(with other: Camera) {
    make = make ?? other.make
    model = model ?? other.model
    lens = lens ?? other.lens
    exposureSeconds = exposureSeconds ?? other.exposureSeconds
    fNumber = fNumber ?? other.fNumber
    iso = iso ?? other.iso
    focalLengthMillimeters = focalLengthMillimeters ?? other.focalLengthMillimeters
    flashFired = flashFired ?? other.flashFired
  }
}
