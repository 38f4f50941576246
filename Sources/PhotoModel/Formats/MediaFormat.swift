/// Decides by its name whether a file is an asset, and which type it should have.
///
/// Types are those of the shared MIME database (https://specifications.freedesktop.org/shared-mime-info-spec/), so that
/// a desktop finds its programs and icons. A type that is missing there is the vendor's usual `image/x-...`.
package enum MediaFormat {
  /// The type that a file extension promises. The content may show another (see `MediaReader`).
  package struct Promise: Equatable {
    package var mediaType: MediaType
    package var contentType: String
    package var isRAW = false

    package init(mediaType: MediaType, contentType: String, isRAW: Bool = false) {
      self.mediaType = mediaType
      self.contentType = contentType
      self.isRAW = isRAW
    }
  }

  /// Every extension that makes a file an asset, in lower case, without its dot.
  package static let extensions: [String] = table.map(\.ending)

  /// The type promised by a file name (without its directory); `nil` if the file is no asset.
  ///
  /// ASCII case does not matter. A hidden file (`.jpg`) has no extension.
  /// - Complexity: O(1); only the last bytes of the name are looked at.
  package static func promised(
    byName name: some Collection<UInt8>
  ) -> (mediaType: MediaType, contentType: String, isRAW: Bool)? {
    let fast = name.withContiguousStorageIfAvailable { Self.promise(name: UnsafeRawBufferPointer($0)) }
    let found = fast ?? Array(name).withUnsafeBytes { Self.promise(name: $0) }
    return found.map { ($0.mediaType, $0.contentType, $0.isRAW) }
  }

  package static func promise(name: UnsafeRawBufferPointer) -> Promise? {
    var key: UInt64 = 0
    var index = name.count - 1
    while index > 0 {
      let byte = name[index]
      if byte == UInt8(ascii: ".") { return byEnding[key] }
      guard name.count - index <= longestEnding else { return nil }
      key = key << 8 | UInt64(lowercased(byte))
      index -= 1
    }
    return nil
  }

  /// Whether both names lead to the same facts: their extensions promise the same, and both or neither mark a
  /// screenshot.
  package static func readsAlike(_ name: [UInt8], _ other: [UInt8]) -> Bool {
    name.withUnsafeBytes { name in
      other.withUnsafeBytes { other in
        promise(name: name) == promise(name: other) && ScreenshotName.matches(name) == ScreenshotName.matches(other)
      }
    }
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }

  // MARK: - The table

  /// The most letters of an extension. A key holds eight of them, from the last to the first.
  private static let longestEnding = 8

  private static let byEnding: [UInt64: Promise] = {
    var promises: [UInt64: Promise] = [:]
    for row in table {
      promises[row.ending.utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }] = row.promise
    }
    return promises
  }()

  private static let table: [(ending: String, promise: Promise)] =
    images.map { ($0.0, Promise(mediaType: .image, contentType: $0.1)) }
    + raws.map { ($0.0, Promise(mediaType: .image, contentType: $0.1, isRAW: true)) }
    + videos.map { ($0.0, Promise(mediaType: .video, contentType: $0.1)) }

  private static let images: [(String, String)] = [
    ("jpg", "image/jpeg"), ("jpeg", "image/jpeg"), ("jpe", "image/jpeg"), ("jfif", "image/jpeg"),
    ("tif", "image/tiff"), ("tiff", "image/tiff"),
    ("png", "image/png"), ("apng", "image/apng"), ("gif", "image/gif"), ("webp", "image/webp"),
    ("heic", "image/heic"), ("heics", "image/heic"), ("heif", "image/heif"), ("heifs", "image/heif"),
    ("hif", "image/heif"), ("avci", "image/avci"), ("avcs", "image/avci"),
    ("avif", "image/avif"), ("avifs", "image/avif"),
    ("psd", "image/vnd.adobe.photoshop"), ("psb", "image/vnd.adobe.photoshop"),
    ("bmp", "image/bmp"), ("dib", "image/bmp"), ("exr", "image/x-exr"),
    ("jxl", "image/jxl"), ("jp2", "image/jp2"), ("jpg2", "image/jp2"), ("jpf", "image/jpx"), ("jpx", "image/jpx"),
    ("jpm", "image/jpm"), ("j2k", "image/x-jp2-codestream"), ("j2c", "image/x-jp2-codestream"),
    ("jpc", "image/x-jp2-codestream"),
    // Stereo cameras, and Insta360.
    ("mpo", "image/mpo"), ("insp", "image/jpeg"),
  ]

  private static let raws: [(String, String)] = [
    ("dng", "image/x-adobe-dng"),
    ("cr2", "image/x-canon-cr2"), ("cr3", "image/x-canon-cr3"), ("crw", "image/x-canon-crw"),
    ("nef", "image/x-nikon-nef"), ("nrw", "image/x-nikon-nrw"),
    ("arw", "image/x-sony-arw"), ("srf", "image/x-sony-srf"), ("sr2", "image/x-sony-sr2"),
    ("raf", "image/x-fuji-raf"), ("orf", "image/x-olympus-orf"), ("pef", "image/x-pentax-pef"),
    ("rw2", "image/x-panasonic-rw2"), ("raw", "image/x-panasonic-rw"), ("rwl", "image/x-leica-rwl"),
    ("srw", "image/x-samsung-srw"), ("x3f", "image/x-sigma-x3f"), ("mrw", "image/x-minolta-mrw"),
    ("3fr", "image/x-hasselblad-3fr"), ("fff", "image/x-hasselblad-fff"),
    ("iiq", "image/x-phaseone-iiq"), ("mef", "image/x-mamiya-mef"), ("mos", "image/x-leaf-mos"),
    ("erf", "image/x-epson-erf"), ("gpr", "image/x-gopro-gpr"),
    ("kdc", "image/x-kodak-kdc"), ("dcr", "image/x-kodak-dcr"), ("k25", "image/x-kodak-k25"),
  ]

  /// `ts` is missing, because most files of that name are TypeScript.
  private static let videos: [(String, String)] = [
    ("mov", "video/quicktime"), ("qt", "video/quicktime"), ("moov", "video/quicktime"),
    ("mp4", "video/mp4"), ("mp4v", "video/mp4"), ("f4v", "video/mp4"), ("m4v", "video/x-m4v"),
    ("insv", "video/mp4"),
    ("3gp", "video/3gpp"), ("3gpp", "video/3gpp"), ("3g2", "video/3gpp2"), ("3gp2", "video/3gpp2"),
    ("3gpp2", "video/3gpp2"),
    ("avi", "video/x-msvideo"), ("mkv", "video/x-matroska"), ("webm", "video/webm"),
    ("mts", "video/mp2t"), ("m2ts", "video/mp2t"), ("m2t", "video/mp2t"), ("mpg", "video/mpeg"), ("mpeg", "video/mpeg"),
    ("wmv", "video/x-ms-wmv"), ("asf", "video/x-ms-asf"), ("flv", "video/x-flv"), ("ogv", "video/ogg"),
  ]
}
