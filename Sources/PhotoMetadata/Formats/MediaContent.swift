import PhotoModel

/// The type of a file, from its first bytes.
struct MediaContent {
  /// The containers that this module parses.
  enum Container {
    case jpeg, tiff, png, gif, webp, photoshop, bitmap, openEXR, heif, jpegXL, jpeg2000, other
    /// RAW formats with structures of their own
    case fujiRAW, minoltaRAW, canonHeap, sigmaRAW, canonRAW
    case movie, matroska, avi, transportStream, programStream
  }

  var container: Container
  var mediaType: MediaType
  var contentType: String
  /// Whether the signature is that of a RAW format.
  var isRAW = false

  init(_ container: Container, _ mediaType: MediaType, _ contentType: String) {
    self.container = container
    self.mediaType = mediaType
    self.contentType = contentType
  }

  static func raw(_ container: Container, _ contentType: String) -> MediaContent {
    var content = MediaContent(container, .image, contentType)
    content.isRAW = true
    return content
  }

  /// - Returns: `nil` for an unknown signature.
  static func identify(_ head: UnsafeRawBufferPointer) -> MediaContent? {
    guard head.count >= 3 else { return nil }
    switch (head[0], head[1]) {
    case (0xFF, 0xD8): return head[2] == 0xFF ? MediaContent(.jpeg, .image, "image/jpeg") : nil
    case (0xFF, 0x0A): return MediaContent(.jpegXL, .image, "image/jxl")
    case (0xFF, 0x4F): return codestream2000(head) ? MediaContent(.jpeg2000, .image, "image/x-jp2-codestream") : nil
    case (0x00, 0x00): return signatureBox(head) ?? MediaBrands.identify(head) ?? film(head)
    case (0x49, 0x49), (0x4D, 0x4D): return tiff(head)
    case (0x89, 0x50): return png(head) ? MediaContent(.png, .image, "image/png") : nil
    case (0x47, 0x49):
      guard head.holds("GIF87a") || head.holds("GIF89a") else { return nil }
      return MediaContent(.gif, .image, "image/gif")
    case (0x52, 0x49): return riff(head)
    default: return MediaBrands.identify(head) ?? still(head) ?? film(head)
    }
  }

  /// Signatures of other images and RAW formats.
  private static func still(_ head: UnsafeRawBufferPointer) -> MediaContent? {
    guard head.count >= 8 else { return nil }
    if head.holds("FUJIFILMCCD-RAW") { return raw(.fujiRAW, "image/x-fuji-raf") }
    if head.holds("\0MRM") { return raw(.minoltaRAW, "image/x-minolta-mrw") }
    if head.holds("FOVb") { return raw(.sigmaRAW, "image/x-sigma-x3f") }
    if head.holds("8BPS\0\u{1}") || head.holds("8BPS\0\u{2}") {
      return MediaContent(.photoshop, .image, "image/vnd.adobe.photoshop")
    }
    if head.uint32(at: 0, .big) == 0x762F_3101 { return MediaContent(.openEXR, .image, "image/x-exr") }
    return ImageHeader.isBitmap(head) ? MediaContent(.bitmap, .image, "image/bmp") : nil
  }

  private static func tiff(_ head: UnsafeRawBufferPointer) -> MediaContent? {
    guard head.count >= 8 else { return nil }
    if head.holds("HEAPCCDR", at: 6) { return raw(.canonHeap, "image/x-canon-crw") }
    switch head.uint16(at: 2, head[0] == 0x49 ? .little : .big) {
    case 42:
      return head.holds("CR\u{2}", at: 8) ? raw(.tiff, "image/x-canon-cr2") : MediaContent(.tiff, .image, "image/tiff")
    case 43: return MediaContent(.tiff, .image, "image/tiff")
    case 0x4F52, 0x5352: return raw(.tiff, "image/x-olympus-orf")
    case 0x55: return raw(.tiff, "image/x-panasonic-rw2")
    default: return nil
    }
  }

  private static func png(_ head: UnsafeRawBufferPointer) -> Bool {
    head.count >= 8 && head.uint32(at: 0, .big) == 0x8950_4E47 && head.uint32(at: 4, .big) == 0x0D0A_1A0A
  }

  private static func riff(_ head: UnsafeRawBufferPointer) -> MediaContent? {
    guard head.holds("RIFF") else { return nil }
    if head.holds("WEBP", at: 8) { return MediaContent(.webp, .image, "image/webp") }
    return head.holds("AVI ", at: 8) ? MediaContent(.avi, .video, "video/x-msvideo") : nil
  }

  // MARK: - JPEG XL and JPEG 2000

  /// A box of 12 bytes that no transfer as text leaves unchanged (ISO/IEC 18181-2, 9.1; ISO/IEC 15444-1, I.5.1).
  private static func signatureBox(_ head: UnsafeRawBufferPointer) -> MediaContent? {
    guard head.count >= 12, head.uint32(at: 0, .big) == 12, head.uint32(at: 8, .big) == 0x0D0A_870A else { return nil }
    if head.holds("JXL ", at: 4) { return MediaContent(.jpegXL, .image, "image/jxl") }
    guard head.holds("jP  ", at: 4) else { return nil }
    for (brand, contentType): (StaticString, String) in [("jpx ", "image/jpx"), ("jpm ", "image/jpm")]
    where head.holds("ftyp", at: 16) && head.holds(brand, at: 20) {
      return MediaContent(.jpeg2000, .image, contentType)
    }
    return MediaContent(.jpeg2000, .image, "image/jp2")
  }

  /// SOC and SIZ, the first two markers.
  private static func codestream2000(_ head: UnsafeRawBufferPointer) -> Bool {
    head.count >= 4 && head.uint32(at: 0, .big) == 0xFF4F_FF51
  }

  // MARK: - Other films

  private static func film(_ head: UnsafeRawBufferPointer) -> MediaContent? {
    guard head.count >= 8 else { return nil }
    switch head.uint32(at: 0, .big) {
    case 0x1A45_DFA3:  // EBML; its DocType is in the first bytes
      for offset in 4..<min(64, head.count) where head.holds("webm", at: offset) {
        return MediaContent(.matroska, .video, "video/webm")
      }
      return MediaContent(.matroska, .video, "video/x-matroska")
    case 0x0000_01BA, 0x0000_01B3: return MediaContent(.programStream, .video, "video/mpeg")
    case 0x4F67_6753: return MediaContent(.other, .video, "video/ogg")  // OggS
    case 0x464C_5601: return MediaContent(.other, .video, "video/x-flv")
    case 0x3026_B275: return MediaContent(.other, .video, "video/x-ms-wmv")
    default: break
    }
    return TransportStream.layout(head) == nil ? nil : MediaContent(.transportStream, .video, "video/mp2t")
  }
}
