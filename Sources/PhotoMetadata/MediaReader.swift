import Glibc
import PhotoModel

/// Reads what media files say of themselves, one file after the other.
///
/// The name decides that a file is an asset, its content only which type it has. JPEG and TIFF are read whole, PNG, GIF
/// and WebP by their headers and their EXIF and XMP; of anything else only the type is told. One file costs at most
/// 64 KiB plus 2 MiB of reads in 513 calls (see ``FileWindow``), whatever it claims; a small JPEG is one `pread`.
///
/// A reader keeps 180 KiB of buffers, and an XML parser once it has met an XMP packet: make one a thread, and use it on
/// that thread.
package struct MediaReader {
  private let window = FileWindow()
  private let blob = ExifBlob()
  private let arena = ExifArena()
  private let xmp = XMPReader()

  package init() {}

  /// Reads an open descriptor; never throws for what is in the file: `failure` explains.
  ///
  /// - Parameters:
  ///   - descriptor: open for reading; it stays the caller's, and its offset is not moved.
  ///   - byteCount: the size by `fstat`: once so much was read, no further call looks for the end.
  ///   - name: without its directory; its ending says what the file should be, its beginning may say "screenshot".
  package mutating func facts(descriptor: Int32, byteCount: Int64, name: some Collection<UInt8>) -> MediaFacts {
    let fast = name.withContiguousStorageIfAvailable {
      facts(descriptor, byteCount, UnsafeRawBufferPointer($0))
    }
    return fast ?? Array(name).withUnsafeBytes { facts(descriptor, byteCount, $0) }
  }

  private func facts(_ descriptor: Int32, _ byteCount: Int64, _ name: UnsafeRawBufferPointer) -> MediaFacts {
    let promise =
      MediaFormat.promise(name: name)
      ?? MediaFormat.Promise(mediaType: .unknown, contentType: "application/octet-stream")
    window.open(descriptor, byteCount: byteCount)
    var facts = MediaFacts(mediaType: promise.mediaType, contentType: promise.contentType)
    if window.headCount > 0, window.headCount >= min(Int(clamping: byteCount), ContentFingerprint.byteCount) {
      facts.fingerprint = ContentFingerprint.of(head: window.headBuffer, byteCount: byteCount)
    }
    let content = MediaContent.identify(window.headBuffer)
    let isRAW = promise.isRAW && (content == nil || content?.container == .tiff || content?.mediaType == .video)
    if let content, !isRAW {
      facts.mediaType = content.mediaType
      facts.contentType = content.contentType
    }
    if window.headCount == 0 {
      facts.failure = window.readError == nil ? "the file is empty" : nil
    } else if isRAW {
      facts.mediaSubtypes = ["raw"]
    } else if let content {
      read(content, into: &facts)
    } else if promise.mediaType != .video {
      facts.failure = Self.unrecognized(promise, window.headBuffer)
    }
    if content?.contentType == "image/x-canon-cr3" { facts.mediaSubtypes = ["raw"] }
    if facts.mediaType == .image, Screenshot.names(name) { facts.addSubtype("screenshot") }
    facts.readError = window.readError
    if let error = window.readError {
      facts.failure = "reading it failed: \(String(cString: strerror(error))); check the disk or the connection"
    } else if window.isExhausted, facts.failure == nil {
      facts.failure = "its metadata is scattered over more than 2 MiB, of \(byteCount) bytes; the rest was left unread"
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
    case .tiff:
      var places = ExifDirectories.Places()
      guard let exif = exif((0, Int.max), &places) else {
        facts.failure = "the TIFF is damaged or cut off: its first directory is missing"
        return
      }
      facts.apply(exif, width: exif.imageWidth, height: exif.imageHeight)
      describe(&facts, exif, xmp: places.xmp, iptc: places.iptc)
      if facts.pixelWidth == nil { facts.failure = "the TIFF is damaged or cut off: its first directory has no size" }
    case .png, .gif, .webp:
      let header =
        switch content.container {
        case .png: ImageHeader.png(window)
        case .gif: ImageHeader.gif(window.headBuffer)
        default: ImageHeader.webp(window)
        }
      let exif = exif(header.exif)
      facts.apply(exif, width: header.width, height: header.height)
      describe(&facts, exif, xmp: header.xmp, iptc: nil)
      if header.isAnimated { facts.addSubtype("animated") }
      if header.width == nil { facts.failure = "the file is damaged or cut off: its header has no size" }
    case .other: break
    }
  }

  /// `nil` where there is none, or its first directory can't be read.
  private func exif(_ place: (base: Int, length: Int)?) -> ExifFacts? {
    var places = ExifDirectories.Places()
    return exif(place, &places)
  }

  private func exif(
    _ place: (base: Int, length: Int)?, _ places: inout ExifDirectories.Places
  ) -> ExifFacts? {
    guard let place, var directories = ExifDirectories(window: window, base: place.base, length: place.length),
      directories.copy(to: blob)
    else { return nil }
    places = directories.places
    return blob.isEmpty ? ExifFacts() : ExifFacts(blob.finish(), in: arena)
  }

  /// Title, caption, rating and keywords, each from the first that has it: XMP, which today's programs write, IPTC, which
  /// they keep for older ones, EXIF.
  ///
  /// Keywords are of one of them, never of several together: a word that a person has removed from XMP would come back
  /// from a block that the program didn't touch.
  private func describe(
    _ facts: inout MediaFacts, _ exif: ExifFacts?, xmp xmpPlace: (base: Int, length: Int)?,
    iptc iptcPlace: (base: Int, length: Int)?
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
    if let iptcPlace, let found = IPTCFacts.read(window, at: iptcPlace) { take(found) }
    if let xmpPlace, let found = xmp.facts(window, at: xmpPlace) { take(found) }
  }

  /// Whether a file of either name says the same: what the endings promise, and whether it is a screenshot by its name.
  package static func readsAlike(_ name: [UInt8], _ other: [UInt8]) -> Bool {
    name.withUnsafeBytes { name in
      other.withUnsafeBytes { other in
        MediaFormat.promise(name: name) == MediaFormat.promise(name: other)
          && Screenshot.names(name) == Screenshot.names(other)
      }
    }
  }

  private static func unrecognized(_ promise: MediaFormat.Promise, _ head: UnsafeRawBufferPointer) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in head.prefix(8) { bytes += [0x20, digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return "not \(promise.contentType): begins with\(String(decoding: bytes, as: UTF8.self)); "
      + "the file may be damaged or misnamed"
  }
}

extension MediaFacts {
  mutating func addSubtype(_ subtype: String) {
    guard !mediaSubtypes.contains(subtype) else { return }
    mediaSubtypes.append(subtype)
    mediaSubtypes.sort()
  }

  /// Takes over what EXIF says, and the stored size, turned as the orientation says.
  fileprivate mutating func apply(_ exif: ExifFacts?, width: Int?, height: Int?) {
    let isTurned = (exif?.orientation ?? 1) >= 5
    if let width, let height { (pixelWidth, pixelHeight) = isTurned ? (height, width) : (width, height) }
    guard let exif else { return }
    creationDate = exif.creationDate
    orientation = exif.orientation
    location = exif.location
    camera = exif.camera.isEmpty ? nil : exif.camera
    if exif.isScreenshot { addSubtype("screenshot") }
  }
}
