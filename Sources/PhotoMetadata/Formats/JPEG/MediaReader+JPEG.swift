import ExtractRecords
import PhotoModel

extension MediaReader {
  /// Reads a JPEG file, which is also the first picture of a Multi-Picture file.
  func readJPEG(_ promise: MediaFormat.Promise, into facts: inout MediaFacts) {
    let header = JPEGHeader(window)
    let exif = header.exifContinuation.isEmpty ? exif(header.exif) : joinedExif(header)
    facts.apply(exif, width: header.width, height: header.height)
    let iptc = header.iptc.flatMap { IPTCFacts.read(window, at: $0) }
    describe(&facts, exif, xmp: packet(header, for: facts), iptc: iptc)
    if header.hasGainMap { facts.mediaSubtypes.insert(.hdr) }
    // Apple's cameras describe a gain map or a depth map only in the packet of that picture.
    if exif?.apple != nil {
      for image in header.otherImages {
        guard let place = JPEGHeader(window, at: image).xmp,
          let found = xmp.facts(window, at: place, wanted: [])
        else { continue }
        facts.mediaSubtypes.formUnion(found.hints.subtypes.intersection([.hdr, .depth]))
      }
    }
    // Samsung's cameras write the film of a motion photo after the picture.
    if facts.camera?.make?.lowercased().hasPrefix("samsung") == true,
      SamsungTrailer.hasMotionPhoto(window, in: window.whole)
    {
      facts.mediaSubtypes.insert(.motionPhoto)
    }
    // Pictures with a gain map or a preview have such an index, too. So only the name makes a Multi-Picture file.
    if promise.contentType == "image/mpo", header.imageCount > 1 { facts.contentType = "image/mpo" }
    if header.width == nil {
      facts.failure =
        header.lacksHeight
        ? "the JPEG has no height in its frame header, but in a DNL marker after the picture, which photod does not read"
        : "the JPEG is damaged or cut off: it has no frame header"
    }
  }

  /// EXIF that is longer than a segment. The parts are copied together, up to 1 MiB.
  private func joinedExif(_ header: JPEGHeader) -> ExifFacts? {
    guard let first = header.exif else { return nil }
    var bytes: [UInt8] = []
    for part in [first] + header.exifContinuation {
      var offset = part.start
      while offset < part.end, bytes.count < 1 << 20, let piece = window.piece(at: offset, upTo: part.end - offset) {
        bytes.append(contentsOf: piece)
        offset += piece.count
      }
      // After a gap, the offsets would be wrong.
      guard offset == part.end else { break }
    }
    let joined = FileWindow(over: bytes)
    return exif(joined.whole, in: joined)
  }

  /// The facts of the packet, and those that only its extension has.
  private func packet(_ header: JPEGHeader, for facts: MediaFacts) -> DescriptiveFacts? {
    guard let place = header.xmp, var found = xmpFacts([place], for: facts) else { return nil }
    guard let digest = found.hints.extensionDigest else { return found }
    let parts = header.xmpExtension(digest)
    if !parts.isEmpty, let more = xmpFacts(parts, for: facts) { found.fill(from: more) }
    return found
  }
}
