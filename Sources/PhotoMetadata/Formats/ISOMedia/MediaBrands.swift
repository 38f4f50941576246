import PhotoModel

/// Identifies the files of the ISO base media format by their brands (ISO/IEC 14496-12, 4.3).
///
/// A brand of an image or a film decides. The major brand comes first. If it says nothing, the compatible brands
/// decide in their order.
enum MediaBrands {
  private static let longestBox = 4096

  static func identify(_ head: UnsafeRawBufferPointer) -> MediaContent? {
    guard head.holds("ftyp", at: 4), head.count >= 12 else {
      // QuickTime before brands existed.
      for box: StaticString in ["moov", "mdat", "wide", "pnot"] where head.holds(box, at: 4) {
        return MediaContent(.movie, .video, "video/quicktime")
      }
      // Programs that move the header to the end leave such a box. In a text with this word, the size would be a letter.
      for box: StaticString in ["free", "skip"] where head.holds(box, at: 4) && head[0] < 0x20 {
        return MediaContent(.movie, .video, "video/quicktime")
      }
      return nil
    }
    let end = min(head.count, Int(head.uint32(at: 0, .big)), longestBox)
    let major = BoxType(code: head.uint32(at: 8, .big))
    if let known = coded(major) ?? film(major) { return known }
    let isImage = isStructural(major)
    var film: MediaContent?
    var isOtherImage = isImage
    for offset in stride(from: 16, to: end - 3, by: 4) {
      let brand = BoxType(code: head.uint32(at: offset, .big))
      if let image = coded(brand) { return image }
      if isStructural(brand) { isOtherImage = true }
      if film == nil { film = Self.film(brand) }
    }
    if isImage { return MediaContent(.heif, .image, "image/heif") }
    if let film { return film }
    if isOtherImage { return MediaContent(.heif, .image, "image/heif") }
    return MediaContent(.movie, .video, "video/mp4")
  }

  /// The brands that name the coding of an image (ISO/IEC 23008-12, annexes B to H; AV1 Image File Format, 6).
  private static func coded(_ brand: BoxType) -> MediaContent? {
    switch brand {
    case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs":
      return MediaContent(.heif, .image, "image/heic")
    case "avif", "avis": return MediaContent(.heif, .image, "image/avif")
    case "avci", "avcs": return MediaContent(.heif, .image, "image/avci")
    case "jpeg", "jpgs": return MediaContent(.heif, .image, "image/heif")
    case "j2ki", "j2is": return MediaContent(.heif, .image, "image/hej2k")
    case "crx ": return .raw(.canonRAW, "image/x-canon-cr3")
    default: return nil
    }
  }

  /// The brands that promise a HEIF file, and nothing about its coding.
  private static func isStructural(_ brand: BoxType) -> Bool {
    switch brand {
    case "mif1", "mif2", "mif3", "msf1", "miaf", "1pic", "MA1A", "MA1B", "MiHB", "MiHA", "MiHE", "MiPr": true
    default: false
    }
  }

  private static func film(_ brand: BoxType) -> MediaContent? {
    switch brand.code >> 8 {
    case 0x336770, 0x336765, 0x336772, 0x336773: return MediaContent(.movie, .video, "video/3gpp")  // 3gp 3ge 3gr 3gs
    case 0x336732: return MediaContent(.movie, .video, "video/3gpp2")  // 3g2
    case 0x4D3456: return MediaContent(.movie, .video, "video/x-m4v")  // M4V
    case 0x69736F, 0x6D7034, 0x646173: return MediaContent(.movie, .video, "video/mp4")  // iso mp4 das
    default: break
    }
    switch brand {
    case "qt  ": return MediaContent(.movie, .video, "video/quicktime")
    case "avc1", "MSNV", "XAVC", "f4v ", "F4V ", "mmp4", "dash", "cmfc", "NDSC", "CAEP":
      return MediaContent(.movie, .video, "video/mp4")
    default: return nil
    }
  }
}
