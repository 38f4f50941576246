import PhotoModel

/// The type of a file, from its first bytes.
struct MediaContent {
  /// The containers that this module parses.
  enum Container {
    case jpeg, tiff, png, gif, webp, heif, canonRAW, movie, jpegXL, jpeg2000, other
  }

  var container: Container
  var mediaType: MediaType
  var contentType: String

  init(_ container: Container, _ mediaType: MediaType, _ contentType: String) {
    self.container = container
    self.mediaType = mediaType
    self.contentType = contentType
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
    default: return MediaBrands.identify(head) ?? film(head)
    }
  }

  private static func tiff(_ head: UnsafeRawBufferPointer) -> MediaContent? {
    guard head.count >= 8 else { return nil }
    let version = head.uint16(at: 2, head[0] == 0x49 ? .little : .big)
    return version == 42 || version == 43 ? MediaContent(.tiff, .image, "image/tiff") : nil
  }

  private static func png(_ head: UnsafeRawBufferPointer) -> Bool {
    head.count >= 8 && head.uint32(at: 0, .big) == 0x8950_4E47 && head.uint32(at: 4, .big) == 0x0D0A_1A0A
  }

  private static func riff(_ head: UnsafeRawBufferPointer) -> MediaContent? {
    guard head.holds("RIFF") else { return nil }
    if head.holds("WEBP", at: 8) { return MediaContent(.webp, .image, "image/webp") }
    return head.holds("AVI ", at: 8) ? MediaContent(.other, .video, "video/x-msvideo") : nil
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
        return MediaContent(.other, .video, "video/webm")
      }
      return MediaContent(.other, .video, "video/x-matroska")
    case 0x0000_01BA, 0x0000_01B3: return MediaContent(.other, .video, "video/mpeg")
    case 0x4F67_6753: return MediaContent(.other, .video, "video/ogg")  // OggS
    case 0x464C_5601: return MediaContent(.other, .video, "video/x-flv")
    case 0x3026_B275: return MediaContent(.other, .video, "video/x-ms-wmv")
    default: break
    }
    // Transport streams repeat their sync byte every 188 bytes, and on discs every 192.
    for (first, step) in [(0, 188), (4, 192)] where head.count > first + 2 * step {
      if (0...2).allSatisfy({ head[first + $0 * step] == 0x47 }) { return MediaContent(.other, .video, "video/mp2t") }
    }
    return nil
  }
}
