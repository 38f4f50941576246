import ExtractRecords
import FileContent
import Glibc
import PhotoModel
import SystemErrors

/// Reads the facts that media files contain, one file after another.
///
/// A file is an asset by its name; its content only decides the type. Each container that is parsed has an extension of
/// this type; Documentation/formats.md lists what is read of it. Other files only get their type. One file costs at most
/// 64 KiB plus 2 MiB of reads in 513 calls (see ``FileWindow``), whatever it claims. A small JPEG is one `pread`.
///
/// A reader keeps 180 KiB of buffers, and an XML parser once it has met an XMP packet. Make one for each thread, and
/// use it on that thread.
package struct MediaReader {
  let window = FileWindow()
  let blob = ExifBlob()
  let arena = ExifArena()
  let xmp = XMPReader()

  package init() {}

  /// Reads an open descriptor. It never throws because of the file's content; `failure` explains.
  ///
  /// - Parameters:
  ///   - descriptor: open for reading. The caller keeps it, and its offset does not move.
  ///   - byteCount: the size by `fstat`. An offset beyond it is damage.
  ///   - name: without its directory. Its extension promises the type, and its beginning may mark a screenshot.
  package mutating func facts(descriptor: Int32, byteCount: Int64, name: some Collection<UInt8>) -> MediaFacts {
    facts(of: .descriptor(descriptor), byteCount: byteCount, name: name)
  }

  /// Does the same for a file whose bytes come from elsewhere, such as another process.
  package mutating func facts(of source: FileBytes, byteCount: Int64, name: some Collection<UInt8>) -> MediaFacts {
    let fast = name.withContiguousStorageIfAvailable {
      facts(source, byteCount, UnsafeRawBufferPointer($0))
    }
    return fast ?? Array(name).withUnsafeBytes { facts(source, byteCount, $0) }
  }

  private func facts(_ source: FileBytes, _ byteCount: Int64, _ name: UnsafeRawBufferPointer) -> MediaFacts {
    let promise =
      MediaFormat.promise(name: name)
      ?? MediaFormat.Promise(mediaType: .unknown, contentType: "application/octet-stream")
    window.open(source, byteCount: byteCount)
    defer { window.close() }
    var facts = MediaFacts(mediaType: promise.mediaType, contentType: promise.contentType)
    if window.headCount > 0, window.headCount >= min(Int(clamping: byteCount), ContentFingerprint.byteCount) {
      facts.marks.fingerprint = ContentFingerprint.of(head: window.headBuffer, byteCount: byteCount)
      if Int64(window.headCount) == byteCount {
        let hash = ContentReader.hash(of: window.headBuffer)
        (facts.marks.sample, facts.marks.hash) = (hash, hash)
      }
    }
    let content = MediaContent.identify(window.headBuffer)
    // A RAW file may have the signature of TIFF, or one that is unknown here and resembles a film's.
    let keepsPromise =
      promise.isRAW && (content.map { $0.isRAW || $0.container == .tiff || $0.mediaType == .video } ?? true)
    if let content, !keepsPromise {
      facts.mediaType = content.mediaType
      facts.contentType = content.contentType
    }
    if keepsPromise || content?.isRAW == true { facts.mediaSubtypes = .raw }
    if window.headCount == 0 {
      facts.failure = window.readError == nil ? "the file is empty" : nil
    } else if let content, !keepsPromise || content.mediaType == .image {
      read(content, promise, into: &facts)
    } else if promise.mediaType != .video, !promise.isRAW {
      facts.failure = Self.unrecognized(promise, window.headBuffer)
    } else if let kind = ForeignContent.kind(window.headBuffer) {
      facts.failure = "it is not \(promise.contentType) but \(kind); the file may be damaged or misnamed"
    }
    if facts.mediaType == .image, ScreenshotName.matches(name) { facts.mediaSubtypes.insert(.screenshot) }
    facts.readError = window.readError
    if let error = window.readError {
      facts.failure = "its content can't be read: \(errorText(error)); check the disk or the connection"
    } else if window.isExhausted, facts.failure == nil {
      facts.failure = "its metadata is spread over more than 2 MiB of \(byteText(byteCount)), and only a part was read"
    }
    return facts
  }

  private func read(_ content: MediaContent, _ promise: MediaFormat.Promise, into facts: inout MediaFacts) {
    switch content.container {
    case .jpeg: readJPEG(promise, into: &facts)
    case .tiff: readTIFF(into: &facts)
    case .png: readPNG(into: &facts)
    case .gif: readImage(ImageHeader.gif(window), into: &facts)
    case .webp: readImage(ImageHeader.webp(window), into: &facts)
    case .photoshop: readImage(ImageHeader.photoshop(window), into: &facts)
    case .bitmap: readImage(ImageHeader.bitmap(window.headBuffer), into: &facts)
    case .openEXR: readOpenEXR(into: &facts)
    case .heif: readHEIF(into: &facts)
    case .jpegXL: readJPEGXL(into: &facts)
    case .jpeg2000: readJPEG2000(into: &facts)
    case .fujiRAW: readFuji(into: &facts)
    case .minoltaRAW: readMinolta(into: &facts)
    case .canonHeap: readCanonHeap(into: &facts)
    case .canonRAW: readCanonRAW(into: &facts)
    case .sigmaRAW: readSigma(into: &facts)
    case .movie: readMovie(into: &facts)
    case .matroska: readMatroska(into: &facts)
    case .avi: readVideo(AVIHeader(window).header, into: &facts)
    case .transportStream: readTransportStream(into: &facts)
    case .programStream: readVideo(ProgramStream.header(window.headBuffer), into: &facts)
    case .other: break
    }
  }

  // MARK: - EXIF

  /// `nil` if there is none, or its first directory can't be read.
  func exif(_ structure: FilePart?, in other: FileWindow? = nil) -> ExifFacts? {
    var places = ExifDirectories.Places()
    return exif(structure, &places, in: other)
  }

  func exif(
    _ structure: FilePart?, _ places: inout ExifDirectories.Places, in other: FileWindow? = nil
  ) -> ExifFacts? {
    let window = other ?? window
    guard let structure, var directories = ExifDirectories(window: window, structure: structure),
      directories.copy(to: blob)
    else { return nil }
    places = directories.places
    let facts = blob.isEmpty ? ExifFacts() : ExifFacts(blob.finish(), in: arena)
    guard let note = places.makerNote else { return facts }
    facts?.apple = AppleMakerNote(window, at: note)
    let camera = facts?.camera
    if camera?.lens == nil || camera?.iso == nil || camera?.iso == 65535 {
      let found = MakerNote(window, note: note, structure: structure, order: directories.order, make: camera?.make)
      facts?.noteLens = found.lens
      if let iso = found.iso, camera?.iso == nil || camera?.iso == 65535 { facts?.camera.iso = iso }
    }
    return facts
  }

  // MARK: - Descriptions

  /// Reads the blocks and describes the picture by them.
  func describe(
    _ facts: inout MediaFacts, _ exif: ExifFacts?, xmp xmpPart: FilePart? = nil, iptc iptcPart: FilePart? = nil
  ) {
    let iptc = iptcPart.flatMap { IPTCFacts.read(window, at: $0) }
    let packet = xmpPart.flatMap { xmpFacts([$0], for: facts) }
    describe(&facts, exif, xmp: packet, iptc: iptc)
  }

  /// Reads an XMP packet for a file of which EXIF's facts are known already.
  func xmpFacts(_ parts: [FilePart], for facts: MediaFacts, in other: FileWindow? = nil) -> DescriptiveFacts? {
    var wanted: XMPReader.Wanted = []
    if facts.creationDate == nil { wanted.insert(.dates) }
    if facts.orientation == nil { wanted.insert(.orientation) }
    if facts.location == nil { wanted.insert(.place) }
    let camera = facts.camera ?? Camera()
    if camera.lens == nil { wanted.insert(.lens) }
    if camera.make == nil || camera.model == nil || camera.exposureSeconds == nil || camera.fNumber == nil
      || camera.iso == nil || camera.focalLengthMillimeters == nil
    {
      wanted.insert(.camera)
    }
    return xmp.facts(other ?? window, at: parts, wanted: wanted)
  }

  /// Title, caption, rating and keywords each come from the first block that has them: XMP, which today's programs
  /// write; IPTC, which they keep for older programs; EXIF.
  ///
  /// The date is EXIF's if it has one, else from ``EmbeddedDates``. The lens is EXIF's, else XMP's, else the maker note's.
  /// XMP's orientation counts if neither the container nor EXIF has one. The place is EXIF's, else XMP's, and so is each
  /// value of the camera.
  ///
  /// Keywords come from one block, never from several. Otherwise a word that a person has removed from XMP would come
  /// back from a block that the program did not update.
  func describe(_ facts: inout MediaFacts, _ exif: ExifFacts?, xmp: DescriptiveFacts?, iptc: DescriptiveFacts?) {
    if let exif {
      (facts.title, facts.rating, facts.keywords) = (exif.title, exif.rating, exif.keywords)
    }
    if let xmp {
      facts.location = facts.location ?? xmp.location
      var camera = facts.camera ?? Camera()
      camera.complete(with: xmp.camera)
      facts.camera = camera.isEmpty ? nil : camera
    }
    facts.caption = CaptionDefaults.written(xmp?.caption, iptc?.caption, exif?.caption, by: facts.camera)
    for found in [iptc, xmp] {
      guard let found else { continue }
      facts.title = found.title ?? facts.title
      facts.rating = found.rating ?? facts.rating
      if !found.keywords.isEmpty { facts.keywords = found.keywords }
    }
    if facts.creationDate == nil { facts.creationDate = EmbeddedDates.best(of: [xmp, iptc].compactMap { $0?.dates }) }
    if facts.camera?.lens == nil, let lens = xmp?.lens ?? exif?.noteLens { facts.setLens(lens) }
    if facts.orientation == nil, let orientation = xmp?.orientation { facts.turn(orientation) }
    if let hints = xmp?.hints {
      facts.mediaSubtypes.formUnion(hints.subtypes)
      facts.burstIdentifier = hints.burstIdentifier
    }
    if let apple = exif?.apple {
      if apple.isHDR { facts.mediaSubtypes.insert(.hdr) }
      facts.burstIdentifier = apple.burstIdentifier ?? facts.burstIdentifier
      facts.contentIdentifier = apple.contentIdentifier
      if apple.contentIdentifier != nil { facts.mediaSubtypes.insert(.livePhoto) }
    }
    if facts.burstIdentifier != nil { facts.mediaSubtypes.insert(.burst) }
  }

  // MARK: - Failures

  static let noSize = "the file is damaged or cut off: its header has no size"

  private static func unrecognized(_ promise: MediaFormat.Promise, _ head: UnsafeRawBufferPointer) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in head.prefix(8) { bytes += [0x20, digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    let kind = promise.mediaType == .unknown ? "a photo or video" : promise.contentType
    return "it is not \(kind): it begins with\(String(decoding: bytes, as: UTF8.self)); "
      + "the file may be damaged or misnamed"
  }
}

extension MediaFacts {
  /// Takes over the facts of EXIF, and the stored size, rotated by EXIF's orientation.
  mutating func apply(_ exif: ExifFacts?, width: Int?, height: Int?) {
    apply(exif, width: width, height: height, orientation: exif?.orientation)
  }

  /// Does the same for a container that has an orientation of its own.
  mutating func apply(_ exif: ExifFacts?, width: Int?, height: Int?, orientation: Int?) {
    self.orientation = orientation
    let isTurned = (orientation ?? 1) >= 5
    if let width, let height { (pixelWidth, pixelHeight) = isTurned ? (height, width) : (width, height) }
    guard let exif else { return }
    creationDate = exif.creationDate
    location = exif.location
    camera = exif.camera.isEmpty ? nil : exif.camera
    if exif.isScreenshot { mediaSubtypes.insert(.screenshot) }
  }

  /// Takes over an orientation of another block than EXIF, and turns the stored size.
  mutating func turn(_ orientation: Int) {
    self.orientation = orientation
    if orientation >= 5 { swap(&pixelWidth, &pixelHeight) }
  }

  fileprivate mutating func setLens(_ lens: String) {
    var camera = camera ?? Camera()
    camera.lens = lens
    self.camera = camera
  }
}
