import ExtractRecords
import FileContent
import Glibc
import PhotoModel

/// Reads the facts that media files contain, one file after another.
///
/// A file is an asset by its name; its content only decides the type. Documentation/formats.md lists what is read of each
/// format. A file in another format only gets its type. One file costs at most 64 KiB plus 2 MiB
/// of reads in 513 calls (see ``FileWindow``), whatever it claims. A small JPEG is one `pread`.
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
      read(content, into: &facts)
    } else if promise.mediaType != .video, !promise.isRAW {
      facts.failure = Self.unrecognized(promise, window.headBuffer)
    } else if let kind = ForeignContent.kind(window.headBuffer) {
      facts.failure = "it is not \(promise.contentType) but \(kind); the file may be damaged or misnamed"
    }
    if content?.contentType == "image/x-canon-cr3" { facts.mediaSubtypes = .raw }
    if facts.mediaType == .image, ScreenshotName.matches(name) { facts.mediaSubtypes.insert(.screenshot) }
    facts.readError = window.readError
    if let error = window.readError {
      facts.failure = "its content can't be read: \(String(cString: strerror(error))); check the disk or the connection"
    } else if window.isExhausted, facts.failure == nil {
      facts.failure = "its metadata is spread over more than 2 MiB of \(byteText(byteCount)), and only a part was read"
    }
    return facts
  }

  private func read(_ content: MediaContent, into facts: inout MediaFacts) {
    switch content.container {
    case .jpeg:
      let header = JPEGHeader(window)
      let exif = exif(header.exif)
      facts.apply(exif, width: header.width, height: header.height)
      describe(&facts, exif, xmp: header.xmp, iptc: header.iptc)
      if header.width == nil { facts.failure = "the JPEG is damaged or cut off: it has no frame header" }
    case .tiff: readTIFF(into: &facts)
    case .png: readImage(ImageHeader.png(window), into: &facts)
    case .gif: readImage(ImageHeader.gif(window), into: &facts)
    case .webp: readImage(ImageHeader.webp(window), into: &facts)
    case .photoshop: readImage(ImageHeader.photoshop(window), into: &facts)
    case .bitmap: readImage(ImageHeader.bitmap(window.headBuffer), into: &facts)
    case .openEXR: readOpenEXR(into: &facts)
    case .fujiRAW: readFuji(into: &facts)
    case .minoltaRAW: readMinolta(into: &facts)
    case .canonHeap: readCanonHeap(into: &facts)
    case .sigmaRAW: readSigma(into: &facts)
    case .matroska: readMatroska(into: &facts)
    case .avi: readVideo(AVIHeader(window).header, into: &facts)
    case .transportStream: readTransportStream(into: &facts)
    case .programStream: readVideo(ProgramStream.header(window.headBuffer), into: &facts)
    case .other: break
    }
  }

  /// The parts of a header of an image without a structure of directories.
  private func readImage(_ header: ImageHeader, into facts: inout MediaFacts) {
    let exif = exif(header.exif) ?? header.profile.flatMap(exif(in:))
    facts.apply(exif, width: header.width, height: header.height)
    describe(&facts, exif, xmp: header.xmp, iptc: header.iptc)
    if header.isAnimated { facts.mediaSubtypes.insert(.animated) }
    if header.width == nil { facts.failure = "the file is damaged or cut off: its header has no size" }
  }

  /// `nil` if there is none, or its first directory can't be read.
  func exif(_ structure: FilePart?) -> ExifFacts? {
    var places = ExifDirectories.Places()
    return exif(structure, &places)
  }

  private func exif(in profile: PNGProfile) -> ExifFacts? {
    guard let structure = profile.structure(window) else { return nil }
    // The extra window is only for PNG files from before 2017.
    let window = FileWindow()
    window.open(Array(structure.prefix(PNGProfile.longestStructure)))
    var places = ExifDirectories.Places()
    return exif(window.whole, &places, in: window)
  }

  func exif(
    _ structure: FilePart?, _ places: inout ExifDirectories.Places, in other: FileWindow? = nil
  ) -> ExifFacts? {
    let window = other ?? window
    guard let structure, var directories = ExifDirectories(window: window, structure: structure),
      directories.copy(to: blob)
    else { return nil }
    places = directories.places
    guard !blob.isEmpty else { return ExifFacts() }
    var facts = ExifFacts(blob.finish(), in: arena)
    let camera = facts?.camera
    if let note = places.makerNote, camera?.lens == nil || camera?.iso == nil || camera?.iso == 65535 {
      let found = MakerNote(window, note: note, structure: structure, order: directories.order, make: camera?.make)
      facts?.noteLens = found.lens
      if let iso = found.iso, camera?.iso == nil || camera?.iso == 65535 { facts?.camera.iso = iso }
    }
    return facts
  }

  /// Title, caption, rating and keywords each come from the first block that has them: XMP, which today's programs
  /// write; IPTC, which they keep for older programs; EXIF.
  ///
  /// The date is EXIF's if it has one, else from ``EmbeddedDates``. The lens is EXIF's, else XMP's, else the maker note's.
  /// XMP's orientation counts if EXIF has none.
  ///
  /// Keywords come from one block, never from several. Otherwise a word that a person has removed from XMP would come
  /// back from a block that the program did not update.
  func describe(
    _ facts: inout MediaFacts, _ exif: ExifFacts?, xmp xmpPart: FilePart?, iptc iptcPart: FilePart?
  ) {
    let camera = exif?.camera ?? Camera()
    func written(_ caption: String?) -> String? {
      caption.flatMap { CaptionDefaults.contains($0, camera) ? nil : $0 }
    }
    if let exif {
      (facts.title, facts.caption, facts.rating, facts.keywords) =
        (exif.title, exif.caption, exif.rating, exif.keywords)
    }
    func take(_ found: DescriptiveFacts) {
      facts.title = found.title ?? facts.title
      facts.caption = written(found.caption) ?? facts.caption
      facts.rating = found.rating ?? facts.rating
      if !found.keywords.isEmpty { facts.keywords = found.keywords }
    }
    var dates: [EmbeddedDates] = []
    if let iptcPart, let found = IPTCFacts.read(window, at: iptcPart) {
      take(found)
      dates.append(found.dates)
    }
    let wantsDates = facts.creationDate == nil
    let wantsCamera = facts.orientation == nil || facts.camera?.lens == nil
    if let xmpPart, let found = xmp.facts(window, at: xmpPart, wantsDates: wantsDates, wantsCamera: wantsCamera) {
      take(found)
      dates.append(found.dates)
      if facts.camera?.lens == nil, let lens = found.lens { facts.setLens(lens) }
      if facts.orientation == nil, let orientation = found.orientation { facts.turn(orientation) }
    }
    if facts.camera?.lens == nil, let lens = exif?.noteLens { facts.setLens(lens) }
    if wantsDates { facts.creationDate = EmbeddedDates.best(of: dates.reversed()) }
  }

  private static func unrecognized(_ promise: MediaFormat.Promise, _ head: UnsafeRawBufferPointer) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in head.prefix(8) { bytes += [0x20, digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return "it is not \(promise.contentType): it begins with\(String(decoding: bytes, as: UTF8.self)); "
      + "the file may be damaged or misnamed"
  }
}

extension MediaFacts {
  /// Takes over the facts of EXIF, and the stored size, rotated by the orientation.
  mutating func apply(_ exif: ExifFacts?, width: Int?, height: Int?) {
    let isTurned = (exif?.orientation ?? 1) >= 5
    if let width, let height { (pixelWidth, pixelHeight) = isTurned ? (height, width) : (width, height) }
    guard let exif else { return }
    creationDate = exif.creationDate
    orientation = exif.orientation
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
