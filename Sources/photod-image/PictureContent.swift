// SPDX-License-Identifier: GPL-2.0-or-later

import EmbeddedPictures
import PictureDecoding

/// The formats, as the decoders distinguish them.
enum PictureContent {
  case jpeg
  /// libvips reads it as it is.
  case plain
  case tiff
  case jpeg2000
  case heif
  case jpegXL
  case photoshop
  case bitmap
  case raw

  /// - Parameter contentType: the media type of the catalog. It distinguishes the kinds of RAW files that look like TIFF.
  /// - Throws: `unreadable` if the content is not of the format that the name says; `unsupported` if this program does not
  ///   read that format.
  init(_ view: ByteView, contentType: String) throws(PictureError) {
    // LibRaw, which tries all formats that are not known here, would say that the file is no RAW file.
    guard !view.holds("v/1\u{1}") else {
      throw PictureError(.unsupported, "pictures of OpenEXR files are not supported")
    }
    guard let found = Self.find(view, contentType) else {
      if Self.readable.contains(contentType) {
        throw PictureError(.unreadable, "the content is no picture of the type that the name says (\(contentType))")
      }
      throw PictureError(.unsupported, "the format is not known (\(contentType.isEmpty ? "no type" : contentType))")
    }
    self = found
  }

  /// The media types of files whose content is found by its first bytes.
  private static let readable: Set = [
    "image/jpeg", "image/mpo", "image/tiff", "image/png", "image/apng", "image/gif", "image/webp", "image/heic",
    "image/heif", "image/avci", "image/avif", "image/vnd.adobe.photoshop", "image/bmp", "image/jxl", "image/jp2",
    "image/jpx", "image/x-jp2-codestream",
  ]

  private static func find(_ view: ByteView, _ contentType: String) -> PictureContent? {
    switch (view.byte(at: 0), view.byte(at: 1)) {
    case (0xFF, 0xD8): return .jpeg
    case (0xFF, 0x0A): return .jpegXL
    case (0xFF, 0x4F): return .jpeg2000
    case (0x89, 0x50): return .plain
    default: break
    }
    if view.holds("GIF8") { return .plain }
    if view.holds("RIFF"), view.holds("WEBP", at: 8) { return .plain }
    if view.holds("8BPS") { return .photoshop }
    if view.holds("JXL ", at: 4) { return .jpegXL }
    if view.holds("jP  ", at: 4) { return .jpeg2000 }
    if view.holds("ftyp", at: 4) { return isoMedia(view) }
    if view.holds("FUJIFILMCCD-RAW") || view.holds("\0MRM") || view.holds("FOVb") || view.holds("HEAPCCDR", at: 6) {
      return .raw
    }
    if view.holds("BM"), contentType == "image/bmp" || view.uint32(at: 6) == 0 { return .bitmap }
    guard let tiff = TIFFDirectories(view) else { return contentType.hasPrefix("image/x-") ? .raw : nil }
    // 43 is BigTIFF.
    guard tiff.magic == 42 || tiff.magic == 43 else { return .raw }
    if contentType == "image/tiff" || tiff.magic == 43 { return .tiff }
    if contentType.hasPrefix("image/x-") || view.holds("CR", at: 8) { return .raw }
    // DNGVersion
    return tiff.value(of: 0xC612, in: tiff.first) != nil ? .raw : .tiff
  }

  private static func isoMedia(_ view: ByteView) -> PictureContent? {
    guard let size = view.uint32(at: 0) else { return nil }
    let end = min(size, view.count, 4096)
    for offset in [8] + Array(stride(from: 16, to: max(16, end - 3), by: 4)) {
      for brand: StaticString in ["mif1", "mif2", "msf1", "hei", "hev", "avif", "avis", "avci", "avcs", "jpeg", "j2ki"]
      where view.holds(brand, at: offset) { return .heif }
      if view.holds("crx ", at: offset) { return .raw }
    }
    return nil
  }
}
